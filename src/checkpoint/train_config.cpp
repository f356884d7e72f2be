// Reading, completing, checking and writing a TrainConfig.
#include "checkpoint/train_config.h"

#include "base/error.h"
#include "checkpoint/file_format.h"
#include "formats/options_json.h"
#include "text/make_tokenizer.h"

namespace llmtool {
namespace {

/// Takes "format" out of the document, where it is.
void take_format(Json& json, const std::string& source, ErrorKind kind) {
  if (!json.is_object()) return;  // read_options() says what is wrong
  const auto at = json.find("format");
  if (at == json.end()) return;
  if (!at->is_string()) {
    throw Error(kind, cat(source, ": format: expected \"", file_format, "\", got ", json_excerpt(*at)));
  }
  check_format(at->get_ref<const std::string&>(), cat(source, ": format"), kind);
  json.erase(at);
}

/// The preset is known only when file and settings have been read, and its values lie under both: they are
/// read twice.
TrainConfig assemble(Json json, const std::string& source, const std::vector<std::string>& sets,
                     ErrorKind kind) {
  take_format(json, source, kind);
  const auto apply = [&](TrainConfig& config) {
    read_options(config, json, source, kind);
    for (const std::string& assignment : sets) set_option(config, assignment, "--set");
  };
  TrainConfig config;
  apply(config);
  const ModelConfig preset = ModelConfig::from_preset(config.model.preset);
  config = TrainConfig();
  config.model = preset;
  apply(config);
  return config;
}

}  // namespace

TrainConfig load_train_config(const std::string& file, const std::vector<std::string>& sets) {
  Json json = Json::object();
  std::string source = "--config";
  if (!file.empty()) {
    json = read_json_file(file, ErrorKind::request);
    source = file == "-" ? "standard input" : printable(file);
  }
  TrainConfig config = assemble(std::move(json), source, sets, ErrorKind::request);
  check(config);
  return config;
}

TrainConfig parse_train_config(const std::string& json, const std::string& origin) {
  TrainConfig config = assemble(parse_json(json, origin, ErrorKind::world), origin, {}, ErrorKind::world);
  try {
    check(config);
  } catch (const Error& error) {
    throw world_error(cat(origin, ": ", error.what()), error.hint());
  }
  return config;
}

TrainConfig resolved(TrainConfig config) {
  config.model.n_kv_head = config.model.kv_heads();
  config.model.mlp_hidden = config.model.hidden();
  config.train.min_lr = config.train.final_lr();
  config.tokenizer.type = resolved_tokenizer_type(config.tokenizer, config.data.paths.empty());
  return config;
}

std::string resolved_json(const TrainConfig& config) {
  Json json = Json::object();
  json["format"] = file_format;
  const Json options = write_options(resolved(config));
  for (const auto& [key, value] : options.items()) json[key] = value;
  return to_json_text(json);
}

void check(const TrainConfig& config) {
  config.model.check();
  const TrainOptions& train = config.train;
  if (train.min_lr && *train.min_lr > train.max_lr) {
    throw request_error(cat("train.min_lr ", *train.min_lr, " is above train.max_lr ", train.max_lr,
                            ": expected at most that, or null for a tenth of it"));
  }
  const TokenizerConfig& tokenizer = config.tokenizer;
  if (tokenizer.type == "file" && !tokenizer.path) {
    throw request_error(
        "tokenizer.type is \"file\", but tokenizer.path is null: expected the tokenizer's path");
  }
  if (tokenizer.type != "file" && tokenizer.path) {
    throw request_error(
        cat("tokenizer.path is given, but tokenizer.type is \"", tokenizer.type, "\": expected \"file\""));
  }
  if (config.data.val_fraction > 0 && !config.data.val_paths.empty()) {
    throw request_error(cat("data.val_fraction ", config.data.val_fraction,
                            " and data.val_paths are both given: expected one of them"));
  }
}

std::string config_help() {
  std::string out;
  for (const OptionInfo& option : describe_options(TrainConfig())) {
    out += cat("  ", option.path, "  (", option.expected, "; default ", to_json_line(option.value),
               ")\n      ", option.help, "\n");
  }
  return out;
}

std::string config_keys_json() {
  Json keys = Json::array();
  for (const OptionInfo& option : describe_options(TrainConfig())) {
    Json key = {{"key", option.path}, {"type", option.type}, {"expected", option.expected}};
    if (!option.choices.empty()) key["choices"] = option.choices;
    key["default"] = option.value;
    key["help"] = option.help;
    keys.push_back(std::move(key));
  }
  return to_json_line(Json{{"keys", std::move(keys)}});
}

}  // namespace llmtool
