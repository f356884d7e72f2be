// From a recorded launch to the dispatches that do it: which shaders, with which sizes, in which grid,
// through which scratch memory. A pure function of the launch and the device's limits, so that it is tested
// without a GPU. Not here: recording (recorder.h), cutting a launch whose views are too large to bind
// (split.h).
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "device/kernel_id.h"
#include "device/view.h"

namespace llmtool::vulkan {

inline constexpr std::uint32_t max_bindings = 8;  ///< Views of a dispatch.

/// What plans depend on; from the driver, or smaller where the environment forces that in tests.
struct Limits {
  std::uint64_t max_range = std::uint64_t{128} << 20;  ///< Bytes of one bound view.
  std::uint32_t offset_alignment = 256;                ///< Of a bound view's offset, in bytes.
  std::uint32_t max_shared = 16 << 10;                 ///< Bytes of shared memory of a workgroup.
  std::uint32_t max_invocations = 128;                 ///< Threads of a workgroup.
  std::uint32_t max_groups = 65535;                    ///< Workgroups in each dimension of a grid.

  /// Threads of a workgroup of a simple kernel.
  std::uint32_t threads() const noexcept { return max_invocations < 256 ? max_invocations : 256; }
};

/// One dispatch of one shader.
struct Dispatch {
  std::string_view shader;                   ///< Stem of its .comp file.
  std::string_view accesses;                 ///< One letter per view, as in kernels.def.
  std::vector<View> views;                   ///< In binding order; 0 bytes: left out.
  std::array<std::uint32_t, 8> constants{};  ///< Specialisation constants 0 .. 7.
  std::array<std::uint32_t, 3> groups{1, 1, 1};
  std::array<std::byte, 96> params{};
  std::array<std::uint32_t, 4> window{};  ///< Placement::window.
  double flops = 0;                       ///< Estimates, for the time budget of a submission.
  double bytes = 0;

  template <class Params>
  void set_params(const Params& p) noexcept {
    static_assert(sizeof p <= sizeof params);
    std::memcpy(params.data(), &p, sizeof p);
  }
};

/// A launch, or a piece of one after split.h has cut it.
struct Launch {
  KernelId id{};
  std::vector<View> views;
  std::array<std::byte, 96> params{};
  std::array<std::uint32_t, 4> window{};

  template <class Params>
  Params params_as() const noexcept {
    Params p;
    std::memcpy(&p, params.data(), sizeof p);
    return p;
  }
  template <class Params>
  void set_params(const Params& p) noexcept {
    std::memcpy(params.data(), &p, sizeof p);
  }
  /// Bytes of all views.
  double bytes() const noexcept {
    double sum = 0;
    for (const View& view : views) sum += static_cast<double>(view.bytes);
    return sum;
  }
};

/// Gives device memory that holds until the launch is done.
using Scratch = std::function<View(std::uint64_t bytes)>;

/// The dispatches of a launch whose views all fit max_range, in order; empty for a launch without work.
std::vector<Dispatch> plan(const Launch& launch, const Limits& limits, const Scratch& scratch);

/// A dispatch of the kernel's own shader with its own views and parameters; constants[0] = threads.
Dispatch dispatch_of(const Launch& launch, std::uint32_t threads);

/// Groups for n elements at `per_group` each, at most max_groups: the rest is done in loops.
constexpr std::uint32_t groups_for(std::uint64_t n, std::uint64_t per_group,
                                   std::uint32_t max_groups) noexcept {
  const std::uint64_t groups = (n + per_group - 1) / per_group;
  return static_cast<std::uint32_t>(groups < max_groups ? groups : max_groups);
}

// One function per family of kernels, called by plan().
std::vector<Dispatch> plan_flat(const Launch& launch, const Limits& limits);  // plan_flat.cpp
std::vector<Dispatch> plan_shape(const Launch& launch, const Limits& limits,
                                 const Scratch& scratch);  // plan_shape.cpp
std::vector<Dispatch> plan_rows(const Launch& launch, const Limits& limits,
                                const Scratch& scratch);  // plan_rows.cpp
std::vector<Dispatch> plan_matmul(const Launch& launch, const Limits& limits,
                                  const Scratch& scratch);  // plan_matmul.cpp
std::vector<Dispatch> plan_attention(const Launch& launch, const Limits& limits,
                                     const Scratch& scratch);  // plan_attention.cpp

}  // namespace llmtool::vulkan
