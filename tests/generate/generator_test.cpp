// Generation by a small model with random weights: the context rule, the cache, determinism and the ends.
#include "generate/generator.h"

#include <algorithm>

#include "base/error.h"
#include "checkpoint/train_config.h"
#include "cpu/cpu_device.h"
#include "support/catch.h"
#include "tensor/autograd.h"
#include "text/bpe_tokenizer.h"
#include "text/byte_tokenizer.h"
#include "text/char_tokenizer.h"

using namespace llmtool;

namespace {

constexpr std::string_view alphabet = "abcdefghijklmnop \n";

struct Small {
  explicit Small(const std::string& positions = "rope", std::int64_t block = 8, std::int64_t vocab = 18)
      : device(make_cpu_device(1)),
        tokenizer(char_vocabulary_of(alphabet)),
        model(config(positions, block), vocab) {
    model.materialise(*device, false);
    model.initialise(11);
    // Larger weights than training starts from, so that distributions are far from uniform.
    for (const auto& [name, parameter] : model.named_parameters()) {
      if (parameter->init.std == 0) continue;
      std::vector<float> values = parameter->tensor.to_host();
      for (float& v : values) v *= 8;
      parameter->tensor.assign(std::span<const float>(values));
    }
  }

  static ModelConfig config(const std::string& positions, std::int64_t block) {
    ModelConfig c;
    c.n_layer = 2;
    c.n_head = 2;
    c.n_embd = 16;
    c.block_size = block;
    c.positions = positions;
    return c;
  }

  std::unique_ptr<Device> device;
  CharTokenizer tokenizer;
  GPT model;
};

GenerateOptions options(std::int64_t tokens, bool cache = true) {
  GenerateOptions o;
  o.max_new_tokens = tokens;
  o.kv_cache = cache;
  o.sampling.temperature = 1.5;
  o.sampling.top_k = 0;
  o.sampling.top_p = 1;
  o.seed = 5;
  return o;
}

/// The rule written out: everything evaluated anew for every token.
std::vector<std::int32_t> by_the_rule(Small& s, std::vector<std::int32_t> context, std::int64_t count) {
  const NoGrad no_grad;
  std::vector<std::int32_t> out;
  const auto block = static_cast<std::size_t>(s.model.config().block_size);
  for (std::int64_t i = 0; i < count; ++i) {
    const ops::Index ids(*s.device, context, s.model.vocab_size());
    const auto logits = s.model.logits(s.model.forward(ids, 1)).to_host();
    const std::span<const float> all(logits);
    const auto last = all.last(static_cast<std::size_t>(s.model.vocab_size()));
    out.push_back(static_cast<std::int32_t>(std::max_element(last.begin(), last.end()) - last.begin()));
    if (context.size() == block)
      context.erase(context.begin(),
                    context.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, block / 4)));
    context.push_back(out.back());
  }
  return out;
}

}  // namespace

TEST_CASE("with and without the cache the tokens are the same, far past the block") {
  for (const std::string positions : {"rope", "learned", "sinusoidal", "none"}) {
    for (const std::int64_t block : {1, 3, 8}) {
      Small s(positions, block);
      for (const std::string prompt : {"a", "abcdef", "the fed cab and a long one"}) {
        std::string text = prompt;
        std::erase_if(text, [](char c) { return alphabet.find(c) == alphabet.npos; });
        const Generated cached = generate(s.model, s.tokenizer, text, options(40, true));
        const Generated plain = generate(s.model, s.tokenizer, text, options(40, false));
        CHECK(cached.tokens == plain.tokens);
        CHECK(cached.tokens.size() == 40);
        CHECK(cached.text == s.tokenizer.decode(cached.tokens));
        CHECK(cached.finish == "length");
      }
    }
  }
}

TEST_CASE("greedy tokens follow the context rule") {
  Small s("learned", 8);
  GenerateOptions greedy = options(30);
  greedy.sampling.temperature = 0;
  const Generated g = generate(s.model, s.tokenizer, "abcde", greedy);
  CHECK(g.tokens == by_the_rule(s, s.tokenizer.encode("abcde"), 30));
  CHECK_FALSE(g.prompt_cut);
}

