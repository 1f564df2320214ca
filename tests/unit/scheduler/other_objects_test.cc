// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/base/logging.h"
#include "src/cache/object_tables.h"
#include "src/informers/kinds.h"
#include "tests/unit/scheduler/scheduler_fixture.h"

// Objects that are neither pods nor nodes, on their way to the plugins.
namespace berth::scheduler {
namespace {

using informers::EventType;
using informers::Kind;
using testing::ElementsAre;
using testing::IsEmpty;

class OtherObjectsTest : public test::SchedulerFixture {
 protected:
  void Post(EventType type, Kind kind, api::ObjectPtr old_object = {},
            api::ObjectPtr new_object = {}) {
    informers::InformerEvent event;
    event.type = type;
    event.kind = kind;
    event.old_object = std::move(old_object);
    event.new_object = std::move(new_object);
    scheduler().Post(std::move(event));
  }

  template <typename T>
  static std::shared_ptr<const T> Make(std::string namespace_, std::string name,
                                       std::string version) {
    auto object = std::make_shared<T>();
    object->metadata.namespace_ = std::move(namespace_);
    object->metadata.name = std::move(name);
    object->metadata.resource_version = std::move(version);
    return object;
  }
};

TEST_F(OtherObjectsTest, NothingIsDecidedUntilTheLastKindHasBeenListed) {
  AddNode(test::MakeNode("n1"));
  AddPod(test::MakePod().Name("web"));
  for (const Kind kind : informers::WatchedKinds(Features())) {
    Turn();
    EXPECT_THAT(Bindings(), IsEmpty());
    Post(EventType::kSynced, kind);
  }
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/web -> n1"));
}

TEST_F(OtherObjectsTest, WhatTheInformersSayOfThemReachesTheListers) {
  const auto first = Make<api::StatefulSet>("shop", "db", "1");
  const auto second = Make<api::StatefulSet>("shop", "db", "2");
  Post(EventType::kAdded, Kind::kStatefulSet, {}, first);
  Post(EventType::kAdded, Kind::kNamespace, {}, Make<api::Namespace>("", "shop", "1"));
  Turn();
  EXPECT_EQ(scheduler().objects().Find<api::StatefulSet>("shop", "db"), first.get());
  EXPECT_NE(scheduler().objects().Find<api::Namespace>("shop"), nullptr);
  Post(EventType::kUpdated, Kind::kStatefulSet, first, second);
  Turn();
  EXPECT_EQ(scheduler().objects().Find<api::StatefulSet>("shop", "db"), second.get());
  Post(EventType::kDeleted, Kind::kStatefulSet, second, {});
  Turn();
  EXPECT_EQ(scheduler().objects().Find<api::StatefulSet>("shop", "db"), nullptr);
}

TEST_F(OtherObjectsTest, TheyMoveNoParkedPod) {
  Synced();
  AddNode(test::MakeNode("n1").Taint("gpu", "", "NoSchedule"));
  AddPod(test::MakePod().Name("web"));
  Turn();
  Post(EventType::kAdded, Kind::kNamespace, {}, Make<api::Namespace>("", "shop", "1"));
  Post(EventType::kAdded, Kind::kService, {}, Make<api::Service>("default", "web", "1"));
  Advance(std::chrono::seconds(30));
  EXPECT_EQ(Events("FailedScheduling").size(), 1u);
}

// Rejects every pod, counts how often, and registers for the events that a test names.
class Listener final : public FilterPlugin, public EnqueueExtensions {
 public:
  Listener(std::vector<ClusterEvent> events, int& attempts)
      : events_(std::move(events)), attempts_(attempts) {}
  Status Filter(const CycleState&, const PodInfo&, const NodeView&) const override {
    ++attempts_;
    return Status(Code::kUnschedulable);
  }
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    std::vector<ClusterEventWithHint> registered;
    for (const ClusterEvent& event : events_) registered.push_back({event, nullptr});
    return registered;
  }

 private:
  const std::vector<ClusterEvent> events_;
  int& attempts_;
};

class ListenerTest : public OtherObjectsTest {
 protected:
  // What is logged when a profile has the plugin.
  std::string RegisterFor(std::vector<ClusterEvent> events) {
    plugins_.push_back({.name = "Listener",
                        .factory = [this, events](const ConfigValue&, Handle&) -> Result<Plugin> {
                          return AsPlugin("Listener",
                                          std::make_unique<Listener>(events, attempts_));
                        }});
    options_.configuration.profiles[0].plugins.multi_point.enabled.push_back({"Listener", 0});
    testing::internal::CaptureStderr();
    Restart();
    base::FlushLogs();
    return testing::internal::GetCapturedStderr();
  }

