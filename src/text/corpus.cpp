// load_text() and TextSource.
#include "text/corpus.h"

#include <algorithm>
#include <system_error>

#include "base/error.h"
#include "base/files.h"

namespace llmtool {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void unreadable(const Path& path, const std::error_code& why) {
  throw world_error(cat("cannot read folder ", printable(path.string()), ": ", why.message()));
}

/// Every regular file below a folder, sorted. Links to files are followed, links to folders are not, so that
/// a circle of links ends.
std::vector<Path> files_below(const Path& folder) {
  std::vector<Path> files;
  std::error_code why;
  fs::recursive_directory_iterator entry(folder, why);
  if (why) unreadable(folder, why);
  for (const fs::recursive_directory_iterator end; entry != end; entry.increment(why)) {
    if (why) unreadable(folder, why);
    std::error_code gone;  // a dangling link is not a regular file
    if (entry->is_regular_file(gone)) files.push_back(entry->path());
  }
  if (why) unreadable(folder, why);
  std::sort(files.begin(), files.end(), [](const Path& a, const Path& b) { return a.native() < b.native(); });
  return files;
}

[[noreturn]] void no_text_in(const Path& folder) {
  throw world_error(cat("folder ", printable(folder.string()),
                        " holds no text: no file in it that is neither ", "empty nor binary"));
}

[[noreturn]] void is_empty(const std::string& name) {
  throw world_error(cat(name == "-" ? "stdin" : printable(name), " is empty: there is no text to work on"));
}

bool is_folder(const std::string& name) {
  std::error_code ignored;
  return name != "-" && fs::is_directory(Path(name), ignored);
}

/// Neither empty nor with a NUL byte in it, found without taking it into memory.
bool is_text_file(const Path& file) {
  FileReader reader(file);
  std::string block;
  bool any = false;
  while (reader.read(block, std::size_t{1} << 20) > 0) {
    if (block.find('\0') != std::string::npos) return false;
    any = true;
    block.clear();
  }
  return any;
}

}  // namespace

std::string load_text(const std::vector<std::string>& paths) {
  std::string text;
  const auto add = [&](std::string content) {
    if (text.empty()) {
      text = std::move(content);
    } else {
      text += content;
    }
  };
  for (const std::string& name : paths) {
    if (is_folder(name)) {
      const std::size_t before = text.size();
      for (const Path& file : files_below(name)) {
        std::string content = read_file(file);
        if (content.find('\0') == std::string::npos) add(std::move(content));
      }
      if (text.size() == before) no_text_in(name);
      continue;
    }
    std::string content = read_file(name);
    if (content.empty()) is_empty(name);
    add(std::move(content));
  }
  return text;
}

TextSource::TextSource(std::vector<std::string> paths) {
  const auto add = [&](const std::string& name) {
    // A FIFO is opened once, to be read: its writer would take a first reader that goes for the end.
    std::error_code missing;  // which FileReader says
    const bool fifo = std::filesystem::is_fifo(name, missing);
    const std::optional<std::uint64_t> size = fifo ? std::nullopt : FileReader(name).size();
    if (size == 0u) is_empty(name);
    if (size && total_) {
      *total_ += *size;
    } else {
      total_.reset();
    }
    files_.push_back(name);
  };
  for (const std::string& name : paths) {
    if (!is_folder(name)) {
      add(name);
      continue;
    }
    const std::size_t before = files_.size();
    for (const Path& file : files_below(name))
      if (is_text_file(file)) add(file.string());
    if (files_.size() == before) no_text_in(name);
  }
}

bool TextSource::read(std::string& out, std::size_t bytes) {
  while (bytes > 0) {
    if (!open_) {
      if (at_ == files_.size()) return false;
      open_ = std::make_unique<FileReader>(files_[at_]);
      given_before_ = given_;
    }
    const std::size_t n = open_->read(out, bytes);
    given_ += n;
    if (n < bytes) {
      if (given_ == given_before_) is_empty(files_[at_]);
      open_.reset();
      ++at_;
    }
    bytes -= n;
  }
  return true;
}

}  // namespace llmtool