TEST_CASE("a prompt longer than the block keeps its end") {
  Small s;
  const Generated cut = generate(s.model, s.tokenizer, "abcdefghijklmnop", options(5));
  CHECK(cut.prompt_cut);
  CHECK(cut.prompt_tokens == s.tokenizer.encode("ijklmnop"));
  CHECK(cut.tokens == generate(s.model, s.tokenizer, "ijklmnop", options(5)).tokens);
}

TEST_CASE("seeds and sample numbers give their own draws, the same every time") {
  Small s;
  GenerateOptions o = options(30);
  const auto first = generate(s.model, s.tokenizer, "ab", o).tokens;
  CHECK(generate(s.model, s.tokenizer, "ab", o).tokens == first);
  o.sample_index = 1;
  CHECK(generate(s.model, s.tokenizer, "ab", o).tokens != first);
  o.sample_index = std::uint64_t{1} << 32;
  CHECK(generate(s.model, s.tokenizer, "ab", o).tokens != first);
  o.sample_index = 0;
  o.seed = 6;
  CHECK(generate(s.model, s.tokenizer, "ab", o).tokens != first);
}

TEST_CASE("generation ends before a stop text, and the stream is the text") {
  Small s;
  const std::string whole = generate(s.model, s.tokenizer, "ab", options(40)).text;
  GenerateOptions o = options(40);
  o.stop = {whole.substr(10, 3)};
  std::string streamed;
  const Generated g =
      generate(s.model, s.tokenizer, "ab", o, [&](std::string_view piece) { streamed += piece; });
  CHECK(g.finish == "stop");
  CHECK(g.text == whole.substr(0, whole.find(o.stop[0])));
  CHECK(streamed == g.text);
  o.stop = {""};
  CHECK_THROWS_AS(generate(s.model, s.tokenizer, "ab", o), Error);
}

TEST_CASE("an empty prompt starts from end-of-text, else a newline, else is refused") {
  Small s;
  CHECK(generate(s.model, s.tokenizer, "", options(3)).prompt_tokens == s.tokenizer.encode("\n"));
  const CharTokenizer letters(char_vocabulary_of("abcdefghijklmnopqr"));
  CHECK_THROWS_AS(generate(s.model, letters, "", options(3)), Error);
  Small bpe("rope", 8, 257);
  const BpeTokenizer tokenizer(BpeModel{{}, {}, {std::string(end_of_text)}, "none", 1});
  CHECK(generate(bpe.model, tokenizer, "", options(3)).prompt_tokens == std::vector<std::int32_t>{256});
}

TEST_CASE("the end-of-text token ends the text and is not part of it") {
  Small s("rope", 8, 257);
  // The embedding is the head: a huge row of the end token makes its logit the largest or the smallest.
  const BpeTokenizer tokenizer(BpeModel{{}, {}, {std::string(end_of_text)}, "none", 1});
  bool ended = false;
  for (std::uint64_t seed = 0; seed < 200 && !ended; ++seed) {
    GenerateOptions o = options(40);
    o.seed = seed;
    o.sampling.temperature = 100;  // nearly uniform: about one in seven samples ends
    const Generated g = generate(s.model, tokenizer, "x", o);
    CHECK(std::count(g.tokens.begin(), g.tokens.end(), 256) == 0);
    ended = g.finish == "eot";
    CHECK((ended || g.tokens.size() == 40));
  }
  CHECK(ended);
}

TEST_CASE("no new tokens, and options out of range") {
  Small s;
  const Generated none = generate(s.model, s.tokenizer, "ab", options(0));
  CHECK(none.tokens.empty());
  CHECK(none.text.empty());
  CHECK(none.finish == "length");
  CHECK_THROWS_AS(generate(s.model, s.tokenizer, "ab", options(-1)), Error);
  GenerateOptions cold = options(1);
  cold.sampling.temperature = -1;
  CHECK_THROWS_AS(generate(s.model, s.tokenizer, "ab", cold), Error);
  CHECK_THROWS_AS(generate(s.model, s.tokenizer, "aZ", options(1)), Error);
}

TEST_CASE("training mode comes back after a sample") {
  Small s;
  s.model.train();
  generate(s.model, s.tokenizer, "ab", options(2));
  CHECK(s.model.training());
}
