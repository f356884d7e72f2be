// Cases of sums, expansion, permutation, and the gather and scatter of rows.
#include <algorithm>

#include "base/cat.h"
#include "kernels/case.h"

namespace llmtool::kernel_test {
namespace {

using Shape = std::uint32_t[4];

std::size_t elements(const Shape& shape) { return std::size_t{shape[0]} * shape[1] * shape[2] * shape[3]; }

void add_reduction(Cases& cases, const Shape& shape, const Shape& out) {
  for (const float scale : {1.0f, 0.375f}) {
    for (std::uint32_t accumulate = 0; accumulate < 2; ++accumulate) {
      ReduceParams p{};
      std::copy(std::begin(shape), std::end(shape), p.shape);
      std::copy(std::begin(out), std::end(out), p.out_shape);
      p.n = static_cast<std::uint32_t>(elements(shape));
      p.scale = scale;
      p.accumulate = accumulate;
      const std::size_t outputs = elements(out);
      const std::string what =
          cat(shape[0], ",", shape[1], ",", shape[2], ",", shape[3], " and ", out[0], ",", out[1], ",",
              out[2], ",", out[3], " scale ", scale, " accumulate ", accumulate);
      // A sum of mixed signs may come out small: each of its terms is rounded.
      cases.push_back(
          make_case<KernelId::sum_to>(what, {floats(uniform(p.n, p.n)), result(outputs, accumulate)}, p, 1e-6,
                                      1e-7 * static_cast<double>(p.n) / static_cast<double>(outputs)));
      cases.push_back(make_case<KernelId::expand>(
          what, {floats(uniform(outputs, p.n)), result(p.n, accumulate)}, p, 1.5e-7));
    }
  }
}

void add_permutation(Cases& cases, const char* what, const Shape& shape, const Shape& stride) {
  for (std::uint32_t accumulate = 0; accumulate < 2; ++accumulate) {
    PermuteParams p{};
    std::copy(std::begin(shape), std::end(shape), p.shape);
    std::copy(std::begin(stride), std::end(stride), p.x_stride);
    p.n = static_cast<std::uint32_t>(elements(shape));
    p.accumulate = accumulate;
    std::size_t last = 0;
    for (int d = 0; d < 4; ++d) last += std::size_t{shape[d] - 1} * stride[d];
    cases.push_back(make_case<KernelId::permute>(
        cat(what, " ", shape[0], ",", shape[1], ",", shape[2], ",", shape[3], " accumulate ", accumulate),
        {floats(uniform(last + 1, p.n)), result(p.n, accumulate)}, p, accumulate != 0 ? 1.5e-7 : 0));
  }
}

void add_permutations(Cases& cases) {
  // Every order of the dimensions of (2, 3, 4, 5).
  const std::uint32_t from[4] = {2, 3, 4, 5}, stride[4] = {60, 20, 5, 1};
  int order[4] = {0, 1, 2, 3};
  do {
    Shape shape{}, moved{};
    for (int d = 0; d < 4; ++d) {
      shape[d] = from[order[d]];
      moved[d] = stride[order[d]];
    }
    add_permutation(cases, "order", shape, moved);
  } while (std::next_permutation(order, order + 4));
  for (const std::uint32_t n : sizes()) {
    add_permutation(cases, "transpose", {1, 1, n, 33}, {0, 0, 1, n});
    add_permutation(cases, "heads", {2, 3, n, 8}, {n * 24, 8, 24, 1});
    add_permutation(cases, "columns of wider rows", {1, 1, 5, n}, {0, 0, n + 6, 1});
  }
  add_permutation(cases, "spread", {2, 3, 4, 5}, {0, 5, 0, 1});
}

/// [count, unique ids, starts, order] of the ids that are not below 0, in order of first appearance of the
/// sorted ids.
std::vector<std::int32_t> plan_of(const std::vector<std::int32_t>& rows) {
  const std::size_t n = rows.size();
  std::vector<std::int32_t> order;
  for (std::size_t r = 0; r < n; ++r) {
    if (rows[r] >= 0) order.push_back(static_cast<std::int32_t>(r));
  }
  const auto id = [&](std::int32_t r) { return rows[static_cast<std::size_t>(r)]; };
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return id(a) < id(b); });
  std::vector<std::int32_t> plan(2 + 3 * n, -7);  // what is not used must not be read
  std::size_t unique = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (k == 0 || id(order[k]) != id(order[k - 1])) {
      plan[1 + unique] = id(order[k]);
      plan[1 + n + unique] = static_cast<std::int32_t>(k);
      ++unique;
    }
    plan[2 + 2 * n + k] = order[k];
  }
  plan[1 + n + unique] = static_cast<std::int32_t>(order.size());
  plan[0] = static_cast<std::int32_t>(unique);
  return plan;
}

void add_gathers(Cases& cases) {
  for (const std::uint32_t cols : sizes()) {
    for (const std::uint32_t rows : {1u, 2u, 17u, 64u}) {
      for (const std::uint32_t table_rows : {1u, 5u, 40u}) {
        const GatherParams p{rows, cols, table_rows};
        std::vector<std::int32_t> chosen;
        for (const float x : uniform(rows, rows + cols, -0.1f, 1)) {
          chosen.push_back(x < 0 ? -1
                                 : static_cast<std::int32_t>(x * static_cast<float>(table_rows)) %
                                       static_cast<std::int32_t>(table_rows));
        }
        const std::size_t table = std::size_t{table_rows} * cols, n = std::size_t{rows} * cols;
        const std::string what = cat(rows, " of ", table_rows, "x", cols);
        cases.push_back(make_case<KernelId::gather_rows>(
            what, {floats(uniform(table, table)), ids(chosen), output(n)}, p, 0));
        cases.push_back(make_case<KernelId::scatter_rows>(
            what, {floats(uniform(n, n)), ids(plan_of(chosen)), floats(uniform(table, table))}, p, 1e-6,
            1e-6));
      }
    }
  }
}

}  // namespace

void add_shape_cases(Cases& cases) {
  for (const std::uint32_t n : sizes()) {
    add_reduction(cases, {1, 1, 1, n}, {1, 1, 1, 1});
    add_reduction(cases, {1, 1, 3, n}, {1, 1, 3, 1});
    add_reduction(cases, {1, 1, n, 17}, {1, 1, 1, 17});
    add_reduction(cases, {1, 1, 5, n}, {1, 1, 1, n});
    add_reduction(cases, {1, 1, 2, n}, {1, 1, 2, n});
  }
  add_reduction(cases, {1, 1, 1, 5000}, {1, 1, 1, 1});
  add_reduction(cases, {1, 1, 700, 9}, {1, 1, 1, 9});
  // Long enough for sums in parts.
  add_reduction(cases, {1, 1, 1, 20001}, {1, 1, 1, 1});
  add_reduction(cases, {1, 1, 3, 9999}, {1, 1, 3, 1});
  add_reduction(cases, {1, 1, 3001, 5}, {1, 1, 1, 5});
  add_reduction(cases, {61, 3, 97, 2}, {1, 3, 1, 2});
  for (std::uint32_t mask = 0; mask < 16; ++mask) {
    const Shape out{mask & 1 ? 1u : 2u, mask & 2 ? 1u : 3u, mask & 4 ? 1u : 4u, mask & 8 ? 1u : 5u};
    add_reduction(cases, {2, 3, 4, 5}, out);
  }
  add_permutations(cases);
  add_gathers(cases);
}

}  // namespace llmtool::kernel_test
