// Parameter slabs; see parameter_slabs.h.
#include "tensor/parameter_slabs.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace llmtool {
namespace {

/// 256 bytes: what every device's binding offsets are a multiple of.
constexpr std::int64_t alignment = 64;

std::int64_t align_up(std::int64_t n) noexcept { return (n + alignment - 1) / alignment * alignment; }

/// Elements a slab may have: kernels count them in 32 bits, and a view may not exceed the device's limit.
std::int64_t slab_limit(const DeviceCaps& caps) noexcept {
  const std::uint64_t elements = std::min<std::uint64_t>(caps.max_binding_bytes / sizeof(float),
                                                         std::numeric_limits<std::int32_t>::max());
  return static_cast<std::int64_t>(elements) / alignment * alignment;
}

}  // namespace

ParameterSlabs::ParameterSlabs(Device& device, std::span<const SlabEntry> entries, bool with_grads,
                               bool decay_all) {
  const std::int64_t limit = slab_limit(device.caps());
  for (const SlabEntry& entry : entries) shapes_.push_back(entry.shape);
  places_.resize(entries.size());
  plan(entries, true, limit);
  plan(entries, false, limit);
  for (Slab& slab : slabs_) {
    slab.n = align_up(slab.n);
    slab.n_decay = decay_all ? slab.n : std::min(slab.n, align_up(slab.n_decay));
    slab.values = Tensor::zeros(device, Shape{slab.n});
    if (with_grads) slab.grads = Tensor::zeros(device, Shape{slab.n});
  }
}

/// Places the entries of one group behind what is there; entries that join move as one.
void ParameterSlabs::plan(std::span<const SlabEntry> entries, bool decay, std::int64_t limit) {
  std::vector<std::size_t> group;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].decay == decay) group.push_back(i);
  }
  for (std::size_t first = 0; first < group.size();) {
    std::size_t last = first;
    std::int64_t size = 0;
    do {
      size += entries[group[last++]].shape.numel();
    } while (last < group.size() && entries[group[last]].joins_previous);
    if (size > limit) {
      throw request_error(cat("[parameters] a parameter of shape ", entries[group[first]].shape.str(), " (",
                              size * static_cast<std::int64_t>(sizeof(float)),
                              " bytes with those that share its product) exceeds the device's limit of ",
                              limit * static_cast<std::int64_t>(sizeof(float)), " bytes per binding"),
                          "choose a smaller vocabulary, n_embd, mlp_hidden or block_size");
    }
    if (slabs_.empty() || align_up(slabs_.back().n) + size > limit) slabs_.emplace_back();
    Slab& slab = slabs_.back();
    slab.n = align_up(slab.n);
    for (; first < last; ++first) {
      places_[group[first]] = {static_cast<int>(slabs_.size()) - 1, slab.n};
      slab.n += entries[group[first]].shape.numel();
    }
    if (decay) slab.n_decay = slab.n;
  }
}

Tensor ParameterSlabs::part(const Tensor& whole, std::size_t entry) const {
  return whole.defined() ? whole.alias(places_[entry].offset, shapes_[entry]) : Tensor();
}

Tensor ParameterSlabs::value(std::size_t entry) const {
  return part(slabs_[static_cast<std::size_t>(places_[entry].slab)].values, entry);
}

Tensor ParameterSlabs::grad(std::size_t entry) const {
  return part(slabs_[static_cast<std::size_t>(places_[entry].slab)].grads, entry);
}

Tensor ParameterSlabs::moment(std::size_t entry, int which) const {
  LLMTOOL_CHECK(which == 1 || which == 2, "moment ", which);
  const Slab& slab = slabs_[static_cast<std::size_t>(places_[entry].slab)];
  return part(which == 1 ? slab.moment1 : slab.moment2, entry);
}

void ParameterSlabs::make_moments(bool first, bool second) {
  for (Slab& slab : slabs_) {
    Device& device = slab.values.device();
    if (first && !slab.moment1.defined()) slab.moment1 = Tensor::zeros(device, Shape{slab.n});
    if (second && !slab.moment2.defined()) slab.moment2 = Tensor::zeros(device, Shape{slab.n});
  }
}

void ParameterSlabs::zero_grads() {
  for (Slab& slab : slabs_) {
    if (!slab.grads.defined()) continue;
    slab.grads.device().fill(slab.grads.view(), 0);
    slab.grads.mark_changed();
  }
}

std::int64_t ParameterSlabs::total_elements() const noexcept {
  std::int64_t total = 0;
  for (const Slab& slab : slabs_) total += slab.n;
  return total;
}

}  // namespace llmtool
