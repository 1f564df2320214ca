// SPDX-License-Identifier: Apache-2.0
// A verdict made in the mirror is what the scheduling thread would say: whatever the scheduler has
// decided, and the API server has not heard of yet.
#include <gtest/gtest.h>

#include "src/app/live_state.h"
#include "src/mirror/mirror.h"
#include "tests/unit/simulator/random_simulation.h"

namespace berth::app {
namespace {

constexpr uint64_t kClusters = 60;
constexpr size_t kNodes = 6;
constexpr size_t kPlaced = 8;
constexpr size_t kPending = 12;

// The objects as informers tell of them.
mirror::Mirror MakeMirror(const test::Objects& objects) {
  mirror::Mirror mirror(test::MakeSimulation({}));
  for (const api::ObjectPtr& object : objects) {
    informers::InformerEvent event;
    event.kind = simulator::KindOf(object);
    event.new_object = object;
    mirror.Take(event);
  }
  return mirror;
}

test::Objects RandomObjects(Random& random) {
  test::Objects objects = test::RandomObjects(random, kNodes, kPlaced);
  for (size_t i = 0; i < kPending; ++i) {
    api::Pod pod = test::RandomPendingPod(random, i, kNodes);
    // An eviction is on its way to the API server for some time, too; it is not mirrored.
    pod.spec.preemption_policy = "Never";
    objects.emplace_back(std::make_shared<const api::Pod>(std::move(pod)));
  }
  return objects;
}

TEST(LiveExplanationsPropertyTest, TheMirrorSaysOfAPodWhatTheSchedulingThreadWould) {
  size_t decided = 0;
  size_t compared = 0;
  for (uint64_t seed = 1; seed <= kClusters; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const test::Objects objects = RandomObjects(random);
    const auto live = test::MakeSimulation(objects);
    live->Start();
    mirror::Mirror mirror = MakeMirror(objects);
    // Turns of the loop alone: no bind reaches the API server.
    const uint64_t turns = random.Below(kPending);
    const uint64_t followed_from = random.Below(kPending);
    const auto follow = [&](const scheduler::Decision& decision) { mirror.Take(decision); };
    for (uint64_t turn = 0; turn < turns; ++turn) {
      if (turn == followed_from) live->scheduler().TellDecisions(follow);
      live->scheduler().Turn(live->now());
    }
    if (turns <= followed_from) live->scheduler().TellDecisions(follow);
    mirror.simulation().RunDue();
    decided += mirror.num_decided();
    const ExplainOptions options{.preemption = true, .claims = true, .table = seed % 2 == 0};
    for (const api::ObjectPtr& object : objects) {
      const auto* pod = api::As<api::Pod>(object);
      if (pod == nullptr) continue;
      const std::string key = pod->metadata.Key();
      const auto mirrored = mirror.simulation().scheduler().FindPendingPod(key);
      if (mirrored == nullptr) continue;  // it is decided, or was placed
      const auto standing = StandingOf(live->scheduler(), key);
      ASSERT_TRUE(standing);
      EXPECT_EQ(ExplainPending(mirror.simulation().scheduler(), mirrored, options, *standing),
                ExplainPending(live->scheduler(), live->scheduler().FindPendingPod(key), options,
                               *standing));
      ++compared;
    }
  }
  EXPECT_GT(decided, kClusters);
  EXPECT_GT(compared, kClusters);
}

}  // namespace
}  // namespace berth::app
