// SPDX-License-Identifier: Apache-2.0
// The plugins that kube-scheduler has no more, against tables worked out by hand from what their
// last release did. They are asked through the library in which they go with Berth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/in_tree_registry.h"
#include "plugins/legacy/args/legacy_args.h"
#include "src/cache/cache.h"
#include "tests/support/shipped.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kZone = "topology.kubernetes.io/zone";
constexpr std::string_view kRegion = "topology.kubernetes.io/region";

ConfigValue Texts(const std::vector<std::string>& texts) {
  ConfigValue::List items;
  for (const std::string& text : texts) items.emplace_back(text);
  return ConfigValue(std::move(items));
}

class LegacyPluginsTest : public testing::Test, public PluginFixture {
 public:
  void AddService(std::string_view name, LabelText selector) {
    api::Service service;
    service.metadata.namespace_ = "default";
    service.metadata.name = name;
    service.spec.selector = MakeLabels(selector);
    handle.plain_listers.Set(std::move(service));
  }

  // Scores of all nodes, normalised, with what PreScore prepares and without: both are the same.
  std::vector<int64_t> Normalised(Shipped& plugin, const api::Pod& pod,
                                  const PlainSnapshot& snapshot) {
    handle.current_snapshot = &snapshot;
    const PodInfoPtr info = Info(pod);
    CycleState prepared;
    EXPECT_TRUE(plugin.PreScore(prepared, *info, snapshot, snapshot.nodes()).ok());
    std::vector<NodeRow> rows;
    snapshot.nodes().ForEach([&](NodeRow row) { rows.push_back(row); });
    std::vector<int64_t> scores(rows.size());
    plugin.ScoreNodes(prepared, *info, snapshot, rows, scores);
    std::vector<int64_t> alone;
    for (const NodeRow row : rows) {
      alone.push_back(plugin.Score(CycleState(), *info, NodeView(snapshot, row)).score);
    }
    EXPECT_EQ(alone, scores);
    EXPECT_TRUE(plugin.NormalizeScore(prepared, *info, rows, scores).ok());
    return scores;
  }
};

