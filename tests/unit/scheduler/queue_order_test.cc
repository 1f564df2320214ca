// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "berth/random.h"
#include "plugins/priority_sort/priority_sort.h"
#include "src/cache/nominator.h"
#include "src/queue/scheduling_queue.h"
#include "tests/support/builders.h"
#include "tests/support/plain_resource_names.h"

namespace berth::scheduler {
namespace {

// Without a QueueSort of another name the queue asks no plugin: its own order must be this one's.
TEST(QueueOrderTest, TheQueuesOwnOrderIsPrioritySorts) {
  const plugins::PrioritySort sort;
  queue::QueueHooks asks;
  asks.less = [&](const QueueSortKey& a, const QueueSortKey& b) { return sort.Less(a, b); };
  cache::Nominator nominator;
  queue::SchedulingQueue asking({}, std::move(asks), nominator, queue::QueueMetrics(), Time());
  queue::SchedulingQueue own({}, {}, nominator, queue::QueueMetrics(), Time());
  Random random(3);
  test::PlainResourceNames names;
  for (int i = 0; i < 2000; ++i) {
    const int32_t priority = static_cast<int32_t>(random.Below(5)) - 2;
    const Time added = Time() + std::chrono::seconds(random.Below(20));
    const PodInfoPtr pod =
        test::MakePod().Name("pod-" + std::to_string(i)).Priority(priority).Info(names);
    asking.Add(pod, added);
    own.Add(pod, added);
  }
  while (const auto want = asking.Pop()) {
    const auto got = own.Pop();
    ASSERT_NE(got, nullptr);
    ASSERT_EQ(got->pod().metadata.name, want->pod().metadata.name);
  }
  EXPECT_EQ(own.Pop(), nullptr);
}

}  // namespace
}  // namespace berth::scheduler
