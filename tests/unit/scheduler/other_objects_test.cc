// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>

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
  for (const Kind kind : informers::AllKinds()) {
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
  EXPECT_EQ(scheduler().objects().FindStatefulSet("shop", "db"), first.get());
  EXPECT_NE(scheduler().objects().FindNamespace("shop"), nullptr);
  Post(EventType::kUpdated, Kind::kStatefulSet, first, second);
  Turn();
  EXPECT_EQ(scheduler().objects().FindStatefulSet("shop", "db"), second.get());
  Post(EventType::kDeleted, Kind::kStatefulSet, second, {});
  Turn();
  EXPECT_EQ(scheduler().objects().FindStatefulSet("shop", "db"), nullptr);
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
