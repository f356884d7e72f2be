// Reading the tree at LLMTOOL_SOURCE_DIR.
#include "source_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/cat.h"

namespace fs = std::filesystem;

namespace {

const fs::path root = LLMTOOL_SOURCE_DIR;

bool is_text(const fs::path& path) {
  static const std::vector<std::string> extensions = {".h",   ".cpp", ".def", ".comp", ".glsl", ".cmake",
                                                      ".txt", ".md",  ".py",  ".json", ".sh"};
  return std::find(extensions.begin(), extensions.end(), path.extension().native()) != extensions.end();
}

SourceFile read(const fs::path& path) {
  SourceFile file{fs::relative(path, root).generic_string(), {}};
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) file.lines.push_back(line);
  return file;
}

}  // namespace

std::string SourceFile::folder() const {
  const auto first = path.find('/'), second = path.find('/', first + 1);
  return second == std::string::npos ? std::string() : path.substr(first + 1, second - first - 1);
}

bool SourceFile::has_extension(std::string_view extension) const { return path.ends_with(extension); }

std::vector<SourceFile> source_files(const std::vector<std::string>& roots) {
  std::vector<SourceFile> out;
  for (const std::string& name : roots) {
    if (fs::is_regular_file(root / name)) out.push_back(read(root / name));
    if (!fs::is_directory(root / name)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / name)) {
      if (entry.is_regular_file() && is_text(entry.path())) out.push_back(read(entry.path()));
    }
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return out;
}

bool path_exists(const std::string& path) { return fs::exists(root / path); }

std::string code_of(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line.substr(i, 2) == "//") break;
    out += line[i];
    if (line[i] != '"' || (i > 0 && line[i - 1] == '\'')) continue;
    for (++i; i < line.size() && line[i] != '"'; ++i) i += line[i] == '\\';
    out += '"';
  }
  return out;
}

void Violations::add(const SourceFile& file, std::size_t line, std::string_view words) {
  text_ += llmtool::cat(file.path, line == 0 ? std::string() : llmtool::cat(':', line), ": ", words, "\n");
}
