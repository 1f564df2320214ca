// SPDX-License-Identifier: Apache-2.0
#include "src/questions/what_if.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "src/questions/difference.h"
#include "src/questions/replicas.h"
#include "tests/support/volume_builders.h"
#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::questions {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class WhatIfTest : public test::SimulatorFixture {
 protected:
  static test::PodBuilder Replica(std::string_view name, std::string_view kind = "ReplicaSet") {
    return test::MakePod()
        .Name(name)
        .Label("app", "web")
        .Req({{"cpu", "1"}})
        .Owner(kind, "web", "uid");
  }
  void ApplyBudget(int32_t allowed, const std::string& name = "keep") {
    api::PodDisruptionBudget budget;
    budget.metadata.name = name;
    budget.metadata.namespace_ = "default";
    budget.spec.selector = test::MakeSelector({{"app", "web"}});
    budget.status.disruptions_allowed = allowed;
    simulation_->Apply(std::make_shared<const api::PodDisruptionBudget>(budget));
  }
  // Settles, and remembers where pods are.
  void Begin() {
    Settle(*simulation_);
    answer_.before = Take(*simulation_);
  }
  // "pod: before -> after", of those that differ.
  std::vector<std::string> Moved() {
    answer_.after = Take(*simulation_);
    std::vector<std::string> texts;
    for (const MovedPod& pod : answer_.Moved()) {
      texts.push_back(pod.pod + ": " + pod.before.value_or("none") + " -> " +
                      pod.after.value_or("none"));
    }
    return texts;
  }
  static test::NodeBuilder Node(std::string_view name, std::string_view cpu = "4") {
    return test::MakeNode(name).Allocatable({{"cpu", cpu}});
  }
  // As the only change of a question.
  static Result<void> RemoveNode(std::string_view name, simulator::Simulation& simulation) {
    Disruptions disruptions(simulation);
    return questions::RemoveNode(name, disruptions, simulation);
  }
  static Result<Drained> Drain(std::string_view name, simulator::Simulation& simulation) {
    Disruptions disruptions(simulation);
    return questions::Drain(name, disruptions, simulation);
  }

  WhatIfAnswer answer_;
};

TEST_F(WhatIfTest, PodsThatWaitLandOnNodesThatAreAdded) {
  Apply(Node("n1", "1"));
  for (const char* name : {"a", "b", "c"}) Apply(Replica(name));
  Begin();
  EXPECT_EQ(answer_.before.pending, 2u);
  ASSERT_TRUE(AddNodes(2, "n1", *simulation_));
  EXPECT_THAT(Moved(), testing::SizeIs(2));
  EXPECT_EQ(answer_.after.pending, 0u);
  EXPECT_EQ(answer_.after.nodes, 3u);
  EXPECT_EQ(answer_.after.used_nodes, 3u);
  EXPECT_FALSE(AddNodes(1, "n9", *simulation_));
}

TEST_F(WhatIfTest, PodsOfAnodeThatGoesComeBackIfAControllerMakesThem) {
  Apply(Node("n1"));
  Apply(Node("n2"));
  Apply(Replica("web").OnNode("n1"));
  Apply(Replica("agent", "DaemonSet").OnNode("n1"));
  Apply(test::MakePod().Name("bare").OnNode("n1"));
  Begin();
  ASSERT_TRUE(RemoveNode("n1", *simulation_));
  EXPECT_THAT(Moved(), ElementsAre("default/agent: n1 -> none", "default/bare: n1 -> none",
                                   "default/web: n1 -> n2"));
  EXPECT_FALSE(RemoveNode("n1", *simulation_));
}

// The API server copied the zone from the node that the pod leaves.
TEST_F(WhatIfTest, WhatComesBackHasNotTheZoneOfTheOldNode) {
  const PodPtr pod = Replica("web").Label("topology.kubernetes.io/zone", "a").OnNode("n1").Ptr();
  const api::StringMap labels = PendingCopy(*pod, "web")->metadata.labels;
  EXPECT_THAT(labels, ElementsAre(testing::Pair("app", "web")));
}

// Their controllers have made others in their place already; a StatefulSet has not.
TEST_F(WhatIfTest, PodsThatAreBeingDeletedAreNotMadeOnceMore) {
  const auto fill = [this] {
    Restart();
    Apply(Node("n1"));
    Apply(Node("n2"));
    Apply(Replica("a").OnNode("n1").DeletedAt(Time()));
    Apply(Replica("b").OnNode("n1"));
    Apply(Replica("db-0", "StatefulSet").OnNode("n1").DeletedAt(Time()));
    Begin();
  };
  fill();
  ASSERT_TRUE(RemoveNode("n1", *simulation_));
  EXPECT_THAT(Moved(), ElementsAre("default/a: n1 -> none", "default/b: n1 -> n2",
                                   "default/db-0: n1 -> n2"));
  fill();
  const auto drained = Drain("n1", *simulation_);
  ASSERT_TRUE(drained);
  EXPECT_THAT(drained->moved, ElementsAre("default/b", "default/db-0"));
  EXPECT_THAT(drained->unmanaged, IsEmpty());
  EXPECT_THAT(drained->homeless, IsEmpty());
  EXPECT_THAT(Moved(), ElementsAre("default/a: n1 -> none", "default/b: n1 -> n2",
                                   "default/db-0: n1 -> n2"));
  fill();
  Reschedule(*simulation_);
  EXPECT_EQ(NodeOf("default/a"), "n1");
  EXPECT_TRUE(simulation_->FindPod("default/a")->metadata.deletion_timestamp);
}

