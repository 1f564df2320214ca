// SPDX-License-Identifier: Apache-2.0
// PodTopologySpread against an evaluation that looks at every pod on every node, on random
// clusters: verdicts and reasons, raw and normalised scores, and what AddPod and RemovePod change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "berth/matching.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/shared/natural_log.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

constexpr std::string_view kZone = "topology.kubernetes.io/zone";
constexpr std::string_view kHostname = "kubernetes.io/hostname";

// ---- The plain evaluation: kube-scheduler's formulas over label strings.

using Spreads = std::vector<api::TopologySpreadConstraint>;

Spreads With(const Spreads& constraints, std::string_view action) {
  Spreads found;
  for (const auto& c : constraints) {
    if (c.when_unsatisfiable == action) found.push_back(c);
  }
  return found;
}

LabelSelectorMatcher SelectorOf(const api::TopologySpreadConstraint& constraint,
                                const api::Pod& pod) {
  LabelSelectorMatcher selector = *LabelSelectorMatcher::Make(constraint.label_selector);
  for (const std::string& key : constraint.match_label_keys) {
    if (const auto* value = api::Find(pod.metadata.labels, key)) selector.Require(key, *value);
  }
  return selector;
}

bool HasKeys(const api::Node& node, const Spreads& constraints) {
  for (const auto& c : constraints) {
    if (api::Find(node.metadata.labels, c.topology_key) == nullptr) return false;
  }
  return true;
}

std::string ValueOf(const api::Node& node, const std::string& key) {
  const std::string* value = api::Find(node.metadata.labels, key);
  return value == nullptr ? "" : *value;
}

bool Counts(const api::TopologySpreadConstraint& c, const api::Pod& pod, const api::Node& node) {
  if (c.node_affinity_policy.value_or("Honor") == "Honor" &&
      !RequiredNodeAffinity::Make(pod).Matches(node)) {
    return false;
  }
  if (c.node_taints_policy.value_or("Ignore") != "Honor") return true;
  for (const api::Taint& taint : node.spec.taints) {
    if (taint.effect != "PreferNoSchedule" && !Tolerates(pod.spec.tolerations, taint, false)) {
      return false;
    }
  }
  return true;
}

int CountOn(const NodeView& node, const LabelSelectorMatcher& selector, const api::Pod& pod) {
  int count = 0;
  if (selector.everything()) return count;
  node.ForEachPod([&](const PodInfo& placed) {
    const api::ObjectMeta& metadata = placed.pod->metadata;
    if (metadata.deletion_timestamp || metadata.namespace_ != pod.metadata.namespace_) return;
    count += selector.Matches(metadata.labels);
  });
  return count;
}

class PlainFilter {
 public:
  PlainFilter(const api::Pod& pod, const PlainSnapshot& snapshot)
      : pod_(pod),
        snapshot_(snapshot),
        hard_(With(pod.spec.topology_spread_constraints, "DoNotSchedule")),
        counts_(hard_.size()),
        paths_(hard_.size()) {
    snapshot.nodes().ForEach([&](NodeRow row) {
      const api::Node& node = snapshot.node(row);
      if (!HasKeys(node, hard_)) return;
      for (size_t i = 0; i < hard_.size(); ++i) {
        if (!Counts(hard_[i], pod, node)) continue;
        counts_[i][ValueOf(node, hard_[i].topology_key)] +=
            CountOn(NodeView(snapshot, row), SelectorOf(hard_[i], pod), pod);
      }
    });
    for (size_t i = 0; i < hard_.size(); ++i) {
      // Among equals any order would do; the plugin's is that of the domains.
      for (const std::string& value : snapshot.GetTopology(hard_[i].topology_key)->values) {
        const auto found = counts_[i].find(value);
        if (found != counts_[i].end()) Update(paths_[i], value, found->second);
      }
    }
  }

  bool skips() const { return hard_.empty(); }

