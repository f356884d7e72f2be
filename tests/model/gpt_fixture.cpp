// Reading of the whole-model fixtures; see gpt_fixture.h.
#include "model/gpt_fixture.h"

#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "fixtures/values.h"

namespace llmtool {
namespace {

void set_option(GptFixture& f, const std::string& key, const std::string& value) {
  const auto integer = [&] { return static_cast<std::int64_t>(std::stoll(value)); };
  ModelConfig& c = f.config;
  if (key == "n_layer") c.n_layer = integer();
  if (key == "n_head") c.n_head = integer();
  if (key == "n_kv_head") c.n_kv_head = integer();
  if (key == "n_embd") c.n_embd = integer();
  if (key == "block_size") c.block_size = integer();
  if (key == "positions") c.positions = value;
  if (key == "rope_theta") c.rope_theta = std::stod(value);
  if (key == "rope_style") c.rope_style = value;
  if (key == "norm") c.norm = value;
  if (key == "norm_eps") c.norm_eps = std::stod(value);
  if (key == "mlp") c.mlp = value;
  if (key == "mlp_hidden") c.mlp_hidden = integer();
  if (key == "attn_bias") c.attn_bias = integer() != 0;
  if (key == "mlp_bias") c.mlp_bias = integer() != 0;
  if (key == "tie_embeddings") c.tie_embeddings = integer() != 0;
  if (key == "vocab") f.vocab = integer();
  if (key == "batch") f.batch = integer();
}

template <class T>
std::vector<T> read_values(std::istream& in) {
  std::size_t n = 0;
  in >> n;
  std::vector<T> values(n);
  for (T& v : values) in >> v;
  LLMTOOL_CHECK(!in.fail(), "a fixture line ends early");
  return values;
}

}  // namespace

GptFixture read_gpt_fixture(const std::string& name) {
  GptFixture f;
  std::istringstream file(read_file(Path(LLMTOOL_SOURCE_DIR) / "tests/fixtures" / ("gpt_" + name + ".txt")));
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string kind, key, value;
    line >> kind;
    if (kind == "option") {
      line >> key >> value;
      set_option(f, key, value);
    } else if (kind == "ids") {
      f.ids = read_values<std::int32_t>(line);
    } else if (kind == "targets") {
      f.targets = read_values<std::int32_t>(line);
    } else if (kind == "loss") {
      line >> f.loss;
    } else if (kind == "grad") {
      line >> key;
      f.grads[key] = read_values<double>(line);
    }
  }
  return f;
}

void set_fixture_weights(GPT& model) {
  for (const auto& [name, parameter] : model.named_parameters()) {
    parameter->tensor.assign(std::span<const float>(fixture_values(name, parameter->shape.numel())));
  }
}

}  // namespace llmtool
