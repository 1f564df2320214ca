// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/inter_pod_affinity/topology_counts.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kFar = "node(s) didn't match pod affinity rules";
constexpr const char* kUnwanted = "node(s) didn't match pod anti-affinity rules";
constexpr const char* kKeptAway = "node(s) didn't satisfy existing pods anti-affinity rules";

using PodSpan = std::vector<api::Pod>;

// A pod with the label app.
PodBuilder App(std::string_view app) { return MakePod().Label("app", app); }

api::PodAffinityTerm Term(std::string_view key, LabelText selector,
                          std::vector<std::string> namespaces = {},
                          std::optional<api::LabelSelector> namespace_selector = std::nullopt) {
  api::PodAffinityTerm term;
  term.topology_key = key;
  term.label_selector = MakeSelector(selector);
  term.namespaces = std::move(namespaces);
  term.namespace_selector = std::move(namespace_selector);
  return term;
}

api::PodAffinity& Ensure(api::Pod& pod, std::optional<api::PodAffinity> api::Affinity::* side) {
  if (!pod.spec.affinity) pod.spec.affinity.emplace();
  std::optional<api::PodAffinity>& affinity = (*pod.spec.affinity).*side;
  if (!affinity) affinity.emplace();
  return *affinity;
}

api::Pod WithAffinity(const PodBuilder& builder, const api::PodAffinityTerm& term) {
  api::Pod pod = builder.Obj();
  Ensure(pod, &api::Affinity::pod_affinity)
      .required_during_scheduling_ignored_during_execution.push_back(term);
  return pod;
}

api::Pod WithAntiAffinity(const PodBuilder& builder, const api::PodAffinityTerm& term) {
  api::Pod pod = builder.Obj();
  Ensure(pod, &api::Affinity::pod_anti_affinity)
      .required_during_scheduling_ignored_during_execution.push_back(term);
  return pod;
}

api::Pod WithPreferred(const PodBuilder& builder, int32_t weight,
                       const api::PodAffinityTerm& term) {
  api::Pod pod = builder.Obj();
  Ensure(pod, &api::Affinity::pod_affinity)
      .preferred_during_scheduling_ignored_during_execution.push_back({weight, term});
  return pod;
}

// An operator that does not exist: such a term cannot be read.
api::PodAffinityTerm BadTerm() {
  api::PodAffinityTerm term = Term("zone", {});
  term.label_selector->match_expressions.push_back({"app", "Near", {}});
  return term;
}

// A term without a selector means no pod.
api::PodAffinityTerm TermOfNobody(std::string_view key) {
  api::PodAffinityTerm term;
  term.topology_key = key;
  return term;
}

api::Namespace MakeNamespace(std::string_view name, LabelText labels) {
  api::Namespace result;
  result.metadata.name = name;
  result.metadata.labels = MakeLabels(labels);
  return result;
}

class InterPodAffinityTest : public testing::Test, public PluginFixture {
 public:
  // Two zones of two nodes, and a node without a zone.
  static std::vector<api::Node> Nodes() {
    return {MakeNode("a1").Label("zone", "a").Label("host", "a1"),
            MakeNode("a2").Label("zone", "a").Label("host", "a2"),
            MakeNode("b1").Label("zone", "b").Label("host", "b1"),
            MakeNode("b2").Label("zone", "b").Label("host", "b2"),
            MakeNode("none").Label("host", "none")};
  }

  PlainSnapshot Placed(const PodSpan& placed) { return Cluster(Nodes(), placed); }

  // The reason of each of the five nodes, "" where the pod passes; one "skip" when PreFilter skips.
  // Codes are checked on the way, and so is the column form.
  std::vector<std::string> Reasons(const api::Pod& pod, const PlainSnapshot& snapshot) {
    InterPodAffinity plugin({}, handle);
    const PodInfoPtr info = Info(pod);
    state = CycleState();
    const Status status = plugin.PreFilter(state, *info, snapshot).status;
    if (status.skip()) return {"skip"};
    EXPECT_TRUE(status.ok()) << status.message();
    return Verdicts(plugin, *info, snapshot);
  }