  std::string Verdict(NodeRow row) const {
    const api::Node& node = snapshot_.node(row);
    for (size_t i = 0; i < hard_.size(); ++i) {
      if (api::Find(node.metadata.labels, hard_[i].topology_key) == nullptr) {
        return "UnschedulableAndUnresolvable: node(s) didn't match pod topology spread constraints "
               "(missing required label)";
      }
      const auto domains = static_cast<int>(counts_[i].size());
      const int64_t minimum =
          domains < hard_[i].min_domains.value_or(1) ? 0 : paths_[i].front().pods;
      const bool itself = SelectorOf(hard_[i], pod_).Matches(pod_.metadata.labels);
      const auto found = counts_[i].find(ValueOf(node, hard_[i].topology_key));
      const int64_t pods = found == counts_[i].end() ? 0 : found->second;
      if (pods + itself - minimum > hard_[i].max_skew) {
        return "Unschedulable: node(s) didn't match pod topology spread constraints";
      }
    }
    return "ok";
  }

  void Change(const api::Pod& other, NodeRow row, int delta) {
    const api::Node& node = snapshot_.node(row);
    if (other.metadata.namespace_ != pod_.metadata.namespace_ || !HasKeys(node, hard_)) return;
    for (size_t i = 0; i < hard_.size(); ++i) {
      if (!SelectorOf(hard_[i], pod_).Matches(other.metadata.labels)) continue;
      if (!Counts(hard_[i], pod_, node)) continue;
      const std::string value = ValueOf(node, hard_[i].topology_key);
      counts_[i][value] += delta;
      Update(paths_[i], value, counts_[i][value]);
    }
  }

 private:
  struct Path {
    std::string value;
    int pods = std::numeric_limits<int32_t>::max();
  };
  using Paths = std::vector<Path>;

  static void Update(Paths& paths, const std::string& value, int pods) {
    paths.resize(2);
    const size_t at = paths[0].value == value ? 0 : paths[1].value == value ? 1 : 2;
    if (at < 2) {
      paths[at].pods = pods;
      if (paths[0].pods > paths[1].pods) std::swap(paths[0], paths[1]);
    } else if (pods < paths[0].pods) {
      paths[1] = paths[0];
      paths[0] = {value, pods};
    } else if (pods < paths[1].pods) {
      paths[1] = {value, pods};
    }
  }

  const api::Pod& pod_;
  const PlainSnapshot& snapshot_;
  Spreads hard_;
  std::vector<std::map<std::string, int>> counts_;
  std::vector<Paths> paths_;
};

struct PlainScores {
  bool skips = false;
  std::vector<int64_t> raw;
  std::vector<int64_t> normalized;
};

