// Named f32 tensors of a device to and from a safetensors file with our format mark. Not here: what they
// mean.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "formats/safetensors.h"
#include "tensor/tensor.h"

namespace llmtool {

struct NamedShape {
  std::string name;
  Shape shape;
};
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// Writes the tensors in their order, one at a time through host memory, and flushes to disk. `metadata`
/// stands beside the format mark.
void write_tensors(const Path& path, const std::vector<NamedTensor>& tensors,
                   std::map<std::string, std::string> metadata = {});
/// One world_error with every missing, unexpected, wrongly shaped and wrongly typed name, unless the file
/// holds exactly `wanted` in f32 and our format mark.
void require_tensors(const SafetensorsFile& file, const Path& path, const std::vector<NamedShape>& wanted);
/// require_tensors(), then the values.
void read_tensors(const Path& path, std::vector<NamedTensor>& tensors);

}  // namespace llmtool
