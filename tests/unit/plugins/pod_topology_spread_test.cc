// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/pod_topology_spread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;
using testing::ElementsAre;

constexpr std::string_view kZone = "topology.kubernetes.io/zone";
constexpr std::string_view kHostname = "kubernetes.io/hostname";

// A node with its hostname label and, unless it is "-", a zone.
NodeBuilder Node(std::string_view name, std::string_view zone) {
  NodeBuilder node = MakeNode(name).Label(kHostname, name);
  if (zone != "-") node.Label(kZone, zone);
  return node;
}

// A constraint on pods labelled app=web.
api::TopologySpreadConstraint Constraint(int32_t max_skew, std::string_view key,
                                         std::string_view when) {
  api::TopologySpreadConstraint constraint;
  constraint.max_skew = max_skew;
  constraint.topology_key = key;
  constraint.when_unsatisfiable = when;
  constraint.label_selector = MakeSelector({{"app", "web"}});
  return constraint;
}

api::TopologySpreadConstraint Hard(int32_t max_skew, std::string_view key = kZone) {
  return Constraint(max_skew, key, "DoNotSchedule");
}

api::TopologySpreadConstraint Soft(int32_t max_skew, std::string_view key = kZone) {
  return Constraint(max_skew, key, "ScheduleAnyway");
}

template <typename Change>
api::TopologySpreadConstraint With(api::TopologySpreadConstraint constraint, Change change) {
  change(constraint);
  return constraint;
}

api::Pod Spread(api::Pod pod, std::vector<api::TopologySpreadConstraint> constraints) {
  pod.spec.topology_spread_constraints = std::move(constraints);
  return pod;
}

api::Service WebService(LabelText selector = {{"app", "web"}}) {
  api::Service service;
  service.metadata.name = "web";
  service.metadata.namespace_ = "default";
  service.spec.selector = MakeLabels(selector);
  return service;
}

class PodTopologySpreadTest : public testing::Test, public PluginFixture {
 public:
  PodTopologySpread Plugin(const PodTopologySpreadArgs& args = {}) {
    return PodTopologySpread(args, handle);
  }

  // What Filter says of each node in turn: "ok", "skew" or "label"; "skip" from PreFilter alone.
  std::vector<std::string> Verdicts(PodTopologySpread& plugin, const api::Pod& pod,
                                    const PlainSnapshot& snapshot) {
    info = Info(pod);
    state = CycleState();
    const Status status = plugin.PreFilter(state, *info, snapshot).status;
    if (status.skip()) return {"skip"};
    if (!status.ok()) return {status.message()};
    return Verdicts(plugin, state, snapshot);
  }

  std::vector<std::string> Verdicts(const PodTopologySpread& plugin, const CycleState& cycle,
                                    const PlainSnapshot& snapshot) {
    std::vector<std::string> verdicts;
    NodeSet passing = snapshot.nodes();
    EXPECT_TRUE(plugin.FilterNodes(cycle, *info, snapshot, passing).ok());
    snapshot.nodes().ForEach([&](NodeRow row) {
      const Status status = plugin.Filter(cycle, *info, NodeView(snapshot, row));
      EXPECT_EQ(status.ok(), passing.Test(row)) << "by column it is different";
      verdicts.push_back(Text(status));
    });
    return verdicts;
  }

  // The raw scores of the nodes in turn, or {-1} when PreScore skips; normalised ones go to
  // `normalized`.
  std::vector<int64_t> Scores(PodTopologySpread& plugin, const api::Pod& pod,
                              const PlainSnapshot& snapshot, const NodeSet& feasible) {
    info = Info(pod);
    state = CycleState();
    const Status status = plugin.PreScore(state, *info, snapshot, feasible);
    if (status.skip()) return {-1};
    EXPECT_TRUE(status.ok()) << status.message();
    std::vector<NodeRow> rows;
    feasible.ForEach([&](NodeRow row) { rows.push_back(row); });
    std::vector<int64_t> raw(rows.size());
    plugin.ScoreNodes(state, *info, snapshot, rows, raw);
    normalized = raw;
    EXPECT_TRUE(plugin.NormalizeScore(state, *info, rows, normalized).ok());
    return raw;
  }

  static std::string Text(const Status& status) {
    if (status.ok()) return "ok";
    if (status.code() == Code::kUnschedulable &&
        status.message() == "node(s) didn't match pod topology spread constraints") {
      return "skew";
    }
    if (status.code() == Code::kUnschedulableAndUnresolvable &&
        status.message() ==
            "node(s) didn't match pod topology spread constraints (missing required label)") {
      return "label";
    }
    return std::string(CodeName(status.code())) + ": " + status.message();
  }