PlainScores ScorePlainly(const api::Pod& pod, const Spreads& soft, bool require_all,
                         const PlainSnapshot& snapshot, const std::vector<NodeRow>& feasible) {
  PlainScores result;
  result.skips = soft.empty();
  std::set<NodeRow> ignored;
  std::vector<std::map<std::string, int64_t>> counts(soft.size());
  for (NodeRow row : feasible) {
    const api::Node& node = snapshot.node(row);
    if (require_all && !HasKeys(node, soft)) {
      ignored.insert(row);
      continue;
    }
    for (size_t i = 0; i < soft.size(); ++i) counts[i][ValueOf(node, soft[i].topology_key)] = 0;
  }
  std::vector<double> weights;
  for (size_t i = 0; i < soft.size(); ++i) {
    const size_t size =
        soft[i].topology_key == kHostname ? feasible.size() - ignored.size() : counts[i].size();
    weights.push_back(NaturalLog(static_cast<double>(size + 2)));
  }
  snapshot.nodes().ForEach([&](NodeRow row) {
    const api::Node& node = snapshot.node(row);
    if (require_all && !HasKeys(node, soft)) return;
    for (size_t i = 0; i < soft.size(); ++i) {
      const auto found = counts[i].find(ValueOf(node, soft[i].topology_key));
      if (!Counts(soft[i], pod, node) || found == counts[i].end()) continue;
      found->second += CountOn(NodeView(snapshot, row), SelectorOf(soft[i], pod), pod);
    }
  });
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t most = 0;
  for (NodeRow row : feasible) {
    double score = 0;
    const api::Node& node = snapshot.node(row);
    for (size_t i = 0; i < soft.size() && !ignored.contains(row); ++i) {
      if (api::Find(node.metadata.labels, soft[i].topology_key) == nullptr) continue;
      const int64_t pods = soft[i].topology_key == kHostname
                               ? CountOn(NodeView(snapshot, row), SelectorOf(soft[i], pod), pod)
                               : counts[i].at(ValueOf(node, soft[i].topology_key));
      score += static_cast<double>(pods) * weights[i] + static_cast<double>(soft[i].max_skew - 1);
    }
    result.raw.push_back(static_cast<int64_t>(std::round(score)));
    if (ignored.contains(row)) continue;
    least = std::min(least, result.raw.back());
    most = std::max(most, result.raw.back());
  }
  for (size_t i = 0; i < feasible.size(); ++i) {
    const int64_t scaled = most == 0 ? 100 : 100 * (most + least - result.raw[i]) / most;
    result.normalized.push_back(ignored.contains(feasible[i]) ? 0 : scaled);
  }
  return result;
}

// ---- Random clusters.

struct World {
  std::vector<api::Node> nodes;
  std::vector<api::Pod> placed;
};

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}

  size_t Below(size_t limit) { return random_.Below(limit); }
  bool OneIn(size_t chances) { return Below(chances) == 0; }
  template <size_t N>
  std::string_view Pick(const std::string_view (&choices)[N]) {
    return choices[Below(N)];
  }

  std::string_view Key() { return Pick({kZone, kZone, kHostname, "rack"}); }

  // In half of the worlds every node has every key and no taint.
  World MakeWorld() {
    World world;
    const bool complete = OneIn(2);
    const size_t count = 1 + Below(30);
    for (size_t i = 0; i < count; ++i) {
      const std::string name = "node-" + std::to_string(i);
      NodeBuilder node = MakeNode(name);
      if (complete || !OneIn(9)) node.Label(kHostname, name);
      if (complete || !OneIn(4)) node.Label(kZone, Pick({"a", "b", "c", "d", ""}));
      if (complete || !OneIn(3)) node.Label("rack", Pick({"1", "2", "3"}));
      if (OneIn(2)) node.Label("ssd", "true");
      if (!complete && OneIn(4)) node.Taint("gpu", "", Pick({"NoSchedule", "PreferNoSchedule"}));
      if (!complete && OneIn(9)) node.Taint("spot", "1", "NoExecute");
      world.nodes.push_back(node);
    }
    const size_t pods = Below(4 * count);
    for (size_t i = 0; i < pods; ++i) {
      world.placed.push_back(
          SomePod("placed-" + std::to_string(i)).OnNode("node-" + std::to_string(Below(count))));
    }
    return world;
  }

  PodBuilder SomePod(std::string_view name) {
    PodBuilder pod = MakePod().Name(name);
    if (!OneIn(4)) pod.Label("app", Pick({"web", "web", "db"}));
    if (OneIn(2)) pod.Label("version", Pick({"1", "2"}));
    if (OneIn(8)) pod.Namespace("other");
    if (OneIn(8)) pod.DeletedAt(Time());
    return pod;
  }

  api::Pod PendingPod(bool with_constraints) {
    PodBuilder builder = MakePod().Name("pending");
    builder.Label("app", "web");
    if (OneIn(2)) builder.Label("version", Pick({"1", "2"}));
    if (OneIn(4)) builder.NodeSelector("ssd", "true");
    if (OneIn(6)) builder.RequireNode({MakeRequirement("rack", "In", {"1", "2"})});
    if (OneIn(3)) builder.Tolerate("gpu", "Exists", "", "");
    api::Pod pod = builder;
    const size_t count = with_constraints ? 1 + Below(3) : 0;
    for (size_t i = 0; i < count; ++i) {
      pod.spec.topology_spread_constraints.push_back(Constraint());
    }
    return pod;
  }

  api::TopologySpreadConstraint Constraint() {
    api::TopologySpreadConstraint c;
    c.max_skew = static_cast<int32_t>(1 + Below(3));
    c.topology_key = Key();
    c.when_unsatisfiable = Pick({"DoNotSchedule", "ScheduleAnyway"});
    if (!OneIn(12)) c.label_selector.emplace();
    if (!OneIn(6) && c.label_selector) c.label_selector = MakeSelector({{"app", "web"}});
    if (OneIn(6) && c.label_selector) {
      c.label_selector->match_expressions = {{"version", "NotIn", {"2"}}};
    }
    if (OneIn(4)) c.match_label_keys = {"version"};
    if (OneIn(4)) c.min_domains = static_cast<int32_t>(1 + Below(5));
    if (OneIn(4)) c.node_affinity_policy = Pick({"Honor", "Ignore"});
    if (OneIn(3)) c.node_taints_policy = Pick({"Honor", "Ignore"});
    return c;
  }

 private:
  Random random_;
};

