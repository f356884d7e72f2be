// A file tests/fixtures/gpt_*.txt: a small configuration, a batch, and the loss and gradients that an
// independent framework got for it in float64 (tests/fixtures/make_fixtures.py).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/gpt.h"

namespace llmtool {

struct GptFixture {
  ModelConfig config;
  std::int64_t vocab = 0;
  std::int64_t batch = 0;
  std::vector<std::int32_t> ids, targets;
  double loss = 0;
  std::map<std::string, std::vector<double>> grads;
};

/// name: "rope_adjacent" and so on.
GptFixture read_gpt_fixture(const std::string& name);

/// Every name there is.
inline const std::vector<std::string> gpt_fixture_names = {"rope_adjacent", "rope_half", "learned",
                                                           "sinusoidal", "none"};

/// The weights the fixtures were made with.
void set_fixture_weights(GPT& model);

}  // namespace llmtool
