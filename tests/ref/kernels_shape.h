// Reference kernels that sum, spread and move elements: sum_to, expand, permute, gather and scatter of rows.
#pragma once
#include "ref/kernels_elementwise.h"

namespace llmtool::ref::kernels {

/// Where element i of `shape` falls in `out_shape`, whose summed dimensions are 1.
inline std::size_t reduced(std::size_t i, const ReduceParams& p) {
  const Index4 at(i, p.shape);
  std::size_t out = 0;
  for (int d = 0; d < 4; ++d) out = out * p.out_shape[d] + (p.out_shape[d] == 1 ? 0 : at.at[d]);
  return out;
}

template <class T>
void sum_to(Arguments<T>& v, const ReduceParams& p) {
  std::size_t outputs = 1;
  for (const std::uint32_t size : p.out_shape) outputs *= size;
  std::vector<T> sums(outputs, T(0));
  for (std::size_t i = 0; i < p.n; ++i) sums[reduced(i, p)] += v[0].get(i);
  for (std::size_t i = 0; i < outputs; ++i) v[1].put(i, T(p.scale) * sums[i]);
}

template <class T>
void expand(Arguments<T>& v, const ReduceParams& p) {
  for (std::size_t i = 0; i < p.n; ++i) v[1].put(i, T(p.scale) * v[0].get(reduced(i, p)));
}

template <class T>
void permute(Arguments<T>& v, const PermuteParams& p) {
  for (std::size_t i = 0; i < p.n; ++i) v[1].put(i, v[0].get(Index4(i, p.shape).offset(p.x_stride)));
}

template <class T>
void gather_rows(Arguments<T>& v, const GatherParams& p) {
  for (std::size_t r = 0; r < p.rows; ++r) {
    const std::int32_t id = v[1].id(r);
    for (std::size_t c = 0; c < p.cols; ++c) {
      v[2].set(r * p.cols + c, id < 0 ? T(0) : v[0].get(static_cast<std::size_t>(id) * p.cols + c));
    }
  }
}

template <class T>
void scatter_rows(Arguments<T>& v, const GatherParams& p) {
  const std::size_t unique = 1, starts = 1 + std::size_t{p.rows}, order = 2 + 2 * std::size_t{p.rows};
  for (std::size_t u = 0; u < v[1].word(0); ++u) {
    const std::size_t row = v[1].word(unique + u) * std::size_t{p.cols};
    for (std::size_t c = 0; c < p.cols; ++c) {
      T sum(0);
      for (std::size_t k = v[1].word(starts + u); k < v[1].word(starts + u + 1); ++k) {
        sum += v[0].get(v[1].word(order + k) * std::size_t{p.cols} + c);
      }
      v[2].set(row + c, v[2].get(row + c) + sum);
    }
  }
}

}  // namespace llmtool::ref::kernels
