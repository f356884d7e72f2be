// load_text().
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

std::string folder_text(const Path& folder) {
  std::string text;
  for (const Path& file : files_below(folder)) {
    const std::string content = read_file(file);
    if (content.find('\0') == std::string::npos) text += content;
  }
  if (text.empty()) {
    throw world_error(cat("folder ", printable(folder.string()),
                          " holds no text: no file in it that is neither ", "empty nor binary"));
  }
  return text;
}

}  // namespace

std::string load_text(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& name : paths) {
    const Path path(name);
    std::error_code ignored;
    if (name != "-" && fs::is_directory(path, ignored)) {
      text += folder_text(path);
      continue;
    }
    std::string content = read_file(path);
    if (content.empty()) {
      throw world_error(
          cat(name == "-" ? "stdin" : printable(name), " is empty: there is no text to work on"));
    }
    if (text.empty()) {
      text = std::move(content);
    } else {
      text += content;
    }
  }
  return text;
}

}  // namespace llmtool
