// What a kernel's argument is: a range of bytes of a device block and the type of its elements.
#pragma once
#include <cstddef>
#include <cstdint>

namespace llmtool {

/// Element types. Parameters, gradients, moments and losses are f32 for good; i32 holds token ids and plans.
enum class DType : std::uint8_t { f32, i32 };
constexpr std::uint64_t size_of(DType) noexcept { return 4; }
constexpr const char* name_of(DType dtype) noexcept { return dtype == DType::f32 ? "f32" : "i32"; }

/// One allocation made from the driver (or the operating system). Owned by the device that made it.
struct Block {
  std::uint64_t id = 0;  ///< Counts up from 1 per device.
  std::uint64_t bytes = 0;
  std::byte* host = nullptr;  ///< Where the host sees it (CPU and reference devices), else null.
};

/// `bytes` 0: no argument. Offsets are multiples of the element size.
struct View {
  const Block* block = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  DType dtype = DType::f32;

  std::uint64_t elements() const noexcept { return bytes / size_of(dtype); }
  explicit operator bool() const noexcept { return bytes != 0; }
};

}  // namespace llmtool
