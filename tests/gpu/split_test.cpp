// Cutting launches that a device cannot bind whole: pieces run on the reference device give what the whole
// gives. No GPU is needed. Not here: kernels whose pieces need windows, which only shaders know
// (split_window_test.cpp).
#include "vulkan/split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/cat.h"
#include "device/pool.h"
#include "kernels/case.h"
#include "ref/reference_device.h"
#include "support/catch.h"

using namespace llmtool;
using namespace llmtool::kernel_test;
using namespace llmtool::vulkan;

namespace {

Limits limits_of(std::uint64_t view_bytes) {
  Limits limits;
  limits.max_range = view_bytes + limits.offset_alignment;
  return limits;
}

/// Views as if the operands lay one after the other in one block.
std::vector<View> views_of(const Case& c) {
  static const Block block{1, std::uint64_t{1} << 40, nullptr};
  std::vector<View> views;
  std::uint64_t offset = 0;
  for (const Operand& operand : c.operands) {
    const std::uint64_t bytes = operand.words.size() * 4;
    views.push_back(bytes == 0 ? View{} : View{&block, offset, bytes, operand.dtype});
    offset += (bytes + 255) / 256 * 256;
  }
  return views;
}

Launch launch_of(const Case& c, std::vector<View> views) {
  Launch launch;
  launch.id = c.id;
  launch.views = std::move(views);
  std::copy(c.params.begin(), c.params.end(), launch.params.begin());
  return launch;
}

/// The case's operands in memory of the reference device, and its launch.
struct Placed {
  ReferenceDevice<double>& device;
  Launch launch;
  std::vector<Allocation> allocations;

  Placed(ReferenceDevice<double>& on, const Case& c) : device(on) {
    std::vector<View> views = views_of(c);
    for (std::size_t i = 0; i < views.size(); ++i) {
      if (!views[i]) continue;
      allocations.push_back(device.pool().take(views[i].bytes));
      views[i].block = allocations.back().block;
      views[i].offset = allocations.back().offset;
      device.stage(views[i], std::as_bytes(std::span(c.operands[i].words)));
    }
    launch = launch_of(c, std::move(views));
  }
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;
  ~Placed() {
    for (const Allocation& a : allocations) device.pool().give(a);
  }

  void run(const Launch& piece) {
    device.launch(piece.id, piece.views, piece.params.data(), kernel_info(piece.id).params_bytes);
  }
  std::vector<std::vector<double>> results() {
    std::vector<std::vector<double>> values;
    for (const View& view : launch.views) values.push_back(view ? device.peek(view) : std::vector<double>{});
    return values;
  }
};

bool windowed(const std::vector<Launch>& pieces) {
  return std::any_of(pieces.begin(), pieces.end(), [](const Launch& piece) {
    return std::any_of(piece.window.begin(), piece.window.end(), [](std::uint32_t w) { return w != 0; });
  });
}

/// Every view fits and lies within the view it was cut from.
bool fitting(const Launch& piece, const Launch& whole, std::uint64_t limit) {
  for (std::size_t i = 0; i < piece.views.size(); ++i) {
    const View &part = piece.views[i], &all = whole.views[i];
    if (part.bytes > limit || part.block != all.block || part.offset < all.offset ||
        part.offset + part.bytes > all.offset + all.bytes || (part.bytes == 0) != (all.bytes == 0)) {
      return false;
    }
  }
  return true;
}

bool near(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-12 * (1 + std::abs(b));
}

/// Where the results differ; empty where they do not.
std::string difference(const std::vector<std::vector<double>>& got,
                       const std::vector<std::vector<double>>& want) {
  for (std::size_t a = 0; a < want.size(); ++a) {
    for (std::size_t i = 0; i < want[a].size(); ++i) {
      if (!near(got[a][i], want[a][i])) {
        return cat("argument ", a, " element ", i, " is ", got[a][i], ", whole ", want[a][i]);
      }
    }
  }
  return {};
}

}  // namespace

TEST_CASE("split: pieces together do what the whole does") {
  DeviceCaps caps;
  caps.block_bytes = 1 << 20;  // fresh memory is filled, so little of it
  ReferenceDevice<double> device(3, caps);
  std::map<KernelId, int> compared;
  for (const Case& c : all_cases()) {
    if (c.what.find("misaligned") != std::string::npos || compared[c.id] >= 250) continue;
    const Launch elsewhere = launch_of(c, views_of(c));
    std::vector<std::vector<double>> want;
    for (const std::uint64_t limit : {256u, 520u, 1040u, 4000u}) {
      std::vector<Launch> pieces;
      try {
        pieces = split(elsewhere, limits_of(limit));
      } catch (const Error&) {
        continue;  // a row or a table that cannot be cut; refusals have tests of their own
      }
      if (pieces.size() < 2 || pieces.size() > 40) continue;
      INFO(kernel_info(c.id).name << " [" << c.what << "] limit " << limit << ", " << pieces.size()
                                  << " pieces");
      for (const Launch& piece : pieces) REQUIRE(fitting(piece, elsewhere, limit));
      if (windowed(pieces)) continue;
      if (want.empty()) {
        Placed whole(device, c);
        whole.run(whole.launch);
        want = whole.results();
      }
      Placed cut(device, c);
      for (const Launch& piece : split(cut.launch, limits_of(limit))) cut.run(piece);
      REQUIRE(difference(cut.results(), want) == "");
      ++compared[c.id];
    }
  }
  for (int k = 0; k < kernel_count; ++k) {
    const KernelId id = static_cast<KernelId>(k);
    // Windows, or nothing to cut.
    if (id == KernelId::dropout || id == KernelId::scatter_rows || id == KernelId::grad_norm_partial ||
        id == KernelId::grad_norm_finish) {
      continue;
    }
    INFO(kernel_info(id).name);
    CHECK(compared[id] > 0);
  }
}