TEST_F(WhatIfTest, PodsThatAreBeingDeletedAreNoReplicas) {
  Apply(Node("n1"));
  Apply(Replica("a").OnNode("n1").DeletedAt(Time()));
  Apply(Replica("b").OnNode("n1"));
  Apply(Replica("c").OnNode("n1"));
  Begin();
  ASSERT_TRUE(Carry(*Scale::Parse("default/ReplicaSet/web=2"), *simulation_));
  EXPECT_THAT(Moved(), IsEmpty());
  ASSERT_TRUE(Carry(*Scale::Parse("default/ReplicaSet/web=3"), *simulation_));
  EXPECT_THAT(Moved(), testing::SizeIs(1));
}

TEST_F(WhatIfTest, ADrainMovesWhatComesBackAndLeavesDaemons) {
  Apply(Node("n1"));
  Apply(Node("n2", "1"));
  Apply(Replica("a").OnNode("n1"));
  Apply(Replica("b").OnNode("n1"));
  Apply(Replica("agent", "DaemonSet").OnNode("n1"));
  Apply(test::MakePod().Name("bare").OnNode("n1"));
  Apply(test::MakePod().Name("static").OnNode("n1").Annotation("kubernetes.io/config.mirror", "x"));
  Apply(Replica("unmarked", "Node").OnNode("n1"));
  Begin();
  const auto drained = Drain("n1", *simulation_);
  ASSERT_TRUE(drained);
  EXPECT_THAT(drained->moved, ElementsAre("default/a"));
  EXPECT_THAT(drained->homeless, ElementsAre("default/b"));
  EXPECT_THAT(drained->unmanaged, ElementsAre("default/bare"));
  EXPECT_THAT(drained->stopped, IsEmpty());
  EXPECT_FALSE(drained->ok());
  EXPECT_THAT(Moved(),
              ElementsAre("default/a: n1 -> n2", "default/b: n1 -> ", "default/bare: n1 -> none"));
  EXPECT_FALSE(Drain("n9", *simulation_));
}

// The node lifecycle controller taints it, so a constraint that honours taints has a domain less.
TEST_F(WhatIfTest, ADrainedNodeIsNoDomainForPodsThatHonorTaints) {
  for (const bool honors : {true, false}) {
    SCOPED_TRACE(honors);
    Restart();
    Apply(Node("east").Label("zone", "east"));
    Apply(Node("west").Label("zone", "west"));
    for (const auto& [name, node] : {std::pair("a", "east"), std::pair("b", "west")}) {
      api::Pod pod =
          Replica(name).OnNode(node).Spread(1, "zone", "DoNotSchedule", {{"app", "web"}});
      if (honors) pod.spec.topology_spread_constraints[0].node_taints_policy = "Honor";
      simulation_->Apply(std::make_shared<const api::Pod>(std::move(pod)));
    }
    Begin();
    const auto drained = Drain("east", *simulation_);
    ASSERT_TRUE(drained);
    EXPECT_THAT(honors ? drained->moved : drained->homeless, ElementsAre("default/a"));
  }
}

TEST_F(WhatIfTest, ADrainTaintsACordonedNodeOnce) {
  api::Node node = Node("n1");
  node.spec.unschedulable = true;
  node.spec.taints = {{"node.kubernetes.io/unschedulable", "", "NoSchedule"}};
  simulation_->Apply(std::make_shared<const api::Node>(node));
  Begin();
  ASSERT_TRUE(Drain("n1", *simulation_));
  const auto drained =
      simulator::FindIn<api::Node>(simulation_->api(), informers::Kind::kNode, "n1");
  EXPECT_EQ(drained->spec.taints, node.spec.taints);
}

TEST_F(WhatIfTest, ABudgetThatAllowsOneLetsPodsGoOneAfterTheOther) {
  Apply(Node("n1"));
  Apply(Node("n2", "2"));
  for (const char* name : {"a", "b", "c"}) Apply(Replica(name).OnNode("n1"));
  ApplyBudget(1);
  Begin();
  const auto drained = Drain("n1", *simulation_);
  ASSERT_TRUE(drained);
  // The third has no place to go, which uses the budget up.
  EXPECT_THAT(drained->moved, ElementsAre("default/a", "default/b"));
  EXPECT_THAT(drained->homeless, ElementsAre("default/c"));
  EXPECT_THAT(drained->stopped, IsEmpty());
}

