// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

PodBuilder App(std::string_view app) { return MakePod().Label("app", app); }
PodBuilder Placed(std::string_view app) { return App(app).OnNode("n"); }

api::Namespace NamespaceOf(std::string_view name, std::string_view team) {
  api::Namespace made;
  made.metadata.name = name;
  made.metadata.labels = MakeLabels({{"team", team}});
  return made;
}

class InterPodAffinityHintsTest : public testing::Test, public PluginFixture {
 public:
  InterPodAffinity plugin{{}, handle};
};

TEST_F(InterPodAffinityHintsTest, AnAddedPodHelpsWhenAllAffinityTermsMeanIt) {
  const api::Pod wants_db = MakePod().PodAffinity("zone", {{"app", "db"}});
  const api::Pod wants_both =
      MakePod().PodAffinity("zone", {{"app", "db"}}).PodAffinity("host", {{"tier", "back"}});
  const struct {
    const char* name;
    api::Pod pod;
    api::Pod added;
    const char* want;
  } cases[] = {
      {"the one wanted", wants_db, Placed("db"), "queue"},
      {"a nominated one", wants_db, App("db").NominatedNode("n"), "queue"},
      {"one that is nowhere", wants_db, App("db"), "skip"},
      {"another", wants_db, Placed("web"), "skip"},
      {"of another namespace", wants_db, Placed("db").Namespace("other"), "skip"},
      {"one of two terms", wants_both, Placed("db"), "skip"},
      {"both terms", wants_both, Placed("db").Label("tier", "back"), "queue"},
      {"a pod that wants none", MakePod().PodAntiAffinity("zone", {}), Placed("db"), "skip"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Hint(plugin, kAssignedPodAdd, c.pod, {}, Object(c.added)), c.want);
  }
}

TEST_F(InterPodAffinityHintsTest, AnUpdatedPodHelpsWhenItIsWantedNowOrUnwantedNoMore) {
  const api::Pod wants_db = MakePod().PodAffinity("zone", {{"app", "db"}});
  const api::Pod shuns_db = MakePod().PodAntiAffinity("zone", {{"app", "db"}});
  const struct {
    const char* name;
    api::Pod pod;
    api::Pod before;
    api::Pod after;
    const char* want;
  } cases[] = {
      {"wanted now", wants_db, Placed("web"), Placed("db"), "queue"},
      {"wanted before and now", wants_db, Placed("db").Label("a", "b"), Placed("db"), "skip"},
      {"wanted no more", wants_db, Placed("db"), Placed("web"), "skip"},
      {"unwanted no more", shuns_db, Placed("db"), Placed("web"), "queue"},
      {"unwanted now", shuns_db, Placed("web"), Placed("db"), "skip"},
      {"nowhere before", shuns_db, App("db"), Placed("web"), "skip"},
      {"nowhere now", wants_db, Placed("web"), App("db"), "skip"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Hint(plugin, kAssignedPodLabel, c.pod, Object(c.before), Object(c.after)), c.want);
  }
}

TEST_F(InterPodAffinityHintsTest, ADeletedPodHelpsWhenEitherSideDidNotWantTheOther) {
  const struct {
    const char* name;
    api::Pod pod;
    api::Pod deleted;
    const char* want;
  } cases[] = {
      {"unwanted", MakePod().PodAntiAffinity("zone", {{"app", "db"}}), Placed("db"), "queue"},
      {"it did not want the pod", App("web"),
       Placed("db").PodAntiAffinity("zone", {{"app", "web"}}), "queue"},
      {"neither", App("web"), Placed("db").PodAntiAffinity("zone", {{"app", "x"}}), "skip"},
      {"wanted", MakePod().PodAffinity("zone", {{"app", "db"}}), Placed("db"), "skip"},
      {"it was nowhere", MakePod().PodAntiAffinity("zone", {{"app", "db"}}), App("db"), "skip"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Hint(plugin, kAssignedPodDelete, c.pod, Object(c.deleted), {}), c.want);
  }
}

