// ByteTokenizer and AsciiTokenizer.
#include "text/byte_tokenizer.h"

#include "text/fingerprint.h"

namespace llmtool {
namespace {

std::uint64_t type_fingerprint(std::string_view type) {
  Fingerprint f;
  f.add(type);
  return f.value();
}

}  // namespace

std::vector<std::int32_t> ByteTokenizer::encode(std::string_view text) const {
  std::vector<std::int32_t> ids(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) ids[i] = static_cast<unsigned char>(text[i]);
  return ids;
}

void ByteTokenizer::append_token(std::int32_t id, std::string& out) const {
  out += static_cast<char>(static_cast<unsigned char>(id));
}

std::uint64_t ByteTokenizer::fingerprint() const { return type_fingerprint(type()); }

std::vector<std::int32_t> AsciiTokenizer::encode(std::string_view text) const {
  std::vector<std::int32_t> ids;
  ids.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 128) ids.push_back(byte);
  }
  return ids;
}

void AsciiTokenizer::append_token(std::int32_t id, std::string& out) const { out += static_cast<char>(id); }

std::uint64_t AsciiTokenizer::fingerprint() const { return type_fingerprint(type()); }

}  // namespace llmtool
