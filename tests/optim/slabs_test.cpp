// The layout of parameters in slabs.
#include "base/error.h"
#include "device/counting_device.h"
#include "support/catch.h"
#include "tensor/parameter_slabs.h"

namespace llmtool {
namespace {

TEST_CASE("decayed entries come first, aligned unless they join", "[slabs]") {
  CountingDevice device;
  const std::vector<SlabEntry> entries = {{Shape{3, 5}, true, false},
                                          {Shape{7}, false, false},
                                          {Shape{2, 5}, true, true},
                                          {Shape{4}, false, true},
                                          {Shape{10, 10}, true, false}};
  ParameterSlabs slabs(device, entries, true);
  REQUIRE(slabs.slabs().size() == 1);
  const Slab& slab = slabs.slabs().front();
  CHECK(slabs.place(0).offset == 0);
  CHECK(slabs.place(2).offset == 15);
  CHECK(slabs.place(4).offset == 64);
  CHECK(slab.n_decay == 192);
  CHECK(slabs.place(1).offset == 192);
  CHECK(slabs.place(3).offset == 199);
  CHECK(slab.n == 256);
  CHECK(slabs.total_elements() == 256);
  CHECK(slabs.value(4).shape() == Shape{10, 10});
  CHECK(slabs.value(4).byte_offset() == slab.values.byte_offset() + 256);
  CHECK(slabs.grad(4).byte_offset() == slab.grads.byte_offset() + 256);
  CHECK_FALSE(slabs.moment(4, 1).defined());
  slabs.make_moments(true, false);
  CHECK(slabs.moment(4, 1).defined());
  CHECK_FALSE(slabs.moment(4, 2).defined());
}

TEST_CASE("with everything decayed the places stay the same", "[slabs]") {
  CountingDevice device;
  const std::vector<SlabEntry> entries = {
      {Shape{7}, false, false}, {Shape{3, 5}, true, false}, {Shape{9}, false, false}};
  ParameterSlabs some(device, entries, false), all(device, entries, false, true);
  for (std::size_t i = 0; i < entries.size(); ++i) CHECK(some.place(i).offset == all.place(i).offset);
  CHECK(some.slabs()[0].n_decay == 64);
  CHECK(all.slabs()[0].n_decay == all.slabs()[0].n);
  CHECK_FALSE(all.grad(0).defined());
}

TEST_CASE("slabs stay within the binding limit, joined entries together", "[slabs]") {
  DeviceCaps caps;
  caps.max_binding_bytes = 1280;  // 320 elements
  CountingDevice device(caps);
  const std::vector<SlabEntry> entries = {{Shape{100}, true, false},
                                          {Shape{60}, true, false},
                                          {Shape{60}, true, true},
                                          {Shape{200}, true, false},
                                          {Shape{10}, false, false}};
  ParameterSlabs slabs(device, entries, true);
  REQUIRE(slabs.slabs().size() == 2);
  CHECK(slabs.place(0).slab == 0);
  CHECK(slabs.place(1).slab == 0);
  CHECK(slabs.place(2).slab == 0);
  CHECK(slabs.place(2).offset == slabs.place(1).offset + 60);
  CHECK(slabs.place(3).slab == 1);
  CHECK(slabs.slabs()[0].n_decay == 256);
  CHECK(slabs.slabs()[1].n_decay == 256);
  CHECK(slabs.place(4).slab == 1);
  CHECK(slabs.place(4).offset == 256);
  CHECK(slabs.slabs()[1].n == 320);
  for (const Slab& slab : slabs.slabs()) CHECK(slab.values.view().bytes <= caps.max_binding_bytes);

  const std::vector<SlabEntry> large = {{Shape{20, 20}, true, false}};
  try {
    ParameterSlabs(device, large, true);
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::request);
    CHECK(std::string(e.what()).find("1600 bytes") != std::string::npos);
    CHECK(std::string(e.what()).find("1280 bytes") != std::string::npos);
  }
}

}  // namespace
}  // namespace llmtool