TEST_F(InterPodAffinityHintsTest, NamespaceSelectorsSeeTheLabelsThatNamespacesHave) {
  const auto set_selector = [](api::PodAffinityTerm& term, const api::LabelSelector& selector) {
    term.namespace_selector = selector;
  };
  const api::LabelSelector team_x = MakeSelector({{"team", "x"}});
  const api::LabelSelector team_y = MakeSelector({{"team", "y"}});
  const api::LabelSelector all;
  const api::LabelSelector no_team{{}, {{"team", "DoesNotExist", {}}}};
  const auto wanting = [&](const api::LabelSelector& selector) {
    api::Pod pod = MakePod().PodAffinity("zone", {{"app", "db"}});
    auto& terms =
        pod.spec.affinity->pod_affinity->required_during_scheduling_ignored_during_execution;
    set_selector(terms[0], selector);
    return pod;
  };
  const auto shunning = [&](api::Pod pod, const api::LabelSelector& selector) {
    auto& terms =
        pod.spec.affinity->pod_anti_affinity->required_during_scheduling_ignored_during_execution;
    set_selector(terms[0], selector);
    return pod;
  };
  const api::Pod shuns_db = MakePod().PodAntiAffinity("zone", {{"app", "db"}});
  const api::Pod placed_shuns_web =
      Placed("db").Namespace("z").PodAntiAffinity("zone", {{"app", "web"}});
  const api::ObjectPtr db = Object(Placed("db").Namespace("other"));
  const api::ObjectPtr web = Object(Placed("web").Namespace("other"));
  const api::ObjectPtr unknown = Object(Placed("db").Namespace("unknown"));
  handle.plain_listers.Set(NamespaceOf("other", "x"));
  handle.plain_listers.Set(NamespaceOf("default", "y"));
  const struct {
    const char* name;
    ClusterEvent event;
    api::Pod pod;
    api::ObjectPtr before;
    api::ObjectPtr after;
    const char* want;
  } cases[] = {
      {"wanted by a label", kAssignedPodAdd, wanting(team_x), {}, db, "queue"},
      {"by another value", kAssignedPodAdd, wanting(team_y), {}, db, "skip"},
      {"everywhere", kAssignedPodAdd, wanting(all), {}, db, "queue"},
      {"by the lack of a label", kAssignedPodAdd, wanting(no_team), {}, db, "skip"},
      {"in an unknown namespace", kAssignedPodAdd, wanting(team_x), {}, unknown, "skip"},
      {"the same, by lack", kAssignedPodAdd, wanting(no_team), {}, unknown, "queue"},
      {"wanted now", kAssignedPodLabel, wanting(team_x), web, db, "queue"},
      {"wanted now elsewhere", kAssignedPodLabel, wanting(team_y), web, db, "skip"},
      {"unwanted no more", kAssignedPodLabel, shunning(shuns_db, team_x), db, web, "queue"},
      {"unwanted goes", kAssignedPodDelete, shunning(shuns_db, team_x), db, {}, "queue"},
      {"another goes", kAssignedPodDelete, shunning(shuns_db, team_y), db, {}, "skip"},
      {"it did not want the pod",
       kAssignedPodDelete,
       App("web"),
       Object(shunning(placed_shuns_web, team_y)),
       {},
       "queue"},
      {"it did not mind the pod",
       kAssignedPodDelete,
       App("web"),
       Object(shunning(placed_shuns_web, team_x)),
       {},
       "skip"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Hint(plugin, c.event, c.pod, c.before, c.after), c.want);
  }
}

