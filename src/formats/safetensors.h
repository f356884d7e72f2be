// The safetensors file: an 8-byte length, a JSON header of names, dtypes, shapes and offsets, then the bytes
// of all tensors without gaps. Reading checks everything before anything is used. Not here: tensors of this
// program; data is bytes, and which names a model wants is checkpoint's business.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace llmtool {

/// Bytes of one element of a safetensors dtype ("F32", "BF16", ...), 0 if the dtype is not known.
std::size_t safetensors_dtype_bytes(std::string_view dtype) noexcept;

struct TensorInfo {
  std::string name;
  std::string dtype;  ///< as the file spells it: F32, I32, F16, BF16, F64, I64, U8, ...
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;  ///< bytes from the start of the data

  std::uint64_t bytes() const noexcept { return end - begin; }
  /// The product of the shape, 1 for a scalar. It has been checked not to overflow.
  std::int64_t elements() const noexcept;
};

/// An open file, mapped. Its constructor throws a world error naming the file and what is wrong: a header
/// longer than the file or than 100 MB, malformed or duplicate entries, an unknown dtype, a size that is not
/// shape times dtype, offsets outside the file, overlaps, gaps, names that are empty, overlong or hold
/// control characters.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const Path& path);

  const std::map<std::string, std::string>& metadata() const noexcept { return metadata_; }
  /// In the order of their data.
  const std::vector<TensorInfo>& tensors() const noexcept { return tensors_; }
  std::vector<std::string> names() const;
  /// nullptr if there is none of that name.
  const TensorInfo* find(std::string_view name) const;
  /// Valid while the file object lives. Not necessarily aligned to the element: copy it out.
  std::span<const std::byte> data(const TensorInfo& info) const;

 private:
  MappedFile file_;
  std::size_t data_start_ = 0;
  std::map<std::string, std::string> metadata_;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

/// Writes one file front to back: declare() every tensor, then append() their bytes in that order, then
/// close(). Equal calls give equal bytes. The header is padded so that the data starts at a multiple of 8.
class SafetensorsWriter {
 public:
  /// `metadata` becomes __metadata__, sorted by key; nothing is written if it is empty.
  SafetensorsWriter(const Path& path, std::map<std::string, std::string> metadata);

  void declare(std::string_view name, std::string_view dtype, std::vector<std::int64_t> shape);
  /// The next bytes of `name`, in one piece or several.
  void append(std::string_view name, std::span<const std::byte> bytes);
  /// Checks that every byte came, and flushes to disk.
  void close();

 private:
  void write_header();
  void skip_complete();

  FileWriter file_;
  std::map<std::string, std::string> metadata_;
  std::vector<TensorInfo> tensors_;
  bool header_written_ = false;
  std::size_t current_ = 0;    // the tensor whose bytes are awaited
  std::uint64_t written_ = 0;  // bytes of it so far
};

}  // namespace llmtool
