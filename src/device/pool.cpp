// The block pool: first fit by address over the free ranges of each block, neighbours joined as they are
// freed.
#include "device/pool.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "device/device.h"

namespace llmtool {

struct BlockPool::State {
  struct Ranges {
    Block* block = nullptr;
    std::map<std::uint64_t, std::uint64_t> free;  // offset -> bytes; neighbours never touch
    std::uint64_t free_bytes = 0;
  };

  explicit State(Device& d) : device(d) {}

  /// The lowest free range of `block` that holds `bytes`; false where none does.
  bool carve(Ranges& ranges, std::uint64_t bytes, Allocation& out) {
    if (ranges.free_bytes < bytes) return false;
    for (auto it = ranges.free.begin(); it != ranges.free.end(); ++it) {
      if (it->second < bytes) continue;
      const auto [offset, room] = *it;
      ranges.free.erase(it);
      if (room > bytes) ranges.free.emplace(offset + bytes, room - bytes);
      ranges.free_bytes -= bytes;
      if (ranges.free_bytes == 0) with_room.erase(ranges.block->id);
      out = {ranges.block, offset, bytes};
      in_use += bytes;
      peak = std::max(peak, in_use);
      return true;
    }
    return false;
  }

  Ranges& add_block(std::uint64_t bytes) {
    // A usual block where the device can give one, else just what is needed.
    const std::uint64_t usual = std::max(bytes, device.caps().block_bytes);
    Block* block = nullptr;
    try {
      block = device.alloc(usual);
    } catch (const Error&) {
      if (usual == bytes) throw;
      block = device.alloc(bytes);
    }
    Ranges& ranges = blocks[block];
    ranges.block = block;
    ranges.free.emplace(0, block->bytes);
    ranges.free_bytes = block->bytes;
    with_room[block->id] = &ranges;
    return ranges;
  }

  Device& device;
  // A huge model has tens of thousands of blocks, nearly all of them full: neither taking nor giving may walk
  // them.
  std::unordered_map<const Block*, Ranges> blocks;
  std::map<std::uint64_t, Ranges*> with_room;  // by id, which is the order of the addresses
  std::uint64_t in_use = 0;
  std::uint64_t peak = 0;
};

BlockPool::BlockPool(Device& device) : state_(std::make_unique<State>(device)) {}
BlockPool::~BlockPool() { release_all(); }

std::uint64_t BlockPool::size_class(std::uint64_t bytes, std::uint64_t alignment) noexcept {
  constexpr std::uint64_t huge = std::uint64_t{1} << 62;
  if (bytes > huge) return bytes;  // no device has it; take() says so
  const auto up = [](std::uint64_t value, std::uint64_t step) { return (value + step - 1) / step * step; };
  const std::uint64_t aligned = up(std::max<std::uint64_t>(bytes, 1), alignment);
  if (aligned <= 8 * alignment) return aligned;
  const std::uint64_t step = std::bit_floor(aligned - 1) / 8;  // of (p, 2p]: p/8
  return up(up(aligned, step), alignment);
}

Allocation BlockPool::take(std::uint64_t bytes) {
  const std::uint64_t need = size_class(bytes, state_->device.caps().alignment);
  Allocation out;
  for (const auto& [id, ranges] : state_->with_room) {
    if (state_->carve(*ranges, need, out)) return out;
  }
  const bool carved = state_->carve(state_->add_block(need), need, out);
  LLMTOOL_CHECK(carved, "a new block holds fewer than the ", need, " bytes it was made for");
  return out;
}

void BlockPool::give(const Allocation& allocation) noexcept {
  if (allocation.block == nullptr || allocation.bytes == 0) return;
  // A block that is no longer ours went with release_all().
  const auto found = state_->blocks.find(allocation.block);
  if (found == state_->blocks.end()) return;
  State::Ranges* const ranges = &found->second;
  std::uint64_t begin = allocation.offset;
  std::uint64_t end = allocation.offset + allocation.bytes;
  auto next = ranges->free.lower_bound(begin);
  if (next != ranges->free.end() && next->first == end) {
    end += next->second;
    next = ranges->free.erase(next);
  }
  if (next != ranges->free.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == begin) {
      begin = previous->first;
      ranges->free.erase(previous);
    }
  }
  ranges->free.emplace(begin, end - begin);
  ranges->free_bytes += allocation.bytes;
  state_->with_room[ranges->block->id] = ranges;
  state_->in_use -= allocation.bytes;
}

std::uint64_t BlockPool::bytes_in_use() const noexcept { return state_->in_use; }
std::uint64_t BlockPool::peak_bytes() const noexcept { return state_->peak; }
void BlockPool::reset_peak() noexcept { state_->peak = state_->in_use; }

void BlockPool::trim() noexcept {
  for (auto it = state_->blocks.begin(); it != state_->blocks.end();) {
    if (it->second.free_bytes == it->second.block->bytes) {
      state_->with_room.erase(it->second.block->id);
      state_->device.free(it->second.block);
      it = state_->blocks.erase(it);
    } else {
      ++it;
    }
  }
}

void BlockPool::release_all() noexcept {
  for (auto& [block, ranges] : state_->blocks) state_->device.free(ranges.block);
  state_->blocks.clear();
  state_->with_room.clear();
  state_->in_use = 0;
}

}  // namespace llmtool
