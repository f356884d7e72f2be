// Reference kernels on rows: softmax and log-softmax, layer norm and RMS norm, cross entropy.
#pragma once
#include <limits>

#include "kernels/params.h"
#include "ref/arguments.h"
#include "ref/scalar_math.h"

namespace llmtool::ref::kernels {

/// log(sum exp(x[begin .. begin + cols))), without overflow.
template <class T>
T log_sum_exp(const Argument<T>& x, std::size_t begin, std::size_t cols) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < cols; ++c) largest = std::max(largest, value_of(x.get(begin + c)));
  T sum(0);
  for (std::size_t c = 0; c < cols; ++c) sum += math::exp(x.get(begin + c) - T(largest));
  return T(largest) + math::log(sum);
}

template <class T>
void softmax(Arguments<T>& v, const RowsParams& p) {
  for (std::size_t r = 0; r < p.rows; ++r) {
    const T lse = log_sum_exp(v[0], r * p.cols, p.cols);
    for (std::size_t i = r * p.cols; i < (r + 1) * p.cols; ++i) v[1].set(i, math::exp(v[0].get(i) - lse));
  }
}

template <class T>
void log_softmax(Arguments<T>& v, const RowsParams& p) {
  for (std::size_t r = 0; r < p.rows; ++r) {
    const T lse = log_sum_exp(v[0], r * p.cols, p.cols);
    for (std::size_t i = r * p.cols; i < (r + 1) * p.cols; ++i) v[1].set(i, v[0].get(i) - lse);
  }
}

/// dx = y (dy - sum(y dy)).
template <class T>
void softmax_backward(Arguments<T>& v, const RowsParams& p) {
  for (std::size_t r = 0; r < p.rows; ++r) {
    T dot(0);
    for (std::size_t i = r * p.cols; i < (r + 1) * p.cols; ++i) dot += v[0].get(i) * v[1].get(i);
    for (std::size_t i = r * p.cols; i < (r + 1) * p.cols; ++i)
      v[2].put(i, v[0].get(i) * (v[1].get(i) - dot));
  }
}

/// dx = dy - exp(y) sum(dy).
template <class T>
void log_softmax_backward(Arguments<T>& v, const RowsParams& p) {
  for (std::size_t r = 0; r < p.rows; ++r) {
    T sum(0);
    for (std::size_t i = r * p.cols; i < (r + 1) * p.cols; ++i) sum += v[1].get(i);
    for (std::size_t i = r * p.cols; i < (r + 1) * p.cols; ++i) {
      v[2].put(i, v[1].get(i) - math::exp(v[0].get(i)) * sum);
    }
  }
}

template <class T>
void layer_norm(Arguments<T>& v, const NormParams& p) {
  for (std::size_t r = 0; r < p.rows; ++r) {
    T mean(0), var(0);
    for (std::size_t c = 0; c < p.cols; ++c) mean += v[0].get(r * p.cols + c);
    mean = mean / T(p.cols);
    for (std::size_t c = 0; c < p.cols; ++c) {
      const T d = v[0].get(r * p.cols + c) - mean;
      var += d * d;
    }
    const T inverse = T(1) / math::sqrt(var / T(p.cols) + T(p.eps));
    for (std::size_t c = 0; c < p.cols; ++c) {
      const T y = (v[0].get(r * p.cols + c) - mean) * inverse * v[1].get(c);
      v[3].set(r * p.cols + c, v[2] ? y + v[2].get(c) : y);
    }
    v[4].set(2 * r, mean);
    v[4].set(2 * r + 1, inverse);
  }
}

/// With h = (x - mean) inverse and g = gain dy: dx = inverse (g - mean(g) - h mean(g h)).
template <class T>
void layer_norm_backward(Arguments<T>& v, const NormParams& p) {
  for (std::size_t r = 0; r < p.rows; ++r) {
    const T mean = v[2].get(2 * r), inverse = v[2].get(2 * r + 1);
    const auto h = [&](std::size_t c) { return (v[0].get(r * p.cols + c) - mean) * inverse; };
    const auto g = [&](std::size_t c) { return v[1].get(c) * v[3].get(r * p.cols + c); };
    T mean_g(0), mean_gh(0);
    for (std::size_t c = 0; c < p.cols; ++c) {
      mean_g += g(c);
      mean_gh += g(c) * h(c);
    }
    mean_g = mean_g / T(p.cols);
    mean_gh = mean_gh / T(p.cols);
    for (std::size_t c = 0; c < p.cols; ++c) {
      v[4].put(r * p.cols + c, inverse * (g(c) - mean_g - h(c) * mean_gh));
    }
  }
}

