// SPDX-License-Identifier: Apache-2.0
#include "src/mirror/mirror.h"

#include <gmock/gmock.h>

#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::mirror {
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
  void SetDecided(const std::vector<DecidedPod>& pods) {
    mirror_.SetDecided(pods);
    mirror_.simulation().RunDue();
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
  InformerEvent synced;
  synced.type = EventType::kSynced;
  mirror_.Take(synced);
  mirror_.Take(synced);
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
  SetDecided({{Large("a").Ptr(), "n1"}});
  EXPECT_FALSE(HasRoom());
  EXPECT_EQ(mirror_.decided().size(), 1u);
  SetDecided(mirror_.decided());
  EXPECT_FALSE(HasRoom());
  SetDecided({});
  EXPECT_TRUE(HasRoom());
  EXPECT_EQ(mirror_.simulation().FindPod("default/a")->spec.node_name, "");
}

TEST_F(MirrorTest, ADecidedPodStaysWhereItIsWhenItsStatusChangesAndWhenItsBindIsSeen) {
  Put(test::MakeNode("n1").Allocatable({{"cpu", "4"}, {"pods", "10"}}));
  Put(Large("a"));
  SetDecided({{Large("a").Ptr(), "n1"}});
  Put(Large("a").Label("new", "yes"));
  EXPECT_FALSE(HasRoom()) << "its label is no bind";
  Put(Large("a").OnNode("n1"));
  EXPECT_TRUE(mirror_.decided().empty());
  // What the scheduler said before it saw the bind counts no more.
  SetDecided({{Large("a").Ptr(), "n1"}});
  SetDecided({});
  EXPECT_FALSE(HasRoom());
}

TEST_F(MirrorTest, WhatIsDecidedOfAPodThatIsGoneOrAnotherIsLeftOut) {
  Put(test::MakeNode("n1").Allocatable({{"cpu", "4"}, {"pods", "10"}}));
  SetDecided({{Large("gone").Ptr(), "n1"}});
  EXPECT_TRUE(HasRoom());
  Put(Large("a").Uid("first"));
  SetDecided({{Large("a").Uid("first").Ptr(), "n1"}});
  EXPECT_FALSE(HasRoom());
  Put(Large("a").Uid("second"));
  EXPECT_TRUE(HasRoom());
  SetDecided({{Large("a").Uid("first").Ptr(), "n1"}});
  EXPECT_TRUE(HasRoom());
}

TEST_F(MirrorTest, ACopyHasTheObjectsAndWhatCouldNotBeRead) {
  Put(test::MakeNode("n1").Allocatable({{"cpu", "4"}, {"pods", "10"}}));
  Put(Large("a"));
  SetDecided({{Large("a").Ptr(), "n1"}});
  InformerEvent damaged;
  damaged.kind = Kind::kPod;
  damaged.type = EventType::kUndecodable;
  damaged.undecodable.key = "default/odd";
  damaged.undecodable.node_name = "n1";
  mirror_.Take(damaged);
  const auto copy = NewSimulation();
  mirror_.CopyTo(*copy);
  copy->RunDue();
  EXPECT_EQ(copy->FindPod("default/a")->spec.node_name, "n1");
  const auto small = [&] { return copy->scheduler().Judge(test::MakePod().Name("s").Ptr()); };
  EXPECT_EQ(small()->kind(), Judgement::Kind::kUnschedulable) << "n1 takes no pods";
}

}  // namespace
}  // namespace berth::mirror