TEST_F(WhatIfTest, APodWithoutANodeCountsInAllDrainsOfAQuestion) {
  Apply(Node("n1", "2"));
  Apply(Node("n2", "2"));
  Apply(Node("n3", "1"));
  for (const char* name : {"a", "b"}) Apply(Replica(name).OnNode("n1"));
  for (const char* name : {"c", "d"}) Apply(Replica(name).OnNode("n2"));
  ApplyBudget(1);
  WhatIf question;
  question.drain = {"n1", "n2"};
  const auto answer = AskWhatIf(question, *simulation_);
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_THAT(answer->drained, testing::SizeIs(2));
  EXPECT_THAT(answer->drained[0].moved, ElementsAre("default/a"));
  EXPECT_THAT(answer->drained[0].homeless, ElementsAre("default/b"));
  EXPECT_THAT(answer->drained[1].homeless, IsEmpty());
  EXPECT_THAT(answer->drained[1].stopped, testing::SizeIs(2));
}

TEST_F(WhatIfTest, APodThatHasMovedRunsWhenItsNextNodeIsDrained) {
  for (const char* name : {"n1", "n2", "n3"}) Apply(Node(name, "1"));
  Apply(Replica("a").OnNode("n1"));
  Apply(Replica("c").OnNode("n3"));
  ApplyBudget(1);
  WhatIf question;
  question.drain = {"n1", "n2", "n3"};
  const auto answer = AskWhatIf(question, *simulation_);
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_THAT(answer->drained, testing::SizeIs(3));
  EXPECT_THAT(answer->drained[0].moved, ElementsAre("default/a"));
  EXPECT_THAT(answer->drained[1].homeless, ElementsAre("default/a"));
  EXPECT_THAT(answer->drained[2].stopped, testing::SizeIs(1));
}

TEST_F(WhatIfTest, APodOfANodeThatFailedCountsUntilItHasAnother) {
  for (const bool gets_room : {false, true}) {
    SCOPED_TRACE(gets_room);
    Restart();
    for (const char* name : {"n1", "n2", "n3", "n4"}) Apply(Node(name, "1"));
    Apply(Replica("a").OnNode("n1"));
    Apply(Replica("b").OnNode("n2"));
    for (const auto& [name, node] : {std::pair("x", "n3"), std::pair("y", "n4")}) {
      Apply(test::MakePod()
                .Name(name)
                .Req({{"cpu", "1"}})
                .Owner("ReplicaSet", "other", "u")
                .OnNode(node));
    }
    ApplyBudget(1);
    WhatIf question;
    question.remove_nodes = {"n1"};
    if (gets_room) question.scale = {*Scale::Parse("default/ReplicaSet/other=0")};
    question.drain = {"n2"};
    const auto answer = AskWhatIf(question, *simulation_);
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_THAT(answer->drained, testing::SizeIs(1));
    EXPECT_EQ(answer->drained[0].moved.size(), gets_room ? 1u : 0u);
    EXPECT_EQ(answer->drained[0].stopped.size(), gets_room ? 0u : 1u);
  }
}

TEST_F(WhatIfTest, APodStaysWhereItsBudgetIsUsedUpOrItHasTwo) {
  for (const int32_t allowed : {0, 1}) {
    SCOPED_TRACE(allowed);
    Restart();
    Apply(Node("n1"));
    Apply(Node("n2"));
    Apply(Replica("a").OnNode("n1"));
    ApplyBudget(allowed);
    if (allowed > 0) ApplyBudget(1, "other");
    Begin();
    const auto drained = Drain("n1", *simulation_);
    ASSERT_TRUE(drained);
    ASSERT_THAT(drained->stopped, testing::SizeIs(1));
    EXPECT_EQ(drained->stopped[0].pod, "default/a");
    EXPECT_THAT(drained->stopped[0].budgets, testing::SizeIs(allowed == 0 ? 1 : 2));
    EXPECT_FALSE(drained->ok());
    EXPECT_THAT(Moved(), IsEmpty());
  }
}

