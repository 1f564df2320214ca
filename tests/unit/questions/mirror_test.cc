// SPDX-License-Identifier: Apache-2.0
#include "src/questions/mirror.h"

#include <gmock/gmock.h>

#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::questions {
namespace {

using engine::Judgement;
using informers::EventType;
using informers::InformerEvent;
using informers::Kind;

std::unique_ptr<simulator::Simulation> NewSimulation() {
  auto made =
      simulator::Simulation::Make(test::DefaultSimulationOptions(), plugins::InTreeRegistry());
  EXPECT_TRUE(made) << made.error().message;
  return *std::move(made);
}

// The pod, about to be deleted.
struct Terminating {
  std::shared_ptr<const api::Pod> Ptr() const {
    api::Pod terminating = *pod.Ptr();
    terminating.metadata.deletion_timestamp.emplace();
    return std::make_shared<const api::Pod>(std::move(terminating));
  }
  test::PodBuilder pod;
};

class MirrorTest : public testing::Test {
 protected:
  template <typename Builder>
  void Put(const Builder& builder) {
    InformerEvent event;
    event.new_object = builder.Ptr();
    event.kind = simulator::KindOf(event.new_object);
    mirror_.Take(event);
    mirror_.simulation().RunDue();
  }
  void Remove(const test::PodBuilder& pod) {
    InformerEvent event;
    event.type = EventType::kDeleted;
    event.old_object = pod.Ptr();
    mirror_.Take(event);
    mirror_.simulation().RunDue();
  }
  // node_name "": it is decided no more.
  void Decide(const test::PodBuilder& pod, const std::string& node_name) {
    mirror_.Take({pod.Ptr(), node_name});
    mirror_.simulation().RunDue();
  }
  void Sync() {
    InformerEvent synced;
    synced.type = EventType::kSynced;
    mirror_.Take(synced);
  }
  static test::PodBuilder Large(std::string_view name) {
    return test::MakePod().Name(name).Req({{"cpu", "3"}});
  }
  // Whether n1, which has 4 cores, has room for another large pod.
  bool HasRoom() {
    const auto judgement = mirror_.simulation().scheduler().Judge(Large("asked").Ptr());
    return judgement->kind() == Judgement::Kind::kScheduled;
  }