  std::vector<std::string> Verdicts(const InterPodAffinity& plugin, const PodInfo& info,
                                    const PlainSnapshot& snapshot) {
    std::vector<std::string> reasons;
    NodeSet want = snapshot.nodes();
    for (NodeRow row = 0; row < snapshot.num_rows(); ++row) {
      const Status verdict = plugin.Filter(state, info, NodeView(snapshot, row));
      reasons.push_back(verdict.message());
      want.Put(row, verdict.ok());
      if (verdict.ok()) continue;
      EXPECT_EQ(verdict.code(), reasons.back() == kFar ? Code::kUnschedulableAndUnresolvable
                                                       : Code::kUnschedulable);
    }
    NodeSet got = snapshot.nodes();
    EXPECT_TRUE(plugin.FilterNodes(state, info, snapshot, got).ok());
    EXPECT_EQ(got, want);
    return reasons;
  }

  // Raw scores of the five nodes; none when PreScore skips.
  std::vector<int64_t> Scores(const InterPodAffinityArgs& args, const api::Pod& pod,
                              const PlainSnapshot& snapshot) {
    InterPodAffinity plugin(args, handle);
    const PodInfoPtr info = Info(pod);
    state = CycleState();
    const Status status = plugin.PreScore(state, *info, snapshot, snapshot.nodes());
    if (status.skip()) return {};
    EXPECT_TRUE(status.ok()) << status.message();
    std::vector<int64_t> scores;
    for (NodeRow row = 0; row < snapshot.num_rows(); ++row) {
      scores.push_back(plugin.Score(state, *info, NodeView(snapshot, row)).score);
    }
    return scores;
  }
};

TEST_F(InterPodAffinityTest, AffinityWantsAPodNearThatMatchesAllTerms) {
  const PodSpan db_on_a1 = {App("db").Name("db").OnNode("a1")};
  const struct {
    const char* name;
    api::Pod pod;
    PodSpan placed;
    std::vector<std::string> want;
  } cases[] = {
      {"no terms, nobody minds", MakePod(), db_on_a1, {"skip"}},
      {"in its zone",
       MakePod().PodAffinity("zone", {{"app", "db"}}),
       db_on_a1,
       {"", "", kFar, kFar, kFar}},
      {"on its node",
       MakePod().PodAffinity("host", {{"app", "db"}}),
       db_on_a1,
       {"", kFar, kFar, kFar, kFar}},
      {"its node has no such key",
       MakePod().PodAffinity("zone", {{"app", "db"}}),
       {App("db").OnNode("none")},
       {kFar, kFar, kFar, kFar, kFar}},
      {"two keys",
       MakePod().PodAffinity("zone", {{"app", "db"}}).PodAffinity("host", {}),
       db_on_a1,
       {"", kFar, kFar, kFar, kFar}},
      {"one pod must match all terms",
       MakePod().PodAffinity("zone", {{"app", "db"}}).PodAffinity("zone", {{"tier", "back"}}),
       {App("db").Name("1").OnNode("a1"), MakePod().Name("2").Label("tier", "back").OnNode("a1")},
       {kFar, kFar, kFar, kFar, kFar}},
      {"one that does",
       MakePod().PodAffinity("zone", {{"app", "db"}}).PodAffinity("zone", {{"tier", "back"}}),
       {App("db").Label("tier", "back").OnNode("b2")},
       {kFar, kFar, "", "", kFar}},
      {"terminating pods count",
       MakePod().PodAffinity("host", {{"app", "db"}}),
       {App("db").OnNode("b1").DeletedAt(Time())},
       {kFar, kFar, "", kFar, kFar}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Reasons(c.pod, Placed(c.placed)), c.want);
  }
}

