// `llmtool generate`: every flag, the cache, the context rule, prompts at their limits.
#include <cmath>
#include <filesystem>

#include "cli/tool.h"
#include "support/catch.h"
#include "support/temp_dir.h"

namespace fs = std::filesystem;

namespace {

/// One small model for all tests here, made when first asked for.
const Call& trained() {
  static const TempDir dir;
  static const Call call = [] {
    Call made{dir.path(), {}, {}, {}};
    const Result r = tool(made, words("train --quiet --set model.n_layer=1 --set model.n_embd=32 --set "
                                      "model.block_size=16 --set train.steps=60 --set train.max_lr=0.01"));
    REQUIRE(r.code == 0);
    return made;
  }();
  return call;
}

Result generate(const std::string& rest, const std::string& prompt = "The fox") {
  Args args = words("generate " + rest);
  args.insert(args.end(), {"--prompt", prompt});
  const Result r = tool(trained(), args);
  INFO(rest << "\n" << r.err);
  CHECK(r.code == 0);
  return r;
}

}  // namespace

TEST_CASE("a seed repeats; without one it is drawn and printed") {
  const std::string first = generate("--seed 5").out;
  CHECK(generate("--seed 5").out == first);
  CHECK(generate("--seed 5 --threads 1").out == first);
  CHECK(generate("--seed 6").out != first);
  const Result drawn = generate("");
  const std::string line = line_with(drawn.err, "seed ");
  REQUIRE(!line.empty());
  CHECK(generate("--seed " + line.substr(line.find("seed ") + 5)).out == drawn.out);
  CHECK(generate("--quiet").err.empty());
  CHECK(generate("--seed 18446744073709551615").out.size() == 7 + 80 + 1);
}

TEST_CASE("temperature, top-k and top-p at their ends") {
  const std::string greedy = generate("--seed 1 --temperature 0").out;
  CHECK(generate("--seed 2 --temperature 0").out == greedy);
  CHECK(generate("--seed 3 --top-k 1").out == greedy);
  CHECK(generate("--seed 3 --top-p 0 --top-k 0").out == greedy);
  CHECK(generate("--seed 3 --top-k 0 --top-p 1").out == generate("--seed 3 --top-k 100000 --top-p 1").out);
  CHECK(generate("--seed 3 --top-k 0 --top-p 1 --temperature 5").out != greedy);
  CHECK(generate("--seed 3 --min-p 1").out == greedy);
  CHECK(generate("--seed 1 --temperature 0 --repetition-penalty 3").out != greedy);
  CHECK(generate("--seed 1 --max-new-tokens 0").out == "The fox\n");
}

TEST_CASE("the cache changes nothing, past the block too") {
  const std::string flags = "--seed 9 --max-new-tokens 70 --temperature 2 --top-k 0 ";
  CHECK(generate(flags).out == generate(flags + "--no-kv-cache").out);
  const std::string longer = "The fox asked about all things in the garden";
  const Result cut = generate(flags, longer);
  CHECK(cut.out == generate(flags + "--no-kv-cache", longer).out);
  CHECK(has(cut.err, "44 tokens"));
  CHECK(has(cut.err, "16"));
  CHECK(cut.out.rfind(longer, 0) == 0);
  // Only the last block of a prompt counts.
  CHECK(generate(flags + "--no-echo", longer).out ==
        generate(flags + "--no-echo", longer.substr(longer.size() - 16)).out);
}

