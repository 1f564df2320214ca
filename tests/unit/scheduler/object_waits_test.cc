// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/object_waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/volume_builders.h"

namespace berth::scheduler {
namespace {

using namespace berth::test;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

class ObjectWaitsTest : public testing::Test {
 protected:
  // A wait named `name`, which notes how often it is asked and what it was answered.
  std::optional<ObjectWaits::Id> Add(const std::string& name, std::vector<ObjectKey> objects,
                                     Duration timeout = seconds(600)) {
    ObjectWait wait;
    wait.objects = std::move(objects);
    wait.timeout = timeout;
    wait.timed_out = {Code::kError, "time is up"};
    wait.cancelled = {Code::kError, "cancelled"};
    wait.check = [this, name]() -> std::optional<AsyncStatus> {
      ++asked_[name];
      if (ready_.contains(name)) return AsyncStatus();
      return std::nullopt;
    };
    return waits_.Add(
        std::move(wait),
        [this, name](const AsyncStatus& status) {
          answers_.push_back(name + ": " + (status.ok() ? "done" : status.message));
        },
        now_);
  }
  void Change(informers::Kind kind, api::ObjectPtr before, api::ObjectPtr after) {
    informers::InformerEvent event;
    event.kind = kind;
    event.old_object = std::move(before);
    event.new_object = std::move(after);
    waits_.Notify(event);
  }
  void TellOfVolume(const VolumeBuilder& after) {
    Change(informers::Kind::kPersistentVolume, {}, after.Ptr());
  }

  static ObjectKey Volume(std::string key) {
    return {EventResource::kPersistentVolume, std::move(key)};
  }
  static ObjectKey Claim(std::string key) {
    return {EventResource::kPersistentVolumeClaim, std::move(key)};
  }

  Time now_{};
  ObjectWaits waits_;
  std::map<std::string, int> asked_;
  std::map<std::string, bool> ready_;
  std::vector<std::string> answers_;
};

TEST_F(ObjectWaitsTest, OneThatIsReadyNeverWaits) {
  ready_["a"];
  EXPECT_EQ(Add("a", {Volume("v")}), std::nullopt);
  EXPECT_THAT(answers_, ElementsAre("a: done"));
  EXPECT_EQ(waits_.size(), 0u);
}

TEST_F(ObjectWaitsTest, OnlyThoseThatNameTheObjectAreAsked) {
  Add("a", {Volume("v"), Volume("v"), Claim("default/c")});
  Add("b", {Volume("w")});
  EXPECT_EQ(asked_, (std::map<std::string, int>{{"a", 1}, {"b", 1}}));
  TellOfVolume(MakeVolume("v", ""));
  EXPECT_EQ(asked_, (std::map<std::string, int>{{"a", 2}, {"b", 1}}));
  ready_["a"];
  Change(informers::Kind::kPersistentVolumeClaim, MakeClaim("c", "").Ptr(), {});
  EXPECT_THAT(answers_, ElementsAre("a: done"));
  TellOfVolume(MakeVolume("v", ""));
  EXPECT_THAT(answers_, ElementsAre("a: done")) << "answered once";
  EXPECT_EQ(waits_.size(), 1u);
}

TEST_F(ObjectWaitsTest, AVolumeIsNewsForTheClaimsThatItIsOrWasBoundTo) {
  Add("c", {Claim("default/c")});
  Add("d", {Claim("default/d")});
  Change(informers::Kind::kPersistentVolume, MakeVolume("v", "").Claim("c").Ptr(),
         MakeVolume("v", "").Claim("d").Ptr());
  EXPECT_EQ(asked_, (std::map<std::string, int>{{"c", 2}, {"d", 2}}));
}

TEST_F(ObjectWaitsTest, PodsAndNodesAreObjectsToo) {
  Add("pod", {{EventResource::kPod, "default/web"}});
  Add("node", {{EventResource::kNode, "n"}});
  Change(informers::Kind::kPod, MakePod().Name("web").Ptr(), {});
  EXPECT_EQ(asked_, (std::map<std::string, int>{{"pod", 2}, {"node", 1}}));
  Change(informers::Kind::kNode, {}, MakeNode("n").Ptr());
  EXPECT_EQ(asked_, (std::map<std::string, int>{{"pod", 2}, {"node", 2}}));
}

TEST_F(ObjectWaitsTest, TimeRunsOutForEachByItself) {
  Add("late", {Volume("v")}, seconds(20));
  Add("soon", {Volume("v")}, seconds(10));
  EXPECT_EQ(waits_.NextExpiry(), now_ + seconds(10));
  waits_.Expire(now_ + seconds(9));
  EXPECT_THAT(answers_, IsEmpty());
  waits_.Expire(now_ + seconds(10));
  EXPECT_THAT(answers_, ElementsAre("soon: time is up"));
  EXPECT_EQ(waits_.NextExpiry(), now_ + seconds(20));
  waits_.Expire(now_ + seconds(99));
  EXPECT_EQ(waits_.NextExpiry(), std::nullopt);
  EXPECT_EQ(waits_.size(), 0u);
}

TEST_F(ObjectWaitsTest, ACancelledWaitIsAnsweredOnce) {
  const auto id = Add("a", {Volume("v")});
  ASSERT_TRUE(id);
  waits_.Cancel(*id);
  waits_.Cancel(*id);
  EXPECT_THAT(answers_, ElementsAre("a: cancelled"));
  ready_["a"];
  TellOfVolume(MakeVolume("v", ""));
  EXPECT_EQ(answers_.size(), 1u);
}

// However many wait, a change asks those that it is about.
TEST_F(ObjectWaitsTest, AThousandWaitsCostNothingToOthers) {
  for (int i = 0; i < 1000; ++i) {
    const std::string name = std::to_string(i);
    Add(name, {Claim("default/" + name)});
  }
  ready_["7"];
  asked_.clear();
  Change(informers::Kind::kPersistentVolumeClaim, {}, MakeClaim("7", "").Ptr());
  EXPECT_EQ(asked_, (std::map<std::string, int>{{"7", 1}}));
  EXPECT_THAT(answers_, ElementsAre("7: done"));
  EXPECT_EQ(waits_.size(), 999u);
}

}  // namespace
}  // namespace berth::scheduler
