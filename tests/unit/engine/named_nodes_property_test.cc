// SPDX-License-Identifier: Apache-2.0
// A pod that names few nodes, as a DaemonSet's pod does, is looked at on these one by one: what it
// comes to is what a look at sets of nodes comes to, to the last reason.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "src/engine/evaluation.h"
#include "tests/unit/engine/restless_cluster.h"

namespace berth::engine {
namespace {

class Walk {
 public:
  explicit Walk(uint64_t seed) : cluster_(seed) {}

  void Step() {
    cache::Cache& cache = cluster_.cache;
    const uint64_t what = random().Below(10);
    if (what == 0) {
      cluster_.SetNode(random().Below(cluster_.num_nodes));
    } else if (what == 1) {
      cache.RemoveNode(cluster_.RandomNode());
    } else if (what == 2) {
      random().Below(2) == 0 ? cache.CloseNode(cluster_.RandomNode(), "default/unreadable")
                             : cache.OpenNode("default/unreadable");
    } else if (what == 3) {
      Nominate();
    } else {
      ASSERT_TRUE(cache.AddPod(cluster_.NewPlacedPod()).has_value());
    }
    Compare(NamingPod());
  }

  size_t feasible() const { return feasible_; }
  size_t unfit() const { return unfit_; }

 private:
  Random& random() { return cluster_.random; }

  PodInfoPtr NamingPod() {
    api::Pod pod = *cluster_.NewPod(random().Below(cluster_.kTemplates))->pod;
    api::NodeSelectorRequirement named;
    named.key = "metadata.name";
    named.operator_ = "In";
    const uint64_t count = random().Below(5) == 0 ? 20 : 1 + random().Below(3);
    for (uint64_t i = 0; i < count; ++i) named.values.push_back(cluster_.RandomNode());
    if (random().Below(10) == 0) named.values = {"no-such-node"};
    std::ranges::sort(named.values);
    if (!pod.spec.affinity) pod.spec.affinity.emplace();
    if (!pod.spec.affinity->node_affinity) pod.spec.affinity->node_affinity.emplace();
    auto& required =
        pod.spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
    required.emplace().node_selector_terms.emplace_back().match_fields = {std::move(named)};
    return cluster_.cache.MakePodInfo(std::make_shared<const api::Pod>(std::move(pod)));
  }

  void Nominate() {
    const PodInfoPtr pod = cluster_.NewPod(random().Below(cluster_.kTemplates));
    nominations_.AddNominatedPod(pod, {NominatingMode::kOverride, cluster_.RandomNode()});
  }

  void Compare(const PodInfoPtr& pod) {
    const test::PlainListers& listers = cluster_.handle.plain_listers;
    ClusterState cluster{cluster_.cache, nominations_, listers.generation(),
                         listers.disruption_budgets_generation() + listers.pod_groups_generation()};
    cluster.node_order = &cluster_.cache.node_order();
    framework::Cycle few_cycle;
    framework::Cycle all_cycle;
    EvaluationResult few_found;
    EvaluationResult all_found;
    Evaluation few(*cluster_.profile, few_cycle, *pod, cluster, few_found);
    Evaluation all(*cluster_.profile, all_cycle, *pod, cluster, all_found);
    const int32_t percentage = random().Below(3) == 0 ? 50 : 0;
    size_t start = random().Below(cluster_.num_nodes);
    const size_t before = start;
    const Evaluation::Outcome outcome = few.Search(percentage, start);
    ASSERT_EQ(outcome, all.FilterAllNodes());
    ASSERT_EQ(few.has_filtered(), all.has_filtered());
    ASSERT_EQ(few_found.rows, all_found.rows);
    ASSERT_EQ(few.error(), all.error());
    if (all.has_filtered()) {
      ASSERT_EQ(few.num_candidates(), all.num_candidates());
      if (percentage != 0 && outcome != Evaluation::Outcome::kError) {
        ASSERT_EQ(start, (before + all.num_candidates()) % cluster.num_nodes());
      }
    }
    if (outcome == Evaluation::Outcome::kFeasible) {
      ++feasible_;
      ASSERT_EQ(few.Score(nullptr), all.Score(nullptr));
      ASSERT_EQ(few_found.totals, all_found.totals);
    } else if (outcome == Evaluation::Outcome::kUnfit) {
      ++unfit_;
      ASSERT_EQ(few.Explain(), all.Explain());
      ASSERT_EQ(FitErrorMessage(few_found.diagnosis), FitErrorMessage(all_found.diagnosis));
      ASSERT_EQ(few_found.diagnosis.unschedulable_plugins,
                all_found.diagnosis.unschedulable_plugins);
      const NodeStatuses& statuses = few_found.diagnosis.statuses;
      const NodeStatuses& expected = all_found.diagnosis.statuses;
      ASSERT_EQ(statuses.num_explicit(), expected.num_explicit());
      cluster_.cache.nodes().ForEach([&](NodeRow row) {
        ASSERT_EQ(statuses.Get(row).code(), expected.Get(row).code());
        ASSERT_EQ(statuses.Get(row).message(), expected.Get(row).message());
        ASSERT_EQ(statuses.plugin(row), expected.plugin(row));
      });
    }
  }

  test::RestlessCluster cluster_;
  cache::Nominator nominations_;
  size_t feasible_ = 0;
  size_t unfit_ = 0;
};

TEST(NamedNodesPropertyTest, OneByOneIsAsAllTogether) {
  size_t feasible = 0;
  size_t unfit = 0;
  for (uint64_t seed = 1; seed <= 40 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Walk walk(seed);
    for (int step = 0; step < 300 && !HasFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      walk.Step();
    }
    feasible += walk.feasible();
    unfit += walk.unfit();
  }
  EXPECT_GT(feasible, 200U);
  EXPECT_GT(unfit, 1000U);
}

}  // namespace
}  // namespace berth::engine
