// Initialisation of a block's linear layers; see model_init.h.
#include "model/model_init.h"

#include <cmath>

namespace llmtool {

Init linear_init(const ModelConfig& config, std::int64_t in, std::int64_t out, bool residual) {
  if (config.init == "xavier") return Linear::xavier(in, out);
  const double scale = residual ? 1.0 / std::sqrt(2.0 * static_cast<double>(config.n_layer)) : 1.0;
  return Init::normal(static_cast<float>(embedding_std * scale));
}

}  // namespace llmtool
