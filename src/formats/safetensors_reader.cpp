// Reading a safetensors file without trusting a byte of it.
#include <algorithm>
#include <limits>

#include "base/error.h"
#include "formats/json.h"
#include "formats/safetensors.h"

namespace llmtool {
namespace {

constexpr std::uint64_t max_header_bytes = 100'000'000;
constexpr std::size_t max_name_bytes = 1024;
constexpr std::size_t max_dimensions = 32;

std::string in_quotes(std::string_view name) {
  return cat("'", printable(name.substr(0, 100)), name.size() > 100 ? "...'" : "'");
}

/// A list of integers that are not negative; `what` says which one in the error.
std::vector<std::uint64_t> unsigned_list(const Json& value, const std::string& what) {
  if (!value.is_array()) throw world_error(cat(what, " is ", json_excerpt(value), ", not a list"));
  std::vector<std::uint64_t> out;
  for (const Json& item : value) {
    if (!item.is_number_unsigned()) {
      throw world_error(cat(what, " holds ", json_excerpt(item), ", not a size"));
    }
    out.push_back(item.get<std::uint64_t>());
  }
  return out;
}

/// One entry of the header, checked against itself and the size of the data. `where` opens errors.
TensorInfo checked_entry(const std::string& name, const Json& entry, std::uint64_t data_bytes,
                         const std::string& where) {
  if (name.empty() || name.size() > max_name_bytes || printable(name) != name) {
    throw world_error(cat(where, ": ", in_quotes(name), " is not a usable tensor name"));
  }
  const std::string what = cat(where, ": tensor ", in_quotes(name));
  if (!entry.is_object()) throw world_error(cat(what, " is ", json_excerpt(entry), ", not an object"));
  for (const char* key : {"dtype", "shape", "data_offsets"}) {
    if (!entry.contains(key)) throw world_error(cat(what, " has no ", key));
  }
  TensorInfo info;
  info.name = name;
  const Json& dtype = entry["dtype"];
  if (!dtype.is_string() || safetensors_dtype_bytes(dtype.get_ref<const std::string&>()) == 0) {
    throw world_error(cat(what, " has the unknown dtype ", json_excerpt(dtype)));
  }
  info.dtype = dtype.get<std::string>();

  const std::vector<std::uint64_t> shape = unsigned_list(entry["shape"], cat(what, ": shape"));
  if (shape.size() > max_dimensions) throw world_error(cat(what, " has ", shape.size(), " dimensions"));
  // A zero makes the product zero, yet the other sizes must still multiply without overflow.
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t bytes = safetensors_dtype_bytes(info.dtype);
  bool empty = false;
  for (const std::uint64_t size : shape) {
    if (size > most || (size != 0 && bytes > most / size))
      throw world_error(cat(what, " has a shape that overflows"));
    if (size == 0) empty = true;
    if (size != 0) bytes *= size;
    info.shape.push_back(static_cast<std::int64_t>(size));
  }
  if (empty) bytes = 0;

  const std::vector<std::uint64_t> offsets =
      unsigned_list(entry["data_offsets"], cat(what, ": data_offsets"));
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    throw world_error(cat(what, ": data_offsets is not a begin and an end"));
  }
  info.begin = offsets[0];
  info.end = offsets[1];
  if (info.end > data_bytes) {
    throw world_error(
        cat(what, " ends at byte ", info.end, " of ", data_bytes, ": the file is cut off or damaged"));
  }
  if (info.bytes() != bytes) {
    throw world_error(cat(what, " has ", info.bytes(), " bytes where its shape and dtype need ", bytes));
  }
  return info;
}

std::map<std::string, std::string> checked_metadata(const Json& json, const std::string& where) {
  if (!json.is_object())
    throw world_error(cat(where, ": __metadata__ is ", json_excerpt(json), ", not an object"));
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) {
      throw world_error(
          cat(where, ": __metadata__ ", in_quotes(key), " is ", json_excerpt(value), ", not a string"));
    }
    out.emplace(key, value.get<std::string>());
  }
  return out;
}

}  // namespace

std::size_t safetensors_dtype_bytes(std::string_view dtype) noexcept {
  for (const char* one : {"U8", "I8", "BOOL", "F8_E4M3", "F8_E5M2"}) {
    if (dtype == one) return 1;
  }
  for (const char* two : {"F16", "BF16", "I16", "U16"}) {
    if (dtype == two) return 2;
  }
  if (dtype == "F32" || dtype == "I32" || dtype == "U32") return 4;
  if (dtype == "F64" || dtype == "I64" || dtype == "U64") return 8;
  return 0;
}

std::int64_t TensorInfo::elements() const noexcept {
  std::int64_t product = 1;
  for (const std::int64_t size : shape) {
    if (size == 0) return 0;
    product *= size;
  }
  return product;
}

SafetensorsFile::SafetensorsFile(const Path& path) : file_(path) {
  const std::string where = printable(path.native());
  const std::string_view text = file_.text();
  if (text.size() < 8) {
    throw world_error(cat(where, ": ", text.size(), " bytes are too few for a safetensors file"));
  }
  std::uint64_t header_bytes = 0;
  for (std::size_t i = 8; i-- > 0;) header_bytes = header_bytes << 8 | static_cast<unsigned char>(text[i]);
  if (header_bytes > max_header_bytes || header_bytes > text.size() - 8) {
    throw world_error(cat(where, ": not a safetensors file, or cut off: its header would have ", header_bytes,
                          " bytes in a file of ", text.size()));
  }
  data_start_ = 8 + static_cast<std::size_t>(header_bytes);
  const std::string_view header = text.substr(8, static_cast<std::size_t>(header_bytes));
  if (header.empty() || header.front() != '{') {
    throw world_error(cat(where, ": not a safetensors file: its header is no JSON object"));
  }
  const Json json = parse_json(header, cat(where, ": header"), ErrorKind::world);
  const std::uint64_t data_bytes = text.size() - data_start_;

  for (const auto& [name, entry] : json.items()) {
    if (name == "__metadata__") {
      metadata_ = checked_metadata(entry, where);
    } else {
      tensors_.push_back(checked_entry(name, entry, data_bytes, where));
    }
  }
  std::stable_sort(tensors_.begin(), tensors_.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::uint64_t at = 0;
  for (const TensorInfo& info : tensors_) {
    if (info.begin != at) {
      throw world_error(
          cat(where, ": tensor ", in_quotes(info.name), " starts at byte ", info.begin,
              info.begin < at ? " and overlaps the one before it" : " and leaves a gap before it",
              ", which ends at ", at));
    }
    at = info.end;
  }
  if (at != data_bytes) {
    throw world_error(cat(where, ": ", data_bytes - at, " bytes after the last tensor belong to none"));
  }
  for (std::size_t i = 0; i < tensors_.size(); ++i) index_.emplace(tensors_[i].name, i);
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> out;
  for (const TensorInfo& info : tensors_) out.push_back(info.name);
  return out;
}

const TensorInfo* SafetensorsFile::find(std::string_view name) const {
  const auto at = index_.find(name);
  return at == index_.end() ? nullptr : &tensors_[at->second];
}

std::span<const std::byte> SafetensorsFile::data(const TensorInfo& info) const {
  const auto bytes = file_.bytes().subspan(data_start_);
  LLMTOOL_CHECK(info.begin <= info.end && info.end <= bytes.size(), info.name);
  return bytes.subspan(static_cast<std::size_t>(info.begin), static_cast<std::size_t>(info.bytes()));
}

}  // namespace llmtool
