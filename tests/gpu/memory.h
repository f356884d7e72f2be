// Words of device memory for a test, given back at the end of the scope. Not here: tensors.
#pragma once
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "device/device.h"
#include "device/pool.h"

namespace llmtool::gpu_test {

class Memory {
 public:
  Memory(Device& device, std::uint64_t words) : device_(device), allocation_(device.pool().take(4 * words)) {
    view = part(0, words);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { device_.pool().give(allocation_); }

  View view;
  View part(std::uint64_t first, std::uint64_t count) const {
    return {allocation_.block, allocation_.offset + 4 * first, 4 * count, DType::f32};
  }
  void fill(float value) { device_.fill(view, std::bit_cast<std::uint32_t>(value)); }
  void stage(std::uint64_t first, const std::vector<float>& values) {
    device_.stage(part(first, values.size()), std::as_bytes(std::span(values)));
  }
  std::vector<float> read(std::uint64_t first, std::uint64_t count) const {
    const FetchedPtr fetched = device_.fetch(part(first, count));
    device_.synchronise();
    return fetched->as<float>();
  }
  std::vector<float> read() const { return read(0, view.bytes / 4); }

 private:
  Device& device_;
  Allocation allocation_;
};

}  // namespace llmtool::gpu_test
