// Cutting launches whose pieces are told by windows which part they are, and launches that cannot be cut,
// compared with expectations. No GPU is needed. Not here: pieces that need no window (split_test.cpp).
#include <algorithm>
#include <string>
#include <vector>

#include "base/cat.h"
#include "support/catch.h"
#include "vulkan/split.h"

using namespace llmtool;
using namespace llmtool::vulkan;

namespace {

Block block{1, std::uint64_t{1} << 40, nullptr};

/// A view of n elements at byte `offset`.
View view(std::uint64_t n, std::uint64_t offset = 0, DType dtype = DType::f32) {
  return {&block, offset, 4 * n, dtype};
}

template <class Params>
Launch launch_of(KernelId id, std::vector<View> views, const Params& params) {
  Launch launch;
  launch.id = id;
  launch.views = std::move(views);
  launch.set_params(params);
  return launch;
}

/// Limits under which a view may have n elements.
Limits elements(std::uint64_t n) {
  Limits limits;
  limits.max_range = 4 * n + limits.offset_alignment;
  return limits;
}

std::string refusal(const Launch& launch, const Limits& limits) {
  try {
    static_cast<void>(split(launch, limits));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::world);
    CHECK(!error.hint().empty());
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("split: a launch that fits stays as it is") {
  const UnaryParams p{1000, 0, 0, 0};
  const auto pieces = split(launch_of(KernelId::exp, {view(1000), view(1000, 8192)}, p), elements(1000));
  REQUIRE(pieces.size() == 1);
  CHECK(pieces[0].views[1].offset == 8192);
  CHECK(pieces[0].params_as<UnaryParams>().n == 1000);
}

TEST_CASE("split: flat kernels are cut at multiples of 64 elements") {
  const UnaryParams p{1000, 0.5f, 0, 1};
  const auto pieces =
      split(launch_of(KernelId::pow_scalar, {view(1000), view(1000, 8192)}, p), elements(300));
  REQUIRE(pieces.size() == 4);
  std::uint64_t at = 0;
  for (const Launch& piece : pieces) {
    const auto q = piece.params_as<UnaryParams>();
    CHECK(at % 64 == 0);
    CHECK(piece.views[0].offset == 4 * at);
    CHECK(piece.views[1].offset == 8192 + 4 * at);
    CHECK(piece.views[0].bytes == 4 * q.n);
    CHECK(q.a == 0.5f);
    CHECK(q.accumulate == 1);
    at += q.n;
  }
  CHECK(at == 1000);
}

TEST_CASE("split: pieces of dropout know their first element") {
  DropoutParams p{};
  p.n = 1000;
  p.per_sample = 100;
  p.sample0 = 7;
  const auto pieces = split(
      launch_of(KernelId::dropout, {view(1000), view(12, 1 << 20), view(1000, 1 << 21)}, p), elements(256));
  REQUIRE(pieces.size() == 4);
  std::uint32_t at = 0;
  for (const Launch& piece : pieces) {
    const auto q = piece.params_as<DropoutParams>();
    CHECK(piece.window[0] == at);
    CHECK(q.sample0 == 7);
    CHECK(q.per_sample == 100);
    CHECK(piece.views[0].offset == 4 * at);
    CHECK(piece.views[1].bytes == 48);
    CHECK(piece.views[2].offset == (1 << 21) + 4 * at);
    at += q.n;
  }
  CHECK(at == 1000);
}

TEST_CASE("split: gather_rows by rows where y is too large, by windows where the table is") {
  const GatherParams p{100, 10, 300};
  const auto launch =
      launch_of(KernelId::gather_rows, {view(3000), view(100, 1 << 20, DType::i32), view(1000, 1 << 21)}, p);
  const auto pieces = split(launch, elements(900));
  // 300 table rows of 10 in windows of 75, each with 100 rows in two halves.
  REQUIRE(pieces.size() == 8);
  std::vector<int> covered(300 * 100, 0);
  for (const Launch& piece : pieces) {
    const auto q = piece.params_as<GatherParams>();
    CHECK(piece.views[0].offset == 40 * piece.window[0]);
    CHECK(piece.views[0].bytes == 40 * q.table_rows);
    const std::uint64_t row = (piece.views[1].offset - (1 << 20)) / 4;
    CHECK(piece.views[1].bytes == 4 * q.rows);
    CHECK(piece.views[2].offset == (1 << 21) + 40 * row);
    CHECK(piece.views[2].bytes == 40 * q.rows);
    for (std::uint32_t t = 0; t < q.table_rows; ++t) {
      for (std::uint32_t r = 0; r < q.rows; ++r) ++covered[(piece.window[0] + t) * 100 + row + r];
    }
  }
  CHECK(std::all_of(covered.begin(), covered.end(), [](int n) { return n == 1; }));
}

TEST_CASE("split: scatter_rows by windows of dy and of the table, the plan stays whole") {
  const GatherParams p{100, 10, 300};
  const auto launch =
      launch_of(KernelId::scatter_rows, {view(1000), view(302, 1 << 20, DType::i32), view(3000, 1 << 21)}, p);
  std::vector<int> covered(300 * 100, 0);
  for (const Launch& piece : split(launch, elements(600))) {
    const auto q = piece.params_as<GatherParams>();
    CHECK(q.rows == 100);
    CHECK(piece.views[1].bytes == 4 * 302);
    CHECK(piece.views[0].offset == 40 * piece.window[2]);
    CHECK(piece.views[0].bytes == 40 * piece.window[3]);
    CHECK(piece.views[2].offset == (1 << 21) + 40 * piece.window[0]);
    CHECK(piece.views[2].bytes == 40 * q.table_rows);
    for (std::uint32_t t = 0; t < q.table_rows; ++t) {
      for (std::uint32_t r = 0; r < piece.window[3]; ++r) {
        ++covered[(piece.window[0] + t) * 100 + piece.window[2] + r];
      }
    }
  }
  CHECK(std::all_of(covered.begin(), covered.end(), [](int n) { return n == 1; }));
}

TEST_CASE("split: grad_norm_partial keeps the elements of each part") {
  // 1001 elements in 20 parts of 51: the last has 32.
  const GradNormPartialParams p{1001, 20, 5};
  const auto pieces =
      split(launch_of(KernelId::grad_norm_partial, {view(1001), view(60, 1 << 20)}, p), elements(300));
  REQUIRE(pieces.size() == 4);
  std::uint32_t part = 0, at = 0;
  for (const Launch& piece : pieces) {
    const auto q = piece.params_as<GradNormPartialParams>();
    CHECK(piece.window[0] == 51);
    CHECK(q.first == 5 + part);
    CHECK(piece.views[0].offset == 4 * 51 * part);
    CHECK(piece.views[0].bytes == 4 * q.n);
    CHECK(piece.views[1].bytes == 4 * 60);
    CHECK(q.n <= 51 * q.groups);
    part += q.groups;
    at += q.n;
  }
  CHECK(part == 20);
  CHECK(at == 1001);
}

TEST_CASE("split: parts of grad_norm_partial that are empty go to the last piece") {
  // 200 elements in 64 parts of 4: 50 have elements.
  const GradNormPartialParams p{200, 64, 0};
  const auto pieces =
      split(launch_of(KernelId::grad_norm_partial, {view(200), view(128, 1 << 20)}, p), elements(130));
  REQUIRE(pieces.size() == 2);
  const auto first = pieces[0].params_as<GradNormPartialParams>();
  const auto second = pieces[1].params_as<GradNormPartialParams>();
  CHECK(first.n == 100);
  CHECK(first.groups == 25);
  CHECK(second.n == 100);
  CHECK(second.groups == 39);
  CHECK(second.first == 25);
  CHECK(pieces[1].views[0].bytes == 400);
}

TEST_CASE("split: a transposition is cut into blocks, and the window has the strides of y") {
  // y (50, 40) = x (40, 50) transposed.
  PermuteParams p{};
  p.n = 2000;
  p.shape[0] = p.shape[1] = 1;
  p.shape[2] = 50;
  p.shape[3] = 40;
  p.x_stride[2] = 1;
  p.x_stride[3] = 50;
  std::vector<std::uint64_t> from(2000, 9999);
  const auto pieces =
      split(launch_of(KernelId::permute, {view(2000), view(2000, 1 << 20)}, p), elements(700));
  CHECK(pieces.size() == 16);
  for (const Launch& piece : pieces) {
    const auto q = piece.params_as<PermuteParams>();
    CHECK(q.n == q.shape[2] * q.shape[3]);
    CHECK(piece.window == std::array<std::uint32_t, 4>{2000, 2000, 40, 1});
    for (std::uint32_t i = 0; i < q.shape[2]; ++i) {
      for (std::uint32_t j = 0; j < q.shape[3]; ++j) {
        const std::uint64_t y = i * 40 + j, x = i + j * 50;
        REQUIRE(4 * y < piece.views[1].bytes);
        REQUIRE(4 * x < piece.views[0].bytes);
        from[(piece.views[1].offset - (1 << 20)) / 4 + y] = piece.views[0].offset / 4 + x;
      }
    }
  }
  for (std::uint64_t i = 0; i < 2000; ++i) REQUIRE(from[i] == i / 40 + i % 40 * 50);
}

TEST_CASE("split: a product's inner size is cut only where nothing follows the sum") {
  MatmulParams p{};
  p.form = LLMTOOL_MATMUL_TN;
  p.m = 4;
  p.n = 4;
  p.k = 1000;
  p.lda = p.ldb = p.ldc = 4;
  p.batch0 = p.batch1 = 1;
  const View bias = view(4, 1 << 22), none;
  const auto launch =
      launch_of(KernelId::matmul, {view(4000), view(4000, 1 << 20), none, none, view(16, 1 << 21)}, p);
  const auto pieces = split(launch, elements(1100));
  REQUIRE(pieces.size() == 4);
  std::uint32_t k = 0;
  for (const Launch& piece : pieces) {
    const auto q = piece.params_as<MatmulParams>();
    CHECK(q.accumulate == (k == 0 ? 0 : 1));
    CHECK(piece.views[0].offset == 16 * k);
    CHECK(piece.views[1].offset == (1 << 20) + 16 * k);
    CHECK(piece.views[1].bytes == 16 * q.k);
    CHECK(piece.views[4].bytes == 64);
    k += q.k;
  }
  CHECK(k == 1000);
  Launch biased = launch;
  biased.views[2] = bias;
  CHECK(refusal(biased, elements(1100)).substr(0, 19) == "[matmul] argument 0");
}

TEST_CASE("split: what cannot be cut is refused by name, argument and size") {
  // A single row of 50 million logits.
  const RowsParams row{1, 50000000, 0};
  CHECK(refusal(launch_of(KernelId::softmax, {view(50000000), view(50000000, 1 << 30)}, row), Limits{}) ==
        "[softmax] argument 0 takes 200.0 MB, the device binds at most 134.2 MB at once, and this launch "
        "cannot be "
        "cut further");
  // The table of angles stays whole.
  RopeParams rope{};
  rope.batch = 2;
  rope.tokens = 10;
  rope.heads = rope.rotated = 1;
  rope.head_size = 4;
  CHECK(refusal(launch_of(KernelId::rope, {view(80), view(50000000, 1 << 20), view(80, 1 << 10)}, rope),
                Limits{})
            .substr(0, 17) == "[rope] argument 1");
}

TEST_CASE("split: sizes beyond 2^32 bytes are counted in 64 bits") {
  const UnaryParams p{0xf0000000u, 0, 0, 0};
  std::uint64_t at = 0;
  for (const Launch& piece :
       split(launch_of(KernelId::relu, {view(p.n), view(p.n, std::uint64_t{1} << 36)}, p), Limits{})) {
    CHECK(piece.views[0].offset == 4 * at);
    CHECK(piece.views[1].offset == (std::uint64_t{1} << 36) + 4 * at);
    at += piece.params_as<UnaryParams>().n;
  }
  CHECK(at == p.n);
}
