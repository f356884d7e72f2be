// The reference device: memory, recording and the random order. The kernels are in kernels_*.h.
#include "ref/reference_device.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "ref/reference_kernels.h"
#include "ref/scalar_math.h"

namespace llmtool {
namespace {

constexpr std::uint32_t nan_word = 0x7fc0dead;

std::vector<Touch> touch(const View& view, bool writes) {
  return {{view.block->id, view.offset, view.offset + view.bytes, writes}};
}

}  // namespace

template <class Scalar>
ReferenceDevice<Scalar>::ReferenceDevice(std::uint64_t seed, const DeviceCaps& caps) : order_(seed) {
  name_ = "reference";
  caps_ = caps;
  // Small blocks: fresh ones are filled with NaN word by word.
  caps_.block_bytes = std::min<std::uint64_t>(caps.block_bytes, std::uint64_t{1} << 18);
}

template <class Scalar>
ReferenceDevice<Scalar>::~ReferenceDevice() {
  release_pool();
}

template <class Scalar>
typename ReferenceDevice<Scalar>::Memory& ReferenceDevice<Scalar>::memory_of(const View& view) {
  const auto found = memory_.find(view.block);
  LLMTOOL_CHECK(found != memory_.end(), "a command touches a block that was freed");
  return *found->second;
}

template <class Scalar>
std::uint32_t ReferenceDevice<Scalar>::word(Memory& memory, std::uint64_t index) const {
  std::uint32_t value = 0;
  std::memcpy(&value, memory.raw.data() + index * 4, 4);
  return value;
}

template <class Scalar>
void ReferenceDevice<Scalar>::set_word(Memory& memory, std::uint64_t index, std::uint32_t value) {
  std::memcpy(memory.raw.data() + index * 4, &value, 4);
  memory.wide[index] = Scalar(static_cast<double>(std::bit_cast<float>(value)));
}

template <class Scalar>
void ReferenceDevice<Scalar>::set_wide(Memory& memory, std::uint64_t index, const Scalar& value) {
  const auto rounded = std::bit_cast<std::uint32_t>(static_cast<float>(ref::value_of(value)));
  std::memcpy(memory.raw.data() + index * 4, &rounded, 4);
  memory.wide[index] = value;
}

template <class Scalar>
Block* ReferenceDevice<Scalar>::do_alloc(std::uint64_t bytes) {
  auto memory = std::make_unique<Memory>();
  const std::uint64_t words = (bytes + 3) / 4;
  memory->raw.resize(words * 4);
  memory->wide.resize(words);
  for (std::uint64_t i = 0; i < words; ++i) set_word(*memory, i, nan_word);
  memory->block.bytes = bytes;
  memory->block.host = memory->raw.data();
  Block* const block = &memory->block;
  memory_.emplace(block, std::move(memory));
  return block;
}

template <class Scalar>
void ReferenceDevice<Scalar>::do_free(Block* block) noexcept {
  memory_.erase(block);
}

template <class Scalar>
void ReferenceDevice<Scalar>::record(std::vector<Touch> touches, std::function<void()> run) {
  commands_.push_back({std::move(touches), std::move(run)});
}

template <class Scalar>
void ReferenceDevice<Scalar>::do_launch(KernelId id, std::span<const View> views, const void* params) {
  std::vector<View> kept(views.begin(), views.end());
  std::vector<std::byte> bytes(kernel_info(id).params_bytes);
  std::memcpy(bytes.data(), params, bytes.size());
  record(touches_of(id, views),
         [this, id, kept = std::move(kept), bytes = std::move(bytes)] { run_launch(id, kept, bytes); });
}

template <class Scalar>
void ReferenceDevice<Scalar>::run_launch(KernelId id, const std::vector<View>& views,
                                         const std::vector<std::byte>& params) {
  const KernelInfo& info = kernel_info(id);
  const bool accumulate = ref::accumulates(id, params.data());
  ref::Arguments<Scalar> arguments;
  for (std::size_t a = 0; a < views.size(); ++a) {
    const View& view = views[a];
    const Access access = info.access(static_cast<int>(a));
    arguments.emplace_back(access, accumulate, info.name);
    if (!view) continue;
    Memory& memory = memory_of(view);
    const auto first = memory.wide.begin() + static_cast<std::ptrdiff_t>(view.offset / 4);
    std::vector<std::uint32_t> words(view.elements());
    std::memcpy(words.data(), memory.raw.data() + view.offset, view.bytes);
    arguments.back().load(std::vector<Scalar>(first, first + static_cast<std::ptrdiff_t>(view.elements())),
                          std::move(words));
  }
  ref::run_kernel<Scalar>(id, arguments, params.data());
  for (std::size_t a = 0; a < views.size(); ++a) {
    if (!views[a] || info.access(static_cast<int>(a)) == Access::read) continue;
    Memory& memory = memory_of(views[a]);
    for (std::uint64_t i = 0; i < views[a].elements(); ++i) {
      if (arguments[a].written()[i]) set_wide(memory, views[a].offset / 4 + i, arguments[a].values()[i]);
    }
  }
}

template <class Scalar>
void ReferenceDevice<Scalar>::do_copy(const View& src, const View& dst) {
  auto touches = touch(src, false);
  touches.push_back(touch(dst, true).front());
  record(std::move(touches), [this, src, dst] {
    Memory& from = memory_of(src);
    Memory& to = memory_of(dst);
    std::memcpy(to.raw.data() + dst.offset, from.raw.data() + src.offset, src.bytes);
    for (std::uint64_t i = 0; i < src.elements(); ++i) {
      to.wide[dst.offset / 4 + i] = from.wide[src.offset / 4 + i];
    }
  });
}

template <class Scalar>
void ReferenceDevice<Scalar>::do_fill(const View& dst, std::uint32_t pattern) {
  record(touch(dst, true), [this, dst, pattern] {
    Memory& memory = memory_of(dst);
    for (std::uint64_t i = 0; i < dst.elements(); ++i) set_word(memory, dst.offset / 4 + i, pattern);
  });
}

template <class Scalar>
void ReferenceDevice<Scalar>::do_stage(const View& dst, std::span<const std::byte> bytes) {
  record(touch(dst, true), [this, dst, kept = std::vector<std::byte>(bytes.begin(), bytes.end())] {
    Memory& memory = memory_of(dst);
    for (std::uint64_t i = 0; i < dst.elements(); ++i) {
      std::uint32_t value = 0;
      std::memcpy(&value, kept.data() + i * 4, 4);
      set_word(memory, dst.offset / 4 + i, value);
    }
  });
}

template <class Scalar>
void ReferenceDevice<Scalar>::do_fetch(const View& src, std::shared_ptr<Fetched> host) {
  const auto slot = writable(*host);
  for (std::size_t i = 0; i + 4 <= slot.size(); i += 4) std::memcpy(slot.data() + i, &nan_word, 4);
  const Ticket ticket = submitted() + 1;
  record(touch(src, false), [this, src, host = std::move(host), ticket] {
    const auto first = memory_of(src).raw.begin() + static_cast<std::ptrdiff_t>(src.offset);
    landed_.push_back({ticket, host, {first, first + static_cast<std::ptrdiff_t>(src.bytes)}});
  });
}

template <class Scalar>
void ReferenceDevice<Scalar>::do_submit(Ticket) {
  const std::vector<Command> commands = std::exchange(commands_, {});
  std::vector<int> waits_for(commands.size(), 0);
  std::vector<std::vector<std::size_t>> followers(commands.size());
  std::vector<std::size_t> runnable;
  for (std::size_t later = 0; later < commands.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      if (!conflict(commands[earlier].touches, commands[later].touches)) continue;
      followers[earlier].push_back(later);
      ++waits_for[later];
    }
    if (waits_for[later] == 0) runnable.push_back(later);
  }
  while (!runnable.empty()) {
    std::swap(runnable[order_() % runnable.size()], runnable.back());
    const std::size_t chosen = runnable.back();
    runnable.pop_back();
    commands[chosen].run();
    for (const std::size_t follower : followers[chosen]) {
      if (--waits_for[follower] == 0) runnable.push_back(follower);
    }
  }
}

template <class Scalar>
void ReferenceDevice<Scalar>::do_wait(Ticket ticket) {
  std::erase_if(landed_, [&](const Landed& landed) {
    if (landed.ticket > ticket) return false;
    std::copy(landed.bytes.begin(), landed.bytes.end(), writable(*landed.host).begin());
    return true;
  });
}

template <class Scalar>
void ReferenceDevice<Scalar>::settle() {
  if (!commands_.empty()) submit();
}

template <class Scalar>
std::vector<Scalar> ReferenceDevice<Scalar>::peek(const View& view) {
  settle();
  const auto first = memory_of(view).wide.begin() + static_cast<std::ptrdiff_t>(view.offset / 4);
  return {first, first + static_cast<std::ptrdiff_t>(view.elements())};
}

template <class Scalar>
void ReferenceDevice<Scalar>::poke(const View& view, std::uint64_t element, const Scalar& value) {
  LLMTOOL_CHECK(element < view.elements(), "poke: element ", element, " of ", view.elements());
  settle();
  set_wide(memory_of(view), view.offset / 4 + element, value);
}

template class ReferenceDevice<double>;
template class ReferenceDevice<ref::Dual>;

}  // namespace llmtool