TEST_F(LegacyPluginsTest, NodeLabelFiltersByWhichLabelsThereAre) {
  const Shipped plugin(
      "NodeLabel",
      Args({{"presentLabels", Texts({"rack", "zone"})}, {"absentLabels", Texts({"retiring"})}}),
      handle);
  const struct {
    const char* name;
    api::Node node;
    bool passes;
  } cases[] = {
      {"all there, whatever their value", MakeNode().Label("rack", "").Label("zone", "a"), true},
      {"one is missing", MakeNode().Label("rack", "1"), false},
      {"none there", MakeNode(), false},
      {"one too many",
       MakeNode().Label("rack", "1").Label("zone", "a").Label("retiring", "2020-01-01"), false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const PlainSnapshot snapshot = Cluster({c.node});
    const Status status = plugin.Filter(state, *Info(MakePod()), NodeView(snapshot, 0));
    EXPECT_EQ(status.code(), c.passes ? Code::kSuccess : Code::kUnschedulableAndUnresolvable);
    EXPECT_EQ(status.message(), c.passes ? "" : "node(s) didn't have the requested labels");
  }
}

TEST_F(LegacyPluginsTest, NodeLabelScoresTheShareOfItsPreferences) {
  const Shipped plugin("NodeLabel",
                       Args({{"presentLabelsPreference", Texts({"ssd", "fast"})},
                             {"absentLabelsPreference", Texts({"spot"})}}),
                       handle);
  const struct {
    api::Node node;
    int64_t want;
  } cases[] = {
      {MakeNode().Label("ssd", "").Label("fast", ""), 100},
      {MakeNode().Label("ssd", ""), 66},
      {MakeNode(), 33},
      {MakeNode().Label("spot", ""), 0},
      {MakeNode().Label("spot", "").Label("fast", "no"), 33},
  };
  for (const auto& c : cases) {
    const PlainSnapshot snapshot = Cluster({c.node});
    EXPECT_EQ(plugin.Score(state, *Info(MakePod()), NodeView(snapshot, 0)).score, c.want);
  }
  const PlainSnapshot snapshot = Cluster({MakeNode()});
  EXPECT_EQ(
      Shipped("NodeLabel", handle).Score(state, *Info(MakePod()), NodeView(snapshot, 0)).score, 0);
}

TEST_F(LegacyPluginsTest, NodeLabelQueuesWhenANodeBeginsToPass) {
  const Shipped plugin("NodeLabel", Args({{"presentLabels", Texts({"rack"})}}), handle);
  const api::ObjectPtr without = Object(MakeNode().Obj());
  const api::ObjectPtr with = Object(MakeNode().Label("rack", "1").Obj());
  EXPECT_EQ(Hint(plugin, kNodeAdd, MakePod(), {}, with), "queue");
  EXPECT_EQ(Hint(plugin, kNodeAdd, MakePod(), {}, without), "skip");
  EXPECT_EQ(Hint(plugin, kNodeLabel, MakePod(), without, with), "queue");
  EXPECT_EQ(Hint(plugin, kNodeLabel, MakePod(), with, with), "skip");
  EXPECT_EQ(Hint(plugin, kNodeLabel, MakePod(), with, without), "skip");
  EXPECT_EQ(Hint(plugin, kNodeTaint, MakePod(), without, with), "");
  // There is no such event; better once too often.
  EXPECT_EQ(Hint(plugin, kNodeAdd, MakePod(), {}, Object(MakePod().Obj())), "queue");
}

TEST_F(LegacyPluginsTest, NodePreferAvoidPodsScoresNoughtWhereTheControllerIsNamed) {
  const Shipped plugin("NodePreferAvoidPods", handle);
  constexpr const char* kAnnotation = "scheduler.alpha.kubernetes.io/preferAvoidPods";
  const std::string avoided = R"({"preferAvoidPods": [
      {"podSignature": {"podController": {"apiVersion": "v1", "kind": "ReplicaSet", "uid": "u-1"}},
       "evictionTime": null, "reason": "some \"reason\"", "weight": -1.5e3}]})";
  const std::string end = avoided.substr(1);
  const auto nested = [&](size_t lists) {
    return R"({"reason": )" + std::string(lists, '[') + std::string(lists, ']') + "," + end;
  };
  const auto owned = [](const char* kind, const char* uid) {
    return MakePod().Owner(kind, "web", uid).Obj();
  };
  const struct {
    const char* name;
    std::string annotation;
    api::Pod pod;
    int64_t want;
  } cases[] = {
      {"named", avoided, owned("ReplicaSet", "u-1"), 0},
      {"another uid", avoided, owned("ReplicaSet", "u-2"), 100},
      {"another kind", avoided, owned("ReplicationController", "u-1"), 100},
      {"kinds that are never avoided", R"({"preferAvoidPods": [
         {"podSignature": {"podController": {"kind": "StatefulSet", "uid": "u-1"}}}]})",
       owned("StatefulSet", "u-1"), 100},
      {"no controller", avoided, MakePod(), 100},
      {"the second entry", R"({"preferAvoidPods": [null, {},
         {"podSignature": {"podController": {"kind": "ReplicationController", "uid": "r"}}}]})",
       owned("ReplicationController", "r"), 0},
      {"names in another case", R"({"PreferAvoidPods": [
         {"podsignature": {"podController": {"Kind": "ReplicaSet", "UID": "u-1"}}}]})",
       owned("ReplicaSet", "u-1"), 0},
      {"no JSON", "{", owned("ReplicaSet", "u-1"), 100},
      {"something after JSON", avoided + "1", owned("ReplicaSet", "u-1"), 100},
      {"half a character", R"({"reason": "\ud83d",)" + end, owned("ReplicaSet", "u-1"), 100},
      {"a list", "[]", owned("ReplicaSet", "u-1"), 100},
      {"64 deep", nested(64), owned("ReplicaSet", "u-1"), 0},
      {"65 deep", nested(65), owned("ReplicaSet", "u-1"), 100},
      {"far too deep", nested(100'000), owned("ReplicaSet", "u-1"), 100},
      {"the last of a name counts", R"({"PreferAvoidPods": [],)" + end, owned("ReplicaSet", "u-1"),
       0},
      {"null at last", avoided.substr(0, avoided.size() - 1) + R"(,"preferavoidpods": null})",
       owned("ReplicaSet", "u-1"), 100},
      {"a uid that is no text", R"({"preferAvoidPods": [
         {"podSignature": {"podController": {"kind": "ReplicaSet", "uid": "u-1"}}},
         {"podSignature": {"podController": {"kind": "ReplicaSet", "uid": 1}}}]})",
       owned("ReplicaSet", "u-1"), 100},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const PlainSnapshot snapshot = Cluster({MakeNode().Annotation(kAnnotation, c.annotation)});
    EXPECT_EQ(plugin.Score(state, *Info(c.pod), NodeView(snapshot, 0)).score, c.want);
  }
  const PlainSnapshot snapshot = Cluster({MakeNode()});
  EXPECT_EQ(plugin.Score(state, *Info(owned("ReplicaSet", "u-1")), NodeView(snapshot, 0)).score,
            100);
}