TEST_F(InterPodAffinityTest, TheFirstPodThatMatchesItsOwnTermsPassesWhereTheKeysAre) {
  const struct {
    const char* name;
    api::Pod pod;
    PodSpan placed;
    std::vector<std::string> want;
  } cases[] = {
      {"the first of its kind",
       App("db").PodAffinity("zone", {{"app", "db"}}),
       {},
       {"", "", "", "", kFar}},
      {"of two keys both must be there",
       App("db").PodAffinity("zone", {{"app", "db"}}).PodAffinity("host", {}),
       {},
       {"", "", "", "", kFar}},
      {"it matches one of two terms only",
       App("db").PodAffinity("zone", {{"app", "db"}}).PodAffinity("zone", {{"app", "web"}}),
       {},
       {kFar, kFar, kFar, kFar, kFar}},
      {"it wants others",
       App("web").PodAffinity("zone", {{"app", "db"}}),
       {},
       {kFar, kFar, kFar, kFar, kFar}},
      {"one is there",
       App("db").PodAffinity("zone", {{"app", "db"}}),
       {App("db").OnNode("b1")},
       {kFar, kFar, "", "", kFar}},
      {"one is there, near no node by this key",
       App("db").PodAffinity("zone", {{"app", "db"}}),
       {App("db").OnNode("none")},
       {"", "", "", "", kFar}},
      {"one is there, near by one key of two",
       App("db").PodAffinity("zone", {{"app", "db"}}).PodAffinity("host", {}),
       {App("db").OnNode("none")},
       {kFar, kFar, kFar, kFar, kFar}},
      {"another namespace is another kind",
       App("db").PodAffinity("zone", {{"app", "db"}}),
       {App("db").Namespace("other").OnNode("b1")},
       {"", "", "", "", kFar}},
      {"its own namespace is not meant",
       WithAffinity(App("db"), Term("zone", {{"app", "db"}}, {"other"})),
       {},
       {kFar, kFar, kFar, kFar, kFar}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Reasons(c.pod, Placed(c.placed)), c.want);
  }
}

TEST_F(InterPodAffinityTest, AntiAffinityKeepsAwayFromAnyPodThatATermMeans) {
  const struct {
    const char* name;
    api::Pod pod;
    PodSpan placed;
    std::vector<std::string> want;
  } cases[] = {
      {"nobody there",
       MakePod().PodAntiAffinity("zone", {{"app", "db"}}),
       {},
       {"", "", "", "", ""}},
      {"one in the zone",
       MakePod().PodAntiAffinity("zone", {{"app", "db"}}),
       {App("db").OnNode("a2")},
       {kUnwanted, kUnwanted, "", "", ""}},
      {"any of two terms",
       MakePod().PodAntiAffinity("zone", {{"app", "db"}}).PodAntiAffinity("host", {{"app", "web"}}),
       {App("db").Name("1").OnNode("a2"), App("web").Name("2").OnNode("b1"),
        App("web").Name("3").OnNode("none")},
       {kUnwanted, kUnwanted, kUnwanted, "", kUnwanted}},
      {"two terms of one key",
       MakePod().PodAntiAffinity("host", {{"app", "db"}}).PodAntiAffinity("host", {{"app", "web"}}),
       {App("db").Name("1").OnNode("a2"), App("web").Name("2").OnNode("b1")},
       {"", kUnwanted, kUnwanted, "", ""}},
      {"a selector of nothing",
       WithAntiAffinity(MakePod(), TermOfNobody("zone")),
       {App("db").OnNode("a2")},
       {"", "", "", "", ""}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Reasons(c.pod, Placed(c.placed)), c.want);
  }
}

TEST_F(InterPodAffinityTest, PlacedPodsKeepAwayThePodsTheirTermsMean) {
  const api::Pod hermit = MakePod().Name("h").PodAntiAffinity("zone", {{"app", "db"}}).OnNode("a1");
  const struct {
    const char* name;
    api::Pod pod;
    PodSpan placed;
    std::vector<std::string> want;
  } cases[] = {
      {"meant", App("db"), {hermit}, {kKeptAway, kKeptAway, "", "", ""}},
      {"not meant", App("web"), {hermit}, {"skip"}},
      {"of another namespace", App("db").Namespace("other"), {hermit}, {"skip"}},
      {"by a pod on a node without the key",
       App("db"),
       {MakePod().PodAntiAffinity("zone", {{"app", "db"}}).OnNode("none")},
       {"skip"}},
      {"by two pods with different terms of one key",
       App("db"),
       {hermit, MakePod().Name("i").PodAntiAffinity("zone", {}).OnNode("b1")},
       {kKeptAway, kKeptAway, kKeptAway, kKeptAway, ""}},
      {"its own anti-affinity speaks first",
       App("db").PodAntiAffinity("host", {}),
       {hermit},
       {kUnwanted, kKeptAway, "", "", ""}},
      {"its affinity speaks before both",
       App("db").PodAntiAffinity("host", {}).PodAffinity("host", {{"app", "web"}}),
       {hermit, App("web").Name("w").OnNode("a2")},
       {kFar, kUnwanted, kFar, kFar, kFar}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Reasons(c.pod, Placed(c.placed)), c.want);
  }
}

