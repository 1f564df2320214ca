// SPDX-License-Identifier: Apache-2.0
// What ends what is kept of why nodes reject a class's pods, and of the victims found there.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "src/cache/cache.h"
#include "src/config/types.h"
#include "src/engine/dry_run.h"
#include "src/engine/engine.h"
#include "src/engine/kept_evaluations.h"
#include "src/framework/profile.h"
#include "src/framework/runtime.h"
#include "tests/support/builders.h"
#include "tests/support/default_profile.h"
#include "tests/support/fake_handle.h"

namespace berth::engine {
namespace {

using std::chrono::seconds;

// Three nodes, each full of two unimportant pods, and the default profile.
class KeptRejectionsTest : public testing::Test {
 protected:
  KeptRejectionsTest() {
    handle_.current_snapshot = &cache_;
    profile_ = test::DefaultProfile(handle_);
    cache_.SetSignatureParts(profile_->signature_parts());
    handle_.make_dry_run = [this](CycleState&, const PodInfo& pod) {
      return std::make_unique<PreemptionDryRun>(*profile_, *running_cycle_, pod, Cluster());
    };
    for (const std::string node : {"a", "b", "c"}) {
      SetNode(node, "4");
      Place(Low(node + "1", node).StartedAt(now() - seconds(20)));
      Place(Low(node + "2", node).StartedAt(now() - seconds(10)));
    }
  }

  Time now() const { return handle_.virtual_clock.Now(); }
  ClusterState Cluster() {
    return {cache_, nominations_, handle_.plain_listers.generation(),
            handle_.plain_listers.disruption_budgets_generation() +
                handle_.plain_listers.pod_groups_generation()};
  }
  PodInfoPtr Info(const test::PodBuilder& pod) { return cache_.MakePodInfo(pod.Ptr()); }
  void SetNode(const std::string& name, std::string_view cpu) {
    cache_.SetNode(test::MakeNode(name)
                       .Label("kubernetes.io/hostname", name)
                       .Allocatable({{"cpu", cpu}, {"memory", "8Gi"}, {"pods", "10"}})
                       .Ptr());
  }
  static test::PodBuilder Low(const std::string& name, const std::string& node) {
    return test::MakePod()
        .Name(name)
        .Uid(name)
        .Label("app", "low")
        .OnNode(node)
        .Req({{"cpu", "2"}});
  }
  void Place(const test::PodBuilder& pod) { ASSERT_TRUE(cache_.AddPod(Info(pod)).has_value()); }
  static test::PodBuilder High(const std::string& name) {
    return test::MakePod().Name(name).Uid(name).Priority(10).Req({{"cpu", "2"}});
  }
  void Nominate(const test::PodBuilder& pod, const std::string& node) {
    nominations_.AddNominatedPod(Info(pod), {NominatingMode::kOverride, node});
  }

  // What one engine tells such a pod, and whom it would evict.
  std::string Ask(Engine& engine, const test::PodBuilder& builder) {
    const PodInfoPtr pod = Info(builder);
    framework::Cycle cycle;
    const Decision decision = engine.Schedule(*profile_, cycle, *pod, Cluster(), 0);
    if (decision.kind == Decision::Kind::kScheduled) {
      return "goes to " + std::string(cache_.node_name(decision.node));
    }
    EXPECT_EQ(decision.refusal, nullptr);
    from_rejections_ = decision.from_known;
    running_cycle_ = &cycle;
    handle_.pending_pods = {pod->pod};
    const auto preview = framework::RunPreemptionPreview(*profile_, cycle, *pod, cache_,
                                                         engine.diagnosis().statuses);
    std::string text = FitErrorMessage(engine.diagnosis());
    for (const PreemptionCandidate& candidate : preview->candidates) {
      text += ' ' + std::string(cache_.node_name(candidate.row)) + ':';
      for (const PodInfo* victim : candidate.victims) text += ' ' + victim->pod->metadata.name;
      text += candidate.num_pdb_violations > 0 ? " broken" : "";
    }
    if (const auto* of_cycle = cycle.state.Find<VictimsOfCycle>()) {
      recalled_ = static_cast<const KeptVictims*>(of_cycle->known)->num_recalled();
    }
    return text;
  }

