// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/simulation.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "berth/random.h"
#include "src/queue/scheduling_queue.h"
#include "tests/support/random_cluster.h"
#include "tests/support/volume_builders.h"
#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::simulator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using namespace std::chrono_literals;

using SimulationTest = test::SimulatorFixture;

test::NodeBuilder Node(std::string_view name, std::string_view cpu = "2") {
  return test::MakeNode(name).Allocatable({{"cpu", cpu}, {"memory", "8Gi"}});
}
test::PodBuilder Pod(std::string_view name, std::string_view cpu = "1") {
  return test::MakePod().Name(name).SchedulerName("default-scheduler").Req({{"cpu", cpu}});
}

TEST_F(SimulationTest, ControllersOfManifestsLeaveAloneWhatIsStored) {
  simulation_->StartControllers(ControllersOf::kManifests);
  const auto show = [this](const std::string& name, const std::string& uid,
                           std::string_view phase = "") {
    api::PersistentVolume volume = test::VolumeBuilder(name, "local").Phase(phase).Obj();
    volume.metadata.uid = uid;
    simulation_->Apply(std::make_shared<const api::PersistentVolume>(volume));
  };
  const auto phase = [this](const std::string& name) {
    return FindIn<api::PersistentVolume>(simulation_->api(), informers::Kind::kPersistentVolume,
                                         name)
        ->status.phase;
  };
  show("manifest", "PersistentVolume/manifest");
  show("seen", "PersistentVolume/seen", "Failed");
  show("stored", "5c0d");
  simulation_->RunDue();
  EXPECT_EQ(phase("manifest"), api::kVolumeAvailable);
  EXPECT_EQ(phase("seen"), "Failed");
  EXPECT_EQ(phase("stored"), "");
  simulation_->EndControllers();
  show("later", "PersistentVolume/later");
  simulation_->RunDue();
  EXPECT_EQ(phase("later"), "");
}

TEST_F(SimulationTest, NothingIsDecidedBeforeItStarts) {
  Apply(Node("n1"));
  Apply(Pod("a"));
  simulation_->RunDue();
  EXPECT_FALSE(simulation_->quiet());
  EXPECT_THAT(decisions_, IsEmpty());
  simulation_->Start();
  simulation_->RunDue();
  EXPECT_THAT(decisions_, ElementsAre("default/a -> n1"));
  EXPECT_TRUE(simulation_->quiet());
}

TEST_F(SimulationTest, ABoundPodHasItsNodeAConditionAndAnEvent) {
  Apply(Node("n1"));
  Apply(Pod("a"));
  EXPECT_TRUE(simulation_->RunUntilQuiet(1min));
  EXPECT_EQ(NodeOf("default/a"), "n1");
  const auto pod = simulation_->FindPod("default/a");
  ASSERT_THAT(pod->status.conditions, SizeIs(1));
  EXPECT_EQ(pod->status.conditions[0].status, "True");
  ASSERT_THAT(simulation_->api().events(), SizeIs(1));
  EXPECT_EQ(simulation_->api().events()[0].reason, "Scheduled");
  EXPECT_EQ(simulation_->api().events()[0].note, "Successfully assigned default/a to n1");
  EXPECT_EQ(simulation_->scheduler().cache().num_assumed(), 0u) << "the watch confirms the pod";
}

TEST_F(SimulationTest, AParkedPodIsTriedAgainWhenRoomComes) {
  Apply(Node("n1", "1"));
  Apply(Pod("a"));
  Apply(Pod("b"));
  EXPECT_TRUE(simulation_->RunUntilQuiet(1min));
  EXPECT_THAT(MessageOf("default/b"), StartsWith("0/1 nodes are available: 1 Insufficient cpu."));
  EXPECT_TRUE(simulation_->Delete(informers::Kind::kPod, "default/a"));
  EXPECT_TRUE(simulation_->RunUntilQuiet(1min));
  EXPECT_EQ(NodeOf("default/b"), "n1");
  EXPECT_THAT(decisions_, ElementsAre("default/a -> n1", "default/b -> -", "default/b -> n1"));
}

