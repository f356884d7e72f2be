// Reference rotary embedding, causal attention and dropout, by their definitions: the whole tokens x keys
// matrix.
#pragma once
#include <limits>

#include "base/rng.h"
#include "kernels/params.h"
#include "ref/arguments.h"
#include "ref/scalar_math.h"

namespace llmtool::ref::kernels {

/// The Philox word of element `index`, with step and key from StepParams.
template <class T>
std::uint32_t dropout_word(const Argument<T>& step, std::uint32_t stream, std::uint64_t index) {
  const std::uint64_t block = index / 4;
  const PhiloxBlock words = philox(
      {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), stream, step.word(6)},
      {step.word(7), step.word(8)});
  return words[index % 4];
}

template <class T>
void dropout(Arguments<T>& v, const DropoutParams& p) {
  for (std::size_t j = 0; j < p.n; ++j) {
    const std::uint64_t index = std::uint64_t{p.sample0} * p.per_sample + j;
    const bool keep = dropout_word(v[1], p.stream, index) >= p.threshold;
    v[2].put(j, keep ? v[0].get(j) * T(p.scale) : T(0));
  }
}

template <class T>
void rope(Arguments<T>& v, const RopeParams& p) {
  const std::size_t half = p.head_size / 2;
  for (std::size_t row = 0; row < std::size_t{p.batch} * p.tokens * p.heads; ++row) {
    const std::size_t head = row % p.heads, position = p.position0 + row / p.heads % p.tokens;
    for (std::size_t i = 0; i < half; ++i) {
      const bool adjacent = p.style == LLMTOOL_ROPE_ADJACENT;
      const std::size_t u = row * p.head_size + (adjacent ? 2 * i : i);
      const std::size_t w = row * p.head_size + (adjacent ? 2 * i + 1 : i + half);
      const T x = v[0].get(u), y = v[0].get(w);
      if (head >= p.rotated) {
        v[2].put(u, x);
        v[2].put(w, y);
        continue;
      }
      const T c = v[1].get((position * half + i) * 2);
      const T s =
          p.inverse != 0 ? -v[1].get((position * half + i) * 2 + 1) : v[1].get((position * half + i) * 2 + 1);
      v[2].put(u, x * c - y * s);
      v[2].put(w, x * s + y * c);
    }
  }
}

/// Where things lie, and the pieces that forward and backward share.
template <class T>
struct AttentionView {
  const AttentionParams& p;
  std::size_t q(std::size_t b, std::size_t h, std::size_t t) const {
    return b * p.q_batch + t * p.q_row + h * p.head_size;
  }
  std::size_t kv(std::size_t b, std::size_t h, std::size_t j) const {
    return b * p.kv_batch + j * p.kv_row + h / (p.heads / p.kv_heads) * p.head_size;
  }
  std::size_t out(std::size_t b, std::size_t h, std::size_t t) const {
    return ((b * p.tokens + t) * p.heads + h) * p.head_size;
  }
  std::size_t stats(std::size_t b, std::size_t h, std::size_t t) const {
    return ((b * p.heads + h) * p.tokens + t) * 2;
  }
  std::size_t seen(std::size_t t) const { return p.position0 + t + 1; }

  T dot(const Argument<T>& x, std::size_t i, const Argument<T>& y, std::size_t j) const {
    T sum(0);
    for (std::size_t d = 0; d < p.head_size; ++d) sum += x.get(i + d) * y.get(j + d);
    return sum;
  }
  T score(const Argument<T>& queries, const Argument<T>& keys, std::size_t b, std::size_t h, std::size_t t,
          std::size_t j) const {
    return T(p.scale) * dot(queries, q(b, h, t), keys, kv(b, h, j));
  }
  /// drop_scale, or 0 for a dropped probability; 1 without dropout.
  T kept(const Argument<T>& step, std::size_t b, std::size_t h, std::size_t t, std::size_t j) const {
    if (p.drop_threshold == 0) return T(1);
    const std::uint64_t index =
        ((std::uint64_t{p.sample0} + b) * p.heads + h) * p.tokens * p.keys + t * std::uint64_t{p.keys} + j;
    return dropout_word(step, p.stream, index) >= p.drop_threshold ? T(p.drop_scale) : T(0);
  }
  template <class F>
  void each_query(F f) const {
    LLMTOOL_CHECK(p.keys == p.position0 + p.tokens, "attention: keys ", p.keys, ", position0 ", p.position0);
    for (std::size_t b = 0; b < p.batch; ++b) {
      for (std::size_t h = 0; h < p.heads; ++h) {
        for (std::size_t t = 0; t < p.tokens; ++t) f(b, h, t);
      }
    }
  }
};

