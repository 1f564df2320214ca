// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/counted_objects.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "tests/unit/scheduler/parts_fixture.h"
#include "tests/unit/scheduler/scheduler_fixture.h"

namespace berth::scheduler {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr const char* kLabel = "scheduling.x-k8s.io/pod-group";

// "default-scheduler" without the plugin, "batch" with it.
void AddProfileWithCoscheduling(config::SchedulerConfiguration& configuration) {
  config::Profile batch = configuration.profiles[0];
  batch.scheduler_name = "batch";
  batch.plugins.permit.enabled.push_back({"Coscheduling"});
  configuration.profiles.push_back(std::move(batch));
}

class CountedObjectsTest : public test::PartsFixture {
 protected:
  void Begin(bool generic_workload) {
    options_.features.generic_workload = generic_workload;
    if (options_.configuration.profiles.size() == 1) {
      AddProfileWithCoscheduling(options_.configuration);
    }
    Restart();
  }
  // The group that the pod counts for.
  std::string GroupOf(const test::PodBuilder& pod) {
    const auto shown = pod.Ptr();
    const auto counted = Counted(shown, state().features, profiles());
    EXPECT_EQ(Counted(counted, state().features, profiles()), counted) << "it counts as it is";
    const std::string* name = PodGroupNameOf(*counted);
    return name == nullptr ? "" : *name;
  }
};

TEST_F(CountedObjectsTest, TheLabelIsThePodsGroupInProfilesThatHaveThePlugin) {
  Begin(false);
  EXPECT_TRUE(state().features.coscheduling);
  const auto pod = [] { return test::MakePod().Label(kLabel, "train"); };
  EXPECT_EQ(GroupOf(pod().SchedulerName("batch")), "train");
  EXPECT_EQ(GroupOf(pod().SchedulerName("batch").OnNode("a")), "train");
  EXPECT_EQ(GroupOf(pod()), "") << "its profile has no such plugin";
  EXPECT_EQ(GroupOf(pod().OnNode("a")), "");
  EXPECT_EQ(GroupOf(pod().SchedulerName("other")), "");
  EXPECT_EQ(GroupOf(pod().SchedulerName("other").OnNode("a")), "train")
      << "it takes part on its node";
  // Without its gate the field says nothing.
  EXPECT_EQ(GroupOf(test::MakePod().SchedulerName("batch").SchedulingGroup("field")), "");
  EXPECT_EQ(GroupOf(pod().SchedulerName("batch").SchedulingGroup("field")), "train");
}

TEST_F(CountedObjectsTest, WithTheGateGroupsOfBothKindsHaveNamesOfTheirOwn) {
  Begin(true);
  const auto pod = [] { return test::MakePod().SchedulerName("batch").Label(kLabel, "train"); };
  EXPECT_EQ(GroupOf(pod()), "scheduling.x-k8s.io/train");
  EXPECT_EQ(GroupOf(pod().SchedulingGroup("field")), "field");
  EXPECT_EQ(GroupOf(test::MakePod().SchedulerName("batch").SchedulingGroup("field")), "field");

  auto group = std::make_shared<api::CoschedulingPodGroup>();
  group->metadata.name = "train";
  group->spec.min_member = 3;
  informers::InformerEvent event;
  event.kind = informers::Kind::kCoschedulingPodGroup;
  event.new_object = std::shared_ptr<const api::CoschedulingPodGroup>(group);
  const informers::InformerEvent counted = Counted(event, state().features);
  EXPECT_EQ(counted.kind, informers::Kind::kPodGroup);
  const auto* shaped = api::As<api::PodGroup>(counted.new_object);
  ASSERT_NE(shaped, nullptr);
  EXPECT_EQ(shaped->metadata.name, "scheduling.x-k8s.io/train");
  EXPECT_EQ(shaped->spec.scheduling_policy.gang->min_count, 3);
  EXPECT_TRUE(IsCoscheduled({.pod_group = std::make_shared<api::PodGroup>(*shaped)}));
}

TEST_F(CountedObjectsTest, ThePluginComesAndGoesOnlyWithARestart) {
  Begin(false);
  config::SchedulerConfiguration next = options_.configuration;
  next.profiles[0].plugins.permit.enabled.push_back({"Coscheduling"});
  const auto replaced = profiles().Replace(next, [](std::string_view) { return size_t{0}; });
  ASSERT_FALSE(replaced);
  EXPECT_EQ(replaced.error().message,
            "profiles: whether \"default-scheduler\" has the plugin Coscheduling cannot change "
            "without a restart");
}

// A scheduler whose only profile has the plugin.
class CoschedulingTest : public test::SchedulerFixture {
 protected:
  CoschedulingTest() {
    options_.configuration.profiles[0].plugins.multi_point.enabled.push_back({"Coscheduling"});
    options_.configuration.profiles[0].plugins.queue_sort.enabled = {{"Coscheduling"}};
    options_.configuration.profiles[0].plugins.queue_sort.disabled = {{"*"}};
    Restart();
    Synced();
    AddNode(test::MakeNode("a").Allocatable({{"cpu", "2"}, {"memory", "32Gi"}, {"pods", "110"}}));
  }
  using GroupPtr = std::shared_ptr<const api::CoschedulingPodGroup>;

