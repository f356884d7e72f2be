// The pyramid: which folder of src/ may include which. The table is that of docs/architecture.md.
#include <algorithm>
#include <map>
#include <set>

#include "base/cat.h"
#include "source_tree.h"
#include "support/catch.h"

using llmtool::cat;

namespace {

using Names = std::set<std::string>;

/// Folder to the folders below it that it may include. "" is src/main.cpp.
const std::map<std::string, Names>& pyramid() {
  static const auto table = [] {
    std::map<std::string, Names> t;
    const auto put = [&t](const std::string& name, const Names& direct) {
      Names all = direct;
      for (const std::string& below : direct) all.insert(t[below].begin(), t[below].end());
      t[name] = all;
    };
    put("base", {});
    put("device", {"base"});
    put("text", {"base"});
    put("formats", {"base"});
    put("tensor", {"device"});
    put("cpu", {"device"});
    put("vulkan", {"device"});
    put("ops", {"tensor"});
    put("optim", {"tensor"});
    put("nn", {"ops"});
    put("model", {"nn"});
    put("checkpoint", {"model", "optim", "text", "formats"});
    put("generate", {"checkpoint"});
    put("train", {"generate"});
    put("cli", {"train", "cpu", "vulkan"});
    put("", {"cli"});
    return t;
  }();
  return table;
}

/// The name in an include directive, with its opening < or "; empty if the line is none.
std::string include_of(const std::string& line) {
  const auto hash = line.find_first_not_of(" \t");
  if (hash == std::string::npos || line[hash] != '#') return {};
  const auto word = line.find_first_not_of(" \t", hash + 1);
  if (word == std::string::npos || line.compare(word, 7, "include") != 0) return {};
  const auto open = line.find_first_of("<\"", word);
  if (open == std::string::npos) return {};
  const auto close = line.find_first_of(">\"", open + 1);
  return close == std::string::npos ? std::string() : line.substr(open, close - open);
}

/// Libraries that only some folders may include, by the beginning of the header's name.
const std::vector<std::pair<std::string, Names>>& libraries() {
  static const std::vector<std::pair<std::string, Names>> list = {
      {"nlohmann/", {"formats", "checkpoint", "generate", "train", "cli"}},
      {"CLI/", {"cli"}},
      {"hwy/", {"cpu"}},
      {"vulkan/", {"vulkan"}},
      {"volk", {"vulkan"}},
  };
  return list;
}

void check_include(const SourceFile& file, std::size_t line, const std::string& include,
                   Violations& violations) {
  const std::string folder = file.folder(), name = include.substr(1);
  const bool quotes = include[0] == '"';
  if (name == "kernels/params.h") {
    if (Names{"base", "text", "formats"}.contains(folder))
      violations.add(file, line, "kernels/params.h above base only");
    return;
  }
  const auto slash = name.find('/');
  const std::string target = slash == std::string::npos ? folder : name.substr(0, slash);
  if (quotes && pyramid().contains(target) && path_exists(cat("src/", name))) {
    if (target != folder && !pyramid().at(folder).contains(target)) {
      violations.add(file, line, cat("src/", folder, " may not include ", name));
    }
    return;
  }
  if (quotes && slash == std::string::npos && path_exists(cat("src/", folder, "/", name))) return;
  for (const auto& [start, folders] : libraries()) {
    if (!name.starts_with(start)) continue;
    if (!folders.contains(folder)) violations.add(file, line, cat("src/", folder, " may not include ", name));
    return;
  }
  if (quotes) violations.add(file, line, cat("\"", name, "\" is no file of src; libraries stand in <>"));
}

}  // namespace

TEST_CASE("folders of src include only what stands below them") {
  Violations violations;
  for (const SourceFile& file : source_files({"src"})) {
    if (!file.is_cpp() && !file.has_extension(".def")) continue;
    if (!pyramid().contains(file.folder())) {
      violations.add(file, 0, cat("src/", file.folder(), " is not in the table of folders"));
      continue;
    }
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string include = include_of(file.lines[i]);
      if (!include.empty()) check_include(file, i + 1, include, violations);
    }
  }
  CHECK(violations.text() == "");
}

TEST_CASE("a forbidden include is found") {
  const auto found = [](const std::string& path, const std::string& line) {
    Violations violations;
    check_include({path, {line}}, 1, include_of(line), violations);
    return !violations.text().empty();
  };
  CHECK(found("src/base/cat.cpp", "#include \"formats/json.h\""));
  CHECK(found("src/text/x.cpp", "#  include \"formats/json.h\"  // why not"));
  CHECK(found("src/nn/x.cpp", "#include <nlohmann/json.hpp>"));
  CHECK(found("src/train/x.cpp", "#include \"cpu/cpu_device.h\""));
  CHECK(found("src/ops/x.cpp", "#include \"no/such.h\""));
  CHECK(found("src/text/x.cpp", "#include \"kernels/params.h\""));
  CHECK_FALSE(found("src/formats/x.cpp", "#include <nlohmann/json.hpp>"));
  CHECK_FALSE(found("src/train/x.cpp", "#include \"base/cat.h\""));
  CHECK_FALSE(found("src/cli/x.cpp", "#include \"cpu/cpu_device.h\""));
  CHECK_FALSE(found("src/base/x.cpp", "#include <vector>"));
  CHECK(include_of("// #include \"x.h\"").empty());
}

TEST_CASE("the table of folders has no cycle and keeps the devices apart") {
  for (const auto& [folder, below] : pyramid()) {
    CHECK_FALSE(below.contains(folder));
    if (folder != "cli" && !folder.empty()) {
      CHECK_FALSE(below.contains("cpu"));
      CHECK_FALSE(below.contains("vulkan"));
    }
  }
  CHECK_FALSE(pyramid().at("ops").contains("optim"));
  CHECK_FALSE(pyramid().at("model").contains("formats"));
}

TEST_CASE("kernels/params.h includes nothing but <cstdint>") {
  Violations violations;
  for (const SourceFile& file : source_files({"kernels/params.h"})) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string include = include_of(file.lines[i]);
      if (!include.empty() && include != "<cstdint") violations.add(file, i + 1, include);
    }
  }
  CHECK(violations.text() == "");
}
