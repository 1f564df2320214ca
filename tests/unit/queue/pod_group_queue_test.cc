// SPDX-License-Identifier: Apache-2.0
#include "src/queue/pod_group_queue.h"

#include <map>
#include <optional>
#include <set>

#include "berth/random.h"
#include "src/cache/pod_group_forest.h"
#include "tests/unit/queue/queue_fixture.h"

namespace berth::queue {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PodGroupQueueTest : public QueueTest {
 protected:
  PodGroupQueueTest() {
    QueueOptions options;
    options.pod_groups = &forest;
    Make(options);
  }
  ~PodGroupQueueTest() override { queue.reset(); }

  static std::shared_ptr<const api::PodGroup> Group(std::string_view name, int32_t priority = 0) {
    auto group = std::make_shared<api::PodGroup>();
    group->metadata.namespace_ = "default";
    group->metadata.name = name;
    group->spec.priority = priority;
    return group;
  }
  void SetGroup(std::string_view name, int32_t priority = 0) {
    queue->SetPodGroup({.pod_group = Group(name, priority)}, now());
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
  cache::PodGroupForest forest{true};
};

TEST_F(PodGroupQueueTest, PodsOfAGroupArePoppedTogetherOnceTheirPodGroupIsThere) {
  AddMember("train", "a");
  AddMember("train", "b");
  EXPECT_FALSE(queue->HasReady());
  EXPECT_EQ(queue->counts().incomplete, 2u);
  EXPECT_EQ(Where("a"), Place::kUnschedulable);
  EXPECT_EQ(queue->GateOf("default/a"), Gate::kMissingGroup);
  SetGroup("train");
  EXPECT_EQ(queue->GateOf("default/a"), Gate::kNone);
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
  EXPECT_EQ(queue->GateOf("default/a"), Gate::kOfGroup);
  EXPECT_EQ(queue->GateOf("default/b"), Gate::kOwn);
  gated_by.clear();
  Move(kNodeAdd);
  EXPECT_FALSE(queue->HasReady()) << "not the gating plugin's event";
  Move(kNodeTaint);
  EXPECT_THAT(PopGroup(), ElementsAre("a", "b"));
}

// Pods of one class are alike to hints, but for an event that is about one of them.
TEST_F(PodGroupQueueTest, GatesThatOpenOneByOneOpenTheGroupWithTheLast) {
  SetGroup("train");
  class_of = {{"a", 7}, {"b", 7}};
  gated_by = {{"a", "Taint"}, {"b", "Taint"}};
  AddMember("train", "a");
  AddMember("train", "b");
  EXPECT_EQ(queue->counts().gated, 2u);
  const auto open = [this](const char* name) {
    gated_by.erase(name);
    Update(Member("train", name), Member("train", name).ResourceVersion("2").Label("open", "yes"));
  };
  open("a");
  EXPECT_FALSE(queue->HasReady());
  open("b");
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

TEST_F(PodGroupQueueTest, WithEachPodThatComesOrGoesAllOfTheGroupAreCounted) {
  metrics::Registry registry;
  metrics::LocalMetrics local(registry);
  QueueOptions options;
  options.pod_groups = &forest;
  Make(options, QueueMetrics(&local, &clock));
  const auto incoming = [&](metrics::Metric metric,
                            std::initializer_list<std::string_view> labels) {
    local.Publish();
    return registry.Read(registry.Intern(metric, labels)).value;
  };
  const auto pods = [&](std::string_view place) {
    return incoming(metrics::Metric::kQueueIncomingPods, {place, "UnscheduledPodAdd"});
  };
  const auto groups = [&](std::string_view place) {
    return incoming(metrics::Metric::kQueueIncomingEntities,
                    {place, "UnscheduledPodAdd", "podgroup"});
  };
  SetGroup("train");
  AddMember("train", "a");
  AddMember("train", "b");
  AddMember("train", "c");
  EXPECT_EQ(pods("active"), 1 + 2 + 3);
  EXPECT_EQ(groups("active"), 1);
  queue->Delete(*Member("train", "b").Ptr(), now());
  EXPECT_EQ(pods("active"), 1 + 2 + 3 + 2);
  gated_by["d"] = "Gate";
  AddMember("train", "d");
  AddMember("train", "e");
  queue->Delete(*Member("train", "a").Ptr(), now());
  EXPECT_EQ(pods("unschedulable"), 3 + 4 + 3);
  EXPECT_EQ(groups("unschedulable"), 1);
  EXPECT_EQ(groups("active"), 1);
  queue.reset();
}

TEST_F(PodGroupQueueTest, WithoutItsPodGroupAGroupIsDissolved) {
  SetGroup("train");
  AddMember("train", "a");
  queue->DeletePodGroup({.pod_group = Group("train")}, now());
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

class CompositeQueueTest : public PodGroupQueueTest {
 protected:
  static AnyPodGroup Composite(std::string_view name, std::optional<std::string> parent = {},
                               int32_t priority = 0) {
    auto group = std::make_shared<api::CompositePodGroup>();
    group->metadata.namespace_ = "default";
    group->metadata.name = name;
    group->spec.parent_composite_pod_group_name = std::move(parent);
    group->spec.priority = priority;
    return {.composite = std::move(group)};
  }
  static AnyPodGroup Child(std::string_view name, const std::string& parent) {
    auto group = std::make_shared<api::PodGroup>(*Group(name));
    group->spec.parent_composite_pod_group_name = parent;
    return {.pod_group = std::move(group)};
  }
  void Set(AnyPodGroup group) { queue->SetPodGroup(std::move(group), now()); }
  void Remove(const AnyPodGroup& group) { queue->DeletePodGroup(group, now()); }
};

TEST_F(CompositeQueueTest, PodsOfAllGroupsBelowARootArePoppedTogether) {
  AddMember("left", "a");
  AddMember("right", "b");
  Set(Child("left", "inner"));
  Set(Child("right", "outer"));
  Set(Composite("inner", "outer"));
  EXPECT_EQ(queue->counts().incomplete, 2u) << "the root is not there";
  Set(Composite("outer"));
  EXPECT_EQ(queue->counts().incomplete, 0u);
  EXPECT_EQ(queue->counts().groups.active, 1u);
  EXPECT_THAT(PopGroup(), ElementsAre("a", "b"));
  ASSERT_NE(popped_group->group->object.composite, nullptr);
  EXPECT_EQ(popped_group->group->object.metadata().name, "outer");
  AddMember("left", "late");
  EXPECT_EQ(queue->counts().pending, 1u) << "it joins its root's entry later";
  Return(GroupResult::kScheduled, {"a"});
  EXPECT_THAT(PopGroup(), ElementsAre("b", "late"));
}

TEST_F(CompositeQueueTest, ATreeHasThePriorityOfItsRoot) {
  Set(Composite("outer", {}, 5));
  Set(Child("left", "outer"));
  Add("web", 3);
  AddMember("left", "a");
  EXPECT_THAT(PopGroup(), ElementsAre("a"));
  Return(GroupResult::kScheduled);
  Set(Composite("outer", {}, 1));
  EXPECT_EQ(Pop(), "web");
  EXPECT_THAT(PopGroup(), ElementsAre("a"));
}

TEST_F(CompositeQueueTest, WhatLosesItsRootIsIncompleteAndTheRestStays) {
  Set(Composite("outer"));
  Set(Composite("inner", "outer"));
  Set(Child("left", "inner"));
  Set(Child("right", "outer"));
  AddMember("left", "a");
  AddMember("right", "b");
  Remove(Composite("inner", "outer"));
  EXPECT_EQ(queue->counts().incomplete, 1u);
  EXPECT_EQ(queue->counts().active, 1u);
  EXPECT_EQ(Where("b"), Place::kActive);
  Set(Composite("inner", "outer"));
  EXPECT_THAT(PopGroup(), ElementsAre("a", "b"));
  Return(GroupResult::kScheduled);
  Remove(Composite("outer"));
  EXPECT_EQ(queue->counts().incomplete, 2u);
  EXPECT_FALSE(queue->HasReady());
}

TEST_F(CompositeQueueTest, AGroupThatComesBackWithAnotherParentTakesItsPodsAlong) {
  Set(Composite("one"));
  Set(Composite("two"));
  Set(Child("left", "one"));
  Set(Child("right", "one"));
  AddMember("left", "a");
  AddMember("right", "b");
  Set(Child("left", "two"));
  EXPECT_EQ(queue->counts().groups.active, 2u);
  EXPECT_THAT(PopGroup(), ElementsAre("b"));
  Return(GroupResult::kScheduled, {"b"});
  EXPECT_THAT(PopGroup(), ElementsAre("a"));
}

TEST_F(CompositeQueueTest, GroupsThatArePartsOfEachOtherOrTooDeepHaveNoRoot) {
  Set(Composite("egg", "hen"));
  Set(Composite("hen", "egg"));
  Set(Child("chick", "egg"));
  AddMember("chick", "a");
  EXPECT_EQ(queue->counts().incomplete, 1u);
  Set(Composite("1"));
  Set(Composite("2", "1"));
  Set(Composite("3", "2"));
  Set(Composite("4", "3"));
  Set(Child("fits", "3"));
  Set(Child("deep", "4"));
  AddMember("fits", "b");
  AddMember("deep", "c");
  EXPECT_EQ(queue->counts().incomplete, 2u);
  EXPECT_THAT(PopGroup(), ElementsAre("b"));
}

TEST_F(CompositeQueueTest, WithoutItsGateAGroupHasNoParent) {
  cache::PodGroupForest off;
  QueueOptions options;
  options.pod_groups = &off;
  Make(options);
  Set(Child("left", "outer"));
  AddMember("left", "a");
  EXPECT_THAT(PopGroup(), ElementsAre("a"));
  queue.reset();
}

// The queue against a plain map: where each pod of a random forest must be.
class CompositeQueuePropertyTest : public CompositeQueueTest,
                                   public testing::WithParamInterface<uint64_t> {
 protected:
  static constexpr int kComposites = 5;
  static constexpr int kPodGroups = 4;
  static constexpr int kPods = 3;

  static std::string Name(const char* kind, uint64_t number) {
    return kind + std::to_string(number);
  }
  uint64_t Below(uint64_t limit) { return random_.Below(limit); }
  std::string AnyComposite() { return Name("c", Below(kComposites)); }

  void ChangeComposite() {
    const std::string name = AnyComposite();
    if (Below(3) == 0) {
      const auto known = composites_.find(name);
      if (known == composites_.end()) return;
      Remove(Composite(name, known->second));
      composites_.erase(known);
      return;
    }
    const std::optional<std::string> parent =
        Below(2) == 0 ? std::nullopt : std::optional(AnyComposite());
    composites_[name] = parent;
    Set(Composite(name, parent));
  }
  void ChangePodGroup() {
    const std::string name = Name("g", Below(kPodGroups));
    if (Below(3) == 0) {
      const auto known = pod_groups_.find(name);
      if (known == pod_groups_.end()) return;
      Remove(Child(name, known->second));
      pod_groups_.erase(known);
      return;
    }
    pod_groups_[name] = AnyComposite();
    Set(Child(name, pod_groups_[name]));
  }
  void ChangePod() {
    const std::string group = Name("g", Below(kPodGroups));
    const std::string pod = group + "-" + std::to_string(Below(kPods));
    if (pods_.contains(pod)) {
      queue->Delete(*Member(group, pod).Ptr(), now());
      pods_.erase(pod);
    } else {
      AddMember(group, pod);
      pods_[pod] = group;
    }
  }
  // "" where the group has no root.
  std::string RootByHand(const std::string& group) const {
    const auto known = pod_groups_.find(group);
    if (known == pod_groups_.end()) return "";
    std::string name = known->second;
    for (int depth = 2; depth <= kMaxPodGroupTreeDepth; ++depth) {
      const auto composite = composites_.find(name);
      if (composite == composites_.end()) return "";
      if (!composite->second) return name;
      name = *composite->second;
    }
    return "";
  }
  void Check() {
    std::map<std::string, std::set<std::string>> expected;
    size_t incomplete = 0;
    for (const auto& [pod, group] : pods_) {
      const std::string root = RootByHand(group);
      if (root.empty()) {
        ++incomplete;
      } else {
        expected[root].insert(pod);
      }
    }
    EXPECT_EQ(queue->counts().incomplete, incomplete);
    EXPECT_EQ(queue->counts().groups.active, expected.size());
    std::map<std::string, std::set<std::string>> found;
    while (queue->HasReady()) {
      const auto names = PopGroup();
      found[popped_group->group->object.metadata().name] = {names.begin(), names.end()};
      Return(GroupResult::kScheduled, names);
      for (const std::string& name : names) pods_.erase(name);
    }
    EXPECT_EQ(found, expected);
  }

  Random random_{GetParam()};
  std::map<std::string, std::optional<std::string>> composites_;  // parents
  std::map<std::string, std::string> pod_groups_;
  std::map<std::string, std::string> pods_;  // their groups
};

TEST_P(CompositeQueuePropertyTest, EachPodIsWithItsRootOrIncomplete) {
  for (int step = 0; step < 400; ++step) {
    switch (Below(6)) {
      case 0:
      case 1:
        ChangeComposite();
        break;
      case 2:
        ChangePodGroup();
        break;
      default:
        ChangePod();
    }
    if (step % 10 == 9) Check();
  }
  for (const auto& [name, parent] : composites_) Remove(Composite(name, parent));
  for (const auto& [name, parent] : pod_groups_) Remove(Child(name, parent));
  EXPECT_EQ(forest.size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, CompositeQueuePropertyTest, testing::Range<uint64_t>(1, 21));

}  // namespace
}  // namespace berth::queue