// A pod of 500m and 1Gi on a node of which 1 cpu and 2Gi are used.
TEST_F(LegacyPluginsTest, ResourceScoresAreThoseOfTheWorkedExamples) {
  const api::Pod pod = MakePod().Req({{"cpu", "500m"}, {"memory", "1Gi"}});
  const std::vector<api::Pod> placed = {
      MakePod().Name("placed").OnNode("n").Req({{"cpu", "1"}, {"memory", "2Gi"}})};
  const auto point = [](int64_t utilization, int64_t score) {
    return Args({{"utilization", Item(utilization)}, {"score", Item(score)}});
  };
  const auto resource = [](const char* name, int64_t weight) {
    return Args({{"name", Item(name)}, {"weight", Item(weight)}});
  };
  const ConfigValue ratio = Args({{"shape", Items({point(0, 0), point(100, 10)})}});
  const ConfigValue weighted =
      Args({{"resources", Items({resource("cpu", 3), resource("memory", 1)})}});
  const Shipped least("NodeResourcesLeastAllocated", handle);
  const Shipped least_weighted("NodeResourcesLeastAllocated", weighted, handle);
  const Shipped most("NodeResourcesMostAllocated", handle);
  const Shipped emptier("RequestedToCapacityRatio", handle);
  const Shipped fuller("RequestedToCapacityRatio", ratio, handle);
  const struct {
    const char* name;
    const Shipped* plugin;
    ResourceText allocatable;
    int64_t want;
  } cases[] = {
      // 1500m of 4 are 37 %, 3Gi of 8 are 37 %.
      {"least", &least, {{"cpu", "4"}, {"memory", "8Gi"}}, 62},
      {"most", &most, {{"cpu", "4"}, {"memory", "8Gi"}}, 37},
      {"ratio, the emptier the better", &emptier, {{"cpu", "4"}, {"memory", "8Gi"}}, 63},
      {"ratio, the fuller the better", &fuller, {{"cpu", "4"}, {"memory", "8Gi"}}, 37},
      // 1500m of 2 are 75 %: 25; 3Gi of 12 are 25 %: 75.
      {"least, cpu and memory apart", &least, {{"cpu", "2"}, {"memory", "12Gi"}}, 50},
      {"least, cpu three times", &least_weighted, {{"cpu", "2"}, {"memory", "12Gi"}}, 37},
      // More than there is: nothing is free, all is used.
      {"least, too much", &least, {{"cpu", "1"}, {"memory", "12Gi"}}, 37},
      {"most, too much", &most, {{"cpu", "1"}, {"memory", "12Gi"}}, 62},
      {"fuller, too much", &fuller, {{"cpu", "1"}, {"memory", "12Gi"}}, 63},
      // What a node has nothing of does not count.
      {"least, memory only", &least, {{"memory", "12Gi"}}, 75},
      {"least, nothing", &least, {}, 0},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const PlainSnapshot snapshot = Cluster({MakeNode("n").Allocatable(c.allocatable)}, placed);
    EXPECT_EQ(c.plugin->Score(state, *Info(pod), NodeView(snapshot, 0)).score, c.want);
  }
}