std::string Text(const Status& status) {
  return status.ok() ? "ok" : std::string(CodeName(status.code())) + ": " + status.message();
}

class PodTopologySpreadPropertyTest : public testing::Test, public PluginFixture {
 public:
  void ExpectVerdicts(const PodTopologySpread& plugin, const CycleState& cycle, const PodInfo& pod,
                      const PlainSnapshot& snapshot, const PlainFilter& plain) {
    NodeSet passing = snapshot.nodes();
    EXPECT_TRUE(plugin.FilterNodes(cycle, pod, snapshot, passing).ok());
    snapshot.nodes().ForEach([&](NodeRow row) {
      const std::string want = plain.Verdict(row);
      EXPECT_EQ(Text(plugin.Filter(cycle, pod, NodeView(snapshot, row))), want);
      EXPECT_EQ(passing.Test(row), want == "ok");
      ++verdicts[want];
    });
  }

  void ExpectScores(PodTopologySpread& plugin, const PodInfo& pod, const PlainSnapshot& snapshot,
                    const NodeSet& feasible, const Spreads& soft, bool require_all) {
    std::vector<NodeRow> rows;
    feasible.ForEach([&](NodeRow row) { rows.push_back(row); });
    const PlainScores want = ScorePlainly(*pod.pod, soft, require_all, snapshot, rows);
    CycleState cycle;
    const Status status = plugin.PreScore(cycle, pod, snapshot, feasible);
    EXPECT_EQ(status.code(), want.skips ? Code::kSkip : Code::kSuccess);
    if (want.skips) return;
    std::vector<int64_t> scores(rows.size(), -1);
    plugin.ScoreNodes(cycle, pod, snapshot, rows, scores);
    EXPECT_EQ(scores, want.raw);
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(plugin.Score(cycle, pod, NodeView(snapshot, rows[i])).score, want.raw[i]);
      different_scores += want.raw[i] != want.raw.front();
    }
    EXPECT_TRUE(plugin.NormalizeScore(cycle, pod, rows, scores).ok());
    EXPECT_EQ(scores, want.normalized);
  }

  NodeSet SomeNodes(Draw& draw, const PlainSnapshot& snapshot) {
    NodeSet nodes = snapshot.nodes();
    if (draw.OneIn(2)) nodes.Filter([&](NodeRow) { return !draw.OneIn(3); });
    return nodes;
  }

  std::map<std::string, size_t> verdicts;
  size_t different_scores = 0;
};

