// SPDX-License-Identifier: Apache-2.0
// A verdict made in the mirror is what the scheduling thread would say: whatever the scheduler has
// decided, and the API server has not heard of yet.
#include <gtest/gtest.h>

#include "src/app/endpoints/live_state.h"
#include "src/questions/answers.h"
#include "src/questions/mirror.h"
#include "src/questions/pod_question.h"
#include "tests/unit/simulator/random_simulation.h"

namespace berth::app {
namespace {

constexpr uint64_t kClusters = 60;
constexpr size_t kNodes = 6;
constexpr size_t kPlaced = 8;
constexpr size_t kPending = 12;

// The objects as informers tell of them.
questions::Mirror MakeMirror(const test::Objects& objects) {
  questions::Mirror mirror(test::MakeSimulation({}));
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
    questions::Mirror mirror = MakeMirror(objects);
    // Turns of the loop alone: no bind reaches the API server.
    const uint64_t turns = random.Below(kPending);
    const uint64_t followed_from = random.Below(kPending);
    const auto follow = [&](const scheduler::PodAssignment& decision) { mirror.Take(decision); };
    for (uint64_t turn = 0; turn < turns; ++turn) {
      if (turn == followed_from) live->scheduler().WatchAssignments(follow);
      live->scheduler().Turn(live->now());
    }
    if (turns <= followed_from) live->scheduler().WatchAssignments(follow);
    mirror.simulation().RunDue();
    decided += mirror.num_decided();
    const questions::Form form = seed % 2 == 0 ? questions::Form::kTable : questions::Form::kJson;
    for (const api::ObjectPtr& object : objects) {
      const auto* pod = api::As<api::Pod>(object);
      if (pod == nullptr) continue;
      const std::string key = pod->metadata.Key();
      const auto mirrored = mirror.simulation().scheduler().FindPendingPod(key);
      if (mirrored == nullptr) continue;  // it is decided, or was placed
      const auto position = PositionOf(live->scheduler(), key);
      ASSERT_TRUE(position);
      const questions::PodQuestion question{.preemption = true,
                                            .claims = true,
                                            .effects = scheduler::Effects::kNone,
                                            .position = position};
      const auto waiting = live->scheduler().FindPendingPod(key);
      EXPECT_EQ(questions::ToText(
                    questions::Explain(mirror.simulation().scheduler(), mirrored, question), form),
                questions::ToText(questions::Explain(live->scheduler(), waiting, question), form));
      ++compared;
    }
  }
  EXPECT_GT(decided, kClusters);
  EXPECT_GT(compared, kClusters);
}

}  // namespace
}  // namespace berth::app
