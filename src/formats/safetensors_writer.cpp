// Writing a safetensors file as a stream. Wrong calls are bugs (checks); a full disk is an Error of
// FileWriter.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "formats/json.h"
#include "formats/safetensors.h"

namespace llmtool {

SafetensorsWriter::SafetensorsWriter(const Path& path, std::map<std::string, std::string> metadata)
    : file_(path), metadata_(std::move(metadata)) {}

void SafetensorsWriter::declare(std::string_view name, std::string_view dtype,
                                std::vector<std::int64_t> shape) {
  LLMTOOL_CHECK(!header_written_, "declare after append: ", name);
  const std::size_t element = safetensors_dtype_bytes(dtype);
  LLMTOOL_CHECK(element > 0, "dtype ", dtype, " of ", name);
  for (const TensorInfo& other : tensors_) LLMTOOL_CHECK(other.name != name, "declared twice: ", name);
  TensorInfo info;
  info.name = name;
  info.dtype = dtype;
  info.shape = std::move(shape);
  info.begin = tensors_.empty() ? 0 : tensors_.back().end;
  info.end = info.begin + static_cast<std::uint64_t>(info.elements()) * element;
  tensors_.push_back(std::move(info));
}

void SafetensorsWriter::write_header() {
  header_written_ = true;
  Json header = Json::object();
  auto& members =
      static_cast<Json::object_t::Container&>(header.get_ref<Json::object_t&>());  // without searching
  if (!metadata_.empty()) {
    Json metadata = Json::object();
    for (const auto& [key, value] : metadata_) metadata[key] = value;
    members.emplace_back("__metadata__", std::move(metadata));
  }
  for (const TensorInfo& info : tensors_) {
    Json entry = Json::object();
    entry["dtype"] = info.dtype;
    entry["shape"] = info.shape;
    entry["data_offsets"] = {info.begin, info.end};
    members.emplace_back(info.name, std::move(entry));
  }
  std::string text = to_json_line(header);
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string length(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(text.size() >> (8 * i) & 0xFF);
  file_.write(length);
  file_.write(text);
}

void SafetensorsWriter::skip_complete() {
  while (current_ < tensors_.size() && written_ == tensors_[current_].bytes()) {
    ++current_;
    written_ = 0;
  }
}

void SafetensorsWriter::append(std::string_view name, std::span<const std::byte> bytes) {
  if (!header_written_) {
    write_header();
    skip_complete();
  }
  if (bytes.empty()) return;  // a tensor without elements was passed over
  LLMTOOL_CHECK(current_ < tensors_.size() && tensors_[current_].name == name, "bytes of ", name,
                " out of turn");
  LLMTOOL_CHECK(bytes.size() <= tensors_[current_].bytes() - written_, "too many bytes for ", name);
  file_.write(bytes);
  written_ += bytes.size();
  skip_complete();
}

void SafetensorsWriter::close() {
  if (!header_written_) {
    write_header();
    skip_complete();
  }
  LLMTOOL_CHECK(current_ == tensors_.size(), "bytes missing of ", tensors_[current_].name);
  file_.close();
}

}  // namespace llmtool
