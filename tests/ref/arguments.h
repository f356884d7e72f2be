// One argument of a launch as the reference kernels see it: copied in before the kernel and out after it. It
// refuses what kernels.def does not declare: reads of what is to be overwritten, writes to what is read, two
// results for one element, and any index outside the view. Elements that a kernel does not write keep what
// they held.
#pragma once
#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "device/kernel_id.h"

namespace llmtool::ref {

template <class T>
class Argument {
 public:
  Argument() = default;
  Argument(Access access, bool accumulate, std::string_view kernel)
      : access_(access), accumulate_(accumulate), kernel_(kernel) {}

  explicit operator bool() const noexcept { return !values_.empty(); }
  std::size_t size() const noexcept { return values_.size(); }

  /// Element i, of an argument that is read or updated.
  const T& get(std::size_t i) const {
    check(i, access_ == Access::read || access_ == Access::update, "read");
    return values_[i];
  }
  /// The 32-bit word behind element i, for ids and the integers of StepParams.
  std::uint32_t word(std::size_t i) const {
    check(i, access_ == Access::read, "read");
    return words_[i];
  }
  std::int32_t id(std::size_t i) const { return std::bit_cast<std::int32_t>(word(i)); }

  /// Sets element i, of an argument that is overwritten or updated.
  void set(std::size_t i, const T& value) {
    check(i, access_ == Access::write || access_ == Access::update, "written");
    values_[i] = value;
    written_[i] = true;
  }
  /// Sets element i, or adds to it where the launch accumulates.
  void put(std::size_t i, const T& value) {
    check(i, access_ == Access::accumulate, "given a result");
    LLMTOOL_CHECK(!written_[i], kernel_, ": two results for element ", i);
    if (accumulate_) {
      values_[i] += value;
    } else {
      values_[i] = value;
    }
    written_[i] = true;
  }
  /// What element i holds before an accumulating launch, else 0: where a chain of sums starts.
  T start(std::size_t i) const {
    check(i, access_ == Access::accumulate, "read");
    return accumulate_ ? values_[i] : T(0);
  }

  // For the device, which fills and empties it.
  void load(std::vector<T> values, std::vector<std::uint32_t> words) {
    values_ = std::move(values);
    words_ = std::move(words);
    written_.assign(values_.size(), false);
  }
  const std::vector<T>& values() const noexcept { return values_; }
  const std::vector<bool>& written() const noexcept { return written_; }

 private:
  void check(std::size_t i, bool allowed, std::string_view what) const {
    LLMTOOL_CHECK(allowed, kernel_, ": an argument may not be ", what);
    LLMTOOL_CHECK(i < values_.size(), kernel_, ": element ", i, " of ", values_.size());
  }

  Access access_ = Access::read;
  bool accumulate_ = false;
  std::string_view kernel_;
  std::vector<T> values_;
  std::vector<std::uint32_t> words_;
  std::vector<bool> written_;
};

template <class T>
using Arguments = std::vector<Argument<T>>;

}  // namespace llmtool::ref
