// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "berth/random.h"
#include "src/cache/node_tables.h"

namespace berth::cache {
namespace {

TEST(PortCountsTest, CountsWhatPodsBringAndTake) {
  Random random(1);
  PortCounts counts;
  std::vector<std::vector<HostPort>> pods;
  std::map<std::tuple<int32_t, std::string, std::string>, int> want;
  const auto count = [&](const std::vector<HostPort>& ports, int delta) {
    for (const HostPort& port : ports) {
      const auto key = std::tuple(port.port, port.protocol, port.ip);
      if ((want[key] += delta) == 0) want.erase(key);
    }
  };
  for (int step = 0; step < 2000; ++step) {
    if (pods.empty() || random.Below(2) == 0) {
      std::vector<HostPort>& pod = pods.emplace_back();
      for (uint64_t i = random.Below(12); i > 0; --i) {
        pod.push_back({random.Below(2) == 0 ? "0.0.0.0" : "10.0.0.1",
                       random.Below(2) == 0 ? "TCP" : "UDP",
                       static_cast<int32_t>(random.Below(20))});
      }
      counts.Add(pod);
      count(pod, 1);
    } else {
      const size_t at = random.Below(pods.size());
      counts.Remove(pods[at]);
      count(pods[at], -1);
      pods.erase(pods.begin() + static_cast<std::ptrdiff_t>(at));
    }
    ASSERT_EQ(counts.ports().size(), want.size());
    auto expected = want.begin();
    for (const HostPort& port : counts.ports()) {
      ASSERT_EQ(std::tuple(port.port, port.protocol, port.ip), (expected++)->first);
    }
  }
}

}  // namespace
}  // namespace berth::cache