TEST_F(InterPodAffinityTest, NamespacesOfTermsAreNamedOrSelected) {
  handle.plain_listers.Set(MakeNamespace("default", {{"team", "x"}}));
  handle.plain_listers.Set(MakeNamespace("blue", {{"team", "b"}}));
  handle.plain_listers.Set(MakeNamespace("green", {{"team", "g"}}));
  const auto selects = [](const char* team) { return MakeSelector({{"team", team}}); };
  const PodSpan placed = {App("db").Name("1").OnNode("a1"),
                          App("db").Name("2").Namespace("blue").OnNode("a2"),
                          App("db").Name("3").Namespace("green").OnNode("b1"),
                          App("db").Name("4").Namespace("unknown").OnNode("b2")};
  const struct {
    const char* name;
    api::PodAffinityTerm term;
    std::vector<std::string> want;
  } cases[] = {
      {"the pod's own by default", Term("host", {}), {kUnwanted, "", "", "", ""}},
      {"named", Term("host", {}, {"blue", "green"}), {"", kUnwanted, kUnwanted, "", ""}},
      {"selected", Term("host", {}, {}, selects("g")), {"", "", kUnwanted, "", ""}},
      {"named or selected",
       Term("host", {}, {"blue"}, selects("g")),
       {"", kUnwanted, kUnwanted, "", ""}},
      {"all",
       Term("host", {}, {}, api::LabelSelector()),
       {kUnwanted, kUnwanted, kUnwanted, kUnwanted, ""}},
      {"selected by the lack of a label: only known ones",
       Term("host", {}, {}, api::LabelSelector{{}, {{"none", "DoesNotExist", {}}}}),
       {kUnwanted, kUnwanted, kUnwanted, "", ""}},
  };
  const PlainSnapshot snapshot = Placed(placed);
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Reasons(WithAntiAffinity(MakePod(), c.term), snapshot), c.want);
  }
}

TEST_F(InterPodAffinityTest, SelectedNamespacesFollowTheNamespaces) {
  const PlainSnapshot snapshot = Placed({App("db").Namespace("blue").OnNode("a1")});
  const PodInfoPtr pod =
      Info(WithAntiAffinity(MakePod(), Term("host", {}, {}, MakeSelector({{"team", "b"}}))));
  InterPodAffinity plugin({}, handle);
  const auto first_node = [&] {
    CycleState cycle;
    EXPECT_TRUE(plugin.PreFilter(cycle, *pod, snapshot).status.ok());
    return plugin.Filter(cycle, *pod, NodeView(snapshot, 0)).message();
  };
  EXPECT_EQ(first_node(), "");
  handle.plain_listers.Set(MakeNamespace("blue", {{"team", "b"}}));
  EXPECT_EQ(first_node(), kUnwanted);
  handle.plain_listers.Set(MakeNamespace("blue", {{"team", "c"}}));
  EXPECT_EQ(first_node(), "");
}

TEST_F(InterPodAffinityTest, TermsOfPlacedPodsSeeTheLabelsOfTheIncomingPodsNamespace) {
  handle.plain_listers.Set(MakeNamespace("blue", {{"team", "b"}}));
  const PlainSnapshot snapshot = Placed({WithAntiAffinity(
      MakePod().OnNode("a1"), Term("host", {}, {}, MakeSelector({{"team", "b"}})))});
  EXPECT_THAT(Reasons(MakePod().Namespace("blue"), snapshot),
              ElementsAre(kKeptAway, "", "", "", ""));
  EXPECT_THAT(Reasons(MakePod().Namespace("default"), snapshot), ElementsAre("skip"));
  // A namespace nobody knows has no labels; the lack of one can be selected.
  const PlainSnapshot lacking = Placed({WithAntiAffinity(
      MakePod().OnNode("a1"),
      Term("host", {}, {}, api::LabelSelector{{}, {{"team", "DoesNotExist", {}}}}))});
  EXPECT_THAT(Reasons(MakePod().Namespace("blue"), lacking), ElementsAre("skip"));
  EXPECT_THAT(Reasons(MakePod().Namespace("unknown"), lacking),
              ElementsAre(kKeptAway, "", "", "", ""));
}

