// Parameters, their gradients and the optimizer's moments as a few contiguous slabs of one geometry: decayed
// parameters first, then the others. So zeroing, norm and update are one launch per slab. Not here: what the
// parameters mean.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace llmtool {

/// What a slab needs to know of one parameter.
struct SlabEntry {
  Shape shape;
  /// Decayed entries (matrices and embeddings) lie before the others (biases and gains).
  bool decay = true;
  /// Lies directly behind the last entry of the same `decay`, without an alignment gap (q, k, v weights;
  /// their biases likewise), so that one product serves both.
  bool joins_previous = false;
};

/// Offsets in elements into slab `slab`.
struct SlabPlace {
  int slab = 0;
  std::int64_t offset = 0;
};

/// One slab: n elements, the first n_decay of which are decayed. Gaps hold zeros and stay zero.
struct Slab {
  std::int64_t n = 0;
  std::int64_t n_decay = 0;
  Tensor values;
  Tensor grads;    ///< Undefined for inference.
  Tensor moment1;  ///< Undefined until an optimizer that needs it asks for it.
  Tensor moment2;
};

class ParameterSlabs {
 public:
  ParameterSlabs() = default;
  /// Plans and allocates values (and gradients), zero-filled. Every slab stays within the device's
  /// max_binding_bytes; an entry (with those that join it) too large for that is a request_error. With
  /// `decay_all` every element is decayed; the places stay the same.
  ParameterSlabs(Device& device, std::span<const SlabEntry> entries, bool with_grads, bool decay_all = false);

  std::vector<Slab>& slabs() noexcept { return slabs_; }
  const std::vector<Slab>& slabs() const noexcept { return slabs_; }
  const SlabPlace& place(std::size_t entry) const { return places_[entry]; }
  /// Entry i's view of the values, and of the gradients (undefined without).
  Tensor value(std::size_t entry) const;
  Tensor grad(std::size_t entry) const;
  /// Entry i's view of the first (1) or second (2) moment; undefined where that was not made.
  Tensor moment(std::size_t entry, int which) const;
  /// Allocates the moments (zero-filled) where they are missing.
  void make_moments(bool first, bool second);
  /// One fill per slab.
  void zero_grads();
  /// Of all slabs, gaps included.
  std::int64_t total_elements() const noexcept;

 private:
  Tensor part(const Tensor& whole, std::size_t entry) const;
  void plan(std::span<const SlabEntry> entries, bool decay, std::int64_t limit);

  std::vector<Slab> slabs_;
  std::vector<SlabPlace> places_;
  std::vector<Shape> shapes_;
};

}  // namespace llmtool