  static GroupPtr Group(int32_t min_member) {
    auto group = std::make_shared<api::CoschedulingPodGroup>();
    group->metadata.namespace_ = "default";
    group->metadata.name = "train";
    group->metadata.uid = "uid-group";
    group->spec.min_member = min_member;
    return group;
  }
  void AddGroup(int32_t min_member) {
    PostEvent(informers::EventType::kAdded, informers::Kind::kCoschedulingPodGroup, {},
              Group(min_member));
  }
  static test::PodBuilder Member(int number) {
    const std::string name = "train-" + std::to_string(number);
    return test::MakePod().Name(name).Uid("uid-" + name).Req({{"cpu", "1"}}).Label(kLabel, "train");
  }
};

TEST_F(CoschedulingTest, PodsStartTogetherAndTheGroupsStatusIsLeftAlone) {
  for (int i = 0; i < 3; ++i) AddPod(Member(i));
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty()) << "its PodGroup is not there";
  AddGroup(3);
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty()) << "two of three have room";
  AddNode(test::MakeNode("b").Allocatable({{"cpu", "2"}, {"memory", "32Gi"}, {"pods", "110"}}));
  Advance(std::chrono::seconds(3));
  EXPECT_EQ(Bindings().size(), 3u);
  EXPECT_THAT(GroupStatusPatches("train"), IsEmpty());
}

TEST_F(CoschedulingTest, AGroupThatNeedsFewerOrLosesAPodIsTriedAgain) {
  AddGroup(3);
  AddPod(Member(0));
  AddPod(Member(1));
  Turn();
  EXPECT_THAT(Bindings(), IsEmpty());
  PostEvent(informers::EventType::kUpdated, informers::Kind::kCoschedulingPodGroup, Group(3),
            Group(2));
  Advance(std::chrono::seconds(3));
  EXPECT_THAT(Bindings(), UnorderedElementsAre("default/train-0 -> a", "default/train-1 -> a"));
}

TEST_F(CoschedulingTest, ARejectedGroupIsNotTriedAgainBeforeItsBackoffIsOver) {
  for (const int64_t backoff : {0, 60}) {
    SCOPED_TRACE(backoff);
    options_.configuration.profiles[0].plugin_config = {
        {"Coscheduling",
         ConfigValue(ConfigValue::Map{{"podGroupBackoffSeconds", ConfigValue(backoff)}})}};
    Restart();
    Synced();
    const auto node = [](const char* name) {
      return test::MakeNode(name).Allocatable({{"cpu", "2"}, {"memory", "32Gi"}, {"pods", "110"}});
    };
    AddNode(node("a"));
    AddGroup(3);
    for (int i = 0; i < 3; ++i) AddPod(Member(i));
    Turn();
    AddNode(node("b"));
    Advance(std::chrono::seconds(30));
    EXPECT_EQ(Bindings().size(), backoff == 0 ? 3u : 0u) << "after half a minute";
    Advance(std::chrono::seconds(40));
    EXPECT_EQ(Bindings().size(), 3u);
  }
}

// The label may change at any time. The pod waits in its new group, or by itself.
TEST_F(CoschedulingTest, AWaitingPodMayChangeItsGroup) {
  const auto version = [](test::PodBuilder pod) { return pod.ResourceVersion("2").Ptr(); };
  const auto alone = [&](int number) {
    const std::string name = "train-" + std::to_string(number);
    return version(test::MakePod().Name(name).Uid("uid-" + name).Req({{"cpu", "1"}}));
  };
  const auto elsewhere = [&](int number) { return version(Member(number).Label(kLabel, "other")); };
  for (const bool is_there : {false, true}) {
    SCOPED_TRACE(is_there ? "of a group that does not start" : "of a group that is not there");
    Restart();
    Synced();
    AddNode(test::MakeNode("a").Allocatable({{"cpu", "2"}, {"memory", "32Gi"}, {"pods", "110"}}));
    if (is_there) AddGroup(4);
    for (int i = 0; i < 4; ++i) AddPod(Member(i));
    Turn();
    UpdatePod(Member(0).Ptr(), alone(0));
    UpdatePod(Member(1).Ptr(), elsewhere(1));
    UpdatePod(Member(2).Ptr(), elsewhere(2));
    Advance(std::chrono::seconds(30));
    EXPECT_THAT(Bindings(), testing::ElementsAre("default/train-0 -> a"));
    DeletePod(elsewhere(2));
    UpdatePod(elsewhere(1), version(Member(1)));
    if (!is_there) AddGroup(4);
    Advance(std::chrono::seconds(30));
    EXPECT_EQ(Bindings().size(), 1u) << "two pods are left of four";
  }
}

TEST_F(CoschedulingTest, APodThatRunsMayLeaveItsGroup) {
  AddGroup(2);
  for (int i = 0; i < 2; ++i) AddPod(Member(i).OnNode("a"));
  for (int i = 0; i < 2; ++i) {
    const auto gone = Member(i).OnNode("a").Label(kLabel, "other").ResourceVersion("2").Ptr();
    UpdatePod(Member(i).OnNode("a").Ptr(), gone);
    DeletePod(gone);
  }
  AddPod(Member(7));
  Advance(std::chrono::seconds(30));
  EXPECT_THAT(Bindings(), IsEmpty()) << "it is one of two";
}

TEST_F(CoschedulingTest, AGroupThatGoesLeavesItsPodsWaiting) {
  AddGroup(3);
  for (int i = 0; i < 3; ++i) AddPod(Member(i));
  Turn();
  PostEvent(informers::EventType::kDeleted, informers::Kind::kCoschedulingPodGroup, Group(3), {});
  AddNode(test::MakeNode("b").Allocatable({{"cpu", "2"}, {"memory", "32Gi"}, {"pods", "110"}}));
  Advance(std::chrono::seconds(30));
  EXPECT_THAT(Bindings(), IsEmpty());
  DeletePod(Member(0).Ptr());
  AddGroup(2);
  Advance(std::chrono::seconds(30));
  EXPECT_THAT(Bindings(), UnorderedElementsAre(HasSubstr("train-1"), HasSubstr("train-2")));
}

}  // namespace
}  // namespace berth::scheduler