  PodInfoPtr info;
  std::vector<int64_t> normalized;
};

using Texts = std::vector<std::string>;

TEST_F(PodTopologySpreadTest, FilterComparesEachDomainWithTheEmptiest) {
  const std::vector<api::Node> nodes = {Node("a1", "a"), Node("a2", "a"), Node("b1", "b"),
                                        Node("none", "-")};
  const struct {
    const char* name;
    std::vector<api::TopologySpreadConstraint> constraints;
    std::vector<std::pair<std::string, int>> placed;
    Texts want;
  } cases[] = {
      {"an empty cluster", {Hard(1)}, {}, {"ok", "ok", "ok", "label"}},
      {"one more than the emptiest", {Hard(1)}, {{"a1", 1}}, {"skew", "skew", "ok", "label"}},
      {"a larger skew", {Hard(2)}, {{"a1", 1}}, {"ok", "ok", "ok", "label"}},
      {"the nodes of a zone count together",
       {Hard(2)},
       {{"a1", 2}, {"a2", 2}, {"b1", 2}},
       {"skew", "skew", "ok", "label"}},
      {"all zones are equal", {Hard(1)}, {{"a1", 3}, {"b1", 3}}, {"ok", "ok", "ok", "label"}},
      {"nodes without the key do not count", {Hard(1)}, {{"none", 9}}, {"ok", "ok", "ok", "label"}},
      {"over nodes", {Hard(1, kHostname)}, {{"a1", 1}, {"b1", 1}}, {"skew", "ok", "skew", "ok"}},
      {"nodes that lack any of the keys do not count",
       {Hard(1, kHostname), Hard(9)},
       {{"a1", 1}, {"a2", 1}, {"b1", 1}},
       {"ok", "ok", "ok", "label"}},
      {"two constraints, both must hold",
       {Hard(1), Hard(1, kHostname)},
       {{"a2", 1}, {"b1", 1}},
       {"ok", "skew", "skew", "label"}},
      {"soft ones do not filter", {Soft(1)}, {{"a1", 5}}, {"skip"}},
      {"hard ones beside soft ones",
       {Soft(1), Hard(1)},
       {{"a1", 5}},
       {"skew", "skew", "ok", "label"}},
      {"another action", {Constraint(1, kZone, "Later")}, {{"a1", 5}}, {"skip"}},
  };
  PodTopologySpread plugin = Plugin();
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const PlainSnapshot snapshot = Cluster(nodes, WebPods(c.placed));
    EXPECT_EQ(Verdicts(plugin, Spread(Web(), c.constraints), snapshot), c.want);
  }
}

TEST_F(PodTopologySpreadTest, TheFirstConstraintThatFailsGivesTheReason) {
  const PlainSnapshot snapshot =
      Cluster({MakeNode("n").Label("zone", "a"), MakeNode("full").Label("zone", "b").Label("x", ""),
               MakeNode("empty").Label("zone", "c").Label("x", "")},
              WebPods({{"full", 1}}));
  PodTopologySpread plugin = Plugin();
  EXPECT_THAT(Verdicts(plugin, Spread(Web(), {Hard(0, "zone"), Hard(9, "x")}), snapshot),
              ElementsAre("skew", "skew", "skew"));
  EXPECT_THAT(Verdicts(plugin, Spread(Web(), {Hard(9, "x"), Hard(0, "zone")}), snapshot),
              ElementsAre("label", "skew", "skew"));
}

TEST_F(PodTopologySpreadTest, OnlyLivePodsOfTheNamespaceThatTheSelectorMatchesCount) {
  const std::vector<api::Node> nodes = {Node("a1", "a"), Node("b1", "b")};
  const struct {
    const char* name;
    api::Pod placed;
    const char* want_a1;
  } cases[] = {
      {"a match", Web().OnNode("a1"), "skew"},
      {"other labels", MakePod().Label("app", "db").OnNode("a1"), "ok"},
      {"another namespace", Web().Namespace("other").OnNode("a1"), "ok"},
      {"terminating", Web().OnNode("a1").DeletedAt(Time()), "ok"},
  };
  PodTopologySpread plugin = Plugin();
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const PlainSnapshot snapshot = Cluster(nodes, {c.placed});
    EXPECT_THAT(Verdicts(plugin, Spread(Web("new"), {Hard(1)}), snapshot),
                ElementsAre(c.want_a1, "ok"));
  }
}

