// Tensor: a cheap handle to device memory with a shape and a type, and, where it takes part in
// differentiation, to its gradient and the graph behind it. Contiguous, row-major, at most four dimensions.
// Nothing is copied behind the user's back, and nothing here waits for the device but to_host(), item() and
// their like. Not here: operations (ops), the graph itself (autograd.h).
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/device.h"
#include "device/pool.h"
#include "tensor/shape.h"

namespace llmtool {

class Node;
class Tensor;

/// Memory shared by every handle and view of it; goes back to the pool with the last one.
struct Storage {
  Storage(Device& device, std::uint64_t bytes);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  Device* device;
  Allocation allocation;
  std::uint64_t version = 0;  ///< Counts changes in place; a pending backward compares it.
};

/// What differentiation knows about a tensor. Kept apart from the storage, so that the graph does not keep
/// values alive that no backward needs.
struct GradMeta;

class Tensor {
 public:
  Tensor() = default;  ///< Undefined.

  static Tensor empty(Device& device, Shape shape, DType dtype = DType::f32);
  static Tensor zeros(Device& device, Shape shape, DType dtype = DType::f32);
  static Tensor full(Device& device, Shape shape, float value);
  /// values.size() must equal the shape's numel.
  static Tensor of(Device& device, Shape shape, std::span<const float> values);
  static Tensor of(Device& device, Shape shape, std::initializer_list<float> values);
  static Tensor of_ints(Device& device, Shape shape, std::span<const std::int32_t> values);
  static Tensor scalar(Device& device, float value);

  bool defined() const noexcept { return storage_ != nullptr; }
  Device& device() const;
  const Shape& shape() const noexcept { return shape_; }
  std::int64_t numel() const noexcept { return shape_.numel(); }
  DType dtype() const noexcept { return dtype_; }
  /// The bytes, for Device::launch.
  View view() const;
  /// The same memory from `offset` elements on, under another shape; outside differentiation. It must fit.
  Tensor alias(std::int64_t offset, Shape shape) const;
  std::uint64_t byte_offset() const noexcept { return offset_; }
  const std::shared_ptr<Storage>& storage() const noexcept { return storage_; }

  /// Leaf of differentiation (a parameter, an input under test).
  Tensor& set_requires_grad(bool on = true);
  bool requires_grad() const noexcept;
  /// Undefined until a backward has reached this leaf (or set_grad() gave it a place).
  Tensor grad() const;
  /// Gives the leaf a place for its gradient (a view of a slab); backwards then add to what is there.
  void set_grad(Tensor grad);
  /// Fills the gradient with zeros, where there is one.
  void zero_grad();
  /// The same values, outside the graph.
  Tensor detach() const;

  /// Gradients of every leaf behind this scalar: accumulated, and the graph freed. request_error on a
  /// non-scalar, on a tensor without a graph, and on a graph that was used before.
  void backward() const;

  /// Overwrites the values (from the host); pending backwards that need the old ones will say so.
  void assign(std::span<const float> values);
  void assign(std::span<const std::int32_t> values);
  /// To be called by whoever changes values through view().
  void mark_changed() const noexcept;
  std::uint64_t version() const noexcept { return storage_ ? storage_->version : 0; }

  /// Waits for the device and copies out. InternalError on the wrong dtype.
  std::vector<float> to_host() const;
  std::vector<std::int32_t> to_host_ints() const;
  /// The one value of a scalar; waits for the device.
  float item() const;

  const std::shared_ptr<GradMeta>& meta() const noexcept { return meta_; }
  void set_meta(std::shared_ptr<GradMeta> meta) noexcept { meta_ = std::move(meta); }

 private:
  std::shared_ptr<Storage> storage_;
  std::uint64_t offset_ = 0;  // bytes from the start of the storage
  Shape shape_;
  DType dtype_ = DType::f32;
  std::shared_ptr<GradMeta> meta_;
};

}  // namespace llmtool
