// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/virtual_time.h"
#include "src/simulator/memory_api.h"

namespace berth::test {

// A controller of the simulator over an API in memory, whose events it sees.
template <typename Controller>
class ControllerFixture : public testing::Test {
 protected:
  template <typename T>
  void Apply(const T& object) {
    api_.Apply(std::make_shared<const T>(object));
  }
  // Ends before `limit` turns: controllers that answer each other for ever are a bug.
  void Run() {
    constexpr int kLimit = 100;
    int turns = 0;
    while (turns < kLimit && executor_.RunDue()) ++turns;
    EXPECT_LT(turns, kLimit);
  }
  // An empty object where there is none of that key.
  template <typename T>
  T Get(informers::Kind kind, std::string_view key) {
    const auto found = simulator::FindIn<T>(api_, kind, key);
    return found == nullptr ? T() : *found;
  }
  template <typename T>
  std::vector<std::string> Names(informers::Kind kind) {
    std::vector<std::string> names;
    api_.ForEach(kind, [&](const api::ObjectPtr& object) {
      names.push_back(api::As<T>(object)->metadata.name);
    });
    return names;
  }

  base::VirtualClock clock_{Time(std::chrono::hours(24))};
  base::VirtualExecutor executor_{clock_};
  simulator::MemoryApi api_{
      clock_, executor_, [this](const informers::InformerEvent& event) { controller_.See(event); }};
  Controller controller_{api_, executor_};
};

}  // namespace berth::test
