// RunDirectory: writing a checkpoint so that a crash at any instant leaves the last complete one, and keeping
// few.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/checkpoint_files.h"
#include "checkpoint/file_format.h"
#include "checkpoint/run_pointers.h"
#include "checkpoint/tokenizer_file.h"

namespace llmtool {
namespace {

namespace fs = std::filesystem;

/// Opens the names of directories that are being written or removed: checkpoint_step() does not take them for
/// checkpoints.
constexpr std::string_view temporary_prefix = ".tmp-";

Error failure(const char* what, const Path& path, const std::error_code& code) {
  return world_error(cat("cannot ", what, " ", shown(path), ": ", code.message()));
}

/// Removes `dir` under another name, so that what is half removed is never seen as a checkpoint.
void remove_checkpoint(const Path& dir) {
  const Path doomed = dir.parent_path() / cat(temporary_prefix, "old-", dir.filename().native());
  std::error_code ignored;
  fs::remove_all(doomed, ignored);
  fs::rename(dir, doomed, ignored);
  fs::remove_all(ignored ? dir : doomed, ignored);
}

/// `fresh` becomes `final` in one step; a directory that is there already is swapped out, then removed.
void move_into_place(const Path& fresh, const Path& final) {
  std::error_code code;
  if (!fs::exists(final, code)) {
    fs::rename(fresh, final, code);
    if (code) throw failure("write", final, code);
    return;
  }
#ifdef RENAME_EXCHANGE
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, final.c_str(), RENAME_EXCHANGE) == 0) {
    fs::remove_all(fresh, code);
    return;
  }
#endif
  // A file system without the exchange: for an instant neither is there, and the one before is the latest.
  remove_checkpoint(final);
  fs::rename(fresh, final, code);
  if (code) throw failure("write", final, code);
}

/// What a checkpoint takes, a little generously: values and moments, and as much for the small files as they
/// need.
std::uint64_t bytes_needed(GPT& model, std::size_t tokenizer_bytes) {
  std::uint64_t elements = static_cast<std::uint64_t>(model.parameter_count());
  for (const auto& [name, tensor] : moment_tensors(model))
    elements += static_cast<std::uint64_t>(tensor.numel());
  return elements * sizeof(float) + tokenizer_bytes + (1 << 16);
}

}  // namespace

bool RunDirectory::has_run() const {
  std::error_code ignored;
  return fs::exists(root_ / "config.json", ignored) || !checkpoint_steps(root_).empty();
}

DirectoryLock RunDirectory::create() const {
  make_writable_directory(root_);
  DirectoryLock lock(root_, "is being written by another training");
  make_writable_directory(root_ / "checkpoints");
  // What a crash left half written or half removed.
  std::vector<Path> leftovers;
  std::error_code code;
  for (fs::directory_iterator it(root_ / "checkpoints", code), end; !code && it != end; it.increment(code)) {
    if (it->path().filename().native().rfind(temporary_prefix, 0) == 0) leftovers.push_back(it->path());
  }
  for (const Path& path : leftovers) fs::remove_all(path, code);
  return lock;
}

Path RunDirectory::checkpoint_path(std::uint64_t step) const { return checkpoint_dir(root_, step); }

std::optional<Path> RunDirectory::latest_good() const {
  // `latest` first: after a resume from an earlier checkpoint it is not the one with the highest step.
  std::vector<Path> candidates;
  if (const auto latest = read_run_pointer(root_, "latest")) candidates.push_back(*latest);
  const auto steps = checkpoint_steps(root_);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (const Path dir = checkpoint_path(*step); candidates.empty() || dir != candidates.front())
      candidates.push_back(dir);
  }
  for (const Path& candidate : candidates) {
    try {
      require_good_checkpoint(candidate);
      return candidate;
    } catch (const NewerFormat&) {
      throw;  // going on from an older one would write over it
    } catch (const Error& error) {
      warn(cat("checkpoint ", shown(candidate), " is passed over: ", error.what()));
    }
  }
  return std::nullopt;
}

void RunDirectory::save(GPT& model, const Tokenizer& tokenizer, const TrainConfig& config,
                        const TrainerState& state, bool is_best) {
  const Path final = checkpoint_path(state.step);
  const Path fresh =
      final.parent_path() / cat(temporary_prefix, ::getpid(), "-", checkpoint_name(state.step));
  const std::string tokenizer_text = tokenizer_json(tokenizer);

  std::error_code code;
  fs::create_directories(final.parent_path(), code);
  if (code) throw failure("create", final.parent_path(), code);
  if (const auto space = fs::space(final.parent_path(), code); !code) {
    const std::uint64_t need = bytes_needed(model, tokenizer_text.size());
    if (space.available < need) {
      throw world_error(cat("a checkpoint of ", need, " bytes does not fit: ", shown(root_), " has ",
                            space.available, " left"),
                        "free some space");
    }
  }
  fs::remove_all(fresh, code);
  try {
    fs::create_directory(fresh, code);
    if (code) throw failure("create", fresh, code);
    write_file_atomic(fresh / "config.json", resolved_json(config));
    write_file_atomic(fresh / "tokenizer.json", tokenizer_text);
    std::vector<NamedTensor> weights;
    for (const auto& [name, parameter] : model.named_parameters())
      weights.push_back({name, parameter->tensor});
    write_tensors(fresh / "model.safetensors", weights, {{"tokenizer", cat(tokenizer.fingerprint())}});
    write_tensors(fresh / "optimizer.safetensors", moment_tensors(model));
    TrainerState written = state;
    written.tokenizer_fingerprint = tokenizer.fingerprint();
    const TensorChecksums checksums{file_checksum(fresh / "model.safetensors"),
                                    file_checksum(fresh / "optimizer.safetensors")};
    write_file_atomic(fresh / "trainer_state.json", trainer_state_json(written, checksums));
    sync_directory(fresh);
    move_into_place(fresh, final);
    sync_directory(final.parent_path());
  } catch (...) {
    fs::remove_all(fresh, code);
    throw;
  }
  write_run_pointer(root_, "latest", state.step);
  // Without validation the latest is the best.
  if (is_best || !state.best_val_loss) write_run_pointer(root_, "best", state.step);

  // Rotation among what this run has passed: checkpoints of a later step are of a future it left by a resume
  // from an earlier one, and stay until it gets there.
  const auto best = read_run_pointer(root_, "best");
  auto steps = checkpoint_steps(root_);
  std::erase_if(steps, [&](std::uint64_t step) { return step > state.step; });
  const auto keep = static_cast<std::size_t>(config.train.keep_checkpoints);
  for (std::size_t i = 0; i + keep < steps.size(); ++i) {
    if (const Path dir = checkpoint_path(steps[i]); !best || dir != *best) remove_checkpoint(dir);
  }
}

}  // namespace llmtool
