// SPDX-License-Identifier: Apache-2.0
// WeightedTopologySpread against an evaluation that looks at every pod on every node, on random
// clusters: verdicts and reasons, raw scores, and what AddPod and RemovePod change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "plugins/weighted_topology_spread/weighted_topology_spread.h"
#include "tests/support/random_cluster.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

// In fractions of a pod: what two of them differ by where they are alike.
constexpr double kAlike = 1e-9;

// ---- The plain evaluation.

bool Holds(const WeightedConstraint& constraint, const api::Pod& pod) {
  return constraint.selector.Matches(pod.metadata.labels) &&
         (constraint.namespaces.empty() ||
          std::ranges::count(constraint.namespaces, pod.metadata.namespace_) > 0);
}

// Whether `constraint` counts `other` for `pod`.
bool CountsFor(const WeightedConstraint& constraint, const api::Pod& pod, const api::Pod& other) {
  if (other.metadata.deletion_timestamp || other.metadata.namespace_ != pod.metadata.namespace_ ||
      !constraint.selector.Matches(other.metadata.labels)) {
    return false;
  }
  return std::ranges::all_of(constraint.match_label_keys, [&](const std::string& key) {
    const std::string* own = api::Find(pod.metadata.labels, key);
    const std::string* others = api::Find(other.metadata.labels, key);
    return own == nullptr || (others != nullptr && *own == *others);
  });
}

using Pods = std::map<std::string, double>;

Pods CountPlainly(const WeightedConstraint& constraint, const api::Pod& pod,
                  const PlainSnapshot& snapshot, const Overlay* overlay, NodeRow on) {
  Pods pods;
  for (const std::string& value : constraint.values) pods[value] = 0;
  snapshot.nodes().ForEach([&](NodeRow row) {
    const std::string* value =
        api::Find(snapshot.node(row).metadata.labels, constraint.topology_key);
    if (value == nullptr || !pods.contains(*value)) return;
    NodeView(snapshot, row, row == on ? overlay : nullptr).ForEachPod([&](const PodInfo& placed) {
      pods[*value] += CountsFor(constraint, pod, *placed.pod) ? 1 : 0;
    });
  });
  return pods;
}

std::string VerdictPlainly(const std::vector<WeightedConstraint>& constraints, const api::Pod& pod,
                           const PlainSnapshot& snapshot, NodeRow row, const Overlay* overlay) {
  for (const WeightedConstraint& constraint : constraints) {
    if (!constraint.do_not_schedule || !Holds(constraint, pod)) continue;
    const std::string* value =
        api::Find(snapshot.node(row).metadata.labels, constraint.topology_key);
    const auto at =
        value == nullptr ? constraint.values.end() : std::ranges::find(constraint.values, *value);
    if (at == constraint.values.end()) {
      return "node(s) didn't match weighted topology spread constraints (missing required value)";
    }
    if (constraint.weights.empty()) continue;
    const Pods pods = CountPlainly(constraint, pod, snapshot, overlay, row);
    double total = 1;
    double weights = 0;
    for (const auto& [name, count] : pods) total += count;
    for (const int64_t weight : constraint.weights) weights += static_cast<double>(weight);
    const auto own = static_cast<double>(
        constraint.weights[static_cast<size_t>(at - constraint.values.begin())]);
    const double above = pods.at(*value) + 1 - total * own / weights;
    if (above > static_cast<double>(constraint.max_skew) + kAlike) {
      return "node(s) didn't match weighted topology spread constraints";
    }
  }
  return "";
}

int64_t ScorePlainly(const std::vector<WeightedConstraint>& constraints, const api::Pod& pod,
                     const PlainSnapshot& snapshot, NodeRow row) {
  int64_t score = 0;
  for (const WeightedConstraint& constraint : constraints) {
    if (!Holds(constraint, pod)) continue;
    const std::string* value =
        api::Find(snapshot.node(row).metadata.labels, constraint.topology_key);
    const Pods pods = CountPlainly(constraint, pod, snapshot, nullptr, 0);
    if (value == nullptr || !pods.contains(*value)) continue;
    const auto pressure = [&](size_t i) {
      return constraint.weights.empty() ? static_cast<double>(i)
                                        : (pods.at(constraint.values[i]) + 0.5) /
                                              static_cast<double>(constraint.weights[i]);
    };
    const auto own = pressure(static_cast<size_t>(std::ranges::find(constraint.values, *value) -
                                                  constraint.values.begin()));
    int64_t before = 0;
    for (size_t i = 0; i < constraint.values.size(); ++i) before += pressure(i) < own - kAlike;
    const auto count = static_cast<int64_t>(constraint.values.size());
    score += 100 * (count - before) / count;
  }
  return score;
}

// ---- Random clusters.