TEST_F(PodTopologySpreadTest, ThePodItselfCountsOnlyWhereItsSelectorMatchesIt) {
  const PlainSnapshot snapshot = Cluster({Node("a1", "a"), Node("b1", "b")}, WebPods({{"a1", 1}}));
  const auto no_selector = [](auto& c) { c.label_selector.reset(); };
  const auto empty_selector = [](auto& c) { c.label_selector.emplace(); };
  const struct {
    const char* name;
    api::Pod pod;
    Texts want;
  } cases[] = {
      {"matches itself", Spread(Web(), {Hard(1)}), {"skew", "ok"}},
      {"does not match itself", Spread(MakePod(), {Hard(1)}), {"ok", "ok"}},
      {"no selector matches nothing", Spread(Web(), {With(Hard(0), no_selector)}), {"ok", "ok"}},
      {"an empty selector counts no placed pod",
       Spread(Web(), {With(Hard(1), empty_selector)}),
       {"ok", "ok"}},
      {"but the pod itself", Spread(Web(), {With(Hard(0), empty_selector)}), {"skew", "skew"}},
  };
  PodTopologySpread plugin = Plugin();
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Verdicts(plugin, c.pod, snapshot), c.want);
  }
}

TEST_F(PodTopologySpreadTest, WithFewerThanMinDomainsTheMinimumIsZero) {
  const PlainSnapshot snapshot =
      Cluster({Node("a1", "a"), Node("b1", "b")}, WebPods({{"a1", 1}, {"b1", 1}}));
  const struct {
    std::optional<int32_t> min_domains;
    Texts want;
  } cases[] = {
      {std::nullopt, {"ok", "ok"}}, {1, {"ok", "ok"}}, {2, {"ok", "ok"}}, {3, {"skew", "skew"}}};
  PodTopologySpread plugin = Plugin();
  for (const auto& c : cases) {
    SCOPED_TRACE(c.min_domains.value_or(-1));
    const auto constraint = With(Hard(1), [&](auto& h) { h.min_domains = c.min_domains; });
    EXPECT_EQ(Verdicts(plugin, Spread(Web(), {constraint}), snapshot), c.want);
  }
}

TEST_F(PodTopologySpreadTest, PoliciesSayWhichNodesCount) {
  const PlainSnapshot snapshot =
      Cluster({Node("a1", "a"), Node("b1", "b").Taint("level", "5", "NoSchedule"), Node("c1", "c")},
              WebPods({{"a1", 2}, {"c1", 1}}));
  const auto affinity_is = [](const char* policy) {
    return With(Hard(1), [&](auto& c) { c.node_affinity_policy = policy; });
  };
  const auto taints_are = [](const char* policy) {
    return With(Hard(1), [&](auto& c) { c.node_taints_policy = policy; });
  };
  const PodBuilder in_a = Web().NodeSelector(kZone, "a");
  const PodBuilder in_a_or_c = Web().RequireNode(
      {MakeRequirement(kZone, "In", {"a", "c"}), MakeRequirement(kHostname, "Exists")});
  const PodBuilder nowhere = Web().NodeSelector("no", "where");
  const PodBuilder unparsable = Web().RequireNode({MakeRequirement(kZone, "Is", {"a"})});
  const struct {
    const char* name;
    api::Pod pod;
    Texts want;
  } cases[] = {
      {"all nodes", Spread(Web(), {Hard(1)}), {"skew", "ok", "skew"}},
      {"affinity is honored by default", Spread(in_a, {Hard(1)}), {"ok", "ok", "ok"}},
      {"Honor", Spread(in_a_or_c, {affinity_is("Honor")}), {"skew", "ok", "ok"}},
      {"Ignore", Spread(in_a_or_c, {affinity_is("Ignore")}), {"skew", "ok", "skew"}},
      {"no node counts", Spread(nowhere, {Hard(1)}), {"ok", "ok", "ok"}},
      {"no node counts, and the pod is too many",
       Spread(nowhere, {Hard(0)}),
       {"skew", "skew", "skew"}},
      {"a term that cannot be parsed matches nothing",
       Spread(unparsable, {Hard(1)}),
       {"ok", "ok", "ok"}},
      {"taints are ignored by default",
       Spread(Web(), {taints_are("Ignore")}),
       {"skew", "ok", "skew"}},
      {"taints are honored", Spread(Web(), {taints_are("Honor")}), {"skew", "ok", "ok"}},
      {"a tolerated taint",
       Spread(Web().Tolerate("level", "Exists", "", ""), {taints_are("Honor")}),
       {"skew", "ok", "skew"}},
      {"a comparison without its gate",
       Spread(Web().Tolerate("level", "Gt", "3", ""), {taints_are("Honor")}),
       {"skew", "ok", "ok"}},
  };
  PodTopologySpread plugin = Plugin();
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Verdicts(plugin, c.pod, snapshot), c.want);
  }
  handle.gates.taint_toleration_comparison_operators = true;
  PodTopologySpread with_gate = Plugin();
  EXPECT_THAT(
      Verdicts(with_gate, Spread(Web().Tolerate("level", "Gt", "3", ""), {taints_are("Honor")}),
               snapshot),
      ElementsAre("skew", "ok", "skew"));
}