TEST_F(PodTopologySpreadPropertyTest, FilterAgreesWithCountingEveryPod) {
  Draw draw(1);
  PodTopologySpread plugin({}, handle);
  for (int round = 0; round < 400 && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const World world = draw.MakeWorld();
    const PlainSnapshot snapshot = Cluster(world.nodes, world.placed);
    const PodInfoPtr pod = Info(draw.PendingPod(true));
    PlainFilter plain(*pod->pod, snapshot);
    CycleState cycle;
    const Status status = plugin.PreFilter(cycle, *pod, snapshot).status;
    EXPECT_EQ(status.code(), plain.skips() ? Code::kSkip : Code::kSuccess);
    if (plain.skips()) continue;
    ExpectVerdicts(plugin, cycle, *pod, snapshot, plain);

    CycleState imagined = cycle.Clone();
    const PlainFilter before = plain;
    NodeRow row = 0;
    for (int change = 0; change < 8; ++change) {
      // Mostly on one node, as preemption and nominated pods do.
      if (change == 0 || draw.OneIn(4)) row = static_cast<NodeRow>(draw.Below(world.nodes.size()));
      const auto placed = snapshot.pods(row);
      if (!placed.empty() && draw.OneIn(2)) {
        const PodInfo& removed = *placed[draw.Below(placed.size())];
        EXPECT_TRUE(plugin.RemovePod(imagined, *pod, removed, NodeView(snapshot, row)).ok());
        plain.Change(*removed.pod, row, -1);
      } else {
        const PodInfoPtr added = Info(draw.SomePod("added"));
        EXPECT_TRUE(plugin.AddPod(imagined, *pod, *added, NodeView(snapshot, row)).ok());
        plain.Change(*added->pod, row, 1);
      }
      ExpectVerdicts(plugin, imagined, *pod, snapshot, plain);
    }
    ExpectVerdicts(plugin, cycle, *pod, snapshot, before);
  }
  EXPECT_EQ(verdicts.size(), 3u);
  for (const auto& [verdict, count] : verdicts) EXPECT_GT(count, 1000u) << verdict;
}

TEST_F(PodTopologySpreadPropertyTest, ScoresAgreeWithCountingEveryPod) {
  Draw draw(2);
  PodTopologySpread plugin({}, handle);
  for (int round = 0; round < 400 && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const World world = draw.MakeWorld();
    const PlainSnapshot snapshot = Cluster(world.nodes, world.placed);
    const PodInfoPtr pod = Info(draw.PendingPod(true));
    const Spreads soft = With(pod->pod->spec.topology_spread_constraints, "ScheduleAnyway");
    ExpectScores(plugin, *pod, snapshot, SomeNodes(draw, snapshot), soft, true);
  }
  EXPECT_GT(different_scores, 1000u);
}

TEST_F(PodTopologySpreadPropertyTest, SystemDefaultsAgreeWithCountingEveryPod) {
  Draw draw(3);
  PodTopologySpread plugin({}, handle);
  api::Service service;
  service.metadata.name = "web";
  service.metadata.namespace_ = "default";
  service.spec.selector = MakeLabels({{"app", "web"}});
  handle.plain_listers.Set(service);
  Spreads defaults(2);
  defaults[0].max_skew = 3;
  defaults[0].topology_key = kHostname;
  defaults[1].max_skew = 5;
  defaults[1].topology_key = kZone;
  for (auto& c : defaults) c.label_selector = MakeSelector({{"app", "web"}});
  for (int round = 0; round < 300 && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const World world = draw.MakeWorld();
    const PlainSnapshot snapshot = Cluster(world.nodes, world.placed);
    const PodInfoPtr pod = Info(draw.PendingPod(false));
    ExpectScores(plugin, *pod, snapshot, SomeNodes(draw, snapshot), defaults, false);
  }
  EXPECT_GT(different_scores, 1000u);
}

}  // namespace
}  // namespace berth::plugins