TEST_F(InterPodAffinityTest, TermsThatCannotBeReadRejectThePodOrFailItsScores) {
  const PlainSnapshot snapshot = Placed({});
  InterPodAffinity plugin({}, handle);
  for (const api::Pod& pod :
       {WithAffinity(MakePod(), BadTerm()), WithAntiAffinity(MakePod(), BadTerm()),
        WithPreferred(MakePod(), 1, BadTerm())}) {
    const PodInfoPtr info = Info(pod);
    const Status rejected = plugin.PreFilter(state, *info, snapshot).status;
    EXPECT_EQ(rejected.code(), Code::kUnschedulableAndUnresolvable);
    EXPECT_EQ(rejected.message(), "parsing pod: " + info->affinity->error);
    EXPECT_THAT(rejected.message(), HasSubstr("\"Near\" is not a valid label selector operator"));
    const Status failed = plugin.PreScore(state, *info, snapshot, snapshot.nodes());
    EXPECT_EQ(failed.code(), Code::kError);
    EXPECT_EQ(failed.message(), "failed to parse pod: " + info->affinity->error);
  }
}

TEST_F(InterPodAffinityTest, ImaginedPodsChangeTheStateAndNotItsOriginal) {
  const PlainSnapshot snapshot =
      Placed({App("db").Name("db").OnNode("a1"), App("web").Name("web").OnNode("b1"),
              MakePod().Name("hermit").PodAntiAffinity("host", {{"app", "new"}}).OnNode("a2")});
  InterPodAffinity plugin({}, handle);
  const PodInfoPtr pod = Info(
      App("new").PodAffinity("zone", {{"app", "db"}}).PodAntiAffinity("host", {{"app", "web"}}));
  state = CycleState();
  ASSERT_TRUE(plugin.PreFilter(state, *pod, snapshot).status.ok());
  const std::vector<std::string> before = {"", kKeptAway, kFar, kFar, kFar};
  EXPECT_EQ(Verdicts(plugin, *pod, snapshot), before);
  CycleState original = state.Clone();

  // Each step: a pod comes to a node or goes from it.
  const PodInfoPtr db = Info(App("db").Name("new-db"));
  const PodInfoPtr far_hermit = Info(MakePod().Name("i").PodAntiAffinity("zone", {}));
  const struct {
    const char* name;
    const PodInfo* other;
    const char* node;
    bool comes;
    std::vector<std::string> want;
  } steps[] = {
      {"a db comes to b", db.get(), "b2", true, {"", kKeptAway, kUnwanted, "", kFar}},
      {"the web goes", &snapshot.pod("web"), "b1", false, {"", kKeptAway, "", "", kFar}},
      {"the hermit goes", &snapshot.pod("hermit"), "a2", false, {"", "", "", "", kFar}},
      {"one that keeps a zone comes",
       far_hermit.get(),
       "a1",
       true,
       {kKeptAway, kKeptAway, "", "", kFar}},
      {"to a node without the key",
       far_hermit.get(),
       "none",
       true,
       {kKeptAway, kKeptAway, "", "", kFar}},
      {"the first db goes", &snapshot.pod("db"), "a1", false, {kFar, kFar, "", "", kFar}},
      {"the other goes", db.get(), "b2", false, {kFar, kFar, kFar, kFar, kFar}},
  };
  for (const auto& s : steps) {
    SCOPED_TRACE(s.name);
    const NodeView node = snapshot.view(s.node);
    const Status status = s.comes ? plugin.AddPod(state, *pod, *s.other, node)
                                  : plugin.RemovePod(state, *pod, *s.other, node);
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(Verdicts(plugin, *pod, snapshot), s.want);
  }
  state = std::move(original);
  EXPECT_EQ(Verdicts(plugin, *pod, snapshot), before);
}

