// A hash map from a pair of token ids to a number: the table that BPE encoding looks into for every pair it
// sees, and that training keeps its pairs in. Open addressing, linear probing. Not a general container.
#pragma once
#include <cstdint>
#include <vector>

namespace llmtool {

/// Two ids as one number that orders as (left, right) does.
constexpr std::uint64_t pair_key(std::int32_t left, std::int32_t right) noexcept {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}
constexpr std::int32_t left_of(std::uint64_t key) noexcept { return static_cast<std::int32_t>(key >> 32); }
constexpr std::int32_t right_of(std::uint64_t key) noexcept {
  return static_cast<std::int32_t>(key & 0xFFFFFFFFu);
}

class PairMap {
 public:
  PairMap() : slots_(16) {}

  /// The value of a key, or -1.
  std::int32_t find(std::uint64_t key) const noexcept { return slots_[slot_of(key)].value; }

  /// Adds a key that is absent; false, and nothing done, if it is there. `value` must not be negative.
  bool insert(std::uint64_t key, std::int32_t value) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[slot_of(key)];
    if (slot.value >= 0) return false;
    slot = {key, value};
    ++size_;
    return true;
  }

  /// Takes a key out, if it is there.
  void erase(std::uint64_t key) noexcept {
    std::size_t hole = slot_of(key);
    if (slots_[hole].value < 0) return;
    --size_;
    // What was put behind the hole because of collisions moves up, so that no search ends early.
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = (hole + 1) & mask; slots_[i].value >= 0; i = (i + 1) & mask) {
      const std::size_t home = home_of(slots_[i].key);
      if (((i - home) & mask) < ((i - hole) & mask)) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole].value = -1;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::int32_t value = -1;  ///< -1: free.
  };

  /// Fibonacci hashing; the folded high half depends on all bits of the key.
  std::size_t home_of(std::uint64_t key) const noexcept {
    const std::uint64_t h = key * 0x9E3779B97F4A7C15u;
    return static_cast<std::size_t>(h ^ h >> 32) & (slots_.size() - 1);
  }

  /// Where the key is, or the free slot where it would go. At least half of the slots are free.
  std::size_t slot_of(std::uint64_t key) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = home_of(key);
    while (slots_[i].value >= 0 && slots_[i].key != key) i = (i + 1) & mask;
    return i;
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.value >= 0) slots_[slot_of(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace llmtool