  // The same of the engine that keeps what it is told, which must say what the other one says.
  std::string Hear(const test::PodBuilder& pod) {
    const uint64_t recalled = std::exchange(recalled_, 0);
    std::string text = Ask(keeping_, pod);
    newly_recalled_ = recalled_ - (from_rejections_ ? recalled : 0);
    const bool from_rejections = from_rejections_;
    const uint64_t of_keeping = recalled_;
    EXPECT_EQ(Ask(plain_, pod), text);
    from_rejections_ = from_rejections;
    recalled_ = of_keeping;
    return text;
  }
  // The same, where what is kept must do, and victims on so many nodes are not sought again.
  std::string HearAgain(const test::PodBuilder& pod, uint64_t recalled) {
    std::string text = Hear(pod);
    EXPECT_TRUE(from_rejections_);
    EXPECT_EQ(newly_recalled_, recalled);
    return text;
  }

  test::FakeHandle handle_;
  cache::Cache cache_;
  cache::Nominator nominations_;
  std::unique_ptr<framework::Profile> profile_;
  const framework::Cycle* running_cycle_ = nullptr;
  Engine plain_{Random(1)};
  Engine keeping_{Random(1), cache_, 1u << 20};
  uint64_t recalled_ = 0;
  uint64_t newly_recalled_ = 0;
  bool from_rejections_ = false;
};

constexpr std::string_view kAll = "0/3 nodes are available: 3 Insufficient cpu. a: a2 b: b2 c: c2";

TEST_F(KeptRejectionsTest, NothingHasChanged) {
  EXPECT_EQ(Hear(High("first")), kAll);
  EXPECT_FALSE(from_rejections_);
  EXPECT_EQ(HearAgain(High("second"), 3), kAll);
}

TEST_F(KeptRejectionsTest, PodsOfANodeComeAndGo) {
  Hear(High("first"));
  Place(test::MakePod().Name("b0").Uid("b0").OnNode("b"));
  ASSERT_TRUE(cache_.RemovePod("b2"));
  Place(Low("b3", "b").StartedAt(now() - seconds(30)));
  EXPECT_EQ(HearAgain(High("second"), 2),
            "0/3 nodes are available: 3 Insufficient cpu. a: a2 b: b1 c: c2");
}

TEST_F(KeptRejectionsTest, ANodeTakesThePodAndThenNoMore) {
  Hear(High("first"));
  ASSERT_TRUE(cache_.RemovePod("b2"));
  EXPECT_EQ(Hear(High("second")), "goes to b");
  Place(Low("b2", "b").StartedAt(now() - seconds(10)));
  EXPECT_EQ(Hear(High("third")), kAll);
  EXPECT_EQ(HearAgain(High("fourth"), 3), kAll);
}

TEST_F(KeptRejectionsTest, NodesComeChangeAndGo) {
  Hear(High("first"));
  SetNode("b", "1");
  EXPECT_EQ(HearAgain(High("second"), 2),
            "0/3 nodes are available: 3 Insufficient cpu. a: a2 c: c2");
  cache_.RemoveNode("b");
  SetNode("d", "1");
  EXPECT_EQ(HearAgain(High("third"), 2),
            "0/3 nodes are available: 3 Insufficient cpu. a: a2 c: c2");
  cache_.CloseNode("a", "default/unreadable");
  EXPECT_EQ(HearAgain(High("fourth"), 1),
            "0/3 nodes are available: 1 node(s) had a pod that could not be read, 2 Insufficient "
            "cpu. c: c2");
}

TEST_F(KeptRejectionsTest, APodIsNominatedAndNoMore) {
  Hear(High("first"));
  Nominate(High("promised").Priority(11).Req({{"cpu", "3"}}), "b");
  EXPECT_EQ(HearAgain(High("second"), 2),
            "0/3 nodes are available: 3 Insufficient cpu. a: a2 c: c2");
  nominations_.SetAside({"promised"});
  EXPECT_EQ(Hear(High("third")), kAll);
  nominations_.SetAside({});
  EXPECT_EQ(Hear(High("fourth")), "0/3 nodes are available: 3 Insufficient cpu. a: a2 c: c2");
  nominations_.DeleteNominatedPodIfExists(*High("promised").Ptr());
  EXPECT_EQ(HearAgain(High("fifth"), 2), kAll);
}

TEST_F(KeptRejectionsTest, WhatANominatedPodHearsOfItsNodeIsItsOwn) {
  Hear(High("first"));
  Nominate(High("promised").Req({{"cpu", "3"}}), "b");
  const std::string others = "0/3 nodes are available: 3 Insufficient cpu. a: a2 c: c2";
  EXPECT_EQ(HearAgain(High("second"), 2), others);
  // Its own nomination does not count for it.
  EXPECT_EQ(HearAgain(High("promised"), 2), kAll);
  // Nothing has changed for the others.
  EXPECT_EQ(HearAgain(High("third"), 3), others);
}

TEST_F(KeptRejectionsTest, APodTurnsOutToHaveStartedAtAnotherTime) {
  Hear(High("first"));
  Place(Low("b1", "b").StartedAt(now() - seconds(5)));
  EXPECT_EQ(HearAgain(High("second"), 2),
            "0/3 nodes are available: 3 Insufficient cpu. a: a2 b: b1 c: c2");
}

TEST_F(KeptRejectionsTest, APodThatHasNotStartedIsKnownOnceAllOthersHave) {
  Place(Low("b1", "b").StartedAt(now() + seconds(5)));
  ASSERT_TRUE(cache_.RemovePod("b2"));
  Place(Low("b3", "b"));
  const std::string later = "0/3 nodes are available: 3 Insufficient cpu. a: a2 b: b1 c: c2";
  EXPECT_EQ(Hear(High("first")), later);
  EXPECT_EQ(HearAgain(High("second"), 2), later);
  handle_.virtual_clock.Advance(seconds(10));
  const std::string now = "0/3 nodes are available: 3 Insufficient cpu. a: a2 b: b3 c: c2";
  EXPECT_EQ(HearAgain(High("third"), 2), now);
  EXPECT_EQ(HearAgain(High("fourth"), 3), now);
  handle_.virtual_clock.Correct(-seconds(10));
  EXPECT_EQ(HearAgain(High("fifth"), 2), later);
}

TEST_F(KeptRejectionsTest, ABudgetForbidsWhatItAllowed) {
  Hear(High("first"));
  api::PodDisruptionBudget budget;
  budget.metadata.name = "low";
  budget.metadata.namespace_ = "default";
  budget.spec.selector = api::LabelSelector{{{"app", "low"}}, {}};
  handle_.plain_listers.Set(budget);
  EXPECT_EQ(HearAgain(High("second"), 0),
            "0/3 nodes are available: 3 Insufficient cpu. a: a2 broken b: b2 broken c: c2 broken");
  budget.status.disruptions_allowed = 6;
  handle_.plain_listers.Set(budget);
  EXPECT_EQ(HearAgain(High("third"), 0), kAll);
}

// It says what its pods' priority is, and whether they go one by one.
TEST_F(KeptRejectionsTest, APodGroupEndsWhatIsKnownOfVictimsButItsStatusDoesNot) {
  Hear(High("first"));
  EXPECT_EQ(HearAgain(High("second"), 3), kAll);
  api::PodGroup group;
  group.metadata.name = "train";
  group.metadata.namespace_ = "default";
  handle_.plain_listers.Set(group);
  EXPECT_EQ(HearAgain(High("third"), 0), kAll);
  group.status.conditions.emplace_back();
  handle_.plain_listers.Set(group);
  EXPECT_EQ(HearAgain(High("fourth"), 3), kAll);
}

TEST_F(KeptRejectionsTest, WhereAPodKeepsOthersOffItsNeighboursNothingIsKept) {
  Hear(High("first").Label("app", "high"));
  Place(test::MakePod().Name("alone").Uid("alone").OnNode("b").PodAntiAffinity(
      "kubernetes.io/hostname", {{"app", "high"}}));
  Hear(High("second").Label("app", "high"));
  EXPECT_FALSE(from_rejections_);
  Hear(High("third").Label("app", "high"));
  EXPECT_FALSE(from_rejections_);
}

TEST_F(KeptRejectionsTest, WhatIsKeptIsCountedAndGoesInTime) {
  Hear(High("first"));
  const size_t before = keeping_.kept()->bytes();
  EXPECT_GT(before, sizeof(KeptRejections));
  for (uint32_t i = 0; i < KeptEvaluations::kMaxRejectionsAge; ++i) keeping_.AgeKept();
  EXPECT_LT(keeping_.kept()->bytes(), before);
  Hear(High("second"));
  EXPECT_FALSE(from_rejections_);
}

}  // namespace
}  // namespace berth::engine