TEST_F(InterPodAffinityTest, APodThatMatchesItselfBecomesTheFirstWhenTheLastIsImaginedAway) {
  const PlainSnapshot snapshot = Placed({App("db").Name("db").OnNode("a1")});
  InterPodAffinity plugin({}, handle);
  const PodInfoPtr pod = Info(App("db").PodAffinity("zone", {{"app", "db"}}));
  ASSERT_TRUE(plugin.PreFilter(state, *pod, snapshot).status.ok());
  EXPECT_THAT(Verdicts(plugin, *pod, snapshot), ElementsAre("", "", kFar, kFar, kFar));
  EXPECT_TRUE(plugin.RemovePod(state, *pod, snapshot.pod("db"), snapshot.view("a1")).ok());
  EXPECT_THAT(Verdicts(plugin, *pod, snapshot), ElementsAre("", "", "", "", kFar));
  EXPECT_TRUE(plugin.AddPod(state, *pod, snapshot.pod("db"), snapshot.view("b1")).ok());
  EXPECT_THAT(Verdicts(plugin, *pod, snapshot), ElementsAre(kFar, kFar, "", "", kFar));
}

TEST_F(InterPodAffinityTest, CountsThatAreDetachedChangeNoMoreWithTheSnapshot) {
  const PlainSnapshot snapshot = Placed({});
  const DomainId domain = snapshot.GetTopology("zone")->domain_of[0];
  const auto first = std::make_shared<Counts>();
  const auto second = std::make_shared<Counts>();
  first->Add(domain, 1);
  TopologyCounts one;
  one.AddCounts(snapshot.GetTopology("zone"), first);
  TopologyCounts two = one;
  two.AddCounts(snapshot.GetTopology("zone"), second);
  for (TopologyCounts* counts : {&one, &two}) counts->Detach();
  first->Add(domain, -1);
  for (TopologyCounts* counts : {&one, &two}) {
    EXPECT_TRUE(counts->AnyPositive(0));
    counts->AddPod(snapshot, "zone", 0, -1);
    EXPECT_FALSE(counts->AnyPositive(0));
    EXPECT_TRUE(counts->empty());
  }
}

TEST_F(InterPodAffinityTest, ScoreAddsTheWeightsOfBothSides) {
  const PodSpan dbs = {App("db").Name("1").OnNode("a1"), App("db").Name("2").OnNode("a2"),
                       App("db").Name("3").OnNode("b1")};
  const auto placed = [](const PodBuilder& pod) { return PodSpan{PodBuilder(pod).OnNode("b1")}; };
  const InterPodAffinityArgs heavy{.hard_pod_affinity_weight = 7};
  const InterPodAffinityArgs none{.hard_pod_affinity_weight = 0};
  const InterPodAffinityArgs ignoring{.ignore_preferred_terms_of_existing_pods = true};
  const struct {
    const char* name;
    InterPodAffinityArgs args;
    api::Pod pod;
    PodSpan placed;
    std::vector<int64_t> want;  // none: skipped
  } cases[] = {
      {"nothing to score", {}, MakePod(), dbs, {}},
      {"its own preference, once for each pod",
       {},
       MakePod().PreferPodAffinity(5, "zone", {{"app", "db"}}),
       dbs,
       {10, 10, 5, 5, 0}},
      {"what it prefers to avoid",
       {},
       MakePod().PreferPodAntiAffinity(5, "host", {{"app", "db"}}),
       dbs,
       {-5, -5, -5, 0, 0}},
      {"both, of one key and of another",
       {},
       MakePod()
           .PreferPodAffinity(5, "zone", {{"app", "db"}})
           .PreferPodAffinity(1, "host", {{"app", "db"}})
           .PreferPodAntiAffinity(2, "zone", {}),
       dbs,
       {7, 7, 4, 3, 0}},
      {"what it prefers is nowhere",
       {},
       MakePod().PreferPodAffinity(5, "zone", {{"app", "x"}}),
       dbs,
       {}},
      {"a sum of 0 is a score",
       {},
       MakePod()
           .PreferPodAffinity(5, "zone", {{"app", "db"}})
           .PreferPodAntiAffinity(5, "zone", {{"app", "db"}}),
       dbs,
       {0, 0, 0, 0, 0}},
      {"a placed pod prefers it",
       {},
       App("web"),
       placed(MakePod().PreferPodAffinity(3, "zone", {{"app", "web"}})),
       {0, 0, 3, 3, 0}},
      {"a placed pod prefers to avoid it",
       {},
       App("web"),
       placed(MakePod().PreferPodAntiAffinity(3, "zone", {{"app", "web"}})),
       {0, 0, -3, -3, 0}},
      {"a placed pod needs it",
       {},
       App("web"),
       placed(MakePod().PodAffinity("zone", {{"app", "web"}})),
       {0, 0, 1, 1, 0}},
      {"a placed pod needs it, by another weight",
       heavy,
       App("web"),
       placed(MakePod().PodAffinity("zone", {{"app", "web"}})),
       {0, 0, 7, 7, 0}},
      {"a placed pod needs it, weight 0",
       none,
       App("web"),
       placed(MakePod().PodAffinity("zone", {{"app", "web"}})),
       {}},
      {"a placed pod's anti-affinity scores nothing",
       {},
       App("web"),
       placed(MakePod().PodAntiAffinity("zone", {{"app", "web"}})),
       {}},
      {"placed pods of which it means none",
       {},
       App("web"),
       placed(MakePod().PreferPodAffinity(3, "zone", {{"app", "x"}})),
       {}},
      {"placed pods are ignored",
       ignoring,
       App("web").PodAffinity("zone", {}),
       placed(MakePod().PreferPodAffinity(3, "zone", {{"app", "web"}})),
       {}},
      {"but not for a pod with preferences",
       ignoring,
       App("web").PreferPodAffinity(5, "zone", {{"app", "x"}}),
       placed(MakePod().PreferPodAffinity(3, "zone", {{"app", "web"}})),
       {0, 0, 3, 3, 0}},
      {"on a node without the key",
       {},
       MakePod().PreferPodAffinity(5, "zone", {{"app", "db"}}),
       {App("db").OnNode("none")},
       {}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Scores(c.args, c.pod, Placed(c.placed)), c.want);
  }
}

