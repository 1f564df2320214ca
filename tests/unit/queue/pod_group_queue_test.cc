// SPDX-License-Identifier: Apache-2.0
#include "src/queue/pod_group_queue.h"

#include "tests/unit/queue/queue_fixture.h"

namespace berth::queue {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PodGroupQueueTest : public QueueTest {
 protected:
  PodGroupQueueTest() {
    QueueOptions options;
    options.pod_groups = true;
    Make(options);
  }

  static std::shared_ptr<const api::PodGroup> Group(std::string_view name, int32_t priority = 0) {
    auto group = std::make_shared<api::PodGroup>();
    group->metadata.namespace_ = "default";
    group->metadata.name = name;
    group->spec.priority = priority;
    return group;
  }
  void SetGroup(std::string_view name, int32_t priority = 0) {
    queue->SetPodGroup(Group(name, priority), now());
  }
  static test::PodBuilder Member(std::string_view group, std::string_view name) {
    return NamedPod(name).SchedulingGroup(group);
  }
  void AddMember(std::string_view group, std::string_view name) {
    queue->Add(MakeInfo(Member(group, name).Ptr()), now());
  }
  // The names of the popped group's pods; it is then kept in `popped_group`.
  std::vector<std::string> PopGroup() {
    popped_group = queue->Pop();
    std::vector<std::string> names;
    if (popped_group == nullptr || popped_group->group == nullptr) return names;
    for (const auto& pod : popped_group->group->members) names.push_back(pod->pod().metadata.name);
    return names;
  }
  // Puts the pods back, but for `scheduled`, and ends the attempt.
  void Return(GroupResult result, const std::vector<std::string>& scheduled = {}) {
    for (auto& pod : popped_group->group->members) {
      const auto& name = pod->pod().metadata.name;
      if (std::ranges::find(scheduled, name) != scheduled.end()) {
        queue->Done(pod->pod().metadata.uid);
      } else {
        pod->ClearRejectorPlugins();
        queue->AddUnschedulablePodIfNotPresent(std::move(pod), now());
      }
    }
    queue->AddAttemptedPodGroup(std::move(popped_group), result, now());
  }

  std::unique_ptr<QueuedPod> popped_group;
};

TEST_F(PodGroupQueueTest, PodsOfAGroupArePoppedTogetherOnceTheirPodGroupIsThere) {
  AddMember("train", "a");
  AddMember("train", "b");
  EXPECT_FALSE(queue->HasReady());
  EXPECT_EQ(queue->counts().incomplete, 2u);
  EXPECT_EQ(Where("a"), Place::kUnschedulable);
  SetGroup("train");
  EXPECT_EQ(queue->counts().active, 2u);
  EXPECT_EQ(queue->counts().groups.active, 1u);
  EXPECT_EQ(Where("a"), Place::kActive);
  EXPECT_THAT(PopGroup(), ElementsAre("a", "b"));
  EXPECT_EQ(queue->counts().in_flight, 2u);
  EXPECT_THAT(PopGroup(), IsEmpty());
}

TEST_F(PodGroupQueueTest, AGroupHasThePriorityOfItsPodGroupAmongPods) {
  SetGroup("low", -1);
  SetGroup("high", 1);
  Add("web");
  AddMember("low", "a");
  AddMember("high", "b");
  EXPECT_THAT(PopGroup(), ElementsAre("b"));
  Return(GroupResult::kScheduled, {"b"});
  EXPECT_EQ(Pop(), "web");
  EXPECT_THAT(PopGroup(), ElementsAre("a"));
}

TEST_F(PodGroupQueueTest, OneGatedPodGatesItsGroupAndTheGateOpensForAll) {
  SetGroup("train");
  gated_by["b"] = "Gate";
  AddMember("train", "a");
  EXPECT_TRUE(queue->HasReady());
  AddMember("train", "b");
  EXPECT_FALSE(queue->HasReady());
  EXPECT_EQ(queue->counts().gated, 2u);
  gated_by.clear();
  Move(kNodeAdd);
  EXPECT_FALSE(queue->HasReady()) << "not the gating plugin's event";
  Move(kNodeTaint);
  EXPECT_THAT(PopGroup(), ElementsAre("a", "b"));
}

TEST_F(PodGroupQueueTest, ARejectedGroupBacksOffLongerTheLargerItIs) {
  SetGroup("train");
  for (const char* name : {"a", "b", "c", "d"}) AddMember("train", name);
  PopGroup();
  Return(GroupResult::kRejected);
  EXPECT_EQ(queue->counts().backoff, 4u);
  EXPECT_FALSE(queue->HasReady()) << "it is not taken early";
  Advance(seconds(2));
  EXPECT_THAT(PopGroup(), ElementsAre("a", "b", "c", "d"));
  for (int i = 0; i < 6; ++i) {
    Return(GroupResult::kRejected);
    Advance(seconds(21));
    ASSERT_THAT(PopGroup(), testing::SizeIs(4));
  }
  Return(GroupResult::kRejected);
  Advance(seconds(19));
  EXPECT_FALSE(queue->HasReady()) << "twice the 10 s of a pod";
}

TEST_F(PodGroupQueueTest, WhatAScheduledGroupLeavesOverIsTriedAtOnce) {
  SetGroup("train");
  AddMember("train", "a");
  AddMember("train", "b");
  PopGroup();
  Return(GroupResult::kScheduled, {"a"});
  EXPECT_THAT(PopGroup(), ElementsAre("b"));
  Return(GroupResult::kScheduled, {"b"});
  EXPECT_FALSE(queue->HasReady());
  EXPECT_EQ(queue->counts().pending, 0u);
}

TEST_F(PodGroupQueueTest, PodsComeAndGoWhileTheirGroupIsQueued) {
  SetGroup("train");
  AddMember("train", "a");
  AddMember("train", "b");
  queue->Delete(*Member("train", "a").Ptr(), now());
  EXPECT_EQ(Where("a"), Place::kNowhere);
  EXPECT_EQ(queue->counts().active, 1u);
  queue->Delete(*Member("train", "b").Ptr(), now());
  EXPECT_FALSE(queue->HasReady());
  AddMember("train", "c");
  EXPECT_THAT(PopGroup(), ElementsAre("c"));
}

TEST_F(PodGroupQueueTest, WithoutItsPodGroupAGroupIsDissolved) {
  SetGroup("train");
  AddMember("train", "a");
  queue->DeletePodGroup(*Group("train"));
  EXPECT_FALSE(queue->HasReady());
  EXPECT_EQ(queue->counts().incomplete, 1u);
  SetGroup("train");
  EXPECT_THAT(PopGroup(), ElementsAre("a"));
}

TEST_F(PodGroupQueueTest, ToActivateAPodActivatesItsGroup) {
  SetGroup("train");
  AddMember("train", "a");
  AddMember("train", "b");
  PopGroup();
  Return(GroupResult::kRejected);
  ASSERT_FALSE(queue->HasReady());
  const std::vector<std::string> keys = {Key("b")};
  queue->Activate(keys, now());
  EXPECT_THAT(PopGroup(), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace berth::queue
