// Handles to device memory; see tensor.h.
#include "tensor/tensor.h"

#include <bit>
#include <limits>
#include <utility>

#include "base/error.h"
#include "tensor/autograd.h"

namespace llmtool {
namespace {

/// Bytes of a tensor of that shape; refuses what kernels cannot address or the device cannot bind.
std::uint64_t checked_bytes(const Device& device, const Shape& shape, DType dtype) {
  for (const std::int64_t d : shape.dims()) {
    if (d < 1) throw request_error(cat("[tensor] extents must be at least 1: ", shape.str()));
  }
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  if (shape.numel() > most) {
    throw request_error(
        cat("[tensor] ", shape.str(), " has more than the ", most, " elements that kernels can number"),
        "lower batch_size, block_size or vocab_size");
  }
  const std::uint64_t bytes = static_cast<std::uint64_t>(shape.numel()) * size_of(dtype);
  if (bytes > device.caps().max_binding_bytes) {
    throw world_error(cat("[tensor] ", shape.str(), " takes ", bytes, " bytes, above max_binding_bytes ",
                          device.caps().max_binding_bytes, " of the device ", device.name()),
                      "lower batch_size, block_size or vocab_size");
  }
  return bytes;
}

template <class T>
void stage_all(const Tensor& tensor, std::span<const T> values) {
  if (static_cast<std::int64_t>(values.size()) != tensor.numel()) {
    throw request_error(cat("[tensor] ", values.size(), " values for the shape ", tensor.shape().str()));
  }
  tensor.device().stage(tensor.view(), std::as_bytes(values));
}

template <class T>
std::vector<T> read_all(const Tensor& tensor) {
  Device& device = tensor.device();
  const FetchedPtr fetched = device.fetch(tensor.view());
  device.synchronise();
  return fetched->as<T>();
}

}  // namespace

Storage::Storage(Device& d, std::uint64_t bytes) : device(&d), allocation(d.pool().take(bytes)) {}
Storage::~Storage() { device->pool().give(allocation); }

Tensor Tensor::empty(Device& device, Shape shape, DType dtype) {
  Tensor tensor;
  tensor.storage_ = std::make_shared<Storage>(device, checked_bytes(device, shape, dtype));
  tensor.shape_ = shape;
  tensor.dtype_ = dtype;
  return tensor;
}

Tensor Tensor::zeros(Device& device, Shape shape, DType dtype) {
  Tensor tensor = empty(device, shape, dtype);
  device.fill(tensor.view(), 0);
  return tensor;
}

Tensor Tensor::full(Device& device, Shape shape, float value) {
  Tensor tensor = empty(device, shape);
  device.fill(tensor.view(), std::bit_cast<std::uint32_t>(value));
  return tensor;
}

Tensor Tensor::of(Device& device, Shape shape, std::span<const float> values) {
  Tensor tensor = empty(device, shape);
  stage_all(tensor, values);
  return tensor;
}

Tensor Tensor::of(Device& device, Shape shape, std::initializer_list<float> values) {
  return of(device, shape, std::span<const float>(values.begin(), values.size()));
}

Tensor Tensor::of_ints(Device& device, Shape shape, std::span<const std::int32_t> values) {
  Tensor tensor = empty(device, shape, DType::i32);
  stage_all(tensor, values);
  return tensor;
}

Tensor Tensor::scalar(Device& device, float value) { return full(device, Shape{}, value); }

Device& Tensor::device() const {
  LLMTOOL_CHECK(defined(), "an undefined tensor was used");
  return *storage_->device;
}

View Tensor::view() const {
  LLMTOOL_CHECK(defined(), "an undefined tensor was used");
  return {storage_->allocation.block, storage_->allocation.offset + offset_,
          static_cast<std::uint64_t>(numel()) * size_of(dtype_), dtype_};
}

Tensor Tensor::alias(std::int64_t offset, Shape shape) const {
  LLMTOOL_CHECK(defined() && offset >= 0 && shape.numel() >= 1 && shape.numel() <= numel() - offset,
                "alias at ", offset, " of ", shape.str(), " in ", shape_.str());
  Tensor out;
  out.storage_ = storage_;
  out.offset_ = offset_ + static_cast<std::uint64_t>(offset) * size_of(dtype_);
  out.shape_ = shape;
  out.dtype_ = dtype_;
  return out;
}

Tensor& Tensor::set_requires_grad(bool on) {
  if (meta_ && meta_->node) {
    throw request_error("[requires_grad] only a leaf can be set; this tensor is the result of an operation");
  }
  if (on && dtype() != DType::f32) throw request_error("[requires_grad] only f32 tensors have gradients");
  if (!on) meta_.reset();
  if (on && !meta_) meta_ = std::make_shared<GradMeta>(device(), shape_);
  return *this;
}

bool Tensor::requires_grad() const noexcept { return meta_ != nullptr; }

Tensor Tensor::grad() const { return meta_ ? meta_->grad : Tensor(); }

void Tensor::set_grad(Tensor grad) {
  LLMTOOL_CHECK(meta_ && !meta_->node, "a place for the gradient of a tensor that is no leaf");
  LLMTOOL_CHECK(grad.shape() == shape_ && grad.dtype() == DType::f32 && &grad.device() == &device(),
                "gradient ", grad.shape().str(), " of ", shape_.str());
  meta_->grad = grad.detach();
  meta_->owns_grad = true;
}

void Tensor::zero_grad() {
  if (meta_ && meta_->grad.defined()) device().fill(meta_->grad.view(), 0);
}

Tensor Tensor::detach() const {
  Tensor out = *this;
  out.meta_.reset();
  return out;
}

void Tensor::backward() const {
  if (numel() != 1) {
    throw request_error(cat("[backward] starts from a scalar; this tensor is ", shape_.str()));
  }
  if (!requires_grad() || !meta_->node) {
    throw request_error("[backward] this tensor has no graph: nothing it was made from requires a gradient");
  }
  run_backward(*this, full(device(), shape_, 1.0F));
}

void Tensor::assign(std::span<const float> values) {
  LLMTOOL_CHECK(dtype_ == DType::f32, "f32 values for a tensor of ", name_of(dtype_));
  stage_all(*this, values);
  mark_changed();
}

void Tensor::assign(std::span<const std::int32_t> values) {
  LLMTOOL_CHECK(dtype_ == DType::i32, "i32 values for a tensor of ", name_of(dtype_));
  stage_all(*this, values);
  mark_changed();
}

void Tensor::mark_changed() const noexcept {
  if (storage_) ++storage_->version;
}

std::vector<float> Tensor::to_host() const {
  LLMTOOL_CHECK(dtype_ == DType::f32, "to_host of a tensor of ", name_of(dtype_));
  return read_all<float>(*this);
}

std::vector<std::int32_t> Tensor::to_host_ints() const {
  LLMTOOL_CHECK(dtype_ == DType::i32, "to_host_ints of a tensor of ", name_of(dtype_));
  return read_all<std::int32_t>(*this);
}

float Tensor::item() const {
  LLMTOOL_CHECK(numel() == 1, "item of ", shape_.str());
  return to_host().front();
}

}  // namespace llmtool
