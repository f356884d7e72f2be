// The CPU as a device: each launch runs at once; see cpu_device.h.
#include "cpu/cpu_device.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/memory.h"
#include "cpu/kernel_table.h"
#include "cpu/memory.h"

namespace llmtool {
namespace {

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(int threads)
      : level_(cpu::choose_level_from_environment()),
        kernels_(cpu::kernel_table()[level_]),
        pool_(threads),
        context_(pool_) {
    name_ = "cpu";
    caps_.simd = cpu::name_of(level_);
    caps_.threads = pool_.size();
    caps_.memory_bytes = available_memory();
  }
  ~CpuDevice() override { release_pool(); }

 private:
  Block* do_alloc(std::uint64_t bytes) override {
    constexpr std::uint64_t page = 4096;
    const std::uint64_t available = available_memory();
    const std::uint64_t rounded = (bytes + page - 1) / page * page;
    std::byte* pages = rounded >= bytes && rounded <= available ? cpu::map_pages(rounded) : nullptr;
    if (pages == nullptr) {
      throw world_error(
          cat("[cpu] out of memory: ", bytes, " bytes more are needed, ", available, " are available"),
          "lower batch_size, block_size, n_embd or n_layer");
    }
    auto block = std::make_unique<Block>();
    block->bytes = rounded;
    block->host = pages;
    return block.release();
  }
  void do_free(Block* block) noexcept override {
    cpu::unmap_pages(block->host, block->bytes);
    delete block;
  }
  void do_launch(KernelId id, std::span<const View> views, const void* params) override {
    kernels_[id](context_, views, params);
  }
  void do_copy(const View& src, const View& dst) override { std::memcpy(at(dst), at(src), src.bytes); }
  void do_fill(const View& dst, std::uint32_t pattern) override {
    if (pattern == 0) {
      std::memset(at(dst), 0, dst.bytes);
    } else {
      auto* words = reinterpret_cast<std::uint32_t*>(at(dst));
      std::fill_n(words, dst.bytes / sizeof pattern, pattern);
    }
  }
  void do_stage(const View& dst, std::span<const std::byte> bytes) override {
    std::memcpy(at(dst), bytes.data(), bytes.size());
  }
  void do_fetch(const View& src, std::shared_ptr<Fetched> host) override {
    std::memcpy(writable(*host).data(), at(src), src.bytes);
  }
  void do_submit(Ticket) override {}
  void do_wait(Ticket) override {}

  static std::byte* at(const View& view) noexcept { return view.block->host + view.offset; }

  cpu::SimdLevel level_;
  const cpu::KernelRow& kernels_;
  ThreadPool pool_;
  cpu::CpuContext context_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device(int threads) { return std::make_unique<CpuDevice>(threads); }

}  // namespace llmtool