TEST_F(LegacyPluginsTest, SelectorSpreadPrefersNodesAndZonesWithFewPodsAlike) {
  Shipped plugin("SelectorSpread", handle);
  AddService("web", {{"app", "web"}});
  const auto web = [](const char* name, const char* node) {
    return MakePod().Name(name).Label("app", "web").OnNode(node);
  };
  const api::Pod pod = MakePod().Label("app", "web");
  const std::vector<api::Pod> placed = {web("a1", "a"),
                                        web("a2", "a"),
                                        web("b1", "b"),
                                        web("d1", "d"),
                                        web("going", "c").DeletedAt(Time(std::chrono::seconds(1))),
                                        web("elsewhere", "c").Namespace("other"),
                                        MakePod().Name("db").Label("app", "db").OnNode("c")};

  // Without zones: 100 * (2 - count) / 2.
  EXPECT_THAT(
      Normalised(plugin, pod, Cluster({MakeNode("a"), MakeNode("b"), MakeNode("c")}, placed)),
      ElementsAre(0, 50, 100));
  // East has 3 of them, west none: a third of the above, and two thirds of 0 or 100; d is in no
  // zone.
  const PlainSnapshot zones =
      Cluster({MakeNode("a").Label(kZone, "east"), MakeNode("b").Label(kZone, "east"),
               MakeNode("c").Label(kZone, "west"), MakeNode("d")},
              placed);
  EXPECT_THAT(Normalised(plugin, pod, zones), ElementsAre(0, 16, 100, 50));
  // Zones of one name in two regions are two; the beta labels go before the others.
  const PlainSnapshot regions =
      Cluster({MakeNode("a").Label(kZone, "1").Label(kRegion, "eu"),
               MakeNode("b").Label(kZone, "1").Label(kRegion, "us"),
               MakeNode("c")
                   .Label("failure-domain.beta.kubernetes.io/zone", "1")
                   .Label("failure-domain.beta.kubernetes.io/region", "us")
                   .Label(kRegion, "eu")},
              placed);
  // us has 1 of at most 2: 100/3 * 1/2 + 200/3 * 1/2 = 50 on b, 100/3 + 200/3 * 1/2 = 66 on c.
  EXPECT_THAT(Normalised(plugin, pod, regions), ElementsAre(0, 50, 66));
  // No pod alike: all nodes are as good.
  EXPECT_THAT(Normalised(plugin, pod, Cluster({MakeNode("x"), MakeNode("y").Label(kZone, "east")})),
              ElementsAre(100, 100));
  // Nothing selects the pod.
  EXPECT_THAT(Normalised(plugin, MakePod().Label("app", "job"),
                         Cluster({MakeNode("a"), MakeNode("b")}, placed)),
              ElementsAre(100, 100));
}

TEST_F(LegacyPluginsTest, SelectorSpreadSkipsPodsWithConstraintsOfTheirOwn) {
  Shipped plugin("SelectorSpread", handle);
  const PlainSnapshot snapshot = Cluster({MakeNode("a")});
  const PodInfoPtr pod = Info(MakePod().Spread(1, kZone, "ScheduleAnyway", {{"app", "web"}}));
  EXPECT_TRUE(plugin.PreScore(state, *pod, snapshot, snapshot.nodes()).skip());
}

class ServiceAffinityTest : public LegacyPluginsTest {
 public:
  ServiceAffinityTest() {
    AddService("web", {{"app", "web"}});
    args_.affinity_labels = {"region", "rack"};
  }
  static PodBuilder Web(const char* name) {
    return MakePod().Name(name).Label("app", "web").Label("tier", "front");
  }
  static std::vector<api::Node> Nodes() {
    return {MakeNode("east-1").Label("region", "east").Label("rack", "1"),
            MakeNode("east-2").Label("region", "east").Label("rack", "2"),
            MakeNode("west").Label("region", "west"), MakeNode("plain")};
  }
  // The names of the nodes that pass.
  std::vector<std::string> Passing(const api::Pod& pod, const std::vector<api::Pod>& placed) {
    Shipped plugin("ServiceAffinity", args(), handle);
    const PlainSnapshot snapshot = Cluster(Nodes(), placed);
    const PodInfoPtr info = Info(pod);
    CycleState cycle;
    EXPECT_TRUE(plugin.PreFilter(cycle, *info, snapshot).status.ok());
    std::vector<std::string> passing;
    for (NodeRow row = 0; row < snapshot.num_rows(); ++row) {
      const Status status = plugin.Filter(cycle, *info, NodeView(snapshot, row));
      if (status.ok()) {
        passing.push_back(snapshot.node(row).metadata.name);
      } else {
        EXPECT_EQ(status.code(), Code::kUnschedulable);
        EXPECT_EQ(status.message(), "node(s) didn't match service affinity");
      }
    }
    return passing;
  }

