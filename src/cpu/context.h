// What a CPU kernel is given beside its arguments: the threads, and scratch memory that is kept from launch
// to launch so that a training step allocates nothing. Not here: the arguments' memory.
#pragma once
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/threads.h"
#include "device/view.h"

namespace llmtool::cpu {

/// Memory aligned to 64 bytes that grows and never shrinks; its content is lost when it grows.
class Scratch {
 public:
  /// At least `bytes`; world_error if there is no memory.
  void reserve(std::size_t bytes);
  std::byte* data() const noexcept { return data_.get(); }

 private:
  struct Free {
    void operator()(std::byte* p) const noexcept;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t bytes_ = 0;
};

class CpuContext {
 public:
  explicit CpuContext(ThreadPool& pool) : pool_(pool), workers_(static_cast<std::size_t>(pool.size())) {}

  ThreadPool& pool() noexcept { return pool_; }

  /// Makes scratch of at least `count` elements of T for every worker. Called by the kernel before its loop,
  /// since loop bodies must not throw.
  template <class T>
  void reserve(std::size_t count) {
    for (Scratch& s : workers_) s.reserve(count * sizeof(T));
  }
  /// The worker's scratch, uninitialised, aligned to 64 bytes; the size is that of the largest reserve() so
  /// far.
  template <class T>
  T* scratch(int worker) noexcept {
    static_assert(std::is_trivial_v<T>);
    return reinterpret_cast<T*>(workers_[static_cast<std::size_t>(worker)].data());
  }
  /// Memory that all workers of one launch share: `count` elements of T, aligned to 64 bytes. The next call,
  /// of this launch or a later one, gives the same memory again.
  template <class T>
  T* shared(std::size_t count) {
    static_assert(std::is_trivial_v<T>);
    shared_.reserve(count * sizeof(T));
    return reinterpret_cast<T*>(shared_.data());
  }

 private:
  ThreadPool& pool_;
  std::vector<Scratch> workers_;
  Scratch shared_;
};

/// The elements of an argument; null for one that is absent.
inline float* floats(const View& v) noexcept {
  return v ? reinterpret_cast<float*>(v.block->host + v.offset) : nullptr;
}
inline const std::int32_t* ints(const View& v) noexcept {
  return v ? reinterpret_cast<const std::int32_t*>(v.block->host + v.offset) : nullptr;
}

}  // namespace llmtool::cpu
