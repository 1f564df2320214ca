// SPDX-License-Identifier: Apache-2.0
// An engine that keeps what plugins answered, and that no node took a class, decides as one that
// evaluates every pod by itself, whatever happens to the cluster in between, on whichever part of
// the nodes a pod may go to, and of whichever part only so many are scored.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/engine/dry_run.h"
#include "src/engine/engine.h"
#include "src/engine/kept_evaluations.h"
#include "src/framework/runtime.h"
#include "tests/unit/engine/restless_cluster.h"

namespace berth::engine {
namespace {

constexpr uint64_t kStepsEach = 500;

// BERTH_KEPT_EVENTS asks for a long run.
uint64_t NumEvents() {
  const char* events = std::getenv("BERTH_KEPT_EVENTS");
  return events == nullptr ? 40'000 : std::strtoull(events, nullptr, 10);
}

struct Tally {
  uint64_t events = 0;
  uint64_t decisions = 0;
  uint64_t scheduled = 0;
  uint64_t kept = 0;
  uint64_t refused_alike = 0;
  uint64_t nominated = 0;  // decisions for pods that were nominated
  uint64_t preempted = 0;
  uint64_t kept_with_own_nodes = 0;    // decided from what is kept, and by a filter about the pod
  uint64_t kept_in_placement = 0;      // decided from what is kept, on a part of the nodes
  uint64_t kept_beside_nominated = 0;  // decided from what is kept, while nominations counted
  uint64_t kept_samples = 0;           // decided from what is kept, of which a part was scored
  uint64_t kept_with_shipped = 0;      // decided from what is kept, also of loadable plugins
  uint64_t kept_measured = 0;          // the same, of plugins that score by what nodes use
  uint64_t kept_with_numa = 0;         // the same, beside one that looks at NUMA nodes
  uint64_t from_rejections = 0;  // rejected for reasons that were kept, and brought up to date
  uint64_t recalled = 0;         // nodes where victims, or that there are none, were known
};

// What one engine came to for a pod.
struct Told {
  Decision decision;
  Refusal refusal;                    // where no node took it
  std::optional<NodeRow> victims_on;  // where evictions would make room
  std::vector<const PodInfo*> victims;
  std::string candidates;  // all of them
};

// Both engines, and the pods that stand somewhere between pending and bound.
class Walk {
 public:
  explicit Walk(uint64_t seed)
      : cluster_(seed),
        plain_(Random(seed)),
        max_kept_bytes_(random().Below(4) == 0 ? 40'000 : 64u << 20),
        kept_(Random(seed), cache(), max_kept_bytes_),
        crowded_(random().Below(3) == 0) {
    cluster_.handle.make_dry_run = [this](CycleState&, const PodInfo& pod) {
      return std::make_unique<PreemptionDryRun>(*cluster_.profile, *running_cycle_, pod, Cluster());
    };
  }

  void Run(Tally& tally) {
    for (uint64_t step = 0; step < kStepsEach && !testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      ++tally.events;
      cluster_.late = step > kStepsEach / 2;
      Step(tally);
    }
    tally.kept += kept_.kept()->num_decided();
    if (cluster_.has_shipped) tally.kept_with_shipped += kept_.kept()->num_decided();
    if (cluster_.measures) tally.kept_measured += kept_.kept()->num_decided();
    if (cluster_.has_numa) tally.kept_with_numa += kept_.kept()->num_decided();
    tally.kept_with_own_nodes += kept_with_own_nodes_;
    tally.kept_in_placement += kept_in_placement_;
    tally.kept_beside_nominated += kept_beside_nominated_;
    tally.kept_samples += kept_samples_;
    tally.recalled += recalled_;
  }

 private:
  Random& random() { return cluster_.random; }
  cache::Cache& cache() { return cluster_.cache; }
  ClusterState Cluster() {
    const test::PlainListers& listers = cluster_.handle.plain_listers;
    ClusterState cluster{cache(), nominations_, listers.generation(),
                         listers.disruption_budgets_generation() + listers.pod_groups_generation()};
    cluster.node_order = &cache().node_order();
    if (parts_ > 1) cluster.placement = &placement_;
    return cluster;
  }

  // One part of the nodes out of two to four for some pods in a row, then another one, or all.
  void TurnToPlacement() {
    if (random().Below(4) == 0) {
      parts_ = random().Below(5) != 0 ? 1 : 2 + random().Below(3);
      part_ = random().Below(parts_);
    }
    placement_ = cache().nodes();
    placement_.Filter([this](NodeRow row) { return row % parts_ == part_; });
  }

  void Step(Tally& tally) {
    if (cluster_.measures && random().Below(8) == 0) {
      cluster_.Measure();
      return;
    }
    const uint64_t what = random().Below(100);
    if (crowded_ && random().Below(5) == 0) {
      NominateOrForget();
    } else if (what < 55) {
      // Runs of one class, and classes in turn.
      if (random().Below(3) == 0) last_template_ = random().Below(cluster_.kTemplates);
      Decide(cluster_.NewPod(last_template_), tally);
    } else if (what < 60) {
      DecideNominated(tally);
    } else if (what < 68) {
      RemoveSomePod();
    } else if (what < 71) {
      Terminate(random().Below(placed_.size() + 1));
    } else if (what < 73) {
      StartSomePod();
    } else if (what < 77) {
      EndSomeBind();
    } else if (what < 81) {
      const PodInfoPtr pod = cluster_.NewPlacedPod();
      ASSERT_TRUE(cache().AddPod(pod).has_value());
      NotePlaced(*pod, pod->pod->spec.node_name);
      placed_.push_back(pod);
    } else if (what < 86) {
      cluster_.SetNode(random().Below(cluster_.num_nodes));
    } else if (what < 88) {
      cache().RemoveNode(cluster_.RandomNode());
    } else if (what < 91) {
      cluster_.ChangeObjects();
    } else if (what < 93) {
      random().Below(2) == 0 ? cache().CloseNode(cluster_.RandomNode(), "default/unreadable")
                             : cache().OpenNode("default/unreadable");
    } else if (what < 96) {
      NominateOrForget();
    } else {
      Trial(tally);
    }
    if (random().Below(50) == 0) kept_.AgeKept();
    if (random().Below(20) == 0) cluster_.handle.virtual_clock.Advance(std::chrono::seconds(1));
    // Clocks are set back, too.
    if (random().Below(200) == 0) {
      cluster_.handle.virtual_clock.Correct(std::chrono::seconds(random().Below(5)));
    }
  }

  static uint64_t NumRecalled(const framework::Cycle& cycle) {
    const auto* of_cycle = cycle.state.Find<VictimsOfCycle>();
    if (of_cycle == nullptr) return 0;
    return static_cast<const KeptVictims*>(of_cycle->known)->num_recalled();
  }

  void NotePlaced(const PodInfo& pod, std::string_view node_name) {
    cluster_.node_metrics.SetPlaced(pod.pod, node_name, cluster_.handle.virtual_clock.WallNow());
  }

  // What becomes of a pod in this engine, preemption imagined.
  Told Ask(Engine& engine, const PodInfoPtr& pod) {
    Told told;
    framework::Cycle cycle;
    const ClusterState cluster = Cluster();
    told.decision = engine.Schedule(*cluster_.profile, cycle, *pod, cluster, percentage_);
    if (const KeptEvaluations* known = engine.kept()) {
      EXPECT_TRUE(known->bytes() <= max_kept_bytes_ || known->num_classes() == 1);
    }
    if (told.decision.kind == Decision::Kind::kScheduled) {
      if (told.decision.kept && nominations_.Matter(*pod)) ++kept_beside_nominated_;
      const auto* asks = api::Find(pod->pod->metadata.annotations, test::OwnNodes::kName);
      const auto* state = cycle.state.Find<test::OwnNodes::State>();
      EXPECT_EQ(asks == nullptr, state == nullptr);
      EXPECT_TRUE(asks == nullptr || state->asks == *asks);
      if (asks != nullptr && told.decision.kept) ++kept_with_own_nodes_;
      if (told.decision.kept && told.decision.evaluated_nodes < cluster.num_nodes()) {
        ++kept_samples_;
      }
      if (cluster.placement != nullptr) {
        EXPECT_TRUE(cluster.placement->Test(told.decision.node));
        if (told.decision.kept) ++kept_in_placement_;
      }
    }
    if (told.decision.kind != Decision::Kind::kUnfit) return told;
    if (told.decision.refusal != nullptr) {
      told.refusal = *told.decision.refusal;
      return told;
    }
    Diagnosis& diagnosis = engine.diagnosis();
    running_cycle_ = &cycle;
    const uint64_t recalled_before = NumRecalled(cycle);
    cluster_.handle.pending_pods = {pod->pod};
    const auto preview = framework::RunPreemptionPreview(*cluster_.profile, cycle, *pod, cache(),
                                                         diagnosis.statuses);
    if (preview) diagnosis.post_filter_message = preview->message;
    told.refusal = {FitErrorMessage(diagnosis), diagnosis.unschedulable_plugins,
                    diagnosis.pending_plugins, NominatingInfo{}};
    if (preview) told.candidates = TextOf(*preview);
    recalled_ += NumRecalled(cycle) - recalled_before;
    if (preview && !preview->best.empty()) {
      const PreemptionCandidate& best = preview->candidates[preview->best.front()];
      told.victims_on = best.row;
      told.victims = best.victims;
    } else {
      engine.KeepRefusal(*cluster_.profile, *pod, cluster, told.refusal);
    }
    return told;
  }

  std::string TextOf(const PreemptionPreview& preview) {
    std::string text = preview.message;
    for (const PreemptionCandidate& candidate : preview.candidates) {
      text += ' ' + std::string(cache().node_name(candidate.row)) + ':';
      for (const PodInfo* victim : candidate.victims) text += ' ' + victim->pod->metadata.name;
      text += " breaking " + std::to_string(candidate.num_pdb_violations) + ',';
    }
    return text;
  }

  void Decide(const PodInfoPtr& pod, Tally& tally) {
    TurnToPlacement();
    if (random().Below(8) == 0) percentage_ = static_cast<int32_t>(random().Below(3) * 40);
    const Told plain = Ask(plain_, pod);
    const Told kept = Ask(kept_, pod);
    ASSERT_EQ(plain.decision.kind, kept.decision.kind)
        << plain.decision.error << " " << kept.decision.error << " " << kept.refusal.message;
    ASSERT_EQ(plain.decision.node, kept.decision.node) << pod->pod->metadata.name;
    ASSERT_EQ(plain.decision.feasible_nodes, kept.decision.feasible_nodes);
    ASSERT_EQ(plain_.random_state().next_start_node_index,
              kept_.random_state().next_start_node_index);
    ASSERT_EQ(plain.refusal.message, kept.refusal.message);
    ASSERT_EQ(plain.refusal.unschedulable_plugins, kept.refusal.unschedulable_plugins);
    ASSERT_EQ(plain.refusal.pending_plugins, kept.refusal.pending_plugins);
    // A refusal that was found for an earlier pod has their number only, in its message.
    if (kept.decision.refusal == nullptr) {
      ASSERT_EQ(plain.candidates, kept.candidates);
    }
    ASSERT_EQ(plain.victims_on, kept.victims_on);
    ASSERT_EQ(plain.victims, kept.victims);
    ++tally.decisions;
    if (kept.decision.refusal != nullptr) ++tally.refused_alike;
    if (kept.decision.from_known) ++tally.from_rejections;
    if (plain.decision.kind == Decision::Kind::kScheduled) {
      ++tally.scheduled;
      Place(pod, plain.decision.node);
    } else if (plain.victims_on && !in_trial_ && random().Below(2) == 0) {
      ++tally.preempted;
      Preempt(pod, plain);
    }
  }

  void Place(const PodInfoPtr& pod, NodeRow row) {
    Forget(pod);
    // As if Reserve rejected it: the next pod of its class finds nothing changed.
    if (random().Below(6) == 0) return;
    const std::string node(cache().node_name(row));
    ASSERT_TRUE(cache().AssumePod(pod, row).has_value());
    if (in_trial_) return;
    NotePlaced(*pod, node);
    binding_.emplace_back(pod, node);
  }

  // Some binds take their time, some end badly; some pods go meanwhile.
  void EndSomeBind() {
    if (binding_.empty()) return;
    const size_t at = random().Below(binding_.size());
    const auto [pod, node] = binding_[at];
    binding_.erase(binding_.begin() + static_cast<ptrdiff_t>(at));
    const std::string& uid = pod->pod->metadata.uid;
    const uint64_t end = random().Below(6);
    if (end == 0) {
      EXPECT_TRUE(cache().ForgetPod(uid));
      cluster_.node_metrics.RemovePlaced(*pod->pod);
    } else if (end == 1) {
      EXPECT_TRUE(cache().RemovePod(uid));
    } else {
      api::Pod bound = *pod->pod;
      bound.spec.node_name = node;
      placed_.push_back(cache().MakePodInfo(std::make_shared<const api::Pod>(std::move(bound))));
      ASSERT_TRUE(cache().AddPod(placed_.back()).has_value());
    }
  }

  void RemoveSomePod() {
    if (placed_.empty()) return;
    const size_t at = random().Below(placed_.size());
    cache().RemovePod(placed_[at]->pod->metadata.uid);
    cluster_.node_metrics.RemovePlaced(*placed_[at]->pod);
    placed_.erase(placed_.begin() + static_cast<ptrdiff_t>(at));
  }

  void Terminate(size_t at) {
    if (at >= placed_.size()) return;
    api::Pod ending = *placed_[at]->pod;
    ending.metadata.deletion_timestamp = Time();
    if (random().Below(2) == 0) {
      api::PodCondition& condition = ending.status.conditions.emplace_back();
      condition.type = "DisruptionTarget";
      condition.status = "True";
      condition.reason = "PreemptionByScheduler";
    }
    placed_[at] = cache().MakePodInfo(std::make_shared<const api::Pod>(std::move(ending)));
    ASSERT_TRUE(cache().AddPod(placed_[at]).has_value());
  }

  // Pods start, or turn out to have started at another time; nothing else changes.
  void StartSomePod() {
    if (placed_.empty()) return;
    PodInfoPtr& pod = placed_[random().Below(placed_.size())];
    api::Pod started = *pod->pod;
    started.status.start_time = cluster_.handle.virtual_clock.Now() +
                                std::chrono::seconds(random().Below(6)) - std::chrono::seconds(4);
    pod = cache().MakePodInfo(std::make_shared<const api::Pod>(std::move(started)));
    ASSERT_TRUE(cache().AddPod(pod).has_value());
  }

  // The victims end, or are gone at once; the pod is nominated, in its status or in memory only.
  void Preempt(const PodInfoPtr& pod, const Told& told) {
    const std::string node(cache().node_name(*told.victims_on));
    std::vector<std::string> victims;
    for (const PodInfo* victim : told.victims) victims.push_back(victim->pod->metadata.uid);
    for (const std::string& uid : victims) {
      std::erase_if(binding_, [&](const auto& bound) {
        return bound.first->pod->metadata.uid == uid && cache().RemovePod(uid);
      });
      const auto placed = std::ranges::find_if(
          placed_, [&](const PodInfoPtr& other) { return other->pod->metadata.uid == uid; });
      if (placed == placed_.end()) continue;
      if (random().Below(2) == 0) {
        Terminate(static_cast<size_t>(placed - placed_.begin()));
      } else {
        cache().RemovePod(uid);
        placed_.erase(placed);
      }
    }
    Nominate(pod, node);
  }

  void Nominate(const PodInfoPtr& pod, const std::string& node) {
    Forget(pod);
    api::Pod nominated = *pod->pod;
    nominated.status.nominated_node_name = random().Below(2) == 0 ? node : "";
    nominations_.AddNominatedPod(
        cache().MakePodInfo(std::make_shared<const api::Pod>(std::move(nominated))),
        {NominatingMode::kOverride, node});
  }

  void Forget(const PodInfoPtr& pod) { nominations_.DeleteNominatedPodIfExists(*pod->pod); }

  PodInfoPtr RandomNominated() {
    std::vector<PodInfoPtr> pods;
    nominations_.ForEach(
        [&pods](std::string_view /*node*/, const PodInfoPtr& pod) { pods.push_back(pod); });
    return pods[random().Below(pods.size())];
  }

  void NominateOrForget() {
    if (random().Below(20) == 0) {
      nominations_.SetAside({});
      if (!nominations_.empty() && random().Below(2) == 0) {
        nominations_.SetAside({RandomNominated()->pod->metadata.uid});
      }
    } else if (nominations_.size() < (crowded_ ? 9 : 3) && random().Below(crowded_ ? 2 : 3) == 0) {
      const bool in_the_crowd = crowded_ && random().Below(4) != 0;
      Nominate(cluster_.NewPod(random().Below(cluster_.kTemplates)),
               in_the_crowd ? "node-" + std::to_string(random().Below(3)) : cluster_.RandomNode());
    } else if (!nominations_.empty()) {
      Forget(RandomNominated());
    }
  }

  void DecideNominated(Tally& tally) {
    if (nominations_.empty()) return;
    ++tally.nominated;
    Decide(cache().Reclass(RandomNominated()), tally);
  }

  // What is decided on trial must not be taken for true later.
  void Trial(Tally& tally) {
    cache::Trial trial = cache().BeginTrial();
    in_trial_ = true;
    for (uint64_t i = random().Below(4); i > 0; --i) {
      if (random().Below(2) == 0 && !placed_.empty()) {
        cache().RemovePod(placed_[random().Below(placed_.size())]->pod->metadata.uid);
      } else {
        Decide(cluster_.NewPod(random().Below(cluster_.kTemplates)), tally);
      }
    }
    in_trial_ = false;
    trial.Rollback();
  }

  test::RestlessCluster cluster_;
  cache::Nominator nominations_;
  Engine plain_;
  const size_t max_kept_bytes_;
  Engine kept_;
  const bool crowded_;  // several pods are nominated for the same few nodes
  const framework::Cycle* running_cycle_ = nullptr;
  std::vector<PodInfoPtr> placed_;
  std::vector<std::pair<PodInfoPtr, std::string>> binding_;  // with their nodes
  size_t last_template_ = 0;
  uint64_t kept_with_own_nodes_ = 0;
  uint64_t kept_in_placement_ = 0;
  uint64_t kept_beside_nominated_ = 0;
  uint64_t kept_samples_ = 0;
  uint64_t recalled_ = 0;
  int32_t percentage_ = 0;
  uint64_t parts_ = 1;  // of the nodes, one of which a pod may go to
  uint64_t part_ = 0;
  NodeSet placement_;
  bool in_trial_ = false;
};

TEST(KeptEvaluationsPropertyTest, KeepingAnswersChangesNoDecision) {
  Tally tally;
  for (uint64_t seed = 1; tally.events < NumEvents() && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Walk(seed).Run(tally);
  }
  EXPECT_GT(tally.kept, tally.scheduled / 3) << "little was kept, so little was compared";
  EXPECT_GT(tally.scheduled, tally.decisions / 4);
  EXPECT_GT(tally.refused_alike, (tally.decisions - tally.scheduled) / 15);
  EXPECT_GT(tally.preempted, tally.decisions / 500);
  EXPECT_GT(tally.nominated, tally.decisions / 500);
  EXPECT_GT(tally.kept_with_own_nodes, tally.kept / 30);
  EXPECT_GT(tally.kept_in_placement, tally.kept / 20);
  EXPECT_GT(tally.kept_with_shipped, tally.kept / 20);
  EXPECT_GT(tally.kept_measured, tally.kept / 40);
  EXPECT_GT(tally.kept_with_numa, tally.kept / 40);
  EXPECT_GT(tally.kept_beside_nominated, tally.kept / 10);
  EXPECT_GT(tally.kept_samples, tally.kept / 200);
  EXPECT_GT(tally.from_rejections, (tally.decisions - tally.scheduled) / 40);
  EXPECT_GT(tally.recalled, tally.from_rejections / 2);
  RecordProperty("from_rejections", std::to_string(tally.from_rejections));
  RecordProperty("recalled", std::to_string(tally.recalled));
  RecordProperty("refused_alike", std::to_string(tally.refused_alike));
  RecordProperty("preempted", std::to_string(tally.preempted));
  RecordProperty("nominated", std::to_string(tally.nominated));
  RecordProperty("decisions", std::to_string(tally.decisions));
  RecordProperty("kept_beside_nominated", std::to_string(tally.kept_beside_nominated));
  RecordProperty("kept_samples", std::to_string(tally.kept_samples));
  RecordProperty("kept", std::to_string(tally.kept));
}

}  // namespace
}  // namespace berth::engine
