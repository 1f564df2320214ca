// SPDX-License-Identifier: Apache-2.0
// Where PodTopologySpread's constraints come from: its args, and what selects the pod.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/default_selector.h"
#include "plugins/pod_topology_spread/args.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

ConfigValue Constraint(ConfigValue::Map fields) { return Args(std::move(fields)); }

ConfigValue ZoneConstraint(const char* action = "DoNotSchedule") {
  return Constraint(
      {{"maxSkew", Item(1)}, {"topologyKey", Item("zone")}, {"whenUnsatisfiable", Item(action)}});
}

ConfigValue ListArgs(ConfigValue::List constraints) {
  return Args(
      {{"defaultingType", Item("List")}, {"defaultConstraints", Items(std::move(constraints))}});
}

TEST(PodTopologySpreadArgsTest, DefaultIsTheSystemsDefaulting) {
  for (const ConfigValue& args : {ConfigValue(), Args({{"defaultingType", Item("")}}),
                                  Args({{"defaultingType", Item("System")}})}) {
    SCOPED_TRACE(args.ToJson());
    const auto parsed = kPodTopologySpreadArgs.parse(args);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_TRUE(parsed->system_defaulting);
    EXPECT_TRUE(parsed->default_constraints.empty());
  }
}

TEST(PodTopologySpreadArgsTest, ReadsEveryFieldOfAConstraint) {
  const auto parsed = kPodTopologySpreadArgs.parse(
      ListArgs({ZoneConstraint("ScheduleAnyway"),
                Constraint({{"maxSkew", Item(2)},
                            {"topologyKey", Item("example.com/rack")},
                            {"whenUnsatisfiable", Item("DoNotSchedule")},
                            {"minDomains", Item(3)},
                            {"nodeAffinityPolicy", Item("Ignore")},
                            {"nodeTaintsPolicy", Item("Honor")},
                            {"matchLabelKeys", Items({Item("version")})}})}));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_FALSE(parsed->system_defaulting);
  ASSERT_EQ(parsed->default_constraints.size(), 2u);
  const api::TopologySpreadConstraint& zone = parsed->default_constraints[0];
  EXPECT_EQ(zone.topology_key, "zone");
  EXPECT_EQ(zone.when_unsatisfiable, "ScheduleAnyway");
  EXPECT_EQ(zone.min_domains, std::nullopt);
  EXPECT_EQ(zone.node_affinity_policy, std::nullopt);
  EXPECT_EQ(zone.node_taints_policy, std::nullopt);
  EXPECT_EQ(zone.label_selector, std::nullopt);
  const api::TopologySpreadConstraint& rack = parsed->default_constraints[1];
  EXPECT_EQ(rack.max_skew, 2);
  EXPECT_EQ(rack.topology_key, "example.com/rack");
  EXPECT_EQ(rack.when_unsatisfiable, "DoNotSchedule");
  EXPECT_EQ(rack.min_domains, 3);
  EXPECT_EQ(rack.node_affinity_policy, "Ignore");
  EXPECT_EQ(rack.node_taints_policy, "Honor");
  EXPECT_EQ(rack.match_label_keys, std::vector<std::string>{"version"});
}