TEST_F(WhatIfTest, APodThatIsNotReadyGoesWhereItsBudgetLetsIt) {
  const struct {
    const char* what;
    const char* policy;
    int32_t healthy;
    bool ready;
    bool goes;
  } cases[] = {
      {"ready, all healthy", nullptr, 2, true, false},
      {"not ready, as many healthy as are wanted", nullptr, 2, false, true},
      {"not ready, too few healthy", "IfHealthyBudget", 1, false, false},
      {"not ready, always allowed", "AlwaysAllow", 0, false, true},
      {"ready, always allowed", "AlwaysAllow", 2, true, false},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.what);
    Restart();
    Apply(Node("n1"));
    Apply(Node("n2"));
    api::Pod pod = Replica("a").OnNode("n1");
    pod.status.phase = "Running";
    pod.status.conditions.push_back({.type = "Ready",
                                     .status = one.ready ? "True" : "False",
                                     .reason = "",
                                     .message = "",
                                     .observed_generation = 0,
                                     .last_transition_time = std::nullopt});
    simulation_->Apply(std::make_shared<const api::Pod>(pod));
    api::PodDisruptionBudget budget;
    budget.metadata.name = "keep";
    budget.metadata.namespace_ = "default";
    budget.spec.selector = test::MakeSelector({{"app", "web"}});
    if (one.policy != nullptr) budget.spec.unhealthy_pod_eviction_policy = one.policy;
    budget.status.desired_healthy = 2;
    budget.status.current_healthy = one.healthy;
    simulation_->Apply(std::make_shared<const api::PodDisruptionBudget>(budget));
    Begin();
    const auto drained = Drain("n1", *simulation_);
    ASSERT_TRUE(drained);
    EXPECT_EQ(drained->stopped.empty(), one.goes);
  }
}

// Six pods, all healthy; of those that are left two are on the node that is drained.
TEST_F(WhatIfTest, BudgetsAreThoseOfAsManyPodsAsAreLeft) {
  using Share = std::optional<api::IntOrString>;
  const struct {
    const char* what;
    Share min_available;
    Share max_unavailable;
    int32_t desired;
    int32_t allowed;
    size_t replicas;
    size_t go;
    int32_t left_desired;
    int32_t left_allowed;
  } cases[] = {
      {"five must stay", 5, {}, 5, 1, 4, 0, 5, 0},
      {"three must stay", 3, {}, 3, 3, 4, 1, 3, 1},
      {"half must stay", "50%", {}, 3, 3, 3, 1, 2, 1},
      {"one may go", {}, 1, 5, 1, 4, 1, 3, 1},
      {"two in three may go", {}, "67%", 1, 5, 2, 2, 0, 2},
      {"a third may go", {}, "33%", 4, 2, 3, 1, 2, 1},
      {"more than there are may go", {}, 7, 0, 6, 4, 2, 0, 4},
      {"no share", {}, "a third", 4, 0, 3, 0, 4, 0},
      {"as many stay", {}, 1, 5, 1, 6, 1, 5, 1},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.what);
    Restart();
    for (const char* node : {"n1", "n2"}) Apply(Node(node, "6"));
    for (int i = 0; i < 6; ++i) {
      // The first two stay whatever the number is; nothing takes those that leave the node.
      api::Pod pod = Replica("p" + std::to_string(i)).OnNode(i < 2 ? "n1" : "n2");
      pod.spec.node_selector = {{"kubernetes.io/hostname", "nowhere"}};
      pod.status.phase = "Running";
      pod.status.conditions = {{.type = "Ready",
                                .status = "True",
                                .reason = "",
                                .message = "",
                                .observed_generation = 0,
                                .last_transition_time = std::nullopt}};
      pod.metadata.annotations = {
          {"controller.kubernetes.io/pod-deletion-cost", i < 2 ? "10" : "0"}};
      simulation_->Apply(std::make_shared<const api::Pod>(pod));
    }
    api::PodDisruptionBudget budget;
    budget.metadata.name = "keep";
    budget.metadata.namespace_ = "default";
    budget.spec.selector = test::MakeSelector({{"app", "web"}});
    budget.spec.min_available = one.min_available;
    budget.spec.max_unavailable = one.max_unavailable;
    budget.status = {.disrupted_pods = {},
                     .disruptions_allowed = one.allowed,
                     .current_healthy = 6,
                     .desired_healthy = one.desired};
    simulation_->Apply(std::make_shared<const api::PodDisruptionBudget>(budget));
    WhatIf question;
    question.scale = {*Scale::Parse("default/ReplicaSet/web=" + std::to_string(one.replicas))};
    question.drain = {"n1"};
    const auto answer = AskWhatIf(question, *simulation_);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->drained.at(0).homeless.size(), one.go);
    EXPECT_EQ(answer->drained[0].stopped.size(), 2 - one.go);
    const auto left = simulator::FindIn<api::PodDisruptionBudget>(
        simulation_->api(), informers::Kind::kPodDisruptionBudget, "default/keep");
    ASSERT_NE(left, nullptr);
    EXPECT_EQ(left->status.desired_healthy, one.left_desired);
    EXPECT_EQ(left->status.disruptions_allowed, one.left_allowed);
  }
}

TEST_F(WhatIfTest, APodThatHasNotBegunToRunNeedsNoBudgetsLeave) {
  Apply(Node("n1"));
  Apply(Node("n2"));
  api::Pod pod = Replica("a").OnNode("n1");
  pod.status.phase = "Pending";
  simulation_->Apply(std::make_shared<const api::Pod>(pod));
  ApplyBudget(0);
  Begin();
  EXPECT_THAT(Drain("n1", *simulation_)->moved, ElementsAre("default/a"));
}