  int attempts_ = 0;
};

TEST_F(ListenerTest, EventsOfAKindThatIsNotWatchedAreWarnedOf) {
  const std::string log = RegisterFor({{EventResource::kNode, action::kAdd},
                                       {EventResource::kPod, action::kDelete},
                                       {EventResource::kNamespace, action::kAll},
                                       {EventResource::kPodGroup, action::kAdd}});
  EXPECT_THAT(log, testing::HasSubstr(
                       "A plugin registers for events of a kind that is not watched; none will "
                       "come"));
  EXPECT_THAT(log, testing::HasSubstr("Listener"));
  EXPECT_THAT(log, testing::HasSubstr("PodGroupAdd"));
  EXPECT_EQ(log.find("registers for"), log.rfind("registers for")) << log;
}

TEST_F(ListenerTest, EventsOfAnyKindThatIsWatchedWakeThePod) {
  EXPECT_EQ(RegisterFor({{EventResource::kNamespace, action::kAdd | action::kUpdate}}), "");
  Synced();
  AddNode(test::MakeNode("n1"));
  AddPod(test::MakePod().Name("web"));
  Turn();
  const auto shop = Make<api::Namespace>("", "shop", "1");
  EXPECT_EQ(attempts_, 1);
  Post(EventType::kDeleted, Kind::kNamespace, shop, {});
  Post(EventType::kAdded, Kind::kService, {}, Make<api::Service>("default", "web", "1"));
  Advance(std::chrono::seconds(15));
  EXPECT_EQ(attempts_, 1) << "not registered for";
  Post(EventType::kAdded, Kind::kNamespace, {}, shop);
  Advance(std::chrono::seconds(15));
  EXPECT_EQ(attempts_, 2);
  Post(EventType::kUpdated, Kind::kNamespace, shop, Make<api::Namespace>("", "shop", "2"));
  Advance(std::chrono::seconds(15));
  EXPECT_EQ(attempts_, 3);
}

TEST_F(OtherObjectsTest, AStatusWriteLeavesWhatIsKnownAboutPodsAlone) {
  Synced();
  AddNode(test::MakeNode("n1").Allocatable({{"cpu", "1"}, {"pods", "10"}}));
  const auto set = Make<api::ReplicaSet>("default", "web", "1");
  const auto budget = Make<api::PodDisruptionBudget>("default", "web", "1");
  Post(EventType::kAdded, Kind::kReplicaSet, {}, set);
  Post(EventType::kAdded, Kind::kPodDisruptionBudget, {}, budget);
  const auto add = [this](const char* name) {
    AddPod(test::MakePod().Name(name).Req({{"cpu", "2"}}));
    Turn();
    return scheduler().num_reused_refusals();
  };
  EXPECT_EQ(add("web-1"), 0u);
  Post(EventType::kUpdated, Kind::kReplicaSet, set, Make<api::ReplicaSet>("default", "web", "2"));
  Post(EventType::kUpdated, Kind::kPodDisruptionBudget, budget,
       Make<api::PodDisruptionBudget>("default", "web", "2"));
  EXPECT_EQ(add("web-2"), 1u);
  // Preemption may do now what it could not.
  auto allowing = std::make_shared<api::PodDisruptionBudget>(*budget);
  allowing->status.disruptions_allowed = 1;
  Post(EventType::kUpdated, Kind::kPodDisruptionBudget, budget, allowing);
  EXPECT_EQ(add("web-3"), 1u);
}

TEST_F(ListenerTest, EachKindOfVolumesAndDevicesWakesThePodsThatItsEventsAreFor) {
  const struct {
    Kind kind;
    EventResource resource;
    api::ObjectPtr object;
  } cases[] = {
      {Kind::kPersistentVolume, EventResource::kPersistentVolume,
       Make<api::PersistentVolume>("", "a", "1")},
      {Kind::kPersistentVolumeClaim, EventResource::kPersistentVolumeClaim,
       Make<api::PersistentVolumeClaim>("default", "a", "1")},
      {Kind::kStorageClass, EventResource::kStorageClass, Make<api::StorageClass>("", "a", "1")},
      {Kind::kCsiNode, EventResource::kCsiNode, Make<api::CSINode>("", "a", "1")},
      {Kind::kCsiDriver, EventResource::kCsiDriver, Make<api::CSIDriver>("", "a", "1")},
      {Kind::kCsiStorageCapacity, EventResource::kCsiStorageCapacity,
       Make<api::CSIStorageCapacity>("default", "a", "1")},
      {Kind::kVolumeAttachment, EventResource::kVolumeAttachment,
       Make<api::VolumeAttachment>("", "a", "1")},
      {Kind::kResourceClaim, EventResource::kResourceClaim,
       Make<api::ResourceClaim>("default", "a", "1")},
      {Kind::kDeviceClass, EventResource::kDeviceClass, Make<api::DeviceClass>("", "a", "1")},
      {Kind::kResourceSlice, EventResource::kResourceSlice, Make<api::ResourceSlice>("", "a", "1")},
  };
  std::vector<ClusterEvent> events;
  for (const auto& c : cases) {
    events.push_back({c.resource, action::kAdd | action::kUpdate | action::kDelete});
  }
  EXPECT_THAT(RegisterFor(events), testing::Not(testing::HasSubstr("none will come")));
  Synced();
  AddNode(test::MakeNode("n1"));
  AddPod(test::MakePod().Name("web"));
  Turn();
  int seen = attempts_;
  const auto wakes = [&] {
    Advance(std::chrono::seconds(30));
    return std::exchange(seen, attempts_) != attempts_;
  };
  EXPECT_FALSE(wakes());
  for (const auto& c : cases) {
    SCOPED_TRACE(informers::InfoOf(c.kind).resource);
    Post(EventType::kAdded, c.kind, {}, c.object);
    EXPECT_TRUE(wakes());
    Post(EventType::kUpdated, c.kind, c.object, c.object);
    EXPECT_TRUE(wakes());
    Post(EventType::kDeleted, c.kind, c.object, {});
    EXPECT_TRUE(wakes());
  }
  // What no plugin of kube-scheduler asks for wakes no pod.
  Post(EventType::kAdded, Kind::kVolumeAttributesClass, {},
       Make<api::VolumeAttributesClass>("", "a", "1"));
  EXPECT_FALSE(wakes());
}

TEST_F(ListenerTest, ATaintRuleThatConcernsASliceIsAChangeOfTheSlice) {
  RegisterFor({{EventResource::kResourceSlice, action::kUpdate}});
  Synced();
  AddNode(test::MakeNode("n1"));
  auto slice = std::make_shared<api::ResourceSlice>();
  slice->metadata.name = "n1-gpus";
  slice->spec.driver = "gpu.example.com";
  slice->spec.pool.name = "n1";
  slice->spec.devices.emplace_back().name = "gpu-0";
  Post(EventType::kAdded, Kind::kResourceSlice, {}, slice);
  AddPod(test::MakePod().Name("web"));
  Turn();
  int seen = attempts_;
  const auto wakes = [&] {
    Advance(std::chrono::seconds(30));
    return std::exchange(seen, attempts_) != attempts_;
  };
  const auto rule = [](const char* driver, const char* pool) {
    auto made = std::make_shared<api::DeviceTaintRule>();
    made->metadata.name = "r";
    made->spec.device_selector.emplace();
    if (*driver != 0) made->spec.device_selector->driver = driver;
    if (*pool != 0) made->spec.device_selector->pool = pool;
    return made;
  };
  Post(EventType::kAdded, Kind::kDeviceTaintRule, {}, rule("nic.example.com", ""));
  EXPECT_FALSE(wakes());
  const auto of_pool = rule("gpu.example.com", "n1");
  Post(EventType::kAdded, Kind::kDeviceTaintRule, {}, of_pool);
  EXPECT_TRUE(wakes());
  // It concerned the slice before.
  Post(EventType::kUpdated, Kind::kDeviceTaintRule, of_pool, rule("gpu.example.com", "n2"));
  EXPECT_TRUE(wakes());
  const auto of_another_device = rule("gpu.example.com", "n1");
  of_another_device->spec.device_selector->device = "gpu-9";
  Post(EventType::kAdded, Kind::kDeviceTaintRule, {}, of_another_device);
  EXPECT_FALSE(wakes());
  const auto of_device = rule("gpu.example.com", "n1");
  of_device->spec.device_selector->device = "gpu-0";
  Post(EventType::kUpdated, Kind::kDeviceTaintRule, of_another_device, of_device);
  EXPECT_TRUE(wakes());
  const auto with_another_status = std::make_shared<api::DeviceTaintRule>(*of_device);
  with_another_status->metadata.resource_version = "99";
  Post(EventType::kUpdated, Kind::kDeviceTaintRule, of_device, with_another_status);
  EXPECT_FALSE(wakes());
  const auto of_all = rule("", "");
  Post(EventType::kDeleted, Kind::kDeviceTaintRule, of_all, {});
  EXPECT_TRUE(wakes());
}

TEST_F(OtherObjectsTest, TheEndOfAnObjectThatCouldNeverBeReadIsNoNews) {
  Synced();
  AddNode(test::MakeNode("n1"));
  for (const Kind kind : informers::AllKinds()) Post(EventType::kDeleted, kind);
  AddPod(test::MakePod().Name("web"));
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/web -> n1"));
}

}  // namespace
}  // namespace berth::scheduler
