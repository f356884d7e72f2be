// Evaluation with the cache gives the same bits as without, however the tokens are cut.
#include "cpu/cpu_device.h"
#include "model/gpt_fixture.h"
#include "support/catch.h"
#include "tensor/autograd.h"

namespace llmtool {
namespace {

TEST_CASE("cached evaluation equals full evaluation bit for bit", "[model]") {
  const auto device = make_cpu_device(2);
  for (const std::string& name : gpt_fixture_names) {
    INFO(name);
    const GptFixture f = read_gpt_fixture(name);
    GPT model(f.config, f.vocab);
    model.materialise(*device, false);
    set_fixture_weights(model);
    model.eval();
    const NoGrad no_grad;
    const std::vector<std::int32_t> text(f.ids.begin(), f.ids.begin() + 7);
    const std::vector<float> whole =
        model.logits(model.forward(ops::Index(*device, text, f.vocab), 1)).to_host();
    KvCache cache = model.make_cache();
    for (const std::vector<std::size_t>& cut :
         {std::vector<std::size_t>{7}, {1, 1, 1, 1, 1, 1, 1}, {4, 1, 2}, {2, 5}, {6, 1}}) {
      cache.clear();
      std::vector<float> pieces;
      std::size_t at = 0;
      for (const std::size_t n : cut) {
        const ops::Index piece(*device, std::span(text).subspan(at, n), f.vocab);
        const std::vector<float> logits = model.logits(model.forward_cached(piece, cache)).to_host();
        pieces.insert(pieces.end(), logits.begin(), logits.end());
        at += n;
      }
      CHECK(cache.length == 7);
      CHECK(pieces == whole);
    }
  }
}

TEST_CASE("a prefix's hidden states do not depend on what follows", "[model]") {
  const auto device = make_cpu_device(1);
  const GptFixture f = read_gpt_fixture("rope_adjacent");
  GPT model(f.config, f.vocab);
  model.materialise(*device, false);
  set_fixture_weights(model);
  const NoGrad no_grad;
  std::vector<std::int32_t> text(f.ids.begin(), f.ids.begin() + 6);
  const std::vector<float> before = model.forward(ops::Index(*device, text, f.vocab), 1).to_host();
  text.back() = (text.back() + 1) % 13;
  const std::vector<float> after = model.forward(ops::Index(*device, text, f.vocab), 1).to_host();
  const auto prefix = static_cast<std::ptrdiff_t>(5 * f.config.n_embd);
  CHECK(std::equal(before.begin(), before.begin() + prefix, after.begin()));
  CHECK(before != after);
}

}  // namespace
}  // namespace llmtool
