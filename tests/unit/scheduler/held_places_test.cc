// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/held_places.h"

#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <string>

#include "tests/support/builders.h"

namespace berth::scheduler {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using PodPtr = std::shared_ptr<const api::Pod>;

class HeldPlacesTest : public testing::Test {
 protected:
  HeldPlacesTest() {
    cache_.SetNode(test::MakeNode("n1").Ptr());
    cache_.SetNode(test::MakeNode("n2").Ptr());
  }
  static test::PodBuilder Replica(std::string_view name) {
    return test::MakePod()
        .Name(name)
        .Uid(std::string("uid-") + std::string(name))
        .Label("app", "web")
        .Owner("ReplicaSet", "web", "rs")
        .Req({{"cpu", "1"}});
  }
  // A pod on n1.
  PodPtr Running(const test::PodBuilder& builder) {
    test::PodBuilder placed = builder;
    const PodPtr pod = placed.OnNode("n1").Ptr();
    EXPECT_TRUE(cache_.AddPod(cache_.MakePodInfo(pod)));
    return pod;
  }
  size_t HeldOn(std::string_view node) const {
    return nominator_.NominatedPodsForNode(node).size();
  }

  const Time start_{seconds(1000)};
  cache::Cache cache_;
  // No pod is pending.
  cache::Nominator nominator_{[](const api::Pod&) { return false; }};
  HeldPlaces places_{cache_, nominator_};
};

TEST_F(HeldPlacesTest, TheNextPodOfTheOwnerTakesThePlace) {
  const PodPtr leaving = Running(Replica("a").Label("topology.kubernetes.io/zone", "east"));
  places_.Hold(leaving, "n2", start_);
  EXPECT_EQ(HeldOn("n2"), 1u);
  const PodInfoPtr other = cache_.MakePodInfo(test::MakePod().Name("other").Ptr());
  EXPECT_TRUE(nominator_.Matter(*other));
  const PodInfoPtr important = cache_.MakePodInfo(test::MakePod().Name("p").Priority(1).Ptr());
  EXPECT_FALSE(nominator_.Matter(*important));

  EXPECT_EQ(places_.Take(*leaving), "") << "it is another pod";
  EXPECT_EQ(places_.Take(*test::MakePod().Name("b").Req({{"cpu", "1"}}).Ptr()), "");
  test::PodBuilder of_another = test::MakePod();
  of_another.Name("b").Label("app", "web").Owner("ReplicaSet", "other", "other");
  EXPECT_EQ(places_.Take(*of_another.Req({{"cpu", "1"}}).Ptr()), "");
  EXPECT_EQ(places_.Take(*Replica("b").Req({{"cpu", "2"}}).Ptr()), "") << "of another template";
  EXPECT_EQ(places_.Take(*Replica("b").Priority(1).Ptr()), "");
  EXPECT_EQ(HeldOn("n2"), 1u);
  EXPECT_EQ(places_.Take(*Replica("b").Ptr()), "n2");
  EXPECT_EQ(HeldOn("n2"), 0u);
  EXPECT_EQ(places_.Take(*Replica("c").Ptr()), "") << "there was one place";
  EXPECT_TRUE(nominator_.TakeEnded().empty()) << "the room is taken";
}

TEST_F(HeldPlacesTest, APodOfAStatefulSetComesBackByItsName) {
  const auto member = [](std::string_view name, std::string_view uid) {
    return test::MakePod().Name(name).Uid(uid).Owner("StatefulSet", "db", "db");
  };
  places_.Hold(Running(member("db-1", "old")), "n2", start_);
  EXPECT_EQ(places_.Take(*member("db-2", "other").Ptr()), "");
  EXPECT_EQ(places_.Take(*member("db-1", "new").Ptr()), "n2");
}

TEST_F(HeldPlacesTest, APlaceIsGivenBackOnceItWasHeldInVain) {
  const PodPtr gone = Replica("gone").Ptr();
  const PodPtr stays = Running(Replica("stays"));
  places_.Hold(gone, "n2", start_);
  places_.Hold(stays, "n2", start_);
  EXPECT_EQ(places_.NextExpiry(), start_ + minutes(2));
  places_.Expire(start_ + seconds(119));
  EXPECT_EQ(HeldOn("n2"), 2u);
  places_.Expire(start_ + minutes(2));
  EXPECT_EQ(HeldOn("n2"), 1u) << "one is still on its node";
  EXPECT_EQ(nominator_.TakeEnded().size(), 1u) << "others are tried";
  places_.Expire(start_ + minutes(9));
  EXPECT_EQ(HeldOn("n2"), 1u);
  EXPECT_EQ(places_.NextExpiry(), start_ + minutes(10));
  places_.Expire(start_ + minutes(10));
  EXPECT_EQ(HeldOn("n2"), 0u);
  EXPECT_TRUE(places_.empty());
  EXPECT_EQ(places_.NextExpiry(), std::nullopt);
}

TEST_F(HeldPlacesTest, APlaceIsGivenBackOnDemandOrMovesToAnotherNode) {
  const PodPtr leaving = Running(Replica("a"));
  places_.Hold(leaving, "n1", start_);
  places_.Hold(leaving, "n2", start_);
  EXPECT_EQ(HeldOn("n1"), 0u);
  EXPECT_EQ(HeldOn("n2"), 1u);
  places_.GiveBack("uid-a");
  EXPECT_EQ(HeldOn("n2"), 0u);
  places_.GiveBack("uid-a");
  EXPECT_EQ(places_.Take(*Replica("b").Ptr()), "");
}

}  // namespace
}  // namespace berth::scheduler
