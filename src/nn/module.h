// Module: owns declared parameters and knows its submodules, under dotted names. A module is first declared
// (shapes and initialisers, no memory), then materialised on a device, where all parameters of the whole tree
// share slabs. Not here: any layer.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tensor/parameter_slabs.h"
#include "tensor/tensor.h"

namespace llmtool {

/// How a parameter starts: constant `mean` where std is 0, else normal(mean, std), drawn by the parameter's
/// full name.
struct Init {
  float mean = 0;
  float std = 0;
  static Init zeros() { return {0, 0}; }
  static Init ones() { return {1, 0}; }
  static Init normal(float std) { return {0, std}; }
};

class Parameter {
 public:
  Shape shape;
  Init init;
  bool decay = true;            ///< Weight decay applies (matrices and embeddings; not biases and gains).
  bool joins_previous = false;  ///< See SlabEntry.
  Tensor tensor;                ///< Undefined until materialised.
};

struct NamedParameter {
  std::string name;
  Parameter* parameter;
};

/// Values on the host, by full name.
struct HostTensor {
  Shape shape;
  std::vector<float> values;
};
using StateDict = std::map<std::string, HostTensor>;

enum class DecayRule { matrices, all };

class Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// In order of declaration, depth first; names like "blocks.0.attn.q.weight".
  std::vector<NamedParameter> named_parameters();
  std::int64_t parameter_count();
  std::int64_t decayed_count(DecayRule rule);

  /// Allocates all parameters on the device, without values. With `trainable`, gradients too, and every
  /// parameter requires one. Called once, on the root.
  void materialise(Device& device, bool trainable, DecayRule rule = DecayRule::matrices);
  /// Draws every parameter from (seed, its name): the same values on every device and for any number of
  /// threads.
  void initialise(std::uint64_t seed);
  ParameterSlabs& slabs() noexcept { return slabs_; }

  void train(bool on = true);
  void eval() { train(false); }
  bool training() const noexcept { return training_; }
  void zero_grad();

  /// Copies all values to the host; waits for the device.
  StateDict state_dict();
  /// Sets all values. One world_error lists every missing, unexpected and wrongly shaped name.
  void load_state_dict(const StateDict& state);

 protected:
  /// Declares a parameter of this module; the reference stays valid.
  Parameter& declare(std::string name, Shape shape, Init init, bool decay, bool joins_previous = false);
  /// Names a submodule, which must outlive this module's use (a member, or owned by a container that is).
  void adopt(std::string name, Module& child);

 private:
  void gather(const std::string& prefix, std::vector<NamedParameter>& out);

  std::deque<std::pair<std::string, Parameter>> parameters_;
  std::vector<std::pair<std::string, Module*>> children_;
  ParameterSlabs slabs_;
  bool training_ = true;
};

}  // namespace llmtool