  ConfigValue args() const {
    return Args({{"affinityLabels", Texts(args_.affinity_labels)},
                 {"antiAffinityLabelsPreference", Texts(args_.anti_affinity_labels_preference)}});
  }

  ServiceAffinityArgs args_;
};

TEST_F(ServiceAffinityTest, PodsOfAServiceStayWhereTheFirstIs) {
  // The first pod, and one of no service, may go anywhere.
  EXPECT_THAT(Passing(Web("new"), {}), ElementsAre("east-1", "east-2", "west", "plain"));
  EXPECT_THAT(Passing(MakePod().Label("app", "job"),
                      {MakePod().Name("job").Label("app", "job").OnNode("west")}),
              ElementsAre("east-1", "east-2", "west", "plain"));
  EXPECT_THAT(Passing(Web("new"), {Web("a").OnNode("east-2")}), ElementsAre("east-2"));
  // The node of the first pod lacks a label: then that label does not matter.
  EXPECT_THAT(Passing(Web("new"), {Web("a").OnNode("west")}), ElementsAre("west"));
  EXPECT_THAT(Passing(Web("new"), {Web("a").OnNode("plain")}),
              ElementsAre("east-1", "east-2", "west", "plain"));
  // Pods that lack one of the pod's labels, or live elsewhere, are not alike.
  EXPECT_THAT(
      Passing(Web("new"), {MakePod().Name("a").Label("app", "web").OnNode("west"),
                           Web("b").Namespace("other").OnNode("west"), Web("c").OnNode("east-1")}),
      ElementsAre("east-1"));
}

TEST_F(ServiceAffinityTest, TheNodeSelectorOfThePodWins) {
  EXPECT_THAT(Passing(Web("new").NodeSelector("region", "east"), {}),
              ElementsAre("east-1", "east-2"));
  EXPECT_THAT(Passing(Web("new").NodeSelector("rack", "1"), {Web("a").OnNode("east-2")}),
              ElementsAre("east-1"));
  EXPECT_THAT(Passing(MakePod().NodeSelector("region", "west").NodeSelector("rack", "1"), {}),
              ElementsAre());
}

TEST_F(ServiceAffinityTest, ImaginedPodsCount) {
  Shipped plugin("ServiceAffinity", args(), handle);
  const PlainSnapshot snapshot = Cluster(Nodes(), {Web("first").OnNode("east-1")});
  const PodInfoPtr pod = Info(Web("new"));
  ASSERT_TRUE(plugin.PreFilter(state, *pod, snapshot).status.ok());
  const NodeView west = snapshot.view("west");
  const auto passes = [&] { return plugin.Filter(state, *pod, west).ok(); };
  EXPECT_FALSE(passes());
  EXPECT_TRUE(plugin.RemovePod(state, *pod, snapshot.pod("first"), snapshot.view("east-1")).ok());
  EXPECT_TRUE(passes());
  EXPECT_TRUE(plugin.AddPod(state, *pod, snapshot.pod("first"), west).ok());
  EXPECT_TRUE(passes());
  EXPECT_FALSE(plugin.Filter(state, *pod, snapshot.view("east-1")).ok());
}

TEST_F(ServiceAffinityTest, WithoutLabelsEveryPodIsSkipped) {
  Shipped plugin("ServiceAffinity", handle);
  EXPECT_TRUE(plugin.PreFilter(state, *Info(Web("new")), Cluster(Nodes())).status.skip());
  EXPECT_THAT(plugin.EventsToRegister(), testing::IsEmpty());
}

TEST_F(ServiceAffinityTest, ScoresSpreadTheServiceOverLabelValues) {
  args_.anti_affinity_labels_preference = {"region"};
  Shipped one("ServiceAffinity", args(), handle);
  const std::vector<api::Pod> placed = {
      Web("a").OnNode("east-1"), Web("b").OnNode("east-1"), Web("c").OnNode("east-2"),
      Web("d").OnNode("west"), Web("e").OnNode("west").DeletedAt(Time(std::chrono::seconds(1)))};
  const PlainSnapshot snapshot = Cluster(Nodes(), placed);
  // 3 of 4 are in the east, 1 is in the west.
  EXPECT_THAT(Normalised(one, Web("new"), snapshot), ElementsAre(25, 25, 75, 0));
  args_.anti_affinity_labels_preference = {"region", "rack"};
  Shipped two("ServiceAffinity", args(), handle);
  // Rack 1 has 2, rack 2 has 1: (25 + 50) / 2, (25 + 75) / 2, (75 + 0) / 2.
  EXPECT_THAT(Normalised(two, Web("new"), snapshot), ElementsAre(37, 50, 37, 0));
  // No pod of the service, and no service.
  EXPECT_THAT(Normalised(one, Web("new"), Cluster(Nodes())), ElementsAre(100, 100, 100, 0));
  EXPECT_THAT(Normalised(one, MakePod().Label("app", "job"), snapshot),
              ElementsAre(100, 100, 100, 0));
}