TEST_F(SimulationTest, GatedPodsAndOthersPodsAreLeftAlone) {
  Apply(Node("n1"));
  Apply(Pod("gated").Gate("g"));
  Apply(Pod("others").SchedulerName("another"));
  EXPECT_TRUE(simulation_->RunUntilQuiet(1min));
  EXPECT_THAT(decisions_, IsEmpty());
  EXPECT_EQ(simulation_->scheduler().queue().counts().gated, 1u);
}

TEST_F(SimulationTest, AnUpdateNeedsNoNewResourceVersion) {
  Apply(Node("n1"));
  Apply(Pod("a").Gate("g"));
  simulation_->RunUntilQuiet(1min);
  Apply(Pod("a"));
  EXPECT_TRUE(simulation_->RunUntilQuiet(1min));
  EXPECT_EQ(NodeOf("default/a"), "n1");
}

TEST_F(SimulationTest, APodThatFailsTheSameWayAgainAndAgainEndsTheRun) {
  Apply(Pod("a"));
  const Time began = simulation_->now();
  EXPECT_FALSE(simulation_->RunUntilQuiet(24h, 1min));
  EXPECT_LE(simulation_->now() - began, 2min);
  EXPECT_GT(decisions_.size(), 3u);
  EXPECT_EQ(MessageOf("default/a"), "no nodes available to schedule pods");
}

TEST_F(SimulationTest, TheLimitEndsTheRun) {
  Apply(Pod("a"));
  const Time began = simulation_->now();
  EXPECT_FALSE(simulation_->RunUntilQuiet(5s));
  EXPECT_EQ(simulation_->now() - began, 5s);
}

TEST_F(SimulationTest, AdvanceEndsBackoffsOnTheWay) {
  Apply(Pod("a"));
  simulation_->Start();
  simulation_->RunDue();
  const size_t before = decisions_.size();
  Apply(Node("n1"));
  simulation_->Advance(15s);
  EXPECT_EQ(NodeOf("default/a"), "n1");
  EXPECT_GT(decisions_.size(), before);
}

TEST_F(SimulationTest, ABindThatIsRefusedIsTriedAgain) {
  int refusals = 2;
  simulation_->api().set_fault(
      [&](const client::Request& request) -> std::optional<client::ResponseResult> {
        if (!request.path.ends_with("/binding") || refusals == 0) return std::nullopt;
        --refusals;
        client::ApiError error;
        error.code = 403;
        error.message = "not yet";
        return tl::unexpected(error);
      });
  Apply(Node("n1"));
  Apply(Pod("a"));
  EXPECT_TRUE(simulation_->RunUntilQuiet(5min));
  EXPECT_EQ(NodeOf("default/a"), "n1");
  EXPECT_EQ(decisions_.size(), 3u);
}

TEST_F(SimulationTest, ABindWhoseAnswerIsLostIsReadBack) {
  bool lost = false;
  simulation_->api().set_fault(
      [&](const client::Request& request) -> std::optional<client::ResponseResult> {
        if (!request.path.ends_with("/binding") || lost) return std::nullopt;
        lost = true;
        return tl::unexpected(client::ApiError{});
      });
  Apply(Node("n1"));
  Apply(Pod("a"));
  EXPECT_TRUE(simulation_->RunUntilQuiet(5min));
  EXPECT_TRUE(lost);
  EXPECT_EQ(NodeOf("default/a"), "n1");
  EXPECT_EQ(decisions_.size(), 1u);
}

TEST_F(SimulationTest, MorePodsThanMayAwaitTheirBindAllGetTheirNode) {
  for (int i = 0; i < 10; ++i) Apply(Node("n" + std::to_string(i), "40"));
  for (int i = 0; i < 350; ++i) Apply(Pod("p" + std::to_string(i)));
  EXPECT_TRUE(simulation_->RunUntilQuiet(1min));
  EXPECT_EQ(decisions_.size(), 350u);
  EXPECT_EQ(simulation_->scheduler().cache().num_pods(), 350u);
}

TEST_F(SimulationTest, ProfilesThatCannotBeBuiltAreAnError) {
  SimulationOptions options = test::DefaultSimulationOptions();
  options.scheduler.configuration.profiles[0].plugins.multi_point.enabled.push_back({"Nope", 0});
  const auto made = Simulation::Make(std::move(options), plugins::InTreeRegistry());
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, testing::HasSubstr("Nope"));
}

