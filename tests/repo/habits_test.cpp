// Habits that would otherwise erode: small files that say what they are, no forbidden flags or calls.
#include <set>

#include "base/cat.h"
#include "source_tree.h"
#include "support/catch.h"

using llmtool::cat;

namespace {

/// Every line of code in `files` that holds one of `words`, comments and literals aside. A word counts only
/// where no letter, digit or underscore stands before it.
void find_words(const std::vector<SourceFile>& files, const std::vector<std::string>& words,
                std::string_view reason, Violations& violations) {
  for (const SourceFile& file : files) {
    if (!file.is_cpp()) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string code = code_of(file.lines[i]);
      for (const std::string& word : words) {
        const auto at = code.find(word);
        if (at == std::string::npos) continue;
        const bool inside_name =
            at > 0 && (std::isalnum(static_cast<unsigned char>(code[at - 1])) || code[at - 1] == '_');
        const bool word_is_name = std::isalpha(static_cast<unsigned char>(word[0]));
        if (!word_is_name || !inside_name) violations.add(file, i + 1, cat(word, " ", reason));
      }
    }
  }
}

}  // namespace

TEST_CASE("files have at most 600 lines") {
  Violations violations;
  for (const SourceFile& file : source_files({"src", "kernels", "tests"})) {
    if (file.has_extension(".json") || file.has_extension(".txt")) continue;  // data
    if (file.lines.size() > 600) violations.add(file, 0, cat(file.lines.size(), " lines"));
  }
  CHECK(violations.text() == "");
}

TEST_CASE("each file opens by saying what it is") {
  Violations violations;
  for (const SourceFile& file : source_files({"src", "kernels", "tests"})) {
    const bool code = file.is_cpp() || file.has_extension(".def") || file.has_extension(".glsl");
    if (code && (file.lines.empty() || !file.lines[0].starts_with("//"))) {
      violations.add(file, 1, "opens without a // comment");
    }
  }
  CHECK(violations.text() == "");
}

TEST_CASE("no build file drops NaN or infinity") {
  Violations violations;
  for (const SourceFile& file :
       source_files({"CMakeLists.txt", "CMakePresets.json", "cmake", "src", "tests"})) {
    if (file.is_cpp()) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      for (const char* flag : {"-Ofast", "-ffast-math", "-ffinite-math", "-funsafe-math"}) {
        if (file.lines[i].find(flag) != std::string::npos) violations.add(file, i + 1, flag);
      }
    }
  }
  CHECK(violations.text() == "");
}

TEST_CASE("operations, optimizers and the model never read a device value") {
  Violations violations;
  find_words(source_files({"src/ops", "src/optim", "src/model"}),
             {".to_host(", ".item(", "->wait(", ".wait(", ".fetch(", "->fetch("}, "reads from the device",
             violations);
  CHECK(violations.text() == "");
}

TEST_CASE("only the command line and the log print") {
  Violations violations;
  std::vector<SourceFile> files;
  for (SourceFile& file : source_files({"src"})) {
    if (file.folder() != "cli" && !file.folder().empty()) files.push_back(std::move(file));
  }
  find_words(files, {"std::cout", "std::cerr", "std::clog", "printf(", "fprintf(", "puts(", "fputs("},
             "prints", violations);
  CHECK(violations.text() == "");
}

TEST_CASE("no call depends on the locale") {
  Violations violations;
  find_words(source_files({"src"}),
             {"std::stod(", "std::stof(", "std::strtod(", "strtod(", "strtof(", "atof(", "std::setlocale(",
              "setlocale("},
             "depends on the locale", violations);
  CHECK(violations.text() == "");
}

TEST_CASE("nothing is left for later") {
  Violations violations;
  const std::vector<std::string> words = {std::string("TO").append("DO"), std::string("FIX").append("ME"),
                                          std::string("XX").append("X")};
  for (const SourceFile& file : source_files({"src", "kernels", "tests", "cmake", "docs", "configs",
                                              "CMakeLists.txt", "README.md", "bootstrap.sh"})) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      for (const std::string& word : words) {
        const auto at = file.lines[i].find(word);
        // mkstemp patterns end in six of the third word's letter
        if (at == std::string::npos || file.lines[i].find(word + word) != std::string::npos) continue;
        violations.add(file, i + 1, word);
      }
    }
  }
  CHECK(violations.text() == "");
}

TEST_CASE("every path that the documentation names exists") {
  Violations violations;
  for (const SourceFile& file : source_files({"README.md", "docs"})) {
    if (!file.has_extension(".md")) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      for (auto open = line.find('`'); open != std::string::npos;) {
        const auto close = line.find('`', open + 1);
        if (close == std::string::npos) break;
        std::string name = line.substr(open + 1, close - open - 1);
        open = line.find('`', close + 1);
        bool ours = false;
        for (const char* top : {"src/", "kernels/", "configs/", "data/", "tests/", "docs/", "cmake/"}) {
          ours = ours || name.starts_with(top);
        }
        if (!ours || name.find_first_of("*<>{}[]$ ") != std::string::npos) continue;  // patterns and commands
        if (const auto colon = name.find_first_of(":#"); colon != std::string::npos) name.resize(colon);
        if (!path_exists(name)) violations.add(file, i + 1, cat(name, " does not exist"));
      }
    }
  }
  CHECK(violations.text() == "");
}