template <class T>
void layer_norm_backward_params(Arguments<T>& v, const NormParams& p) {
  for (std::size_t c = 0; c < p.cols; ++c) {
    T dgain(0), dbias(0);
    for (std::size_t r = 0; r < p.rows; ++r) {
      const T dy = v[2].get(r * p.cols + c);
      dgain += dy * (v[0].get(r * p.cols + c) - v[1].get(2 * r)) * v[1].get(2 * r + 1);
      dbias += dy;
    }
    v[3].put(c, dgain);
    if (v[4]) v[4].put(c, dbias);
  }
}

template <class T>
void rms_norm(Arguments<T>& v, const NormParams& p) {
  for (std::size_t r = 0; r < p.rows; ++r) {
    T squares(0);
    for (std::size_t c = 0; c < p.cols; ++c) squares += v[0].get(r * p.cols + c) * v[0].get(r * p.cols + c);
    const T inverse = T(1) / math::sqrt(squares / T(p.cols) + T(p.eps));
    for (std::size_t c = 0; c < p.cols; ++c) {
      v[2].set(r * p.cols + c, v[0].get(r * p.cols + c) * inverse * v[1].get(c));
    }
    v[3].set(r, inverse);
  }
}

/// With h = x inverse and g = gain dy: dx = inverse (g - h mean(g h)).
template <class T>
void rms_norm_backward(Arguments<T>& v, const NormParams& p) {
  for (std::size_t r = 0; r < p.rows; ++r) {
    const T inverse = v[2].get(r);
    const auto h = [&](std::size_t c) { return v[0].get(r * p.cols + c) * inverse; };
    const auto g = [&](std::size_t c) { return v[1].get(c) * v[3].get(r * p.cols + c); };
    T mean_gh(0);
    for (std::size_t c = 0; c < p.cols; ++c) mean_gh += g(c) * h(c);
    mean_gh = mean_gh / T(p.cols);
    for (std::size_t c = 0; c < p.cols; ++c) v[4].put(r * p.cols + c, inverse * (g(c) - h(c) * mean_gh));
  }
}

template <class T>
void rms_norm_backward_params(Arguments<T>& v, const NormParams& p) {
  for (std::size_t c = 0; c < p.cols; ++c) {
    T dgain(0);
    for (std::size_t r = 0; r < p.rows; ++r) {
      dgain += v[2].get(r * p.cols + c) * v[0].get(r * p.cols + c) * v[1].get(r);
    }
    v[3].put(c, dgain);
  }
}

template <class T>
void cross_entropy(Arguments<T>& v, const CrossEntropyParams& p) {
  const T scale = v[2].get(0);
  for (std::size_t r = 0; r < p.rows; ++r) {
    const std::int32_t target = v[1].id(r);
    const bool counts = target != p.ignore_index;
    LLMTOOL_CHECK(!counts || (target >= 0 && target < static_cast<std::int64_t>(p.cols)), "target ", target,
                  " of ", p.cols, " classes");
    const T lse = log_sum_exp(v[0], r * p.cols, p.cols);
    const std::size_t hot = r * p.cols + (counts ? static_cast<std::size_t>(target) : 0);
    v[3].set(r, counts ? scale * (lse - v[0].get(hot)) : T(0));
    if (p.write_grad == 0) continue;
    for (std::size_t i = r * p.cols; i < (r + 1) * p.cols; ++i) {
      const T onehot(i == hot ? 1 : 0);
      v[0].set(i, counts ? scale * (math::exp(v[0].get(i) - lse) - onehot) : T(0));
    }
  }
}

}  // namespace llmtool::ref::kernels