template <class T>
void attention(Arguments<T>& v, const AttentionParams& p) {
  const AttentionView<T> at{p};
  at.each_query([&](std::size_t b, std::size_t h, std::size_t t) {
    std::vector<T> scores(at.seen(t));
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < scores.size(); ++j) {
      scores[j] = at.score(v[0], v[1], b, h, t, j);
      largest = std::max(largest, value_of(scores[j]));
    }
    T sum(0);
    for (const T& score : scores) sum += math::exp(score - T(largest));
    const T lse = T(largest) + math::log(sum);
    for (std::size_t d = 0; d < p.head_size; ++d) {
      T out(0);
      for (std::size_t j = 0; j < scores.size(); ++j) {
        out += math::exp(scores[j] - lse) * at.kept(v[3], b, h, t, j) * v[2].get(at.kv(b, h, j) + d);
      }
      v[4].set(at.out(b, h, t) + d, out);
    }
    v[5].set(at.stats(b, h, t), lse);
  });
}

template <class T>
void attention_delta(Arguments<T>& v, const AttentionParams& p) {
  const AttentionView<T> at{p};
  at.each_query([&](std::size_t b, std::size_t h, std::size_t t) {
    v[2].set(at.stats(b, h, t) + 1, at.dot(v[0], at.out(b, h, t), v[1], at.out(b, h, t)));
  });
}

/// The probability of key j for query t (before dropout) and the gradient of its score.
template <class T>
struct Probability {
  T p, ds;
  Probability(const AttentionView<T>& at, const Arguments<T>& v, std::size_t b, std::size_t h, std::size_t t,
              std::size_t j) {
    p = math::exp(at.score(v[0], v[1], b, h, t, j) - v[3].get(at.stats(b, h, t)));
    const T dp = at.kept(v[5], b, h, t, j) * at.dot(v[4], at.out(b, h, t), v[2], at.kv(b, h, j));
    ds = p * (dp - v[3].get(at.stats(b, h, t) + 1));
  }
};

/// dq = scale * sum over keys of ds * k.
template <class T>
void attention_backward_q(Arguments<T>& v, const AttentionParams& p) {
  const AttentionView<T> at{p};
  at.each_query([&](std::size_t b, std::size_t h, std::size_t t) {
    std::vector<T> dq(p.head_size, T(0));
    for (std::size_t j = 0; j < at.seen(t); ++j) {
      const T ds = Probability<T>(at, v, b, h, t, j).ds;
      for (std::size_t d = 0; d < p.head_size; ++d) dq[d] += T(p.scale) * ds * v[1].get(at.kv(b, h, j) + d);
    }
    for (std::size_t d = 0; d < p.head_size; ++d) v[6].put(at.q(b, h, t) + d, dq[d]);
  });
}

/// dk = scale * sum over queries of ds * q; dv = sum over queries of the kept probability * dout.
template <class T>
void attention_backward_kv(Arguments<T>& v, const AttentionParams& p) {
  const AttentionView<T> at{p};
  std::vector<T> dk(v[6].size(), T(0)), dv(v[7].size(), T(0));
  at.each_query([&](std::size_t b, std::size_t h, std::size_t t) {
    for (std::size_t j = 0; j < at.seen(t); ++j) {
      const Probability<T> probability(at, v, b, h, t, j);
      const T weight = probability.p * at.kept(v[5], b, h, t, j);
      for (std::size_t d = 0; d < p.head_size; ++d) {
        dk.at(at.kv(b, h, j) + d) += T(p.scale) * probability.ds * v[0].get(at.q(b, h, t) + d);
        dv.at(at.kv(b, h, j) + d) += weight * v[4].get(at.out(b, h, t) + d);
      }
    }
  });
  for (std::size_t b = 0; b < p.batch; ++b) {
    for (std::size_t h = 0; h < p.heads; h += p.heads / p.kv_heads) {
      for (std::size_t j = 0; j < p.keys; ++j) {
        for (std::size_t i = at.kv(b, h, j); i < at.kv(b, h, j) + p.head_size; ++i) {
          v[6].put(i, dk[i]);
          v[7].put(i, dv[i]);
        }
      }
    }
  }
}

}  // namespace llmtool::ref::kernels
