// Cases of rotary embedding and attention, forward and backward.
#include <cmath>
#include <limits>

#include "base/cat.h"
#include "kernels/case.h"
#include "kernels/run.h"

namespace llmtool::kernel_test {
namespace {

void add_rope(Cases& cases) {
  for (const std::uint32_t head_size : {2u, 4u, 6u, 16u, 32u, 34u, 64u}) {
    for (const std::uint32_t style : {LLMTOOL_ROPE_ADJACENT, LLMTOOL_ROPE_HALF}) {
      for (std::uint32_t variant = 0; variant < 8; ++variant) {
        RopeParams p{};
        p.batch = 2;
        p.tokens = variant % 2 == 0 ? 3 : 1;
        p.heads = 3;
        p.rotated = variant < 4 ? 3 : 2;
        p.head_size = head_size;
        p.style = style;
        p.position0 = variant % 3 == 0 ? 0 : 11;
        p.inverse = variant / 2 % 2;
        p.accumulate = variant % 4 == 3 ? 1 : 0;
        std::vector<float> table;
        for (std::uint32_t t = 0; t < p.position0 + p.tokens; ++t) {
          for (std::uint32_t i = 0; i < head_size / 2; ++i) {
            const double angle = t * std::pow(10000.0, -2.0 * i / head_size);
            table.push_back(static_cast<float>(std::cos(angle)));
            table.push_back(static_cast<float>(std::sin(angle)));
          }
        }
        const std::size_t n = std::size_t{p.batch} * p.tokens * p.heads * head_size;
        cases.push_back(make_case<KernelId::rope>(
            cat("head ", head_size, " style ", style, " tokens ", p.tokens, " from ", p.position0,
                " rotated ", p.rotated, " inverse ", p.inverse, " accumulate ", p.accumulate),
            {floats(uniform(n, n)), floats(table), result(n, p.accumulate)}, p, 3e-7));
      }
    }
  }
}

struct Shape {
  std::uint32_t batch, tokens, heads, kv_heads, head_size, position0;
};

/// `values` (rows of `width`) spread to rows `row` apart; what lies between must not be read.
std::vector<float> spread(const std::vector<float>& values, std::size_t width, std::size_t row) {
  std::vector<float> out(values.size() / width * row, std::bit_cast<float>(untouched));
  for (std::size_t i = 0; i < values.size(); ++i) out[i / width * row + i % width] = values[i];
  return out;
}

std::vector<float> as_floats(const std::vector<double>& values) {
  std::vector<float> out;
  for (const double value : values) out.push_back(static_cast<float>(value));
  return out;
}

struct Inputs {
  AttentionParams p{};
  std::vector<float> q, k, v;
  Operand step;

