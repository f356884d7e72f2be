// Files of others: GPT-2's vocab.json and merges.txt, tiktoken's ranks, GPT-2's tokenizer.json; what is
// refused.
#include "base/error.h"
#include "checkpoint/byte_alphabet.h"
#include "checkpoint/tokenizer_file.h"
#include "formats/json.h"
#include "support/catch.h"
#include "support/temp_dir.h"
#include "text/bpe_tokenizer.h"

using namespace llmtool;
using Ids = std::vector<std::int32_t>;

namespace {

/// The bytes in the order of the byte alphabet, which is that of GPT-2's ids: printable ones first.
std::string gpt2_order() {
  std::string first, rest;
  for (int b = 0; b < 256; ++b) {
    const std::string byte(1, static_cast<char>(static_cast<unsigned char>(b)));
    (from_byte_alphabet(to_byte_alphabet(byte)) == byte && to_byte_alphabet(byte).size() == 1 ? first
                                                                                              : rest) += byte;
  }
  return first + rest;
}

std::string base64(const std::string& bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j)
      out += i + j > bytes.size() ? '=' : digits[group >> (18 - 6 * j) & 63];
  }
  return out;
}

std::string ranks(const std::vector<std::string>& tokens) {
  std::string out;
  int id = 0;
  for (const char c : gpt2_order()) out += cat(base64(std::string(1, c)), " ", id++, "\n");
  for (const std::string& token : tokens) out += cat(base64(token), " ", id++, "\n");
  return out;
}

std::string vocab_json(const std::vector<std::string>& words) {
  Json vocab = Json::object();
  int id = 0;
  for (const char c : gpt2_order()) vocab[to_byte_alphabet(std::string(1, c))] = id++;
  for (const std::string& word : words) vocab[word] = id++;
  return to_json_line(vocab);
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::world);
    return e.what();
  }
  FAIL("accepted");
  return {};
}

const std::string h = "\xC4\xA0";  // a space in the byte alphabet

}  // namespace

TEST_CASE("gpt2's two files: ids, bytes, special tokens, splitting") {
  const TempDir dir;
  write_file_atomic(dir.path() / "vocab.json", vocab_json({h + "a", h + "ab", "ba", "<|endoftext|>"}));
  write_file_atomic(dir.path() / "merges.txt", "#version: 0.2\n" + h + " a\n" + h + "a b\r\nb a\n");
  for (const Path& path : {dir.path(), dir.path() / "vocab.json"}) {
    const auto t = load_tokenizer(path);
    const std::string order = gpt2_order();
    const auto id = [&](char c) { return static_cast<std::int32_t>(order.find(c)); };
    CHECK(t->vocab_size() == 260);
    CHECK(t->eot_id() == 259);
    CHECK(t->encode("!") == Ids{0});
    CHECK(t->encode("ba ab a") == Ids{258, 257, 256});
    CHECK(t->encode("b'a") == Ids{id('b'), id('\''), id('a')});
    CHECK(t->encode("<|endoftext|>").size() == 13);
    CHECK(t->decode(t->encode("\xE6\xAD ab\n")) == "\xE6\xAD ab\n");
    const std::string json = tokenizer_json(*t);
    const auto back = parse_tokenizer_json(json, "t");
    CHECK(tokenizer_json(*back) == json);
    CHECK(back->fingerprint() == t->fingerprint());
  }
}

TEST_CASE("ranks: merges are recovered, the splitting is the one that fits") {
  const auto t = parse_tiktoken_ranks(ranks({"ab", " ab", "aab", "12"}), "r");
  CHECK(t->vocab_size() == 260);
  CHECK(dynamic_cast<const BpeTokenizer&>(*t).model().pretokenizer == "gpt4");
  CHECK(t->encode("ab ab") == Ids{256, 257});
  CHECK(t->encode("aab12") == Ids{258, 259});
  CHECK(parse_tokenizer_json(tokenizer_json(*t), "t")->fingerprint() == t->fingerprint());
  const auto longer = parse_tiktoken_ranks(ranks({"12", "34", "1234"}), "r");
  CHECK(dynamic_cast<const BpeTokenizer&>(*longer).model().pretokenizer == "gpt2");
  CHECK(longer->encode("1234") == Ids{258});
  const TempDir dir;
  write_file_atomic(dir.path() / "x.tiktoken", ranks({"ab"}));
  CHECK(load_tokenizer(dir.path() / "x.tiktoken")->encode("ab") == Ids{256});
}

TEST_CASE("damaged foreign files are refused with the file and the place") {
  const auto refused = [](const std::string& text) {
    return error_of([&] { parse_tiktoken_ranks(text, "dir/r.tiktoken"); });
  };
  for (const std::string& text :
       {std::string(), std::string("IQ== 0\n"), std::string("IQ== 1\n"), std::string("IQ= 0\n"),
        std::string("IR== 0\n"), std::string("IQ==\n"), std::string("I?== 0\n"), ranks({"abc"}),
        ranks({"ab", "ab"}), ranks({"a"}), ranks({"a b"}), ranks({"ab"}) + "YWI= 300\n",
        ranks({std::string(300, 'a')})})
    CHECK(refused(text).rfind("dir/r.tiktoken", 0) == 0);
  CHECK(refused(ranks({"a\n", "a\nb"})).find("GPT-2") != std::string::npos);
  CHECK(refused(ranks({"ab"}) + "YmI= 258\n").find("gaps") != std::string::npos);
  const auto pair = [](const std::string& vocab, const std::string& merges) {
    return error_of([&] { parse_gpt2_vocabulary(vocab, "vocab.json", merges, "merges.txt"); });
  };
  CHECK(pair("[]", "").rfind("vocab.json", 0) == 0);
  CHECK(pair("{}", "").rfind("vocab.json", 0) == 0);
  CHECK(pair(vocab_json({"ab"}), "a\n").rfind("merges.txt: line 1", 0) == 0);
  CHECK(pair(vocab_json({"ab"}), "a b c\n").rfind("merges.txt: line 1", 0) == 0);
  CHECK(pair(vocab_json({"ab"}), "b a\n").find("does not make") != std::string::npos);
  CHECK(pair(vocab_json({"ab"}), "a xy\n").find("not in the vocabulary") != std::string::npos);
  CHECK(pair(vocab_json({"ab"}), "a b\nb a\n").find("entries") != std::string::npos);
}

TEST_CASE(
    "a tokenizer.json as GPT-2 has it: splitting by default, the special token in the vocabulary, too") {
  Json file = parse_json(
      R"({"version": "1.0", "added_tokens": [{"id": 257, "content": "<|endoftext|>", "special": true}],
          "normalizer": null, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
          "post_processor": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": false},
          "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "merges": ["a b"]}})",
      "t");
  file["model"]["vocab"] = parse_json(vocab_json({"ab", "<|endoftext|>"}), "v");
  const auto t = parse_tokenizer_json(to_json_line(file), "t.json");
  CHECK(t->eot_id() == 257);
  CHECK(dynamic_cast<const BpeTokenizer&>(*t).model().pretokenizer == "gpt2");
  CHECK(t->encode("ab")[0] == 256);
  file["added_tokens"] = Json::array();
  CHECK(error_of([&] { parse_tokenizer_json(to_json_line(file), "t.json"); }).find("id 257") !=
        std::string::npos);
}
