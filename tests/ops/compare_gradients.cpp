// Comparing gradients with the reference device's; see compare_gradients.h.
#include "compare_gradients.h"

#include <algorithm>
#include <cmath>

namespace llmtool::test {
namespace {

double norm(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}

}  // namespace

void require_reference_gradients(Device& device, const Case& c) {
  INFO(c.name << " on " << device.name());
  ReferenceDevice<double> reference(13);
  const std::vector<Tensor> wanted = leaves(reference, c);
  const std::vector<Tensor> got = leaves(device, c);
  const Tensor wanted_loss = loss_of(reference, c, wanted);
  const Tensor got_loss = loss_of(device, c, got);
  REQUIRE(static_cast<double>(got_loss.item()) ==
          Approx(reference.peek(wanted_loss.view())[0]).epsilon(1e-4).margin(1e-5));
  wanted_loss.backward();
  got_loss.backward();
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("input " << i);
    const std::vector<double> g = reference.peek(wanted[i].grad().view());
    const std::vector<float> f = got[i].grad().to_host();
    std::vector<double> difference;
    double largest = 0;
    for (std::size_t e = 0; e < g.size(); ++e) {
      difference.push_back(static_cast<double>(f[e]) - g[e]);
      largest = std::max(largest, std::abs(g[e]));
    }
    REQUIRE(norm(difference) <= 2e-5 * norm(g) + 1e-7 * largest);
  }
}

}  // namespace llmtool::test
