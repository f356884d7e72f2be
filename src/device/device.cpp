// What all devices share: checks of arguments, counters, tickets, the readiness of fetches. Not here: any
// execution.
#include "device/device.h"

#include <algorithm>
#include <chrono>

#include "device/cost.h"
#include "device/pool.h"

namespace llmtool {
namespace {

/// A range of whole words inside its block. `what` and `argument` are for the message alone.
void check_view(const View& view, std::string_view what, int argument = 0) {
  LLMTOOL_CHECK(view.block != nullptr && view.bytes > 0, what, ": argument ", argument,
                " is a view of nothing");
  LLMTOOL_CHECK(view.offset % 4 == 0 && view.bytes % 4 == 0, what, ": argument ", argument, " at offset ",
                view.offset, " with bytes ", view.bytes);
  LLMTOOL_CHECK(view.bytes <= view.block->bytes && view.offset <= view.block->bytes - view.bytes, what,
                ": argument ", argument, " at offset ", view.offset, " with bytes ", view.bytes,
                " in a block of ", view.block->bytes);
}

void check_argument(const KernelInfo& info, int i, const View& view, const DeviceCaps& caps) {
  if (!view) {
    LLMTOOL_CHECK(info.optional(i), info.name, ": argument ", i, " is missing");
    return;
  }
  check_view(view, info.name, i);
  const char wanted = info.dtypes[static_cast<std::size_t>(i)];
  LLMTOOL_CHECK(wanted != 'f' || view.dtype == DType::f32, info.name, ": argument ", i, " must be f32, is ",
                name_of(view.dtype));
  LLMTOOL_CHECK(wanted != 'i' || view.dtype == DType::i32, info.name, ": argument ", i, " must be i32, is ",
                name_of(view.dtype));
  LLMTOOL_CHECK(wanted != 'p' || view.bytes >= sizeof(StepParams), info.name, ": argument ", i, " holds ",
                view.bytes, " bytes, not StepParams");
  LLMTOOL_CHECK(wanted != 's' || view.bytes >= sizeof(StepStats), info.name, ": argument ", i, " holds ",
                view.bytes, " bytes, not StepStats");
  if (view.bytes > caps.max_binding_bytes) {
    throw world_error(cat("[", info.name, "] argument ", i, " is one piece of ", view.bytes,
                          " bytes, above this device's max_binding_bytes of ", caps.max_binding_bytes),
                      "lower batch_size, block_size or vocab_size");
  }
}

}  // namespace

std::span<const std::byte> Fetched::bytes() const {
  LLMTOOL_CHECK(ready_, "fetch of submission ", ticket_, " read before wait()");
  return bytes_;
}

Device::Device() : pool_(std::make_unique<BlockPool>(*this)) {}
Device::~Device() = default;

Block* Device::alloc(std::uint64_t bytes) {
  if (stats_.block_bytes > caps_.memory_bytes || bytes > caps_.memory_bytes - stats_.block_bytes) {
    throw world_error(cat("[", name_, "] out of memory: ", bytes, " bytes more than the ", stats_.block_bytes,
                          " in use, of ", caps_.memory_bytes, " in all"),
                      "lower batch_size, block_size or the size of the model");
  }
  Block* block = do_alloc(bytes);
  block->id = next_block_++;
  ++stats_.blocks;
  stats_.block_bytes += block->bytes;
  return block;
}

void Device::free(Block* block) noexcept {
  if (block == nullptr) return;
  stats_.block_bytes -= block->bytes;
  do_free(block);
}

void Device::launch(KernelId id, std::span<const View> views, const void* params, std::size_t params_bytes) {
  const KernelInfo& info = kernel_info(id);
  LLMTOOL_CHECK(static_cast<int>(views.size()) == info.arity(), info.name, ": ", views.size(),
                " arguments, not ", info.arity());
  LLMTOOL_CHECK(params_bytes == info.params_bytes, info.name, ": ", params_bytes,
                " bytes of parameters, not ", info.params_bytes);
  for (int i = 0; i < info.arity(); ++i) check_argument(info, i, views[static_cast<std::size_t>(i)], caps_);
  ++stats_.launches;
  ++stats_.launches_of[static_cast<std::size_t>(id)];
  if (profiling_) {
    timed_launch(id, views, params);
  } else {
    do_launch(id, views, params);
  }
}

void Device::timed_launch(KernelId id, std::span<const View> views, const void* params) {
  const auto start = std::chrono::steady_clock::now();
  do_launch(id, views, params);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const Cost cost = cost_of(id, views, params);
  KernelTime& sum = times_[std::string(kernel_info(id).name)];
  ++sum.launches;
  sum.seconds += seconds.count();
  sum.flops += cost.flops;
  sum.bytes += cost.bytes;
}

void Device::copy(const View& src, const View& dst) {
  check_view(src, "copy");
  check_view(dst, "copy", 1);
  LLMTOOL_CHECK(src.bytes == dst.bytes, "copy: ", src.bytes, " bytes to ", dst.bytes);
  const bool apart =
      src.block != dst.block || src.offset + src.bytes <= dst.offset || dst.offset + dst.bytes <= src.offset;
  LLMTOOL_CHECK(apart, "copy: ", src.bytes, " bytes at ", src.offset, " overlap those at ", dst.offset);
  ++stats_.copies;
  do_copy(src, dst);
}

void Device::fill(const View& dst, std::uint32_t pattern) {
  check_view(dst, "fill");
  ++stats_.fills;
  do_fill(dst, pattern);
}

void Device::stage(const View& dst, std::span<const std::byte> bytes) {
  check_view(dst, "stage");
  LLMTOOL_CHECK(bytes.size() == dst.bytes, "stage: ", bytes.size(), " bytes to ", dst.bytes);
  stats_.bytes_staged += dst.bytes;
  do_stage(dst, bytes);
}

FetchedPtr Device::fetch(const View& src) {
  check_view(src, "fetch");
  auto host = std::make_shared<Fetched>(src.bytes);
  host->ticket_ = submitted_ + 1;
  ++stats_.fetches;
  stats_.bytes_fetched += src.bytes;
  do_fetch(src, host);
  pending_.push_back(host);
  return host;
}

Ticket Device::submit() {
  do_submit(submitted_ + 1);
  ++stats_.submits;
  return ++submitted_;
}

void Device::wait(Ticket ticket) {
  LLMTOOL_CHECK(ticket <= submitted_, "wait for submission ", ticket, " of ", submitted_);
  if (ticket <= waited_) return;
  ++stats_.waits;
  do_wait(ticket);
  waited_ = ticket;
  stats_.last_waited = ticket;
  std::erase_if(pending_, [ticket](const FetchedPtr& fetched) {
    if (fetched->ticket_ > ticket) return false;
    fetched->ready_ = true;
    return true;
  });
}

void Device::release_pool() noexcept { pool_->release_all(); }

}  // namespace llmtool
