// Modules; see module.h.
#include "nn/module.h"

#include <algorithm>

#include "base/error.h"
#include "base/rng.h"

namespace llmtool {
namespace {

/// "a, b and 3 more": a whole model's names would not fit a line.
std::string list(const std::vector<std::string>& names) {
  constexpr std::size_t shown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), shown); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > shown) text += cat(" and ", names.size() - shown, " more");
  return text;
}

}  // namespace

void Module::gather(const std::string& prefix, std::vector<NamedParameter>& out) {
  for (auto& [name, parameter] : parameters_) out.push_back({prefix + name, &parameter});
  for (auto& [name, child] : children_) child->gather(cat(prefix, name, "."), out);
}

std::vector<NamedParameter> Module::named_parameters() {
  std::vector<NamedParameter> out;
  gather("", out);
  return out;
}

std::int64_t Module::parameter_count() { return decayed_count(DecayRule::all); }

std::int64_t Module::decayed_count(DecayRule rule) {
  std::int64_t count = 0;
  for (const auto& [name, parameter] : named_parameters()) {
    if (rule == DecayRule::all || parameter->decay) count += parameter->shape.numel();
  }
  return count;
}

void Module::materialise(Device& device, bool trainable, DecayRule rule) {
  const auto parameters = named_parameters();
  std::vector<SlabEntry> entries;
  for (const auto& [name, parameter] : parameters) {
    LLMTOOL_CHECK(!parameter->tensor.defined(), "materialised twice: ", name);
    entries.push_back({parameter->shape, parameter->decay, parameter->joins_previous});
  }
  slabs_ = ParameterSlabs(device, entries, trainable, rule == DecayRule::all);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Tensor& tensor = parameters[i].parameter->tensor;
    tensor = slabs_.value(i);
    if (!trainable) continue;
    tensor.set_requires_grad();
    tensor.set_grad(slabs_.grad(i));
  }
}

void Module::initialise(std::uint64_t seed) {
  // Pieces, so that a large table needs no copy of its own on the host.
  constexpr std::int64_t piece = std::int64_t{1} << 18;
  std::vector<float> values;
  for (const auto& [name, parameter] : named_parameters()) {
    LLMTOOL_CHECK(parameter->tensor.defined(), "initialised before materialise(): ", name);
    const Init init = parameter->init;
    const Stream stream(seed, "init/" + name);
    const std::int64_t n = parameter->shape.numel();
    for (std::int64_t at = 0; at < n; at += piece) {
      const std::int64_t count = std::min(piece, n - at);
      values.assign(static_cast<std::size_t>(count), init.mean);
      if (init.std != 0) {
        for (std::int64_t i = 0; i < count; ++i) {
          values[static_cast<std::size_t>(i)] =
              static_cast<float>(init.mean + init.std * stream.normal(static_cast<std::uint64_t>(at + i)));
        }
      }
      parameter->tensor.alias(at, Shape{count}).assign(std::span<const float>(values));
    }
  }
}

void Module::train(bool on) {
  training_ = on;
  for (auto& [name, child] : children_) child->train(on);
}

void Module::zero_grad() { slabs_.zero_grads(); }

StateDict Module::state_dict() {
  StateDict state;
  std::vector<FetchedPtr> fetched;
  const auto parameters = named_parameters();
  if (parameters.empty()) return state;
  Device& device = parameters.front().parameter->tensor.device();
  for (const auto& [name, parameter] : parameters) fetched.push_back(device.fetch(parameter->tensor.view()));
  device.synchronise();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    state[parameters[i].name] = {parameters[i].parameter->shape, fetched[i]->as<float>()};
    fetched[i].reset();
  }
  return state;
}

void Module::load_state_dict(const StateDict& state) {
  std::vector<std::string> missing, unexpected, misshaped;
  std::map<std::string, Parameter*> known;
  for (const auto& [name, parameter] : named_parameters()) {
    LLMTOOL_CHECK(parameter->tensor.defined(), "loaded before materialise(): ", name);
    known[name] = parameter;
    const auto found = state.find(name);
    if (found == state.end()) {
      missing.push_back(name);
      continue;
    }
    const HostTensor& host = found->second;
    if (!(host.shape == parameter->shape)) {
      misshaped.push_back(cat(name, " ", host.shape.str(), " instead of ", parameter->shape.str()));
    } else if (static_cast<std::int64_t>(host.values.size()) != host.shape.numel()) {
      misshaped.push_back(cat(name, " with ", host.values.size(), " values for ", host.shape.str()));
    }
  }
  for (const auto& [name, host] : state) {
    if (known.find(name) == known.end()) unexpected.push_back(name);
  }
  std::string problems;
  const auto report = [&problems](const char* kind, const std::vector<std::string>& names) {
    if (!names.empty()) problems += cat(problems.empty() ? "" : "; ", kind, ": ", list(names));
  };
  report("missing", missing);
  report("unexpected", unexpected);
  report("wrong shape", misshaped);
  if (!problems.empty()) throw world_error("[load] the weights do not fit the model: " + problems);
  for (const auto& [name, parameter] : known) {
    parameter->tensor.assign(std::span<const float>(state.at(name).values));
  }
}

Parameter& Module::declare(std::string name, Shape shape, Init init, bool decay, bool joins_previous) {
  auto& entry = parameters_.emplace_back();
  entry.first = std::move(name);
  entry.second.shape = shape;
  entry.second.init = init;
  entry.second.decay = decay;
  entry.second.joins_previous = joins_previous;
  return entry.second;
}

void Module::adopt(std::string name, Module& child) { children_.emplace_back(std::move(name), &child); }

}  // namespace llmtool
