// Running and comparing cases; see run.h.
#include "kernels/run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/cat.h"
#include "device/pool.h"
#include "ref/reference_device.h"

namespace llmtool::kernel_test {
namespace {

constexpr std::uint64_t guard = 24;  // words kept before and after each view; a widest vector and a half

/// Arguments of one case in device memory, each between guards.
struct Placed {
  std::vector<View> views;   // what the kernel gets
  std::vector<View> wholes;  // with their guards

  Placed(Device& device, const Case& c) {
    for (const Operand& operand : c.operands) {
      if (operand.words.empty()) {
        views.emplace_back();
        wholes.emplace_back();
        continue;
      }
      // The guard before is a whole number of alignments, so that an unshifted view is aligned.
      const std::uint64_t before = std::max<std::uint64_t>(guard * 4, device.caps().alignment);
      const std::uint64_t bytes = operand.words.size() * 4;
      const std::uint64_t whole = before + (operand.shift + operand.words.size() + guard) * 4;
      const Allocation a = device.pool().take(whole);
      allocations.push_back(a);
      wholes.push_back({a.block, a.offset, whole, operand.dtype});
      views.push_back({a.block, a.offset + before + operand.shift * 4, bytes, operand.dtype});
      device.fill(wholes.back(), untouched);
      device.stage(views.back(), std::as_bytes(std::span(operand.words)));
    }
  }
  void give_back(Device& device) {
    for (const Allocation& a : allocations) device.pool().give(a);
  }

 private:
  std::vector<Allocation> allocations;
};

void launch_case(Device& device, const Case& c, const Placed& placed) {
  device.launch(c.id, placed.views, c.params.data(), c.params.size());
}

bool changes(const Case& c, std::size_t argument) {
  return kernel_info(c.id).access(static_cast<int>(argument)) != Access::read;
}

/// As f32 would hold it: beyond its range is infinite.
double in_range(double x) {
  if (std::abs(x) <= static_cast<double>(std::numeric_limits<float>::max())) return x;
  return std::isnan(x) ? x : std::copysign(std::numeric_limits<double>::infinity(), x);
}

/// Squares and largest of what was compared, to be judged as a whole.
struct Distance {
  double error2 = 0, ref2 = 0, largest = 0, count = 0, worst = 0;
  std::size_t worst_at = 0;
  void add(std::size_t i, double y, double ref) {
    const double e = std::abs(y - ref);
    error2 += e * e;
    ref2 += ref * ref;
    largest = std::max(largest, std::abs(ref));
    count += 1;
    if (e > worst) {
      worst = e;
      worst_at = i;
    }
  }
};

std::string difference_of(const Case& c, std::size_t argument, const std::vector<std::uint32_t>& got,
                          const std::vector<double>& want) {
  const auto value = [&](std::size_t i) { return static_cast<double>(std::bit_cast<float>(got[i])); };
  const std::vector<std::uint32_t>& before = c.operands[argument].words;
  Distance distance;
  const std::size_t step = c.pairs ? 2 : 1;
  for (std::size_t i = 0; i < got.size(); i += step) {
    const double y = c.pairs ? value(i) + value(i + 1) : value(i);
    const double ref = in_range(c.pairs ? want[i] + want[i + 1] : want[i]);
    if (std::isfinite(ref) && std::isfinite(y)) {
      distance.add(i, y, ref);
    } else if (before[i] == untouched && std::isnan(ref) && got[i] != untouched && !c.pairs) {
      // NaN that was there before in the reference means that the element is none of the kernel's.
      if (!std::isnan(y)) return cat("argument ", argument, " element ", i, " was to be left alone, is ", y);
    } else if (!(std::isnan(ref) && std::isnan(y)) && ref != y &&
               !(c.pairs && !std::isfinite(ref) && !std::isfinite(y))) {
      return cat("argument ", argument, " element ", i, " is ", y, ", reference ", ref);
    }
  }
  const double allowed = c.relative * std::sqrt(distance.ref2) +
                         (c.relative > 0 ? 1e-7 * distance.largest : 0) + c.noise * std::sqrt(distance.count);
  if (std::sqrt(distance.error2) <= allowed) return {};
  const std::size_t i = distance.worst_at;
  return cat("argument ", argument, ": error ", std::sqrt(distance.error2), " above ", allowed, " (norm ",
             std::sqrt(distance.ref2), "); worst at ", i, " of ", got.size(), ": ", value(i), ", reference ",
             want[i]);
}

}  // namespace

Words run_case(Device& device, const Case& c) {
  Placed placed(device, c);
  launch_case(device, c, placed);
  std::vector<FetchedPtr> fetched;
  for (const View& whole : placed.wholes) fetched.push_back(whole ? device.fetch(whole) : nullptr);
  device.synchronise();
  placed.give_back(device);

  Words words(c.operands.size());
  for (std::size_t a = 0; a < words.size(); ++a) {
    if (fetched[a] == nullptr) continue;
    const auto all = fetched[a]->as<std::uint32_t>();
    const std::size_t first = (placed.views[a].offset - placed.wholes[a].offset) / 4;
    const std::size_t count = c.operands[a].words.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool inside = i >= first && i < first + count;
      LLMTOOL_CHECK(inside || all[i] == untouched, "argument ", a, ": word ",
                    static_cast<std::int64_t>(i - first), " of ", count, " was written");
    }
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    words[a].assign(begin, begin + static_cast<std::ptrdiff_t>(count));
    LLMTOOL_CHECK(changes(c, a) || words[a] == c.operands[a].words, "argument ", a,
                  " is only read, but has changed");
  }
  return words;
}

std::vector<std::vector<double>> reference_of(const Case& c) {
  static ReferenceDevice<double> device;
  Placed placed(device, c);
  launch_case(device, c, placed);
  std::vector<std::vector<double>> values;
  for (const View& view : placed.views) values.push_back(view ? device.peek(view) : std::vector<double>{});
  placed.give_back(device);
  return values;
}

std::string difference(const Case& c, const Words& got, const std::vector<std::vector<double>>& want) {
  for (std::size_t a = 0; a < got.size(); ++a) {
    if (got[a].empty() || !changes(c, a)) continue;
    std::string found = difference_of(c, a, got[a], want[a]);
    if (!found.empty()) return found;
  }
  return {};
}

std::vector<std::string> failures_of(Device& device, KernelId id, std::uint32_t every) {
  std::vector<std::string> failures;
  std::uint32_t seen = 0;
  for (const Case& c : all_cases()) {
    if (c.id != id) continue;
    const std::uint32_t scattered = seen++ * 2654435761u >> 16;  // Knuth's multiplicative hash
    if (scattered % every != 0) continue;
    std::string found;
    try {
      found = difference(c, run_case(device, c), reference_of(c));
    } catch (const InternalError& error) {
      found = error.what();
    }
    if (!found.empty()) failures.push_back(cat(kernel_info(id).name, " [", c.what, "]: ", found));
  }
  return failures;
}

}  // namespace llmtool::kernel_test