TEST_CASE("empty prompts, prompts from files, stops, samples, JSON") {
  CHECK(generate("--seed 1", "").out.size() == 80 + 1);
  write_text(trained().dir / "prompt.txt", "The fox");
  CHECK(tool(trained(), words("generate --seed 5 --prompt-file prompt.txt")).out == generate("--seed 5").out);
  Call in = trained();
  in.input = "The fox";
  CHECK(tool(in, words("generate --seed 5 --prompt-file -")).out == generate("--seed 5").out);
  CHECK(tool(trained(), words("generate --prompt a --prompt-file prompt.txt")).code == 2);
  CHECK(tool(trained(), words("generate --prompt-file none.txt")).code == 1);

  const std::string text = generate("--seed 5 --no-echo").out;
  CHECK("The fox" + text == generate("--seed 5").out);
  const std::string stop = text.substr(10, 1);
  const std::size_t at = text.find(stop);
  Args args = words("generate --seed 5 --no-echo --json --prompt The\x01 --stop");
  args[6] = "The fox";
  args.push_back(stop);
  const Result stopped = tool(trained(), args);
  INFO(stopped.out << stopped.err);
  CHECK(has(stopped.out, R"("finish":"stop")"));
  CHECK(has(stopped.out, "\"text\":\"" + text.substr(0, at) + "\""));

  const Result json = generate("--seed 5 --json --num-samples 3 --max-new-tokens 4");
  const auto lines = lines_of(json.out);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] != lines[1]);
  for (const std::string& line : lines) {
    CHECK(has(line, R"("prompt_tokens":[)"));
    CHECK(has(line, R"("tokens":[)"));
    CHECK(has(line, R"("finish":"length")"));
  }
  // Sample 0 is what one sample alone would be.
  CHECK(lines_of(generate("--seed 5 --json --max-new-tokens 4").out).front() == lines[0]);
  CHECK(has(generate("--seed 5 --num-samples 2 --max-new-tokens 4").out, "sample 2"));
}

TEST_CASE("the model may be a run, a checkpoint or a directory; the locale changes nothing") {
  const std::string text = generate("--seed 5").out;
  CHECK(generate("--seed 5 --model runs/default").out == text);
  CHECK(generate("--seed 5 --model runs/default/checkpoints/step-00000060").out == text);
  fs::copy(trained().dir / "runs/default/checkpoints/step-00000060", trained().dir / "plain");
  CHECK(generate("--seed 5 --model plain").out == text);
  Call german = trained();
  german.environment = {"LC_ALL=de_DE.UTF-8", "LANG=de_DE.UTF-8"};
  Args args = words("generate --seed 5 --temperature 0.8 --prompt");
  args.push_back("The fox");
  CHECK(tool(german, args).out == text);
}

TEST_CASE("eval: every token but the first, once; the held-out part as the run's last line has it") {
  const TempDir dir;
  const Call call{dir.path(), {}, {}, {}};
  const std::string text = "abcabcabdabcabcabcabdabcaabcabcabdabcabcabcabdabcabcabcabdabcabcabcabdabc";
  write_text(dir.path() / "all.txt", text);
  const Result train = tool(
      call,
      words("train --quiet --json --data all.txt --set tokenizer.type=char --set data.val_fraction=0.5 "
            "--set model.n_layer=1 --set model.n_embd=16 --set model.block_size=8 --set train.steps=20"));
  INFO(train.out << train.err);
  REQUIRE(train.code == 0);
  const std::string final = line_with(train.out, R"("event":"final")");
  write_text(dir.path() / "val.txt", text.substr(text.size() - 37));
  const Result eval = tool(call, words("eval --model runs/default --data val.txt --json"));
  INFO(final << eval.out << eval.err);
  CHECK(eval.code == 0);
  CHECK(number_after(eval.out, R"("tokens":)") == 36);
  CHECK(number_after(eval.out, R"("bytes":)") == 36);
  const double loss = number_after(eval.out, R"("loss":)");
  CHECK(loss == number_after(final, R"("val_loss":)"));
  CHECK(number_after(eval.out, R"("perplexity":)") == Approx(std::exp(loss)));
  CHECK(number_after(eval.out, R"("bits_per_byte":)") == Approx(loss / std::log(2.0)));
  const Result stride = tool(call, words("eval --data val.txt --json --stride 1"));
  CHECK(number_after(stride.out, R"("tokens":)") == 36);
  CHECK(number_after(stride.out, R"("loss":)") != loss);
  CHECK(tool(call, words("eval --data val.txt --stride 9")).code == 2);
  CHECK(has(tool(call, words("eval --data val.txt")).out, "36 tokens"));
  write_text(dir.path() / "one.txt", "a");
  CHECK(tool(call, words("eval --data one.txt")).code == 1);
}