TEST_F(WhatIfTest, ADrainCountsThePodsWhoseDataIsLost) {
  Apply(Node("n1"));
  Apply(Node("n2"));
  api::Volume scratch;
  scratch.name = "scratch";
  scratch.empty_dir.emplace();
  Apply(Replica("a").OnNode("n1").Volume(scratch));
  Apply(Replica("b").OnNode("n1"));
  Apply(Replica("agent", "DaemonSet").OnNode("n1").Volume(scratch));
  Begin();
  answer_.drained.push_back(*Drain("n1", *simulation_));
  EXPECT_THAT(answer_.drained[0].with_empty_dir, ElementsAre("default/a"));
  EXPECT_TRUE(answer_.drained[0].ok());
  std::string table;
  AppendAnswerTable(answer_, table);
  EXPECT_THAT(table, HasSubstr("  1 pod with data in emptyDir volumes, which is lost (kubectl "
                               "drain wants --delete-emptydir-data): default/a\n"));
  std::string text;
  AppendAnswer(answer_, text);
  EXPECT_EQ(nlohmann::json::parse(text)["drained"][0]["withEmptyDir"][0], "default/a");
}

TEST_F(WhatIfTest, MoreReplicasAreScheduledAndFewerGoThePendingOnesFirst) {
  Apply(Node("n1", "2"));
  Apply(Replica("a").OnNode("n1").CreatedAt(Time(std::chrono::seconds(1))));
  Begin();
  ASSERT_TRUE(Carry(*Scale::Parse("default/ReplicaSet/web=3"), *simulation_));
  EXPECT_EQ(Moved().size(), 2u);
  EXPECT_EQ(answer_.after.pending, 1u);
  ASSERT_TRUE(Carry(*Scale::Parse("default/ReplicaSet/web=2"), *simulation_));
  EXPECT_EQ(Take(*simulation_).pending, 0u);
  EXPECT_EQ(Take(*simulation_).pods.size(), 2u);
  ASSERT_TRUE(Carry(*Scale::Parse("default/ReplicaSet/web=0"), *simulation_));
  EXPECT_THAT(Take(*simulation_).pods, IsEmpty());
  const auto none = Carry(*Scale::Parse("default/ReplicaSet/web=1"), *simulation_);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "no pod of ReplicaSet default/web is there to be copied");
}

TEST_F(WhatIfTest, WhatIsMisspeltOrElsewhereIsTold) {
  Apply(Node("n1"));
  Apply(Replica("a").OnNode("n1"));
  Begin();
  EXPECT_EQ(Drain("m1", *simulation_).error().message,
            "the cluster has no node m1; did you mean n1?");
  const auto why = [this](const char* scale) {
    const std::string message = Carry(*Scale::Parse(scale), *simulation_).error().message;
    return message.substr(std::min(message.find(';'), message.size()));
  };
  EXPECT_EQ(why("default/rs/wbe=3"), "; did you mean default/web?");
  EXPECT_EQ(why("default/Replicset/web=3"), "; did you mean replicaset?");
  EXPECT_EQ(why("shop/rs/web=3"), "; there is default/web (-n default)");
  EXPECT_EQ(why("default/Rollout/web=3"), "");
}