TEST_F(ServiceAffinityTest, QueuesOnPodsAlikeAndOnNodes) {
  const Shipped plugin("ServiceAffinity", args(), handle);
  const api::ObjectPtr alike = Object(Web("a").OnNode("west").Obj());
  const api::ObjectPtr other = Object(MakePod().Name("a").Label("app", "web").Obj());
  EXPECT_EQ(Hint(plugin, kAssignedPodDelete, Web("new"), alike, {}), "queue");
  EXPECT_EQ(Hint(plugin, kAssignedPodDelete, Web("new"), other, {}), "skip");
  const ClusterEvent label{EventResource::kAssignedPod, action::kUpdatePodLabel};
  EXPECT_EQ(Hint(plugin, label, Web("new"), alike, other), "queue");
  EXPECT_EQ(Hint(plugin, kNodeLabel, Web("new"), {}, Object(MakeNode().Obj())), "queue");
  EXPECT_EQ(Hint(plugin, kNodeTaint, Web("new"), {}, Object(MakeNode().Obj())), "");
}

TEST(LegacyArgsTest, AreReadStrictly) {
  const auto error = [](const auto& result) {
    return result ? std::string("none") : result.error().message;
  };
  const ConfigValue both = Args({{"presentLabels", Items({Item("a"), Item("b")})},
                                 {"absentLabels", Items({Item("b")})},
                                 {"presentLabelsPreference", Items({Item("c")})},
                                 {"absentLabelsPreference", Items({Item("d"), Item("c")})}});
  EXPECT_EQ(error(kNodeLabelArgs.parse(both)),
            "[presentLabels[1]: Invalid value: \"b\": conflict with absentLabels[0], "
            "presentLabelsPreference[0]: Invalid value: \"c\": conflict with "
            "absentLabelsPreference[1]]");
  EXPECT_THAT(error(kNodeLabelArgs.parse(Args({{"labels", Items({})}}))), HasSubstr("labels"));
  EXPECT_THAT(error(kNodeLabelArgs.parse(Args({{"kind", Item("NodeAffinityArgs")}}))),
              HasSubstr("NodeLabelArgs"));
  EXPECT_THAT(error(kServiceAffinityArgs.parse(Args({{"affinityLabels", Item(1)}}))),
              HasSubstr("affinityLabels"));

  const auto weight = [](int64_t value) {
    return Args({{"resources", Items({Args({{"name", Item("cpu")}, {"weight", Item(value)}})})}});
  };
  EXPECT_EQ(
      error(kNodeResourcesLeastAllocatedArgs.parse(weight(101))),
      "resources[0].weight: Invalid value: 101: resource weight of cpu not in valid range (0, "
      "100]");
  EXPECT_EQ(error(kNodeResourcesMostAllocatedArgs.parse(weight(-1))),
            "resources[0].weight: Invalid value: -1: resource weight of cpu not in valid range (0, "
            "100]");
  EXPECT_EQ(error(kRequestedToCapacityRatioArgs.parse(weight(101))), "none");
  EXPECT_EQ(error(kRequestedToCapacityRatioArgs.parse(weight(-1))),
            "resources[0].weight: Invalid value: -1: resource weight of cpu not in valid range [1, "
            "inf)");
  EXPECT_EQ(error(kRequestedToCapacityRatioArgs.parse(Args({{"shape", Items({})}}))),
            "shape: Required value: at least one point must be specified");
  EXPECT_THAT(error(kNodeResourcesLeastAllocatedArgs.parse(Args({{"shape", Items({})}}))),
              HasSubstr("shape"));
}

