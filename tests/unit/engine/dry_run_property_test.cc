// SPDX-License-Identifier: Apache-2.0
// What a dry run of preemption finds is what the filters find in a cluster without those pods.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/config/types.h"
#include "src/engine/dry_run.h"
#include "src/framework/runtime.h"
#include "tests/support/default_profile.h"
#include "tests/support/fake_handle.h"
#include "tests/support/plain_snapshot.h"
#include "tests/support/random_cluster.h"

namespace berth::engine {
namespace {

constexpr int kClusters = 120;
constexpr size_t kNodes = 8;
constexpr size_t kPodsEach = 5;
constexpr size_t kStepsEach = 6;

// What was compared, by how it came out.
struct Tally {
  size_t passed = 0;
  size_t rejected = 0;
  size_t turned = 0;        // another verdict than with all pods in place
  size_t by_nominated = 0;  // rejected only because of nominated pods
  size_t by_elsewhere = 0;  // another verdict by what a pod of another node did
};

struct Placed {
  const PodInfo* pod;
  NodeRow row;
};

std::string TextOf(const Status& status) {
  return std::string(CodeName(status.code())) + ": " + status.message();
}

bool SelectsEverything(const api::TopologySpreadConstraint& constraint) {
  return constraint.label_selector && constraint.label_selector->match_labels.empty() &&
         constraint.label_selector->match_expressions.empty();
}

// One random cluster and the default profile.
class RandomWorld {
 public:
  explicit RandomWorld(uint64_t seed) : random_(seed) {
    profile_ = test::DefaultProfile(handle_);
    nodes_ = test::RandomNodes(random_, kNodes);
    placed_ = test::RandomPlacedPods(random_, 3 * kNodes, kNodes);
    for (const api::Namespace& known : test::RandomNamespaces(random_)) {
      handle_.plain_listers.Set(known);
    }
    // Others would say little else than that a node is tainted or cordoned.
    for (api::Node& node : nodes_) {
      if (random_.Below(4) == 0) continue;
      node.spec.taints.clear();
      node.spec.unschedulable = false;
    }
  }

  void CompareSomePods(Tally& tally) {
    for (size_t i = 0; i < kPodsEach; ++i) {
      api::Pod pod = test::RandomPod(random_, i, kNodes);
      pod.spec.node_name.clear();
      pod.spec.priority = 1;
      // To PreFilter such a constraint counts no pod, to AddPod and RemovePod every one, as in
      // kube-scheduler.
      std::erase_if(pod.spec.topology_spread_constraints, SelectsEverything);
      SCOPED_TRACE(pod.metadata.name);
      Compare(pod, tally);
    }
  }

 private:
  PodInfoPtr Info(const api::Pod& pod) {
    return PodInfo::Make(std::make_shared<const api::Pod>(pod), handle_.names);
  }

  // The filters' verdict in a cluster of these pods, made from scratch. A filter that PreFilter
  // skipped for the whole cluster is not asked here either: it does not hear of nominated pods.
  Status JudgeFromScratch(const std::vector<api::Pod>& placed, const PodInfo& pod, NodeRow row,
                          const framework::PluginMask& skipped) {
    const test::PlainSnapshot snapshot(handle_.names, nodes_, placed);
    framework::Cycle cycle;
    const auto verdict = framework::RunPreFilter(*profile_, cycle, pod, snapshot);
    EXPECT_TRUE(verdict.verdict.status.ok()) << verdict.verdict.status.message();
    cycle.skip_filter |= skipped;
    const Status status =
        framework::RunFilter(*profile_, cycle, cycle.state, pod, NodeView(snapshot, row)).status;
    return handle_.reason_table.Make(status.code(), ReasonSet(status.reasons()));
  }