TEST_F(InterPodAffinityTest, ScoresAreSpreadOverTheRangeTheQuotientFirst) {
  const struct {
    const char* name;
    std::vector<int64_t> raw;
    std::vector<int64_t> want;
  } cases[] = {
      {"29 of 100 is 28", {-10, 0, 19, 90}, {0, 10, 28, 100}},
      {"29 of 50 is 57", {0, 29, 50}, {0, 57, 100}},
      {"all alike", {4, 4, 4}, {0, 0, 0}},
      {"all negative", {-4, -2}, {0, 100}},
      {"one node", {9}, {0}},
      {"no node", {}, {}},
  };
  InterPodAffinity plugin({}, handle);
  const PodInfoPtr pod = Info(MakePod().PreferPodAffinity(1, "zone", {{"app", "db"}}));
  const PlainSnapshot snapshot = Placed({App("db").OnNode("a1")});
  ASSERT_TRUE(plugin.PreScore(state, *pod, snapshot, snapshot.nodes()).ok());
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<int64_t> scores = c.raw;
    const std::vector<NodeRow> rows(scores.size());
    EXPECT_TRUE(plugin.NormalizeScore(state, *pod, rows, scores).ok());
    EXPECT_EQ(scores, c.want);
  }
}

TEST_F(InterPodAffinityTest, ArgsAreReadAndChecked) {
  const auto parsed = kInterPodAffinityArgs.parse(
      Args({{"kind", Item("InterPodAffinityArgs")},
            {"hardPodAffinityWeight", Item(100)},
            {"ignorePreferredTermsOfExistingPods", ConfigValue(true)}}));
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  EXPECT_EQ(parsed->hard_pod_affinity_weight, 100);
  EXPECT_TRUE(parsed->ignore_preferred_terms_of_existing_pods);
  const auto defaults = kInterPodAffinityArgs.parse(ConfigValue());
  ASSERT_TRUE(defaults.has_value());
  EXPECT_EQ(defaults->hard_pod_affinity_weight, 1);
  EXPECT_FALSE(defaults->ignore_preferred_terms_of_existing_pods);

  const struct {
    ConfigValue args;
    const char* want;
  } bad[] = {
      {Args({{"hardPodAffinityWeight", Item(101)}}),
       "hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]"},
      {Args({{"hardPodAffinityWeight", Item(-1)}}),
       "hardPodAffinityWeight: Invalid value: -1: not in valid range [0, 100]"},
      {Args({{"hardPodAffinityWeight", Item("1")}}), "hardPodAffinityWeight"},
      {Args({{"softWeight", Item(1)}}), "softWeight"},
  };
  for (const auto& b : bad) {
    SCOPED_TRACE(b.want);
    const auto rejected = kInterPodAffinityArgs.parse(b.args);
    ASSERT_FALSE(rejected.has_value());
    EXPECT_THAT(rejected.error().message, HasSubstr(b.want));
  }
}

