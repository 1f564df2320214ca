// SPDX-License-Identifier: Apache-2.0
// A verdict made in the mirror is what the scheduling thread would say: whatever the scheduler has
// decided, and the API server has not heard of yet.
#include <gtest/gtest.h>

#include <algorithm>

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

std::unique_ptr<simulator::Simulation> MakeSimulation(const test::Objects& objects) {
  return test::MakeSimulation(objects, test::OptionsWithPodGroups());
}

// The objects as informers tell of them.
questions::Mirror MakeMirror(const test::Objects& objects) {
  questions::Mirror mirror(MakeSimulation({}));
  for (const api::ObjectPtr& object : objects) {
    informers::InformerEvent event;
    event.kind = simulator::KindOf(object);
    event.new_object = object;
    mirror.Take(event);
  }
  return mirror;
}

// Puts the pod into one of two groups of its namespace, of which not all are there.
void Group(Random& random, test::Objects& objects, api::Pod& pod) {
  const std::string name = "group-" + std::to_string(random.Below(2));
  pod.spec.scheduling_group.emplace().pod_group_name = name;
  api::PodGroup group;
  group.metadata.name = name;
  group.metadata.namespace_ = pod.metadata.namespace_;
  group.metadata.uid = group.metadata.Key();
  const bool is_new = std::ranges::none_of(objects, [&group](const api::ObjectPtr& object) {
    const auto* other = api::As<api::PodGroup>(object);
    return other != nullptr && other->metadata.Key() == group.metadata.Key();
  });
  if (!is_new || random.Below(5) == 0) return;
  group.spec.scheduling_policy.gang.emplace().min_count = static_cast<int32_t>(random.Below(3)) + 1;
  objects.emplace_back(std::make_shared<const api::PodGroup>(std::move(group)));
}

test::Objects RandomObjects(Random& random) {
  test::Objects objects = test::RandomObjects(random, kNodes, kPlaced);
  for (size_t i = 0; i < kPending; ++i) {
    api::Pod pod = test::RandomPendingPod(random, i, kNodes);
    // An eviction is on its way to the API server for some time, too; it is not mirrored.
    pod.spec.preemption_policy = "Never";
    if (random.Below(3) == 0) Group(random, objects, pod);
    objects.emplace_back(std::make_shared<const api::Pod>(std::move(pod)));
  }
  return objects;
}

TEST(LiveExplanationsPropertyTest, TheMirrorSaysOfAPodWhatTheSchedulingThreadWould) {
  size_t decided = 0;
  size_t compared = 0;
  size_t held = 0;
  for (uint64_t seed = 1; seed <= kClusters; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const test::Objects objects = RandomObjects(random);
    const auto live = MakeSimulation(objects);
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
      const auto said = questions::Explain(live->scheduler(), waiting, question);
      if (said.held_by_group()) ++held;
      EXPECT_EQ(questions::ToText(
                    questions::Explain(mirror.simulation().scheduler(), mirrored, question), form),
                questions::ToText(said, form));
      ++compared;
    }
  }
  EXPECT_GT(decided, kClusters);
  EXPECT_GT(compared, kClusters);
  EXPECT_GT(held, kClusters / 2);
}

}  // namespace
}  // namespace berth::app