TEST_F(InterPodAffinityHintsTest, NodesHelpByTheDomainsTheyComeIntoOrLeave) {
  const api::Pod wants = MakePod().PodAffinity("zone", {});
  const api::Pod shuns = MakePod().PodAntiAffinity("zone", {});
  const auto in = [](std::string_view zone) { return Object(MakeNode("n").Label("zone", zone)); };
  const api::ObjectPtr nowhere = Object(MakeNode("n"));
  const struct {
    const char* name;
    api::Pod pod;
    api::ObjectPtr before;
    api::ObjectPtr after;
    const char* want;
  } cases[] = {
      {"affinity: a new node with the key", wants, {}, in("a"), "queue"},
      {"affinity: a new node without it", wants, {}, nowhere, "skip"},
      {"affinity: the key appears", wants, nowhere, in("a"), "queue"},
      {"affinity: the key goes", wants, in("a"), nowhere, "skip"},
      {"affinity: another value", wants, in("a"), in("b"), "queue"},
      {"affinity: the same value", wants, in("a"), in("a"), "skip"},
      {"anti-affinity: a new node with the key", shuns, {}, in("a"), "queue"},
      {"anti-affinity: a new node without it", shuns, {}, nowhere, "queue"},
      {"anti-affinity: the key appears", shuns, nowhere, in("a"), "skip"},
      {"anti-affinity: the key goes", shuns, in("a"), nowhere, "queue"},
      {"anti-affinity: another value", shuns, in("a"), in("b"), "queue"},
      {"anti-affinity: the same value", shuns, in("a"), in("a"), "skip"},
      {"no terms: a new node", MakePod(), {}, in("a"), "skip"},
      {"no terms: the key goes", MakePod(), in("a"), nowhere, "skip"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const ClusterEvent event = c.before.index() == 0 ? kNodeAdd : kNodeLabel;
    EXPECT_EQ(Hint(plugin, event, c.pod, c.before, c.after), c.want);
  }
}

TEST_F(InterPodAffinityHintsTest, ItsOwnLabelsAlwaysHelpAndOtherEventsAreNotRegistered) {
  EXPECT_EQ(Hint(plugin, kTargetPodLabel, App("a"), Object(App("a")), Object(App("b"))), "queue");
  EXPECT_EQ(Hint(plugin, kTargetPodScaleDown, App("a"), Object(App("a")), Object(App("a"))), "");
  EXPECT_EQ(Hint(plugin, kAssignedPodScaleDown, App("a"), Object(App("a")), Object(App("a"))), "");
  EXPECT_EQ(Hint(plugin, kNodeTaint, App("a"), Object(MakeNode()), Object(MakeNode())), "");
}

TEST_F(InterPodAffinityHintsTest, RequiredTermsThatCannotBeReadAreAnError) {
  const api::LabelSelector bad{{}, {{"app", "Near", {}}}};
  api::Pod required = MakePod().PodAffinity("zone", {});
  required.spec.affinity->pod_affinity->required_during_scheduling_ignored_during_execution[0]
      .label_selector = bad;
  api::Pod anti = Placed("db").PodAntiAffinity("zone", {});
  anti.spec.affinity->pod_anti_affinity->required_during_scheduling_ignored_during_execution[0]
      .label_selector = bad;
  api::Pod preferred = MakePod().PodAffinity("zone", {}).PreferPodAffinity(1, "zone", {});
  preferred.spec.affinity->pod_affinity->preferred_during_scheduling_ignored_during_execution[0]
      .pod_affinity_term.label_selector = bad;

  EXPECT_EQ(Hint(plugin, kAssignedPodAdd, required, {}, Object(Placed("db"))), "error");
  EXPECT_EQ(Hint(plugin, kAssignedPodAdd, required, {}, Object(App("db"))), "skip");
  EXPECT_EQ(Hint(plugin, kNodeAdd, required, {}, Object(MakeNode())), "error");
  EXPECT_EQ(Hint(plugin, kAssignedPodDelete, MakePod(), Object(anti), {}), "error");
  EXPECT_EQ(Hint(plugin, kAssignedPodAdd, MakePod(), {}, Object(anti)), "skip");
  EXPECT_EQ(Hint(plugin, kAssignedPodAdd, preferred, {}, Object(Placed("db"))), "queue");
  EXPECT_EQ(Hint(plugin, kAssignedPodAdd, MakePod(), {}, Object(MakeNode())), "error");
}

}  // namespace
}  // namespace berth::plugins