TEST_F(PodTopologySpreadTest, MatchLabelKeysAddThePodsOwnValues) {
  std::vector<api::Pod> placed = {Web("old").Label("version", "1").OnNode("a1"),
                                  Web("bare").OnNode("a1")};
  const PlainSnapshot snapshot = Cluster({Node("a1", "a"), Node("b1", "b")}, placed);
  const auto by_version = [](auto& c) { c.match_label_keys = {"version", "absent"}; };
  const auto any_by_version = [&](auto& c) {
    by_version(c);
    c.label_selector.emplace();
  };
  const auto none_by_version = [&](auto& c) {
    by_version(c);
    c.label_selector.reset();
  };
  const struct {
    const char* name;
    api::Pod pod;
    Texts want;
    Texts want_without_gate;
  } cases[] = {
      {"the same version",
       Spread(Web().Label("version", "1"), {With(Hard(1), by_version)}),
       {"skew", "ok"},
       {"skew", "ok"}},
      {"another version",
       Spread(Web().Label("version", "2"), {With(Hard(1), by_version)}),
       {"ok", "ok"},
       {"skew", "ok"}},
      {"no version", Spread(Web(), {With(Hard(1), by_version)}), {"skew", "ok"}, {"skew", "ok"}},
      {"an empty selector is not empty any more",
       Spread(Web().Label("version", "1"), {With(Hard(1), any_by_version)}),
       {"skew", "ok"},
       {"ok", "ok"}},
      {"no selector still matches nothing",
       Spread(Web().Label("version", "1"), {With(Hard(0), none_by_version)}),
       {"ok", "ok"},
       {"ok", "ok"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    handle.gates.match_label_keys_in_pod_topology_spread = true;
    PodTopologySpread plugin = Plugin();
    EXPECT_EQ(Verdicts(plugin, c.pod, snapshot), c.want);
    handle.gates.match_label_keys_in_pod_topology_spread = false;
    PodTopologySpread without_gate = Plugin();
    EXPECT_EQ(Verdicts(without_gate, c.pod, snapshot), c.want_without_gate);
  }
}

TEST_F(PodTopologySpreadTest, ASelectorThatCannotBeParsedIsAnError) {
  const PlainSnapshot snapshot = Cluster({Node("a1", "a")});
  const auto broken = [](auto& c) {
    c.label_selector->match_expressions = {{"app", "Is", {"web"}}};
  };
  PodTopologySpread plugin = Plugin();
  const auto hard = Info(Spread(Web(), {With(Hard(1), broken), Soft(1)}));
  const auto soft = Info(Spread(Web(), {With(Soft(1), broken), Hard(1)}));
  const Status pre_filter = plugin.PreFilter(state, *hard, snapshot).status;
  EXPECT_EQ(pre_filter.code(), Code::kError);
  EXPECT_EQ(pre_filter.message(),
            "get constraints from pod: obtaining pod's hard topology spread constraints: "
            "\"Is\" is not a valid label selector operator");
  EXPECT_TRUE(plugin.PreScore(state, *hard, snapshot, snapshot.nodes()).ok());
  const Status pre_score = plugin.PreScore(state, *soft, snapshot, snapshot.nodes());
  EXPECT_EQ(pre_score.code(), Code::kError);
  EXPECT_EQ(pre_score.message(),
            "calculating preScoreState: obtaining pod's soft topology spread constraints: "
            "\"Is\" is not a valid label selector operator");
  EXPECT_TRUE(plugin.PreFilter(state, *soft, snapshot).status.ok());
}

TEST_F(PodTopologySpreadTest, AddPodAndRemovePodCountOnACopyOnly) {
  const PlainSnapshot snapshot = Cluster({Node("a1", "a"), Node("b1", "b"), Node("none", "-")},
                                         WebPods({{"a1", 1}, {"b1", 1}}));
  PodTopologySpread plugin = Plugin();
  ASSERT_THAT(Verdicts(plugin, Spread(Web(), {Hard(1)}), snapshot),
              ElementsAre("ok", "ok", "label"));
  const struct {
    const char* name;
    api::Pod pod;
    const char* node;
    Texts after_add;
    Texts after_remove;
  } cases[] = {
      {"a match", Web(), "a1", {"skew", "ok", "label"}, {"ok", "skew", "label"}},
      {"other labels", MakePod(), "a1", {"ok", "ok", "label"}, {"ok", "ok", "label"}},
      {"another namespace",
       Web().Namespace("other"),
       "a1",
       {"ok", "ok", "label"},
       {"ok", "ok", "label"}},
      {"a terminating pod",
       Web().DeletedAt(Time()),
       "a1",
       {"skew", "ok", "label"},
       {"ok", "skew", "label"}},
      {"a node without the key", Web(), "none", {"ok", "ok", "label"}, {"ok", "ok", "label"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const PodInfoPtr other = Info(c.pod);
    CycleState added = state.Clone();
    EXPECT_TRUE(plugin.AddPod(added, *info, *other, snapshot.view(c.node)).ok());
    EXPECT_EQ(Verdicts(plugin, added, snapshot), c.after_add);
    CycleState removed = state.Clone();
    EXPECT_TRUE(plugin.RemovePod(removed, *info, *other, snapshot.view(c.node)).ok());
    EXPECT_EQ(Verdicts(plugin, removed, snapshot), c.after_remove);
    EXPECT_TRUE(plugin.RemovePod(added, *info, *other, snapshot.view(c.node)).ok());
    EXPECT_THAT(Verdicts(plugin, added, snapshot), ElementsAre("ok", "ok", "label"));
  }
  EXPECT_THAT(Verdicts(plugin, state, snapshot), ElementsAre("ok", "ok", "label"));
}

TEST_F(PodTopologySpreadTest, AddPodOnANodeThatDoesNotCountChangesNothing) {
  const PlainSnapshot snapshot = Cluster({Node("a1", "a"), Node("b1", "b")});
  PodTopologySpread plugin = Plugin();
  ASSERT_THAT(Verdicts(plugin, Spread(Web().NodeSelector(kZone, "a"), {Hard(1)}), snapshot),
              ElementsAre("ok", "ok"));
  const PodInfoPtr other = Info(Web("other"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(plugin.AddPod(state, *info, *other, snapshot.view("b1")).ok());
  }
  EXPECT_THAT(Verdicts(plugin, state, snapshot), ElementsAre("ok", "ok"));
}

TEST_F(PodTopologySpreadTest, WhenTheEmptiestDomainFillsTheNextOneIsTheMinimum) {
  const PlainSnapshot snapshot = Cluster({Node("a1", "a"), Node("b1", "b"), Node("c1", "c")},
                                         WebPods({{"a1", 2}, {"b1", 1}, {"c1", 5}}));
  PodTopologySpread plugin = Plugin();
  ASSERT_THAT(Verdicts(plugin, Spread(Web(), {Hard(1)}), snapshot),
              ElementsAre("skew", "ok", "skew"));
  const PodInfoPtr other = Info(Web("other"));
  EXPECT_TRUE(plugin.AddPod(state, *info, *other, snapshot.view("b1")).ok());
  EXPECT_TRUE(plugin.AddPod(state, *info, *other, snapshot.view("b1")).ok());
  EXPECT_THAT(Verdicts(plugin, state, snapshot), ElementsAre("ok", "skew", "skew"));
}

// As in kube-scheduler: only two of the emptiest domains are known, so when both have got pods the
// third is forgotten.
TEST_F(PodTopologySpreadTest, PodsAddedToTwoDomainsHideThatAThirdIsEmptier) {
  const PlainSnapshot snapshot = Cluster({Node("a1", "a"), Node("b1", "b"), Node("c1", "c")});
  PodTopologySpread plugin = Plugin();
  ASSERT_THAT(Verdicts(plugin, Spread(Web(), {Hard(1)}), snapshot), ElementsAre("ok", "ok", "ok"));
  const PodInfoPtr other = Info(Web("other"));
  EXPECT_TRUE(plugin.AddPod(state, *info, *other, snapshot.view("a1")).ok());
  EXPECT_THAT(Verdicts(plugin, state, snapshot), ElementsAre("skew", "ok", "ok"));
  EXPECT_TRUE(plugin.AddPod(state, *info, *other, snapshot.view("b1")).ok());
  EXPECT_THAT(Verdicts(plugin, state, snapshot), ElementsAre("ok", "ok", "ok"));
}

TEST_F(PodTopologySpreadTest, ListDefaultsFilterPodsThatHaveNoConstraints) {
  const PlainSnapshot snapshot = Cluster({Node("a1", "a"), Node("b1", "b")}, WebPods({{"a1", 1}}));
  PodTopologySpreadArgs args;
  args.system_defaulting = false;
  args.default_constraints = {With(Hard(1), [](auto& c) { c.label_selector.reset(); })};
  PodTopologySpread plugin = Plugin(args);
  EXPECT_THAT(Verdicts(plugin, Web(), snapshot), ElementsAre("skip")) << "nothing selects the pod";
  handle.plain_listers.Set(WebService());
  EXPECT_THAT(Verdicts(plugin, Web(), snapshot), ElementsAre("skew", "ok"));
  EXPECT_THAT(Verdicts(plugin, MakePod(), snapshot), ElementsAre("skip"));
  EXPECT_THAT(Verdicts(plugin, Spread(Web(), {Hard(2)}), snapshot), ElementsAre("ok", "ok"))
      << "own constraints replace the defaults";
  PodTopologySpread system = Plugin();
  EXPECT_THAT(Verdicts(system, Web(), snapshot), ElementsAre("skip"));
}

TEST_F(PodTopologySpreadTest, ScoresPreferDomainsWithFewerPods) {
  const PlainSnapshot snapshot =
      Cluster({Node("a1", "a"), Node("b1", "b"), Node("c1", "c")}, WebPods({{"a1", 4}, {"b1", 1}}));
  PodTopologySpread plugin = Plugin();
  EXPECT_THAT(Scores(plugin, Spread(Web(), {Soft(1)}), snapshot, snapshot.nodes()),
              ElementsAre(6, 2, 0));
  EXPECT_THAT(normalized, ElementsAre(0, 66, 100));
}

TEST_F(PodTopologySpreadTest, SystemDefaultsSpreadWhatAServiceSelectsOverNodesAndZones) {
  const PlainSnapshot snapshot =
      Cluster({Node("a1", "a"), Node("a2", "a"), Node("b1", "b"), Node("b2", "b")},
              WebPods({{"a1", 2}, {"a2", 1}, {"b2", 1}}));
  PodTopologySpread plugin = Plugin();
  EXPECT_THAT(Scores(plugin, Web(), snapshot, snapshot.nodes()), ElementsAre(-1))
      << "nothing selects the pod";
  handle.plain_listers.Set(WebService());
  EXPECT_THAT(Scores(plugin, Web(), snapshot, snapshot.nodes()), ElementsAre(14, 12, 7, 9));
  EXPECT_THAT(normalized, ElementsAre(50, 64, 100, 85));
}

TEST_F(PodTopologySpreadTest, NodesThatLackAKeyGetNothingUnlessByTheSystemsDefaults) {
  const PlainSnapshot snapshot =
      Cluster({Node("a1", "a"), Node("b1", "b"), Node("none", "-")}, WebPods({{"none", 3}}));
  PodTopologySpread plugin = Plugin();
  EXPECT_THAT(Scores(plugin, Spread(Web(), {Soft(1)}), snapshot, snapshot.nodes()),
              ElementsAre(0, 0, 0));
  EXPECT_THAT(normalized, ElementsAre(100, 100, 0));
  handle.plain_listers.Set(WebService());
  // ln(3 + 2) a pod on the node and 2 for its maxSkew; 4 more for having a zone.
  EXPECT_THAT(Scores(plugin, Web(), snapshot, snapshot.nodes()), ElementsAre(6, 6, 7));
  EXPECT_THAT(normalized, ElementsAre(100, 100, 85));
  PodTopologySpreadArgs list;
  list.system_defaulting = false;
  list.default_constraints = {Soft(3, kHostname), Soft(5)};
  PodTopologySpread by_list = Plugin(list);
  EXPECT_THAT(Scores(by_list, Web(), snapshot, snapshot.nodes()), ElementsAre(6, 6, 0));
  EXPECT_THAT(normalized, ElementsAre(100, 100, 0));
}

// To kube-scheduler a zone of "" and no zone are one.
TEST_F(PodTopologySpreadTest, ByTheSystemsDefaultsNodesWithoutAZoneCountInTheEmptyZone) {
  handle.plain_listers.Set(WebService());
  const PlainSnapshot snapshot =
      Cluster({Node("blank", ""), Node("none", "-"), Node("a1", "a")}, WebPods({{"none", 10}}));
  PodTopologySpread plugin = Plugin();
  // Two zones, three nodes: 10 ln 4 + 4 and 2; 10 ln 5 + 2; 6.
  EXPECT_THAT(Scores(plugin, Web(), snapshot, snapshot.nodes()), ElementsAre(20, 18, 6));
}

TEST_F(PodTopologySpreadTest, DomainsAreThoseOfFeasibleNodesAndPodsThoseOfAll) {
  const PlainSnapshot snapshot =
      Cluster({Node("a1", "a"), Node("a2", "a"), Node("b1", "b"), Node("c1", "c")},
              WebPods({{"a1", 3}, {"b1", 1}, {"c1", 5}}));
  NodeSet feasible = snapshot.nodes();
  feasible.Clear(0);
  feasible.Clear(3);
  PodTopologySpread plugin = Plugin();
  // 3 ln 4 and ln 4.
  EXPECT_THAT(Scores(plugin, Spread(Web(), {Soft(1)}), snapshot, feasible), ElementsAre(4, 1));
  EXPECT_THAT(normalized, ElementsAre(25, 100));
}

TEST_F(PodTopologySpreadTest, PoliciesSayWhichPodsScoreButNotOverHostnames) {
  const PlainSnapshot snapshot =
      Cluster({Node("a1", "a"), Node("a2", "a").Taint("gpu", "", "NoSchedule")},
              WebPods({{"a1", 1}, {"a2", 8}}));
  const auto honor = [](auto& c) { c.node_taints_policy = "Honor"; };
  PodTopologySpread plugin = Plugin();
  // 9 ln 3 without and ln 3 with the policy.
  EXPECT_THAT(Scores(plugin, Spread(Web(), {Soft(1)}), snapshot, snapshot.nodes()),
              ElementsAre(10, 10));
  EXPECT_THAT(Scores(plugin, Spread(Web(), {With(Soft(1), honor)}), snapshot, snapshot.nodes()),
              ElementsAre(1, 1));
  // ln 4 and 8 ln 4 either way.
  EXPECT_THAT(
      Scores(plugin, Spread(Web(), {With(Soft(1, kHostname), honor)}), snapshot, snapshot.nodes()),
      ElementsAre(1, 11));
}

TEST_F(PodTopologySpreadTest, ScoresWithoutPodsAreAllTheBest) {
  const PlainSnapshot snapshot = Cluster({Node("a1", "a"), Node("b1", "b")});
  PodTopologySpread plugin = Plugin();
  const auto no_selector = [](auto& c) { c.label_selector.reset(); };
  const auto empty_selector = [](auto& c) { c.label_selector.emplace(); };
  for (const auto& constraint :
       {Soft(1), With(Soft(1), no_selector), With(Soft(1, kHostname), empty_selector)}) {
    EXPECT_THAT(Scores(plugin, Spread(Web(), {constraint}), snapshot, snapshot.nodes()),
                ElementsAre(0, 0));
    EXPECT_THAT(normalized, ElementsAre(100, 100));
  }
  EXPECT_THAT(Scores(plugin, Spread(Web(), {Soft(3)}), snapshot, snapshot.nodes()),
              ElementsAre(2, 2));
  EXPECT_THAT(normalized, ElementsAre(100, 100));
}

TEST_F(PodTopologySpreadTest, PreScoreSkipsPodsWithoutSoftConstraintsAndEmptyClusters) {
  PodTopologySpread plugin = Plugin();
  const PlainSnapshot snapshot = Cluster({Node("a1", "a")});
  EXPECT_THAT(Scores(plugin, Spread(Web(), {Hard(1)}), snapshot, snapshot.nodes()),
              ElementsAre(-1));
  const PlainSnapshot empty = Cluster({});
  EXPECT_THAT(Scores(plugin, Spread(Web(), {Soft(1)}), empty, empty.nodes()), ElementsAre(-1));
}

TEST_F(PodTopologySpreadTest, AssignedPodsQueueThePodWhenAConstraintSelectsThem) {
  const PodTopologySpread plugin = Plugin();
  const api::Pod pod = Spread(Web("new"), {Hard(1), Soft(1)});
  const api::ObjectPtr web = Object(Web().OnNode("n").Obj());
  const api::ObjectPtr db = Object(MakePod().Label("app", "db").OnNode("n").Obj());
  const api::ObjectPtr web2 = Object(Web().Label("x", "y").OnNode("n").Obj());
  const api::ObjectPtr nominated = Object(Web().NominatedNode("n").Obj());
  const api::ObjectPtr nowhere = Object(Web().Obj());
  const api::ObjectPtr elsewhere = Object(Web().Namespace("other").OnNode("n").Obj());
  const struct {
    const char* name;
    ClusterEvent event;
    api::ObjectPtr before;
    api::ObjectPtr after;
    const char* want;
  } cases[] = {
      {"added", kAssignedPodAdd, {}, web, "queue"},
      {"added, nominated", kAssignedPodAdd, {}, nominated, "queue"},
      {"added, not selected", kAssignedPodAdd, {}, db, "skip"},
      {"added, on no node", kAssignedPodAdd, {}, nowhere, "skip"},
      {"added, of another namespace", kAssignedPodAdd, {}, elsewhere, "skip"},
      {"deleted", kAssignedPodDelete, web, {}, "queue"},
      {"deleted, not selected", kAssignedPodDelete, db, {}, "skip"},
      {"is selected now", kAssignedPodLabel, db, web, "queue"},
      {"is not selected any more", kAssignedPodLabel, web, db, "queue"},
      {"is selected as before", kAssignedPodLabel, web, web2, "skip"},
      {"no label changed", kAssignedPodLabel, web, web, "skip"},
      {"was on no node", kAssignedPodLabel, nowhere, db, "skip"},
      {"another kind", kAssignedPodAdd, {}, Object(MakeNode().Obj()), "error"},
      {"not registered", kAssignedPodScaleDown, web, web, ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Hint(plugin, c.event, pod, c.before, c.after), c.want);
  }
  EXPECT_EQ(Hint(plugin, kAssignedPodAdd, Spread(Web("new"), {Soft(1)}), {}, web), "skip");
  const auto broken = [](auto& h) { h.label_selector->match_expressions = {{"x", "Is", {}}}; };
  EXPECT_EQ(Hint(plugin, kAssignedPodAdd, Spread(Web("new"), {With(Hard(1), broken)}), {}, web),
            "error");
}

TEST_F(PodTopologySpreadTest, AChangeOfThePodItselfQueuesItWhenAConstraintNotices) {
  const PodTopologySpread plugin = Plugin();
  const api::ObjectPtr web = Object(Web().Obj());
  const api::ObjectPtr db = Object(MakePod().Label("app", "db").Obj());
  const api::ObjectPtr web2 = Object(Web().Label("x", "y").Obj());
  const api::ObjectPtr tolerant = Object(Web().Tolerate("gpu", "Exists", "", "").Obj());
  const api::Pod ignoring = Spread(Web(), {Hard(1)});
  const api::Pod honoring =
      Spread(Web(), {With(Hard(1), [](auto& c) { c.node_taints_policy = "Honor"; })});
  EXPECT_EQ(Hint(plugin, kTargetPodLabel, ignoring, web, db), "queue");
  EXPECT_EQ(Hint(plugin, kTargetPodLabel, ignoring, web, web2), "skip");
  EXPECT_EQ(Hint(plugin, kTargetPodToleration, ignoring, web, tolerant), "skip");
  EXPECT_EQ(Hint(plugin, kTargetPodToleration, honoring, web, tolerant), "queue");
  EXPECT_EQ(Hint(plugin, kTargetPodToleration, honoring, web, web), "skip");
  EXPECT_EQ(Hint(plugin, kTargetPodToleration, honoring, {}, web), "error");
  EXPECT_EQ(Hint(plugin, kTargetPodScaleDown, honoring, web, web), "");
}

TEST_F(PodTopologySpreadTest, NodesQueueThePodWhenTheyHaveEveryKeyAndMatter) {
  const PodTopologySpread plugin = Plugin();
  const api::Pod pod = Spread(Web(), {Hard(1), Hard(1, kHostname)});
  const api::ObjectPtr in_a = Object(Node("n", "a").Obj());
  const api::ObjectPtr in_b = Object(Node("n", "b").Obj());
  const api::ObjectPtr in_none = Object(Node("n", "-").Obj());
  const api::ObjectPtr labelled = Object(Node("n", "a").Label("x", "y").Obj());
  const api::ObjectPtr tainted = Object(Node("n", "a").Taint("x", "", "NoSchedule").Obj());
  const api::ObjectPtr tainted_none = Object(Node("n", "-").Taint("x", "", "NoSchedule").Obj());
  const struct {
    const char* name;
    ClusterEvent event;
    api::ObjectPtr before;
    api::ObjectPtr after;
    const char* want;
  } cases[] = {
      {"added", kNodeAdd, {}, in_a, "queue"},
      {"added without a key", kNodeAdd, {}, in_none, "skip"},
      {"deleted", kNodeDelete, in_a, {}, "queue"},
      {"deleted without a key", kNodeDelete, in_none, {}, "skip"},
      {"moves to another domain", kNodeLabel, in_a, in_b, "queue"},
      {"gets the key", kNodeLabel, in_none, in_a, "queue"},
      {"loses the key", kNodeLabel, in_a, in_none, "queue"},
      {"another label", kNodeLabel, in_a, labelled, "skip"},
      {"its taints change", kNodeTaint, in_a, tainted, "queue"},
      {"its taints change, without a key", kNodeTaint, in_none, tainted_none, "skip"},
      {"another kind", kNodeAdd, {}, Object(MakePod().Obj()), "error"},
      {"not registered", kNodeAllocatable, in_a, in_b, ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Hint(plugin, c.event, pod, c.before, c.after), c.want);
  }
  EXPECT_EQ(Hint(plugin, kNodeAdd, Spread(Web(), {Soft(1)}), {}, in_none), "queue")
      << "without hard constraints every node has all keys";
}

}  // namespace
}  // namespace berth::plugins