TEST_F(ServiceAffinityTest, DetachedCountsChangeNoMore) {
  args_.affinity_labels = {"region"};
  Shipped plugin("ServiceAffinity", args(), handle);
  cache::Cache cluster;
  for (const api::Node& node : Nodes()) cluster.SetNode(std::make_shared<const api::Node>(node));
  const auto add = [&](const char* name, const char* node) {
    const api::Pod pod = Web(name).Uid(name).OnNode(node);
    ASSERT_TRUE(cluster.AddPod(cluster.MakePodInfo(std::make_shared<const api::Pod>(pod))));
  };
  add("first", "west");
  const PodInfoPtr pod = Info(Web("new"));
  CycleState attached;
  ASSERT_TRUE(plugin.PreFilter(attached, *pod, cluster).status.ok());
  ASSERT_TRUE(plugin.PreFilter(state, *pod, cluster).status.ok());
  plugin.Detach(state);
  ASSERT_TRUE(cluster.RemovePod("first"));
  add("second", "east-1");
  const auto passes = [&](const CycleState& by, std::string_view node) {
    return plugin.Filter(by, *pod, NodeView(cluster, cluster.FindNode(node))).ok();
  };
  EXPECT_TRUE(passes(attached, "east-1"));
  EXPECT_FALSE(passes(attached, "west"));
  EXPECT_FALSE(passes(state, "east-1"));
  EXPECT_TRUE(passes(state, "west"));
}

TEST_F(ServiceAffinityTest, FilterWithoutPreFilterIsAnError) {
  args_.affinity_labels = {"region"};
  const Shipped plugin("ServiceAffinity", args(), handle);
  EXPECT_EQ(plugin.plugin().filter_without_pre_filter,
            "error reading \"PreFilterServiceAffinity\" from cycleState: not found");
}

TEST_F(ServiceAffinityTest, ItsArgsAreRefusedBeforeTheLibraryHasThem) {
  const auto made = TryMakeShipped("ServiceAffinity", Args({{"affinityLabels", Item(1)}}), handle);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("affinityLabels"));
}

// What is kept of their answers goes by it. It passes through numbers of the C interface.
TEST_F(LegacyPluginsTest, TheySayWhatTheyRead) {
  const struct {
    const char* name;
    PodParts pod;
    std::vector<Reach> reach;
  } cases[] = {
      {"NodeLabel", 0, {Reach::kNode}},
      {"NodePreferAvoidPods", pod_part::kOwner, {Reach::kNode}},
      {"NodeResourcesLeastAllocated", pod_part::kRequests, {Reach::kNode, Reach::kUsage}},
      {"NodeResourcesMostAllocated", pod_part::kRequests, {Reach::kNode, Reach::kUsage}},
      {"RequestedToCapacityRatio", pod_part::kRequests, {Reach::kNode, Reach::kUsage}},
      {"SelectorSpread",
       pod_part::kTopologySpread | pod_part::kNamespace | pod_part::kTestedLabels |
           pod_part::kOwner,
       {Reach::kUsage, Reach::kOtherObjects}},
      {"ServiceAffinity",
       pod_part::kNodeAffinity | pod_part::kNamespace | pod_part::kLabels,
       {Reach::kNode, Reach::kCluster, Reach::kOtherObjects}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const Shipped plugin(c.name, handle);
    const Inputs& inputs = plugin.plugin().inputs;
    EXPECT_TRUE(inputs.declared);
    EXPECT_FALSE(inputs.each_pod);
    EXPECT_EQ(inputs.pod, c.pod);
    std::vector<Reach> reach;
    for (const Input& input : inputs.inputs) reach.push_back(input.reach);
    EXPECT_EQ(reach, c.reach);
  }
  for (const char* name : {"EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits"}) {
    const Shipped plugin(name, handle);
    const Inputs& inputs = plugin.plugin().inputs;
    EXPECT_TRUE(inputs.each_pod && !inputs.declared) << name;
  }
}

TEST(LegacyArgsTest, NoShippedPluginIsADefaultOrBuiltIn) {
  const std::vector<ShippedPlugin> shipped = ShippedPlugins();
  EXPECT_EQ(shipped.size(), 11u);
  for (const ShippedPlugin& plugin : shipped) {
    for (const DefaultPlugin& other : DefaultMultiPoint()) EXPECT_NE(other.name, plugin.name);
    for (const PluginRegistration& other : InTreeRegistry()) EXPECT_NE(other.name, plugin.name);
  }
}

}  // namespace
}  // namespace berth::plugins