// Random clusters: a verdict and what is then decided are the same thing.
class RandomSimulationTest : public test::SimulatorFixture {
 protected:
  void Fill(uint64_t seed) {
    Random random(seed);
    for (const api::Node& node : test::RandomNodes(random, kNodes)) {
      simulation_->Apply(std::make_shared<const api::Node>(node));
    }
    for (const api::Pod& pod : test::RandomPlacedPods(random, kNodes * 2, kNodes)) {
      simulation_->Apply(std::make_shared<const api::Pod>(pod));
    }
    pending_.clear();
    for (size_t i = 0; i < kPods; ++i) {
      api::Pod pod = test::RandomPod(random, 10'000 + i, kNodes);
      pod.spec.node_name.clear();
      pod.spec.scheduler_name = "default-scheduler";
      pending_.push_back(std::make_shared<const api::Pod>(pod));
    }
  }

  static constexpr size_t kNodes = 12;
  static constexpr size_t kPods = 6;
  std::vector<std::shared_ptr<const api::Pod>> pending_;
};

TEST_F(RandomSimulationTest, APodAloneIsBoundToABestNodeOfItsVerdict) {
  using Kind = engine::Judgement::Kind;
  size_t scheduled = 0;
  size_t preempted = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    for (size_t i = 0; i < kPods; ++i) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", pod " + std::to_string(i));
      Restart();
      Fill(seed);
      const auto& pod = pending_[i];
      const std::string key = pod->metadata.Key();
      simulation_->Apply(pod);
      simulation_->RunDue();
      Kind kind{};
      std::string message;
      std::vector<std::string> best;
      std::vector<std::set<std::string>> victims;  // of each best candidate
      bool goes_by_itself = false;                 // a victim that is terminating is not evicted
      {
        const auto judgement = simulation_->scheduler().Judge(pod);
        judgement->Explain();
        kind = judgement->kind();
        message = judgement->message();
        for (const NodeRow row : judgement->Best()) {
          best.push_back(simulation_->scheduler().cache().node(row).metadata.name);
        }
        judgement->PreviewPreemption();
        if (const auto& preview = judgement->preemption()) {
          for (const size_t choice : preview->best) {
            std::set<std::string>& names = victims.emplace_back();
            for (const PodInfo* victim : preview->candidates[choice].victims) {
              names.insert(victim->pod->metadata.Key());
              goes_by_itself |= victim->pod->metadata.deletion_timestamp.has_value();
            }
          }
        }
      }
      simulation_->RunUntilQuiet(1min);
      if (kind == Kind::kScheduled) {
        ++scheduled;
        EXPECT_THAT(best, testing::Contains(NodeOf(key)));
      } else if (kind == Kind::kUnschedulable) {
        // It may have made room for itself, and went there.
        const auto& evicted = simulation_->api().evicted();
        if (!evicted.empty()) {
          ++preempted;
          if (goes_by_itself) continue;
          EXPECT_THAT(victims, testing::Contains(std::set(evicted.begin(), evicted.end())));
          continue;
        }
        EXPECT_EQ(NodeOf(key), "");
        EXPECT_THAT(MessageOf(key), testing::StartsWith(message));
      } else if (kind == Kind::kGated) {
        EXPECT_THAT(decisions_, IsEmpty());
      }
    }
  }
  EXPECT_GT(scheduled, 30u);
  EXPECT_GT(preempted, 10u);
}

TEST_F(RandomSimulationTest, TheSameSeedGivesTheSameDecisionsWhoeverAskedBefore) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<std::string> first;
    for (int round = 0; round < 3; ++round) {
      Restart();
      Fill(seed);
      for (const auto& pod : pending_) simulation_->Apply(pod);
      simulation_->RunDue();
      // Judging leaves no trace in what is decided later.
      for (const auto& pod : pending_) {
        if (round != 2) continue;
        const auto judgement = simulation_->scheduler().Judge(pod);
        judgement->Explain();
        judgement->PreviewPreemption();
      }
      simulation_->RunUntilQuiet(1min);
      if (round == 0) first = decisions_;
    }
    EXPECT_EQ(decisions_, first);
  }
}

}  // namespace
}  // namespace berth::simulator