// Each pod goes before those that follow, as the ReplicaSet controller ranks them.
TEST_F(WhatIfTest, FewerReplicasAreThoseThatTheControllerWouldTake) {
  const Time now = simulation_->now();
  const auto ready = [&](std::string_view name, std::string_view node, int seconds) {
    api::Pod pod = Replica(name).OnNode(node).CreatedAt(now - std::chrono::hours(9));
    pod.status.phase = "Running";
    api::PodCondition condition;
    condition.type = "Ready";
    condition.status = "True";
    condition.last_transition_time = now - std::chrono::seconds(seconds);
    pod.status.conditions.push_back(condition);
    return pod;
  };
  const auto apply = [&](const api::Pod& pod) {
    simulation_->Apply(std::make_shared<const api::Pod>(pod));
  };
  for (const char* node : {"n1", "n2", "n3", "n4"}) Apply(Node(node, "20"));
  Apply(Node("n5", "0"));
  api::Pod unready = ready("c-unready", "n4", 1000);
  unready.status.conditions.clear();
  api::Pod starting = unready;
  starting.metadata.name = starting.metadata.uid = "b-starting";
  starting.status.phase = "Pending";
  api::Pod cheap = ready("d-cheap", "n2", 1000);
  cheap.metadata.annotations = {{"controller.kubernetes.io/pod-deletion-cost", "-5"}};
  apply(ready("h-oldest", "n3", 100'000));
  apply(ready("g-older", "n1", 1100));
  apply(ready("f-younger", "n1", 100));
  apply(ready("e-beside", "n1", 1000));
  apply(cheap);
  apply(unready);
  apply(starting);
  Apply(Replica("a-pending").Req({{"cpu", "99"}}));
  Begin();
  std::vector<std::string> gone;
  for (int replicas = 7; replicas >= 0; --replicas) {
    ASSERT_TRUE(
        Carry(*Scale::Parse("default/ReplicaSet/web=" + std::to_string(replicas)), *simulation_));
    const auto left = Take(*simulation_).pods;
    for (const auto& [key, pod] : answer_.before.pods) {
      if (!left.contains(key) && std::ranges::find(gone, key) == gone.end()) gone.push_back(key);
    }
  }
  EXPECT_THAT(gone, ElementsAre("default/a-pending", "default/b-starting", "default/c-unready",
                                "default/d-cheap", "default/f-younger", "default/e-beside",
                                "default/g-older", "default/h-oldest"));
}

TEST_F(WhatIfTest, ADeploymentScalesByItsReplicaSetsAndAStatefulSetByOrdinals) {
  Apply(Node("n1"));
  api::ReplicaSet set;
  set.metadata.name = "web-1";
  set.metadata.namespace_ = "default";
  set.metadata.owner_references.push_back({"apps/v1", "Deployment", "web", "uid", true});
  simulation_->Apply(std::make_shared<const api::ReplicaSet>(set));
  Apply(test::MakePod().Name("d").OnNode("n1").Owner("ReplicaSet", "web-1", "uid"));
  for (const char* name : {"db-0", "db-1", "db-10"}) {
    Apply(test::MakePod().Name(name).OnNode("n1").Owner("StatefulSet", "db", "uid"));
  }
  Begin();
  ASSERT_TRUE(Carry(*Scale::Parse("default/Deployment/web=2"), *simulation_));
  ASSERT_TRUE(Carry(*Scale::Parse("default/StatefulSet/db=2"), *simulation_));
  EXPECT_THAT(Moved(), ElementsAre("default/db-10: n1 -> none", "default/web-new-0: none -> n1"));
}

TEST_F(WhatIfTest, TheNextPodOfAStatefulSetHasAClaimOfItsOwn) {
  const auto in_zone = [](std::string_view zone) {
    return std::vector{test::MakeRequirement("zone", "In", {std::string(zone)})};
  };
  simulation_->StartControllers();
  Apply(Node("n1", "1").Label("zone", "a"));
  Apply(Node("n2", "1").Label("zone", "b"));
  simulation_->Apply(std::make_shared<const api::StorageClass>(
      test::MakeWaitingClass("local", "kubernetes.io/no-provisioner")));
  simulation_->Apply(test::MakeVolume("pv-0", "local")
                         .RequireNode(in_zone("a"))
                         .Claim("volume-0-db-0", "default/volume-0-db-0")
                         .Ptr());
  simulation_->Apply(test::MakeVolume("pv-1", "local").RequireNode(in_zone("b")).Ptr());
  simulation_->Apply(test::MakeClaim("volume-0-db-0", "local").BoundTo("pv-0").Ptr());
  Apply(test::MakePod()
            .Name("db-0")
            .OnNode("n1")
            .Label("apps.kubernetes.io/pod-index", "0")
            .Req({{"cpu", "1"}})
            .ClaimVolume("volume-0-db-0")
            .ClaimVolume("shared")
            .Owner("StatefulSet", "db", "uid"));
  simulation_->Apply(test::MakeClaim("shared", "local").BoundTo("pv-2").Ptr());
  simulation_->Apply(test::MakeVolume("pv-2", "local").Claim("shared", "default/shared").Ptr());
  Begin();
  ASSERT_TRUE(Carry(*Scale::Parse("default/StatefulSet/db=2"), *simulation_));
  EXPECT_THAT(Moved(), ElementsAre("default/db-1: none -> n2")) << MessageOf("default/db-1");
  const auto pod = simulation_->FindPod("default/db-1");
  EXPECT_THAT(pod->metadata.labels,
              ElementsAre(testing::Pair("apps.kubernetes.io/pod-index", "1"),
                          testing::Pair("statefulset.kubernetes.io/pod-name", "db-1")));
  EXPECT_EQ(pod->spec.volumes[0].persistent_volume_claim->claim_name, "volume-0-db-1");
  EXPECT_EQ(pod->spec.volumes[1].persistent_volume_claim->claim_name, "shared");
  const auto claim = simulator::FindIn<api::PersistentVolumeClaim>(
      simulation_->api(), informers::Kind::kPersistentVolumeClaim, "default/volume-0-db-1");
  ASSERT_NE(claim, nullptr);
  EXPECT_EQ(claim->spec.volume_name, "pv-1");
}

TEST(ScaleTest, TextOfAnotherFormIsRefused) {
  for (const char* text : {"", "web=1", "a/b/c", "a/b/c=", "a/b/c=x", "a/b/c=-1", "/b/c=1",
                           "a//c=1", "a/b/=1", "/b=1", "a/=1", "a/b/c/d=1", "a/b/c=100001"}) {
    EXPECT_FALSE(Scale::Parse(text)) << text;
  }
  const auto scale = Scale::Parse("shop/Deployment/web=5");
  ASSERT_TRUE(scale);
  EXPECT_EQ(scale->namespace_, "shop");
  EXPECT_EQ(scale->kind, "Deployment");
  EXPECT_EQ(scale->name, "web");
  EXPECT_EQ(scale->replicas, 5u);
}

TEST(ScaleTest, AKindMayBeKubectlsWordAndTheNamespaceLeftOut) {
  const struct {
    const char* text;
    const char* kind;
  } cases[] = {{"deploy/web=1", "Deployment"},
               {"deployment/web=1", "Deployment"},
               {"deployments.apps/web=1", "Deployment"},
               {"sts/web=1", "StatefulSet"},
               {"rs/web=1", "ReplicaSet"},
               {"RS/web=1", "ReplicaSet"},
               {"rc/web=1", "ReplicationController"},
               {"jobs/web=1", "Job"},
               {"ds/web=1", "DaemonSet"},
               {"daemonsets/web=1", "DaemonSet"},
               {"CloneSet/web=1", "CloneSet"}};
  for (const auto& c : cases) {
    const auto scale = Scale::Parse(c.text);
    ASSERT_TRUE(scale) << c.text;
    EXPECT_EQ(scale->kind, c.kind);
    EXPECT_EQ(scale->namespace_, "");
    EXPECT_EQ(scale->name, "web");
  }
  const auto scale = Scale::Parse("shop/statefulset/db=2");
  ASSERT_TRUE(scale);
  EXPECT_EQ(scale->namespace_, "shop");
  EXPECT_EQ(scale->kind, "StatefulSet");
}

TEST_F(WhatIfTest, AFillSaysHowManyFitAndWhatStopsTheNext) {
  Apply(Node("n1"));
  Apply(Node("n2", "2500m"));
  Apply(test::MakePod().Name("there").OnNode("n1").Req({{"cpu", "500m"}}));
  Begin();
  answer_.filled = Fill(test::MakePod().Name("x").Req({{"cpu", "1"}}).Ptr(), *simulation_);
  EXPECT_EQ(answer_.filled->pods, 5u);
  EXPECT_THAT(answer_.filled->by_node,
              ElementsAre(testing::Pair("n1", 3u), testing::Pair("n2", 2u)));
  EXPECT_EQ(answer_.filled->stopped_by, "0/2 nodes are available: 2 Insufficient cpu.");
  EXPECT_THAT(Moved(), IsEmpty());
}

TEST_F(WhatIfTest, AFillEvictsNoOneAndEndsAtItsBound) {
  Apply(Node("n1"));
  Apply(test::MakePod().Name("low").OnNode("n1").Priority(-5).Req({{"cpu", "3"}}));
  Begin();
  const auto pod = test::MakePod().Name("x").Priority(5).Req({{"cpu", "1"}}).Ptr();
  EXPECT_EQ(Fill(pod, *simulation_).pods, 1u);
  EXPECT_NE(simulation_->FindPod("default/low"), nullptr);
  Apply(Node("n2", "50"));
  EXPECT_EQ(Fill(pod, *simulation_, 7).pods, 7u);
}

TEST_F(WhatIfTest, APodHasThePriorityThatPodsOfItsClassHave) {
  Apply(Node("n1"));
  api::Pod there = test::MakePod().Name("there").OnNode("n1").Priority(7);
  there.spec.priority_class_name = "seven";
  there.spec.preemption_policy = "Never";
  simulation_->Apply(std::make_shared<const api::Pod>(there));
  Admission admission(*simulation_);
  api::Pod pod = test::MakePod();
  const auto resolve = [&] { return admission.Admit(std::make_shared<const api::Pod>(pod)); };
  EXPECT_EQ((*resolve())->spec.priority, std::nullopt);
  pod.spec.priority_class_name = "seven";
  EXPECT_EQ((*resolve())->priority(), 7);
  EXPECT_EQ((*resolve())->spec.preemption_policy, "Never");
  pod.spec.preemption_policy = "PreemptLowerPriority";
  EXPECT_EQ((*resolve())->spec.preemption_policy, "PreemptLowerPriority");
  pod.spec.priority_class_name = "system-node-critical";
  EXPECT_EQ((*resolve())->priority(), 2'000'001'000);
  pod.spec.priority_class_name = "eight";
  ASSERT_FALSE(resolve());
  EXPECT_EQ(resolve().error().message,
            "spec.priorityClassName: Not found: \"eight\": no pod of the cluster tells what it "
            "means; state spec.priority");
  pod.spec.priority = 8;
  EXPECT_EQ((*resolve())->priority(), 8);
}

TEST_F(WhatIfTest, AnAddedPodOfAClassEvictsAsItsPriorityAllows) {
  Apply(Node("n1", "1"));
  Apply(test::MakePod().Name("low").OnNode("n1").Priority(-5).Req({{"cpu", "1"}}));
  api::Pod there = test::MakePod().Name("there").OnNode("n1").Priority(7);
  there.spec.priority_class_name = "seven";
  simulation_->Apply(std::make_shared<const api::Pod>(there));
  api::Pod pod = test::MakePod().Name("high").Req({{"cpu", "1"}});
  pod.spec.priority_class_name = "seven";
  WhatIf question;
  question.add.emplace_back(std::make_shared<const api::Pod>(pod));
  const auto answer = AskWhatIf(question, *simulation_);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(answer->evicted, ElementsAre("default/low"));
  pod.spec.priority_class_name = "eight";
  question.fill = std::make_shared<const api::Pod>(pod);
  question.add.clear();
  EXPECT_THAT(AskWhatIf(question, *simulation_).error().message,
              testing::StartsWith("fill.pod: spec.priorityClassName: Not found"));
}

TEST_F(WhatIfTest, RescheduledPodsLandWhereTheSchedulerPutsThemNow) {
  Apply(Node("n1"));
  Apply(Replica("a").OnNode("n1").CreatedAt(Time(std::chrono::seconds(2))));
  Apply(Replica("b").OnNode("n1").CreatedAt(Time(std::chrono::seconds(1))));
  Apply(Replica("agent", "DaemonSet").OnNode("n1"));
  Apply(test::MakePod().Name("bare").Req({{"cpu", "1"}}).OnNode("n1"));
  Apply(Node("n2"));
  WhatIf question;
  question.reschedule = true;
  const auto answer = AskWhatIf(question, *simulation_);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->before.used_nodes, 1u);
  EXPECT_EQ(answer->after.used_nodes, 2u);
  EXPECT_EQ(answer->after.pending, 0u);
  EXPECT_EQ(answer->after.pods.at("default/b").node, "n2") << "it is older, and goes first";
  EXPECT_EQ(answer->after.pods.at("default/bare").node, "n1");
  EXPECT_EQ(answer->after.pods.at("default/agent").node, "n1");
}

TEST_F(WhatIfTest, APictureSaysWhatIsStrandedAndHowManyNodesWouldDo) {
  Apply(test::MakeNode("n1").Allocatable({{"cpu", "4"}, {"memory", "8Gi"}}));
  Apply(test::MakeNode("n2").Allocatable({{"cpu", "4"}, {"memory", "8Gi"}}));
  for (const char* name : {"a", "b"}) {
    Apply(test::MakePod()
              .Name(name)
              .Req({{"cpu", "2"}, {"memory", "6Gi"}})
              .OnNode(*name == 'a' ? "n1" : "n2"));
  }
  Begin();
  // On each node 2 cores are free, and too little memory for another such pod.
  EXPECT_EQ(answer_.before.milli_cpu.stranded, 4000);
  EXPECT_EQ(answer_.before.memory.stranded, 0);
  EXPECT_EQ(answer_.before.lower_bound, 2u);
  answer_.now = answer_.after = answer_.before;
  std::string table;
  AppendAnswerTable(answer_, table);
  EXPECT_THAT(
      table, testing::StartsWith(
                 "        NODES  USED  AT LEAST  PODS  PENDING  EVICTED  CPU  STRANDED  MEMORY  "
                 "STRANDED\n"
                 "now         2     2         2     2        0        0  50%         4     75%     "
                 "    0\n"
                 "placed      2     2         2     2        0        0  50%         4     75%     "
                 "    0\n"));
}

TEST_F(WhatIfTest, AnAnswerIsADocumentOrATable) {
  Apply(Node("n1"));
  Apply(Node("n2", "1"));
  Apply(Replica("a").OnNode("n1"));
  Apply(Replica("b").OnNode("n1"));
  Begin();
  answer_.drained.push_back(*Drain("n1", *simulation_));
  answer_.after = Take(*simulation_);
  std::string text;
  AppendAnswer(answer_, text);
  const auto document = nlohmann::json::parse(text);
  EXPECT_EQ(document["before"]["usedNodes"], 1);
  EXPECT_EQ(document["after"]["milliCPU"]["requested"], 1000);
  EXPECT_EQ(document["drained"][0]["fitNowhere"][0], "default/b");
  EXPECT_EQ(document["pods"][0],
            nlohmann::json::parse(R"({"after":"n2","before":"n1","pod":"default/a"})"));
  EXPECT_TRUE(document["pods"][1]["after"].is_null());
  std::string table;
  AppendAnswerTable(answer_, table);
  EXPECT_THAT(table, HasSubstr("Drain of n1: cannot be done without loss. 1 moved.\n"
                               "  fits nowhere: default/b\n"));
  EXPECT_THAT(table, HasSubstr("\n2 pods are elsewhere:\nPOD        PLACED  THEN     WHY\n"
                               "default/a  n1      n2\n"));
}

}  // namespace
}  // namespace berth::questions
