// Tensors and safetensors files; see tensor_file.h.
#include "checkpoint/tensor_file.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/error.h"
#include "checkpoint/file_format.h"

namespace llmtool {
namespace {

std::string shape_text(const std::vector<std::int64_t>& dims) {
  std::string out = "(";
  for (std::size_t i = 0; i < dims.size(); ++i) out += cat(i == 0 ? "" : ",", dims[i]);
  return out + ")";
}

/// "; missing: a, b and 3 more": a whole model's names would not fit a line.
void report(std::string& problems, const char* kind, const std::vector<std::string>& names) {
  constexpr std::size_t shown = 8;
  if (names.empty()) return;
  problems += cat(problems.empty() ? "" : "; ", kind, ": ");
  for (std::size_t i = 0; i < std::min(names.size(), shown); ++i) problems += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > shown) problems += cat(" and ", names.size() - shown, " more");
}

bool same_shape(const TensorInfo& info, const Shape& shape) {
  return std::equal(info.shape.begin(), info.shape.end(), shape.dims().begin(), shape.dims().end());
}

}  // namespace

void write_tensors(const Path& path, const std::vector<NamedTensor>& tensors,
                   std::map<std::string, std::string> metadata) {
  metadata.emplace("format", file_format);
  SafetensorsWriter writer(path, std::move(metadata));
  for (const auto& [name, tensor] : tensors) {
    const auto dims = tensor.shape().dims();
    writer.declare(name, "F32", {dims.begin(), dims.end()});
  }
  for (const auto& [name, tensor] : tensors) {
    const std::vector<float> values = tensor.to_host();
    writer.append(name, std::as_bytes(std::span(values)));
  }
  writer.close();
}

void require_tensors(const SafetensorsFile& file, const Path& path, const std::vector<NamedShape>& wanted) {
  const std::string where = printable(path.native());
  const auto mark = file.metadata().find("format");
  check_format(mark == file.metadata().end() ? "" : mark->second, cat(where, ": __metadata__"),
               ErrorKind::world);

  std::vector<std::string> missing, unexpected, misshaped, mistyped;
  std::set<std::string_view> names;
  for (const auto& [name, shape] : wanted) {
    names.insert(name);
    const TensorInfo* info = file.find(name);
    if (info == nullptr) {
      missing.push_back(name);
    } else if (info->dtype != "F32") {
      mistyped.push_back(cat(name, " ", info->dtype, " instead of F32"));
    } else if (!same_shape(*info, shape)) {
      misshaped.push_back(cat(name, " ", shape_text(info->shape), " instead of ", shape.str()));
    }
  }
  for (const TensorInfo& info : file.tensors()) {
    if (!names.contains(info.name)) unexpected.push_back(printable(info.name));
  }
  std::string problems;
  report(problems, "missing", missing);
  report(problems, "unexpected", unexpected);
  report(problems, "wrong shape", misshaped);
  report(problems, "wrong type", mistyped);
  if (!problems.empty()) throw world_error(cat(where, ": the tensors do not fit the model: ", problems));
}

void read_tensors(const Path& path, std::vector<NamedTensor>& tensors) {
  const SafetensorsFile file(path);
  std::vector<NamedShape> wanted;
  for (const auto& [name, tensor] : tensors) wanted.push_back({name, tensor.shape()});
  require_tensors(file, path, wanted);
  std::vector<float> values;
  for (auto& [name, tensor] : tensors) {
    const auto bytes = file.data(*file.find(name));
    values.resize(bytes.size() / sizeof(float));
    // Copied, since data in a file need not be aligned.
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    tensor.assign(std::span<const float>(values));
  }
}

}  // namespace llmtool
