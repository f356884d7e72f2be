// A progress bar on a terminal, nothing elsewhere (plain lines are the caller's). Drawn at most ten times a
// second.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

namespace llmtool {

class Progress {
 public:
  /// `what` names the work ("training"), `total` its units; drawn only when stderr is a terminal and not
  /// quiet.
  Progress(std::string what, std::uint64_t total);
  ~Progress();  ///< Clears the line.
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// `detail` is shown after the bar ("loss 2.31 | 41.2k tok/s"); time left is added.
  void update(std::uint64_t done, const std::string& detail);
  /// Wipes the bar so that a line can be printed; the next update() draws it again.
  void clear();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace llmtool