  Mirror mirror_{NewSimulation()};
};

TEST_F(MirrorTest, WhatComesAndGoesIsSeen) {
  Put(test::MakeNode("n1").Allocatable({{"cpu", "4"}, {"pods", "10"}}));
  EXPECT_TRUE(HasRoom());
  Put(Large("a").OnNode("n1"));
  EXPECT_FALSE(HasRoom());
  Remove(Large("a").OnNode("n1"));
  EXPECT_TRUE(HasRoom());
  EXPECT_EQ(mirror_.num_synced(), 0u);
  Sync();
  Sync();
  EXPECT_EQ(mirror_.num_synced(), 1u);
}

TEST_F(MirrorTest, NothingIsEverDecided) {
  Put(test::MakeNode("n1").Allocatable({{"cpu", "4"}, {"pods", "10"}}));
  Put(Large("a"));
  mirror_.simulation().Advance(std::chrono::minutes(1));
  EXPECT_EQ(mirror_.simulation().FindPod("default/a")->spec.node_name, "");
}

TEST_F(MirrorTest, ADecidedPodTakesRoomUntilItIsDecidedNoMore) {
  Put(test::MakeNode("n1").Allocatable({{"cpu", "4"}, {"pods", "10"}}));
  Put(Large("a"));
  Decide(Large("a"), "n1");
  EXPECT_FALSE(HasRoom());
  EXPECT_EQ(mirror_.num_decided(), 1u);
  Decide(Large("a"), "");
  EXPECT_TRUE(HasRoom());
  EXPECT_EQ(mirror_.simulation().FindPod("default/a")->spec.node_name, "");
  Decide(Large("a"), "");
  EXPECT_EQ(mirror_.num_decided(), 0u);
}

TEST_F(MirrorTest, ADecidedPodStaysWhereItIsWhenItsStatusChangesAndWhenItsBindIsSeen) {
  Put(test::MakeNode("n1").Allocatable({{"cpu", "4"}, {"pods", "10"}}));
  Put(Large("a"));
  Decide(Large("a"), "n1");
  Put(Large("a").Label("new", "yes"));
  EXPECT_FALSE(HasRoom()) << "its label is no bind";
  Put(Large("a").OnNode("n1"));
  EXPECT_EQ(mirror_.num_decided(), 0u);
  // The answer to the bind was lost, and the scheduler gave up.
  Decide(Large("a"), "");
  EXPECT_FALSE(HasRoom());
}

TEST_F(MirrorTest, ADecidedPodThatAnotherBindsElsewhereIsThere) {
  Put(test::MakeNode("n1").Allocatable({{"cpu", "4"}, {"pods", "10"}}));
  Put(test::MakeNode("n2").Allocatable({{"cpu", "1"}, {"pods", "10"}}));
  Put(Large("a"));
  Decide(Large("a"), "n1");
  Put(Large("a").OnNode("n2"));
  EXPECT_TRUE(HasRoom());
}

TEST_F(MirrorTest, ADecidedPodThatIsBeingDeletedIsDecidedNoMore) {
  Put(test::MakeNode("n1").Allocatable({{"cpu", "4"}, {"pods", "10"}}));
  Put(Large("a"));
  Decide(Large("a"), "n1");
  Put(Terminating{Large("a")});
  EXPECT_TRUE(HasRoom());
  Decide(Large("a"), "n1");
  EXPECT_TRUE(HasRoom());
}

TEST_F(MirrorTest, WhatIsDecidedOfAPodThatIsGoneOrAnotherIsLeftOut) {
  Sync();
  Put(test::MakeNode("n1").Allocatable({{"cpu", "4"}, {"pods", "10"}}));
  Decide(Large("gone"), "n1");
  Put(Large("gone"));
  EXPECT_TRUE(HasRoom());
  Put(Large("a").Uid("first"));
  Decide(Large("a").Uid("first"), "n1");
  EXPECT_FALSE(HasRoom());
  Put(Large("a").Uid("second"));
  EXPECT_TRUE(HasRoom());
  Decide(Large("a").Uid("first"), "n1");
  EXPECT_TRUE(HasRoom());
  Decide(Large("a").Uid("second"), "n1");
  Decide(Large("a").Uid("first"), "");
  EXPECT_FALSE(HasRoom());
}

TEST_F(MirrorTest, ADecisionMayComeBeforeTheFirstListsAndNoLonger) {
  Put(test::MakeNode("n1").Allocatable({{"cpu", "4"}, {"pods", "10"}}));
  Decide(Large("a").Uid("first"), "n1");
  Decide(Large("a").Uid("second"), "n1");
  Decide(Large("a").Uid("first"), "");
  Put(Large("a").Uid("second"));
  EXPECT_FALSE(HasRoom());
  Decide(Large("late"), "n1");
  Sync();
  Put(Large("a").Uid("second").OnNode("n1"));
  Remove(Large("a").Uid("second").OnNode("n1"));
  Put(Large("late"));
  EXPECT_TRUE(HasRoom());
}

TEST_F(MirrorTest, ADecidedPodIsJudgedAsIfItWereNot) {
  Put(test::MakeNode("n1").Allocatable({{"cpu", "4"}, {"pods", "10"}}));
  Put(Large("a"));
  Decide(Large("a"), "n1");
  bool had_room = false;
  mirror_.WithoutDecision("default/a", [&] {
    had_room = HasRoom() && mirror_.simulation().scheduler().FindPendingPod("default/a") != nullptr;
  });
  EXPECT_TRUE(had_room);
  EXPECT_FALSE(HasRoom());
  mirror_.WithoutDecision("default/other", [&] { had_room = HasRoom(); });
  EXPECT_FALSE(had_room);
}

TEST_F(MirrorTest, ACopyHasTheObjectsAndWhatCouldNotBeRead) {
  Put(test::MakeNode("n1").Allocatable({{"cpu", "4"}, {"pods", "10"}}));
  Put(Large("a"));
  Decide(Large("a"), "n1");
  InformerEvent damaged;
  damaged.kind = Kind::kPod;
  damaged.type = EventType::kUndecodable;
  informers::Undecodable& odd = damaged.undecodable.emplace();
  odd.key = "default/odd";
  odd.node_name = "n1";
  mirror_.Take(damaged);
  const auto copy = NewSimulation();
  mirror_.CopyTo(*copy);
  copy->RunDue();
  EXPECT_EQ(copy->FindPod("default/a")->spec.node_name, "n1");
  const auto small = [&] { return copy->scheduler().Judge(test::MakePod().Name("s").Ptr()); };
  EXPECT_EQ(small()->kind(), Judgement::Kind::kUnschedulable) << "n1 takes no pods";
}

}  // namespace
}  // namespace berth::questions
