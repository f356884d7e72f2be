// Token ids as operations take them: made and checked on the host, with what the backward of a lookup needs
// (their sorted order), so that no gradient is summed by atomics.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace llmtool::ops {

inline constexpr std::int32_t ignore_index = -100;

/// Ids of n rows of a table with `limit` rows. set() may be called again with as many ids: the device memory
/// stays.
class Index {
 public:
  Index() = default;
  /// Ids that lie outside [0, limit) are a request_error with the id, its position and the limit.
  Index(Device& device, std::span<const std::int32_t> ids, std::int64_t limit);
  void set(std::span<const std::int32_t> ids);

  std::int64_t size() const noexcept { return size_; }
  std::int64_t limit() const noexcept { return limit_; }
  const Tensor& ids() const noexcept { return ids_; }
  /// i32 (1 + n + n+1 + n): see scatter_rows in kernels/params.h. Made only with gradients on.
  const Tensor& plan() const noexcept { return plan_; }

 private:
  std::int64_t size_ = 0;
  std::int64_t limit_ = 0;
  Tensor ids_, plan_;
  std::vector<std::int32_t> host_plan_;
};

/// table (R, C), ids (n) -> (n, C). dtable[id] += dy rows, in the order of the plan. Keeps nothing.
Tensor gather_rows(const Tensor& table, const Index& index);

/// Targets of n rows: ids in [0, limit), or ignore_index. `scale` is what each row's loss is multiplied by on
/// the device: 1/counted unless use_scale() gave a scalar of the caller's (the whole step's count, in
/// StepParams).
class Targets {
 public:
  Targets() = default;
  Targets(Device& device, std::span<const std::int32_t> ids, std::int64_t limit);
  void set(std::span<const std::int32_t> ids);
  void use_scale(Tensor scale) {
    scale_ = std::move(scale);
    own_scale_ = false;
  }

  std::int64_t size() const noexcept { return size_; }
  std::int64_t limit() const noexcept { return limit_; }
  std::int64_t counted() const noexcept { return counted_; }
  const Tensor& ids() const noexcept { return ids_; }
  const Tensor& scale() const noexcept { return scale_; }

 private:
  std::int64_t size_ = 0;
  std::int64_t limit_ = 0;
  std::int64_t counted_ = 0;
  bool own_scale_ = true;
  Tensor ids_, scale_;
};

}  // namespace llmtool::ops
