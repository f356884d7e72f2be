// The parts of `llmtool demo` and how they speak: text for people, or one JSON object per part with --json.
// Not here: what they show (demo_*.cpp).
#pragma once
#include <cstdint>
#include <string_view>

#include "cli/output.h"
#include "device/device.h"
#include "formats/json.h"

namespace llmtool {

class DemoOutput {
 public:
  explicit DemoOutput(bool json) : json_(json) {}
  bool json() const noexcept { return json_; }
  void say(std::string_view line) const {
    if (!json_) print_line(line);
  }
  void result(const Json& values) const {
    if (json_) print_line(to_json_line(values));
  }

 private:
  bool json_;
};

void demo_tensor(Device& device, const DemoOutput& out);
void demo_xor(Device& device, const DemoOutput& out, std::uint64_t seed);
void demo_bpe(const DemoOutput& out);
void demo_gpt(Device& device, const DemoOutput& out, std::uint64_t seed);
/// `only`: the one GPU to compare ("vulkan:0"); empty: all of them.
void demo_gpu(const DemoOutput& out, const std::string& only);

}  // namespace llmtool