TEST(PodTopologySpreadArgsTest, ProblemsNameTheirField) {
  const struct {
    const char* name;
    ConfigValue args;
    const char* want;
  } cases[] = {
      {"unknown type", Args({{"defaultingType", Item("Cloud")}}),
       "defaultingType: Unsupported value: \"Cloud\": supported values: \"System\", \"List\""},
      {"constraints beside System", Args({{"defaultConstraints", Items({ZoneConstraint()})}}),
       "defaultingType: Invalid value: \"System\": when .defaultConstraints are not empty"},
      {"nothing set", ListArgs({Constraint({})}),
       "[defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf), "
       "defaultConstraints[0].topologyKey: Required value: can not be empty, "
       "defaultConstraints[0].whenUnsatisfiable: Required value: can not be empty]"},
      {"negative skew",
       ListArgs({Constraint({{"maxSkew", Item(-1)},
                             {"topologyKey", Item("zone")},
                             {"whenUnsatisfiable", Item("DoNotSchedule")}})}),
       "defaultConstraints[0].maxSkew: Invalid value: -1: not in valid range (0, inf)"},
      {"bad key",
       ListArgs({Constraint({{"maxSkew", Item(1)},
                             {"topologyKey", Item("a b")},
                             {"whenUnsatisfiable", Item("DoNotSchedule")}})}),
       "defaultConstraints[0].topologyKey: Invalid value: \"a b\": name part must consist of "
       "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
       "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
       "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"},
      {"unknown action", ListArgs({ZoneConstraint("Later")}),
       "defaultConstraints[0].whenUnsatisfiable: Unsupported value: \"Later\": supported values: "
       "\"DoNotSchedule\", \"ScheduleAnyway\""},
      {"a selector",
       ListArgs({Constraint({{"maxSkew", Item(1)},
                             {"topologyKey", Item("zone")},
                             {"whenUnsatisfiable", Item("DoNotSchedule")},
                             {"labelSelector", Args({})}})}),
       "defaultConstraints[0].labelSelector: Forbidden: constraint must not define a selector, as "
       "they deduced for each pod"},
      {"twice", ListArgs({ZoneConstraint(), ZoneConstraint("ScheduleAnyway"), ZoneConstraint()}),
       "defaultConstraints[2]: Duplicate value: \"{zone, DoNotSchedule}\""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto parsed = kPodTopologySpreadArgs.parse(c.args);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().message, c.want);
  }
}

TEST(PodTopologySpreadArgsTest, FieldsThatDoNotExistAndOtherTypesAreErrors) {
  for (const ConfigValue& args :
       {Args({{"defaults", Item("List")}}), Args({{"defaultingType", Item(1)}}),
        Args({{"kind", Item("NodeAffinityArgs")}}), ListArgs({Constraint({{"skew", Item(1)}})})}) {
    SCOPED_TRACE(args.ToJson());
    EXPECT_FALSE(kPodTopologySpreadArgs.parse(args));
  }
}

class DefaultSelectorTest : public testing::Test {
 public:
  template <typename T>
  static T Object(std::string_view name) {
    T object;
    object.metadata.name = name;
    object.metadata.namespace_ = "default";
    return object;
  }
  void AddService(std::string_view name, LabelText selector) {
    auto service = Object<api::Service>(name);
    service.spec.selector = MakeLabels(selector);
    listers.Set(std::move(service));
  }
  // A ReplicaSet or StatefulSet.
  template <typename T>
  void AddSet(std::optional<api::LabelSelector> selector) {
    auto set = Object<T>("owner");
    set.spec.selector = std::move(selector);
    listers.Set(std::move(set));
  }

  static api::Pod Owned(const char* api_version, const char* kind, bool controller = true) {
    api::Pod pod = MakePod().Label("app", "web").Label("tier", "front");
    api::OwnerReference other;
    other.api_version = "apps/v1";
    other.kind = "ReplicaSet";
    other.name = "other";
    pod.metadata.owner_references = {other, {api_version, kind, "owner", "uid", controller}};
    return pod;
  }

  static LabelSelectorMatcher Labels(LabelText labels) {
    return LabelSelectorMatcher::OfLabels(MakeLabels(labels));
  }

  PlainListers listers;
};

TEST_F(DefaultSelectorTest, NothingThatSelectsThePodSelectsEverything) {
  EXPECT_TRUE(DefaultSelector(Owned("apps/v1", "ReplicaSet"), listers).everything());
  AddService("headless", {});
  AddService("other", {{"app", "db"}});
  AddService("half", {{"app", "web"}, {"tier", "back"}});
  auto elsewhere = Object<api::Service>("elsewhere");
  elsewhere.metadata.namespace_ = "other";
  elsewhere.spec.selector = MakeLabels({{"app", "web"}});
  listers.Set(elsewhere);
  EXPECT_TRUE(DefaultSelector(Owned("apps/v1", "ReplicaSet"), listers).everything());
}

