// The SIMD levels of the CPU kernels: complete tables, and the choice of a level by name.
#include <string>

#include "base/error.h"
#include "base/memory.h"
#include "cpu/cpu_device.h"
#include "kernels/cpu_support.h"
#include "support/catch.h"

using namespace llmtool;
using namespace llmtool::cpu;

TEST_CASE("cpu levels: every kernel exists at every level that is compiled in") {
  int compiled = 0;
  for (int i = 0; i < simd_level_count; ++i) {
    const auto level = static_cast<SimdLevel>(i);
    const KernelRow& row = kernel_table()[level];
    if (row[KernelId::add] == nullptr) continue;
    ++compiled;
    for (int k = 0; k < kernel_count; ++k) {
      INFO(std::string(name_of(level)) << " " << kernel_info(static_cast<KernelId>(k)).name);
      CHECK(row[static_cast<KernelId>(k)] != nullptr);
    }
  }
  CHECK(compiled >= 2);
}

TEST_CASE("cpu levels: chosen by name, the best one by default") {
  CHECK(choose_level("scalar") == SimdLevel::scalar);
  CHECK(name_of(choose_level("")) == supported_levels().back());
  for (const std::string& name : supported_levels()) CHECK(name_of(choose_level(name)) == name);
  for (const SimdLevel level : test::levels()) CHECK(supported(level));
}

TEST_CASE("cpu levels: an unknown or unsupported name is refused with those that exist") {
  try {
    choose_level("avx9");
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::request);
    CHECK(std::string(e.what()).find("unknown level \"avx9\"") != std::string::npos);
    CHECK(std::string(e.what()).find("expected one of scalar") != std::string::npos);
  }
  const std::string foreign = supported(SimdLevel::neon) ? "avx2" : "neon";
  try {
    choose_level(foreign);
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(std::string(e.what()).find("does not support \"" + foreign + "\"") != std::string::npos);
  }
}

TEST_CASE("cpu device: says what it is, and refuses what memory cannot hold") {
  const auto device = make_cpu_device(2);
  CHECK(device->name() == "cpu");
  CHECK(device->caps().threads == 2);
  CHECK(device->caps().simd == name_of(choose_level_from_environment()));
  const std::uint64_t available = available_memory();
  CHECK(available > (std::uint64_t{1} << 20));
  CHECK(device->caps().memory_bytes > 0);
  try {
    device->alloc(std::uint64_t{1} << 60);
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::world);
    CHECK(std::string(e.what()).find("1152921504606846976") != std::string::npos);
    CHECK(e.hint().find("batch_size") != std::string::npos);
  }
  Block* block = device->alloc(5000);
  CHECK(block->bytes >= 5000);
  CHECK(block->host[4999] == std::byte{0});
  device->free(block);
}
