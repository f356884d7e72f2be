// Writing and reading trainer_state.json by the same declaration of its fields.
#include "checkpoint/trainer_state.h"

#include <cstring>

#include "checkpoint/file_format.h"
#include "formats/options_json.h"

namespace llmtool {
namespace {

/// The file's fields, declared once; 64-bit hashes are integers, which JSON of ours keeps exactly.
struct Fields {
  TrainerState state;
  TensorChecksums checksums;

  template <class V>
  void visit(V& v) {
    v("step", state.step, Any{}, "attempted steps");
    v("skipped_steps", state.skipped_steps, Any{}, "steps whose gradients were not finite");
    v("bad_steps_in_a_row", state.bad_steps_in_a_row, Any{}, "of these, the latest in a row");
    v("best_val_loss", state.best_val_loss, Any{}, "lowest validation loss so far");
    v("best_step", state.best_step, Any{}, "where it was");
    v("evaluations_without_improvement", state.evaluations_without_improvement, Any{}, "since then");
    v("tokenizer_fingerprint", state.tokenizer_fingerprint, Any{}, "of tokenizer.json");
    v("data_fingerprint", state.data_fingerprint, Any{}, "of the token ids");
    v("model_checksum", checksums.model, Any{}, "of model.safetensors");
    v("optimizer_checksum", checksums.optimizer, Any{}, "of optimizer.safetensors");
  }
};

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) noexcept {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

}  // namespace

std::uint64_t file_checksum(const Path& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  std::uint64_t hash = mixed(0x6C6C6D746F6F6C31u, bytes.size());
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
    hash = mixed(hash, word);
  }
  return hash;
}

void require_checksum(const Path& path, std::uint64_t expected) {
  if (file_checksum(path) == expected) return;
  throw world_error(
      cat("'", printable(path.native()), "' is damaged: its checksum is not that of trainer_state.json"),
      "take another checkpoint; if the file was changed on purpose, remove trainer_state.json");
}

std::string trainer_state_json(const TrainerState& state, const TensorChecksums& checksums) {
  Json json = Json::object();
  json["format"] = file_format;
  const Json options = write_options(Fields{state, checksums});
  for (const auto& [key, value] : options.items()) json[key] = value;
  return to_json_text(json);
}

TrainerState parse_trainer_state(const std::string& json, const std::string& origin,
                                 TensorChecksums& checksums) {
  Json document = parse_json(json, origin, ErrorKind::world);
  if (document.is_object()) {
    const auto format = document.find("format");
    const bool text = format != document.end() && format->is_string();
    check_format(text ? format->get_ref<const std::string&>() : "", cat(origin, ": format"),
                 ErrorKind::world);
    document.erase("format");
  }
  Fields fields;
  const auto present = read_options(fields, document, origin, ErrorKind::world);
  for (const OptionInfo& option : describe_options(Fields{})) {
    if (!present.contains(option.path)) throw world_error(cat(origin, ": ", option.path, ": missing"));
  }
  checksums = fields.checksums;
  return fields.state;
}

TrainerState read_trainer_state(const Path& checkpoint, TensorChecksums& checksums) {
  const Path path = checkpoint / "trainer_state.json";
  return parse_trainer_state(read_file(path, 1 << 20), printable(path.native()), checksums);
}

}  // namespace llmtool
