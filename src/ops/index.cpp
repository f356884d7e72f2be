// Token ids and targets; see index.h.
#include "ops/index.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "ops/internal.h"

namespace llmtool::ops {
namespace {

void check_ids(const char* op, std::span<const std::int32_t> ids, std::int64_t limit, bool may_ignore) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= 0 && ids[i] < limit) continue;
    if (may_ignore && ids[i] == ignore_index) continue;
    throw request_error(cat("[", op, "] id ", ids[i], " at position ", i, " lies outside 0 to ", limit - 1,
                            " (", limit, " in all)"));
  }
}

/// Puts `values` on the device: into the memory that is there, or into new memory the first time.
void put(Device& device, Tensor& tensor, std::span<const std::int32_t> values) {
  if (tensor.defined()) {
    tensor.assign(values);
  } else {
    tensor = Tensor::of_ints(device, {static_cast<std::int64_t>(values.size())}, values);
  }
}

/// The plan of scatter_rows (kernels/params.h): positions sorted by id, ascending within an id.
void make_plan(std::span<const std::int32_t> ids, std::vector<std::int32_t>& plan) {
  const std::size_t n = ids.size();
  plan.assign(1 + n + (n + 1) + n, 0);
  const std::span<std::int32_t> unique(plan.data() + 1, n);
  const std::span<std::int32_t> starts(plan.data() + 1 + n, n + 1);
  const std::span<std::int32_t> order(plan.data() + 1 + n + n + 1, n);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {},
                           [&](std::int32_t position) { return ids[static_cast<std::size_t>(position)]; });
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t id = ids[static_cast<std::size_t>(order[i])];
    if (count > 0 && unique[count - 1] == id) continue;
    unique[count] = id;
    starts[count] = static_cast<std::int32_t>(i);
    ++count;
  }
  starts[count] = static_cast<std::int32_t>(n);
  plan[0] = static_cast<std::int32_t>(count);
}

}  // namespace

Index::Index(Device& device, std::span<const std::int32_t> ids, std::int64_t limit)
    : size_(static_cast<std::int64_t>(ids.size())), limit_(limit) {
  if (ids.empty()) throw request_error("[index] no ids");
  check_ids("index", ids, limit, false);
  ids_ = Tensor::empty(device, {size_}, DType::i32);
  set(ids);
}

void Index::set(std::span<const std::int32_t> ids) {
  LLMTOOL_CHECK(ids_.defined() && static_cast<std::int64_t>(ids.size()) == size_, ids.size(),
                " ids for an index of ", size_);
  check_ids("index", ids, limit_, false);
  ids_.assign(ids);
  // Once there is a plan it follows the ids, so that it can never belong to others.
  if (!grad_enabled() && !plan_.defined()) return;
  make_plan(ids, host_plan_);
  put(ids_.device(), plan_, host_plan_);
}

Tensor gather_rows(const Tensor& table, const Index& index) {
  constexpr const char* op = "gather_rows";
  const Shape& shape = table.shape();
  LLMTOOL_CHECK(index.ids().defined(), "[", op, "] an empty index");
  if (shape.rank() != 2 || shape[0] != index.limit()) {
    throw request_error(cat("[", op, "] ids below ", index.limit(), " need a table (", index.limit(),
                            ",C), not ", shape.str()));
  }
  operands(op, {table});
  Device& device = common_device(op, {table, index.ids()});
  const GatherParams params{u32(index.size()), u32(shape[1]), u32(shape[0])};
  Tensor y = Tensor::empty(device, {index.size(), shape[1]});
  launch<KernelId::gather_rows>(device, {table.view(), index.ids().view(), y.view()}, params);
  if (!will_record({table})) return y;
  if (!index.plan().defined()) {
    throw request_error(
        cat("[", op, "] this index was made under NoGrad and cannot be differentiated through"));
  }
  return record(op, y, {table}, [params, plan = Saved(index.plan())](Backward& back) {
    const GradTarget dtable = back.target(0);
    if (dtable.accumulate == 0) back.device().fill(dtable.view(), 0);
    launch<KernelId::scatter_rows>(back.device(), {back.grad().view(), plan.get().view(), dtable.view()},
                                   params);
  });
}

Targets::Targets(Device& device, std::span<const std::int32_t> ids, std::int64_t limit)
    : size_(static_cast<std::int64_t>(ids.size())), limit_(limit) {
  if (ids.empty()) throw request_error("[targets] no ids");
  check_ids("targets", ids, limit, true);
  ids_ = Tensor::empty(device, {size_}, DType::i32);
  scale_ = Tensor::empty(device, {});
  set(ids);
}

void Targets::set(std::span<const std::int32_t> ids) {
  LLMTOOL_CHECK(ids_.defined() && static_cast<std::int64_t>(ids.size()) == size_, ids.size(),
                " ids for targets of ", size_);
  check_ids("targets", ids, limit_, true);
  counted_ = size_ - std::ranges::count(ids, ignore_index);
  ids_.assign(ids);
  if (!own_scale_) return;
  const float scale = counted_ == 0 ? 0.0F : static_cast<float>(1.0 / static_cast<double>(counted_));
  scale_.assign(std::span<const float>(&scale, 1));
}

}  // namespace llmtool::ops