class WeightedTopologySpreadPropertyTest : public testing::Test, public PluginFixture {
 public:
  WeightedConstraint RandomConstraint() {
    WeightedConstraint constraint;
    const bool all = random.Below(4) == 0;
    constraint.selector =
        all ? LabelSelectorMatcher::Everything() : LabelSelectorMatcher::OfLabels({{"app", "web"}});
    if (random.Below(4) == 0) constraint.namespaces = {"default", "shop"};
    if (random.Below(3) == 0) constraint.match_label_keys = {"version"};
    constraint.topology_key = random.Below(4) == 0 ? "ssd" : "zone";
    const bool ordered = random.Below(4) == 0;
    for (const char* value : {"c", "a", "true", "b", "d"}) {
      if (random.Below(4) == 0) continue;
      constraint.values.emplace_back(value);
      if (!ordered) constraint.weights.push_back(1 + static_cast<int64_t>(random.Below(9)));
    }
    if (constraint.values.empty()) return RandomConstraint();
    constraint.do_not_schedule = random.Below(3) != 0;
    if (!ordered) constraint.max_skew = 1 + static_cast<int64_t>(random.Below(2));
    return constraint;
  }

  // In place of what a random pod has, so that pods belong together.
  void Relabel(api::Pod& pod) {
    pod.metadata.namespace_ = random.Below(5) == 0 ? "shop" : "default";
    pod.metadata.labels = {{"app", random.Below(4) == 0 ? "db" : "web"}};
    if (random.Below(3) != 0) {
      pod.metadata.labels.emplace_back("version", std::to_string(random.Below(2)));
    }
  }

  Random random{20261128};
};

TEST_F(WeightedTopologySpreadPropertyTest, IsWhatAPlainEvaluationSays) {
  size_t rejected = 0;
  size_t passed = 0;
  size_t scored = 0;
  size_t moved = 0;
  for (int round = 0; round < 400 && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const size_t num_nodes = 1 + random.Below(20);
    std::vector<api::Pod> placed = RandomPlacedPods(random, random.Below(4 * num_nodes), num_nodes);
    for (api::Pod& pod : placed) Relabel(pod);
    const PlainSnapshot snapshot = Cluster(RandomNodes(random, num_nodes), placed);
    WeightedTopologySpreadArgs args;
    const size_t count = 1 + random.Below(3);
    for (size_t i = 0; i < count; ++i) args.constraints.push_back(RandomConstraint());
    WeightedTopologySpread plugin(args, handle);
    api::Pod drawn = RandomPod(random, 0, num_nodes);
    Relabel(drawn);
    const PodInfoPtr pod = Info(drawn);

    CycleState cycle;
    const bool filters = plugin.PreFilter(cycle, *pod, snapshot).status.ok();
    EXPECT_EQ(filters, std::ranges::any_of(args.constraints, [&](const WeightedConstraint& one) {
                return one.do_not_schedule && Holds(one, drawn);
              }));
    NodeSet passing = snapshot.nodes();
    if (filters) {
      EXPECT_TRUE(plugin.FilterNodes(cycle, *pod, snapshot, passing).ok());
    }
    const bool scores = plugin.PreScore(cycle, *pod, snapshot, snapshot.nodes()).ok();
    EXPECT_EQ(scores, std::ranges::any_of(args.constraints, [&](const WeightedConstraint& one) {
                return Holds(one, drawn);
              }));
    snapshot.nodes().ForEach([&](NodeRow row) {
      SCOPED_TRACE("row " + std::to_string(row));
      const NodeView node(snapshot, row);
      const std::string want = VerdictPlainly(args.constraints, drawn, snapshot, row, nullptr);
      EXPECT_EQ(passing.Test(row), want.empty());
      if (filters) {
        const Status verdict = plugin.Filter(cycle, *pod, node);
        EXPECT_EQ(verdict.ok() ? "" : verdict.message(), want);
      }
      ++(want.empty() ? passed : rejected);
      if (scores) {
        ++scored;
        EXPECT_EQ(plugin.Score(cycle, *pod, node).score,
                  ScorePlainly(args.constraints, drawn, snapshot, row));
      }
      if (!filters || snapshot.pods(row).empty()) return;
      // One of the node's pods less, and another one twice.
      const PodInfo& gone = *snapshot.pods(row)[random.Below(snapshot.pods(row).size())];
      const PodInfo& again = *snapshot.pods(row)[random.Below(snapshot.pods(row).size())];
      Overlay overlay;
      overlay.RemovePod(gone);
      CycleState copy = cycle.Clone();
      EXPECT_TRUE(plugin.RemovePod(copy, *pod, gone, node).ok());
      if (random.Below(2) == 0) {
        overlay.AddPod(again);
        EXPECT_TRUE(plugin.AddPod(copy, *pod, again, node).ok());
      }
      const Status verdict = plugin.Filter(copy, *pod, node);
      const std::string then = VerdictPlainly(args.constraints, drawn, snapshot, row, &overlay);
      EXPECT_EQ(verdict.ok() ? "" : verdict.message(), then);
      if (then != want) ++moved;
    });
  }
  EXPECT_GT(rejected, 300u);
  EXPECT_GT(passed, 300u);
  EXPECT_GT(scored, 1000u);
  EXPECT_GT(moved, 20u);
}

}  // namespace
}  // namespace berth::plugins