  void Compare(const api::Pod& pod, Tally& tally) {
    const PodInfoPtr info = Info(pod);
    std::vector<api::Pod> placed = placed_;
    if (!pod.spec.topology_spread_constraints.empty()) {
      // PreFilter counts no pod that is going, but RemovePod takes it off all the same, as in
      // kube-scheduler.
      for (api::Pod& other : placed) other.metadata.deletion_timestamp.reset();
    }
    const test::PlainSnapshot snapshot(handle_.names, nodes_, placed);
    framework::Cycle cycle;
    if (!framework::RunPreFilter(*profile_, cycle, *info, snapshot).verdict.status.ok()) return;
    cache::Nominator nominations;
    std::vector<std::vector<api::Pod>> nominated(kNodes);
    Nominate(nominations, nominated);
    PreemptionDryRun dry_run(*profile_, cycle, *info, ClusterState{snapshot, nominations});
    // A group that is evicted whole leaves several nodes. Where a pod has spread constraints, only
    // one node changes: then PodTopologySpread's critical paths are exact, too. They keep the two
    // domains with the fewest pods, and one domain's changes never bring in a third.
    const bool elsewhere = pod.spec.topology_spread_constraints.empty();
    for (NodeRow row = 0; row < kNodes; ++row) {
      SCOPED_TRACE(snapshot.node(row).metadata.name);
      std::vector<Placed> in_place;
      for (NodeRow other = 0; other < kNodes; ++other) {
        if (other != row && !elsewhere) continue;
        for (const PodInfo* there : snapshot.pods(other)) in_place.push_back({there, other});
      }
      std::vector<Placed> removed;
      dry_run.Begin(row);
      std::string first;
      std::string last;
      bool only_others = false;
      for (size_t step = 0; step < kStepsEach; ++step) {
        SCOPED_TRACE(step);
        const std::string got = TextOf(dry_run.Filter());
        if (step == 0) first = got;
        if (got != first) ++tally.turned;
        if (step > 0 && got != last && only_others) ++tally.by_elsewhere;
        last = got;
        EXPECT_EQ(got, Expected(placed, removed, *info, row, cycle, nominated[row], tally));
        if (in_place.empty() && removed.empty()) break;
        only_others = true;
        for (size_t moves = elsewhere ? kNodes : 1; moves > 0; --moves) {
          if (Move(dry_run, in_place, removed) == row) only_others = false;
        }
      }
    }
  }

  // Some pods of all priorities, for some nodes.
  void Nominate(cache::Nominator& nominations, std::vector<std::vector<api::Pod>>& nominated) {
    for (size_t i = random_.Below(kNodes); i > 0; --i) {
      api::Pod pod = test::RandomPod(random_, 500 + i, kNodes);
      const size_t node = random_.Below(kNodes);
      pod.metadata.deletion_timestamp.reset();
      pod.spec.node_name.clear();
      const std::string name = "node-" + std::to_string(node);
      nominations.AddNominatedPod(Info(pod), {NominatingMode::kOverride, name});
      if (pod.spec.priority.value_or(0) < 1) continue;
      pod.spec.node_name = name;
      nominated[node].push_back(std::move(pod));
    }
  }

  // Takes a pod away, or puts one back; returns its node.
  NodeRow Move(PreemptionDryRun& dry_run, std::vector<Placed>& in_place,
               std::vector<Placed>& removed) {
    const bool back = in_place.empty() || (!removed.empty() && random_.Below(3) == 0);
    std::vector<Placed>& from = back ? removed : in_place;
    std::vector<Placed>& to = back ? in_place : removed;
    const size_t which = random_.Below(from.size());
    const Placed moved = from[which];
    from.erase(from.begin() + static_cast<ptrdiff_t>(which));
    to.push_back(moved);
    const Status status =
        back ? dry_run.AddPod(*moved.pod, moved.row) : dry_run.RemovePod(*moved.pod, moved.row);
    EXPECT_TRUE(status.ok()) << status.message();
    return moved.row;
  }

  std::string Expected(const std::vector<api::Pod>& placed, const std::vector<Placed>& removed,
                       const PodInfo& pod, NodeRow row, const framework::Cycle& cycle,
                       const std::vector<api::Pod>& nominated, Tally& tally) {
    std::vector<api::Pod> left;
    for (const api::Pod& other : placed) {
      const bool gone = std::ranges::any_of(removed, [&](const Placed& candidate) {
        return candidate.pod->pod->metadata.uid == other.metadata.uid;
      });
      if (!gone) left.push_back(other);
    }
    const Status without = JudgeFromScratch(left, pod, row, cycle.skip_filter);
    Status want = without;
    if (!nominated.empty()) {
      left.insert(left.end(), nominated.begin(), nominated.end());
      const Status with = JudgeFromScratch(left, pod, row, cycle.skip_filter);
      if (!with.ok()) want = with;
    }
    if (want.ok()) ++tally.passed;
    if (!want.ok()) ++tally.rejected;
    if (!want.ok() && without.ok()) ++tally.by_nominated;
    return TextOf(want);
  }

  Random random_;
  test::FakeHandle handle_;
  std::unique_ptr<framework::Profile> profile_;
  std::vector<api::Node> nodes_;
  std::vector<api::Pod> placed_;
};

TEST(DryRunPropertyTest, ADryRunFindsWhatTheFiltersFindWithoutThosePods) {
  Tally tally;
  for (uint64_t seed = 1; seed <= kClusters && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomWorld(seed).CompareSomePods(tally);
  }
  EXPECT_GT(tally.passed, 500u);
  EXPECT_GT(tally.rejected, 500u);
  EXPECT_GT(tally.turned, 200u) << "pods that go and come matter too rarely";
  EXPECT_GT(tally.by_nominated, 50u) << "nominated pods matter too rarely";
  EXPECT_GT(tally.by_elsewhere, 20u) << "pods of other nodes matter too rarely";
}

}  // namespace
}  // namespace berth::engine