  /// pad: elements between the rows of q, k and v. size: range of q and k.
  Inputs(const Shape& s, std::uint32_t pad, float drop, float size) {
    p.batch = s.batch;
    p.tokens = s.tokens;
    p.keys = s.position0 + s.tokens;
    p.heads = s.heads;
    p.kv_heads = s.kv_heads;
    p.head_size = s.head_size;
    p.position0 = s.position0;
    p.q_row = s.heads * s.head_size + pad;
    p.q_batch = s.tokens * p.q_row;
    p.kv_row = s.kv_heads * s.head_size + pad;
    p.kv_batch = p.keys * p.kv_row;
    p.scale = 1 / std::sqrt(static_cast<float>(s.head_size));
    p.drop_threshold = static_cast<std::uint32_t>(std::round(static_cast<double>(drop) * 4294967296.0));
    p.drop_scale = 1 / (1 - drop);
    p.stream = 17;
    p.sample0 = 1'000'003;
    const std::size_t width = s.heads * s.head_size, kv_width = s.kv_heads * s.head_size;
    q = spread(uniform(s.batch * s.tokens * width, 1, -size, size), width, p.q_row);
    k = spread(uniform(s.batch * p.keys * kv_width, 2, -size, size), kv_width, p.kv_row);
    v = spread(uniform(s.batch * p.keys * kv_width, 3), kv_width, p.kv_row);
    StepParams params{};
    params.step = 7;
    params.dropout_key0 = 0xdeadbeef;
    params.dropout_key1 = 0x01234567;
    if (drop > 0) step = words_of(params);
  }
  std::size_t out_size() const { return std::size_t{p.batch} * p.tokens * p.heads * p.head_size; }
  std::size_t stats_size() const { return std::size_t{p.batch} * p.tokens * p.heads * 2; }
};

/// What an accumulating kernel adds to: random where q (or k, v) has elements, untouched between them.
Operand like(const std::vector<float>& layout, std::uint32_t accumulate, std::uint64_t seed) {
  Operand operand = result(layout.size(), accumulate, seed);
  for (std::size_t i = 0; i < layout.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(layout[i]) == untouched) operand.words[i] = untouched;
  }
  return operand;
}

void add_attention(Cases& cases, const Shape& s, std::uint32_t pad = 0, float drop = 0, float size = 1.5f) {
  const Inputs in(s, pad, drop, size);
  const std::string what =
      cat("batch ", s.batch, " tokens ", s.tokens, " heads ", s.heads, "/", s.kv_heads, "x", s.head_size,
          " from ", s.position0, " pad ", pad, " dropout ", drop, " within ", size);
  // A large score carries its rounding into the exponential.
  const double spread_of_scores =
      static_cast<double>(size * size) * std::sqrt(static_cast<double>(s.head_size));
  const double relative = 2e-6 + 1.5e-7 * spread_of_scores;
  Case forward = make_case<KernelId::attention>(
      what,
      {floats(in.q), floats(in.k), floats(in.v), in.step, output(in.out_size()), output(in.stats_size())},
      in.p, relative, 1e-6);
  const auto results = reference_of(forward);
  cases.push_back(forward);

  const auto dout = uniform(in.out_size(), 4);
  const Operand out = floats(as_floats(results[4]));
  Operand lse = floats(as_floats(results[5]));
  for (std::size_t i = 1; i < lse.words.size(); i += 2) lse.words[i] = untouched;
  Case delta = make_case<KernelId::attention_delta>(what, {out, floats(dout), lse}, in.p, 1e-6, 1e-6);
  const Operand stats = floats(as_floats(reference_of(delta)[2]));
  cases.push_back(std::move(delta));

  for (std::uint32_t accumulate = 0; accumulate < 2; ++accumulate) {
    AttentionParams p = in.p;
    p.accumulate = accumulate;
    const std::string with = cat(what, " accumulate ", accumulate);
    const double noise = 2e-6 * static_cast<double>(size);
    cases.push_back(make_case<KernelId::attention_backward_q>(
        with,
        {floats(in.q), floats(in.k), floats(in.v), stats, floats(dout), in.step, like(in.q, accumulate, 5)},
        p, relative, noise));
    cases.push_back(make_case<KernelId::attention_backward_kv>(
        with,
        {floats(in.q), floats(in.k), floats(in.v), stats, floats(dout), in.step, like(in.k, accumulate, 6),
         like(in.v, accumulate, 7)},
        p, relative, noise));
  }
}

/// Keys and values that only the last query sees are NaN: every other query must not notice.
void add_masked(Cases& cases) {
  Inputs in({1, 19, 2, 1, 8, 3}, 0, 0, 1.5f);
  for (std::size_t i = in.k.size() - in.p.kv_row; i < in.k.size(); ++i) {
    in.k[i] = std::numeric_limits<float>::quiet_NaN();
    in.v[i] = std::numeric_limits<float>::infinity();
  }
  cases.push_back(make_case<KernelId::attention>(
      "last key NaN",
      {floats(in.q), floats(in.k), floats(in.v), absent(), output(in.out_size()), output(in.stats_size())},
      in.p, 2e-6, 1e-6));
}

}  // namespace

void add_attention_cases(Cases& cases) {
  add_rope(cases);
  for (const std::uint32_t tokens : {1u, 2u, 3u, 15u, 16u, 17u, 33u, 64u, 70u}) {
    add_attention(cases, {1, tokens, 2, 2, 8, 0});
  }
  for (const std::uint32_t head_size : {1u, 2u, 4u, 5u, 16u, 24u, 31u, 32u, 64u, 80u}) {
    add_attention(cases, {2, 9, 2, 1, head_size, 0});
  }
  add_attention(cases, {2, 5, 4, 2, 8, 0}, 16);
  add_attention(cases, {1, 130, 1, 1, 16, 0});
  add_attention(cases, {1, 1, 4, 1, 8, 37});
  add_attention(cases, {2, 1, 4, 4, 16, 64}, 8);
  add_attention(cases, {2, 7, 6, 3, 8, 61});
  add_attention(cases, {1, 40, 2, 1, 16, 100}, 3);
  add_attention(cases, {2, 17, 4, 2, 8, 0}, 0, 0.2f);
  add_attention(cases, {1, 5, 2, 2, 16, 30}, 4, 0.5f);
  add_attention(cases, {3, 33, 3, 1, 8, 0}, 0, 0.1f);
  add_attention(cases, {1, 20, 2, 2, 8, 0}, 0, 0, 18);  // scores up to about 1000
  // One query or a few behind many keys, as in decoding.
  for (const std::uint32_t keys : {1u, 15u, 17u, 33u, 129u, 257u}) {
    add_attention(cases, {1, 1, 4, 2, 16, keys - 1});
  }
  add_attention(cases, {2, 1, 2, 1, 40, 700}, 8, 0.3f);
  add_attention(cases, {1, 4, 3, 3, 5, 125});  // some queries see no key of the last part
  add_masked(cases);
}

}  // namespace llmtool::kernel_test
