// A progress bar for work that is mostly too short for one: it appears after two seconds.
#pragma once
#include <chrono>

#include "base/progress.h"

namespace llmtool {

class LateProgress {
 public:
  LateProgress(std::string what, std::uint64_t total) : bar_(std::move(what), total) {}
  void update(std::uint64_t done, const std::string& detail) {
    if (std::chrono::steady_clock::now() - start_ > std::chrono::seconds(2)) bar_.update(done, detail);
  }

 private:
  Progress bar_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace llmtool
