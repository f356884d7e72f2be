// The repository as the repository tests see it: its files, their lines, and the code in them without
// comments.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

struct SourceFile {
  std::string path;  ///< from the top of the repository: "src/ops/matmul.cpp"
  std::vector<std::string> lines;

  /// "ops" for src/ops/matmul.cpp, "" for src/main.cpp.
  std::string folder() const;
  bool has_extension(std::string_view extension) const;
  bool is_cpp() const { return has_extension(".h") || has_extension(".cpp"); }
};

/// The text files of the given folders and files, sorted by path. Names that do not exist are passed over.
std::vector<SourceFile> source_files(const std::vector<std::string>& roots);

/// True if the repository has that file or folder.
bool path_exists(const std::string& path);

/// The line without a // comment and without what stands inside string literals.
std::string code_of(std::string_view line);

/// What breaks a rule, one "path:line: words" each; the line is left out where it is 0.
class Violations {
 public:
  void add(const SourceFile& file, std::size_t line, std::string_view words);
  /// All of them on lines of their own; empty if there are none.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};