// A pod with so many required anti-affinity terms, each with a topology key and a selector of its
// own; every fourth key is one that nodes have.
api::Pod WithManyTerms(size_t terms) {
  api::Pod pod = App("web").Name("many").Obj();
  auto& list = Ensure(pod, &api::Affinity::pod_anti_affinity)
                   .required_during_scheduling_ignored_during_execution;
  for (size_t i = 0; i < terms; ++i) {
    const std::string number = std::to_string(i);
    list.push_back(Term(i % 4 == 0 ? "zone" : "key-" + number, {{"app", "x" + number}}));
  }
  return pod;
}

TEST_F(InterPodAffinityTest, TermsSpendTheCyclesBudgetInProportion) {
  InterPodAffinity plugin({}, handle);
  const PlainSnapshot snapshot = Placed({App("db").Name("db").OnNode("a1")});
  const auto spend = [&](size_t terms, const CycleBudget& budget = {}) {
    state = CycleState();
    state.RenewBudget(budget);
    const PodInfoPtr pod = Info(WithManyTerms(terms));
    const Status status = plugin.PreFilter(state, *pod, snapshot).status;
    EXPECT_EQ(status.ok(), !state.budget().spent()) << status.message();
    return status;
  };
  EXPECT_TRUE(spend(100).ok());
  const uint64_t steps = state.budget().steps();
  const uint64_t bytes = state.budget().bytes();
  EXPECT_GT(steps, 100u);
  EXPECT_TRUE(spend(400).ok());
  EXPECT_LE(state.budget().steps(), 5 * steps);
  EXPECT_LE(state.budget().bytes(), 5 * bytes);
  const Status status = spend(400, CycleBudget(2 * steps, CycleBudget::kBytes));
  EXPECT_EQ(status.code(), Code::kError);
  EXPECT_EQ(status.message(),
            "what the pod's spec asks for takes more than a scheduling cycle may: " +
                std::to_string(2 * steps) + " steps");
  EXPECT_THAT(spend(400, CycleBudget(CycleBudget::kSteps, bytes)).message(),
              HasSubstr(std::to_string(bytes) + " bytes of memory"));
}

// Of more counts than are kept the sum alone is: verdicts stay the same, and an update starts over.
TEST_F(InterPodAffinityTest, MoreTermsThanAreKeptCountAllTheSame) {
  InterPodAffinity plugin({}, handle);
  const PodSpan pods = {App("x1040").Name("late").OnNode("a1"),
                        App("x0").Name("early").OnNode("b1")};
  const PlainSnapshot snapshot = Placed(pods);
  const PodInfoPtr few = Info(WithManyTerms(8));
  state = CycleState();
  ASSERT_TRUE(plugin.PreFilter(state, *few, snapshot).status.ok());
  EXPECT_THAT(Verdicts(plugin, *few, snapshot), ElementsAre("", "", kUnwanted, kUnwanted, ""));
  const PodInfoPtr many = Info(WithManyTerms(4 * (TopologyCounts::kMaxOwned + 20)));
  state = CycleState();
  ASSERT_TRUE(plugin.PreFilter(state, *many, snapshot).status.ok());
  EXPECT_THAT(Verdicts(plugin, *many, snapshot),
              ElementsAre(kUnwanted, kUnwanted, kUnwanted, kUnwanted, ""));
  NodeSet touched(snapshot.num_rows());
  EXPECT_FALSE(plugin.UpdatePreFilter(state, *many, snapshot, {}, touched));
}

}  // namespace
}  // namespace berth::plugins