TEST_F(DefaultSelectorTest, WhatAllServicesOfThePodSelectIsDemanded) {
  const api::Pod pod = MakePod().Label("app", "web").Label("tier", "front").Label("x", "y");
  AddService("a", {{"app", "web"}});
  EXPECT_EQ(DefaultSelector(pod, listers), Labels({{"app", "web"}}));
  AddService("b", {{"app", "web"}, {"tier", "front"}});
  EXPECT_EQ(DefaultSelector(pod, listers), Labels({{"app", "web"}, {"tier", "front"}}));
}

TEST_F(DefaultSelectorTest, TheControllersSelectorIsAdded) {
  AddService("web", {{"app", "web"}});
  auto rc = Object<api::ReplicationController>("owner");
  rc.spec.selector = MakeLabels({{"rc", "1"}});
  listers.Set(rc);
  AddSet<api::ReplicaSet>(MakeSelector({{"rs", "1"}}));
  AddSet<api::StatefulSet>(MakeSelector({{"ss", "1"}}));
  auto other = Object<api::ReplicaSet>("other");
  other.spec.selector = MakeSelector({{"other", "1"}});
  listers.Set(other);
  const struct {
    const char* name;
    api::Pod pod;
    LabelSelectorMatcher want;
  } cases[] = {
      {"replication controller", Owned("v1", "ReplicationController"),
       Labels({{"app", "web"}, {"rc", "1"}})},
      {"replica set", Owned("apps/v1", "ReplicaSet"), Labels({{"app", "web"}, {"rs", "1"}})},
      {"stateful set", Owned("apps/v1", "StatefulSet"), Labels({{"app", "web"}, {"ss", "1"}})},
      {"another version", Owned("apps/v1beta1", "ReplicaSet"), Labels({{"app", "web"}})},
      {"another group", Owned("apps/v1", "ReplicationController"), Labels({{"app", "web"}})},
      {"another kind", Owned("batch/v1", "Job"), Labels({{"app", "web"}})},
      {"an owner that does not control", Owned("apps/v1", "ReplicaSet", false),
       Labels({{"app", "web"}})},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(DefaultSelector(c.pod, listers), c.want);
  }
}

TEST_F(DefaultSelectorTest, AReplicationControllerReplacesAServicesValueAndASetContradictsIt) {
  AddService("web", {{"app", "web"}});
  auto rc = Object<api::ReplicationController>("owner");
  rc.spec.selector = MakeLabels({{"app", "api"}});
  listers.Set(rc);
  EXPECT_EQ(DefaultSelector(Owned("v1", "ReplicationController"), listers),
            Labels({{"app", "api"}}));
  AddSet<api::ReplicaSet>(MakeSelector({{"app", "api"}}));
  const auto both = DefaultSelector(Owned("apps/v1", "ReplicaSet"), listers);
  EXPECT_FALSE(both.Matches(MakeLabels({{"app", "api"}})));
  EXPECT_FALSE(both.Matches(MakeLabels({{"app", "web"}})));
}

TEST_F(DefaultSelectorTest, SelectorsThatSelectNothingOrCannotBeParsedDemandNothing) {
  AddService("web", {{"app", "web"}});
  AddSet<api::ReplicaSet>(std::nullopt);
  EXPECT_EQ(DefaultSelector(Owned("apps/v1", "ReplicaSet"), listers), Labels({{"app", "web"}}));
  api::LabelSelector broken;
  broken.match_expressions = {{"app", "Is", {"web"}}};
  AddSet<api::ReplicaSet>(broken);
  EXPECT_EQ(DefaultSelector(Owned("apps/v1", "ReplicaSet"), listers), Labels({{"app", "web"}}));
  api::LabelSelector expressions;
  expressions.match_expressions = {{"tier", "Exists", {}}};
  AddSet<api::StatefulSet>(expressions);
  LabelSelectorMatcher want = Labels({{"app", "web"}});
  want.Require(*LabelSelectorMatcher::Make(expressions));
  EXPECT_EQ(DefaultSelector(Owned("apps/v1", "StatefulSet"), listers), want);
}

}  // namespace
}  // namespace berth::plugins
