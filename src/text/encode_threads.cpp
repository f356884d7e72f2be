// Cutting, encoding the parts each on a thread, joining in order.
#include "text/encode_threads.h"

#include <algorithm>
#include <exception>

#include "base/error.h"
#include "base/interrupt.h"

namespace llmtool {
namespace {

/// Large enough that a part's cache of pieces pays, small enough that the threads end together.
constexpr std::size_t part_bytes = std::size_t{1} << 20;

/// `text` in parts of about part_bytes; longer ones where there is no place to cut.
std::vector<std::string_view> parts_of(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t wanted = part_bytes; !text.empty();) {
    std::size_t cut = text.size();
    // A little less than two parts is not cut, so that no small rest remains.
    if (text.size() > wanted + part_bytes / 2) {
      cut = tokenizer.last_cut(text.substr(0, wanted));
      if (cut == 0) {
        wanted *= 2;
        continue;
      }
    }
    parts.push_back(text.substr(0, cut));
    text.remove_prefix(cut);
    wanted = part_bytes;
  }
  return parts;
}

}  // namespace

std::vector<std::int32_t> encode_on(ThreadPool& pool, const Tokenizer& tokenizer, std::string_view text) {
  // An error of a character vocabulary gives a position in the text, so that one is encoded as a whole.
  if (text.size() < 2 * part_bytes || tokenizer.type() == "char") return tokenizer.encode(text);
  const std::vector<std::string_view> parts = parts_of(tokenizer, text);
  std::vector<std::vector<std::int32_t>> ids(parts.size());
  std::vector<std::exception_ptr> failures(parts.size());
  pool.parallel_for(std::ssize(parts), [&](std::int64_t chunk, int) noexcept {
    const auto i = static_cast<std::size_t>(chunk);
    if (interrupted()) return;
    try {
      ids[i] = tokenizer.encode(parts[i]);
    } catch (...) {
      failures[i] = std::current_exception();
    }
  });
  throw_if_interrupted();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  std::size_t count = 0;
  for (const auto& part : ids) count += part.size();
  std::vector<std::int32_t> out;
  out.reserve(count);
  for (auto& part : ids) {
    out.insert(out.end(), part.begin(), part.end());
    part = {};
  }
  return out;
}

bool EncodeStream::next(std::vector<std::int32_t>& ids) {
  const std::size_t block = 2 * part_bytes * static_cast<std::size_t>(pool_.size());
  std::size_t cut = 0;
  for (std::size_t wanted = block; cut == 0; wanted *= 2) {
    if (!ended_ && text_.size() < wanted) ended_ = !source_.read(text_, wanted - text_.size());
    throw_if_interrupted();
    if (ended_ && text_.empty()) return false;
    cut = ended_ ? text_.size() : tokenizer_.last_cut(text_);
  }
  try {
    ids = encode_on(pool_, tokenizer_, std::string_view(text_).substr(0, cut));
  } catch (const Error& error) {
    if (encoded_ == 0) throw;
    throw Error(error.kind(), cat(error.what(), " (counted from byte ", encoded_, " of the input on)"),
                error.hint());
  }
  text_.erase(0, cut);
  encoded_ += cut;
  return true;
}

}  // namespace llmtool
