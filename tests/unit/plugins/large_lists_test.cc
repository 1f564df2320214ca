// SPDX-License-Identifier: Apache-2.0
// Lists of a spec that are longer than most: what is found by tables is what a look at each pair
// finds, and holding them against nodes spends the cycle's budget.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "berth/random.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_ports/node_ports.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/taint_toleration/taint_toleration.h"
#include "plugins/volume_restrictions/volume_restrictions.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

class LargeListsTest : public testing::Test, public PluginFixture {
 protected:
  // That `ask(state)` spends, and ends with the error where there is less.
  template <typename Ask>
  void ExpectSpends(const Ask& ask) {
    state.RenewBudget();
    EXPECT_NE(ask().code(), Code::kError);
    const uint64_t steps = state.budget().steps();
    ASSERT_GT(steps, 100u);
    state.RenewBudget(CycleBudget(steps - 1, CycleBudget::kBytes));
    const Status status = ask();
    EXPECT_EQ(status.code(), Code::kError);
    EXPECT_EQ(status.message(), state.budget().Message());
    state.RenewBudget();
  }
};

TEST_F(LargeListsTest, PortsThatConflictAreFoundHoweverManyThereAre) {
  NodePorts plugin(handle);
  Random random(1);
  constexpr const char* kAddresses[] = {"", "10.0.0.1", "10.0.0.2", "10.0.0.3"};
  constexpr const char* kProtocols[] = {"TCP", "UDP", "SCTP"};
  const auto draw = [&](size_t ports) {
    PodBuilder pod = MakePod();
    for (size_t i = 0; i < ports; ++i) {
      pod.HostPort(static_cast<int32_t>(1 + random.Below(400)), kProtocols[random.Below(3)],
                   kAddresses[random.Below(4)]);
    }
    return PodBuilder(pod);
  };
  size_t conflicts = 0;
  constexpr int kTries = 400;
  for (int i = 0; i < kTries; ++i) {
    const api::Pod wanted = draw(10 + random.Below(20));
    const api::Pod placed = draw(10 + random.Below(20)).Name("placed").OnNode("n");
    const PlainSnapshot snapshot = Cluster({MakeNode("n")}, {placed});
    bool want = false;
    for (const HostPort& ours : HostPorts(wanted)) {
      for (const HostPort& theirs : HostPorts(placed)) want = want || ours.ConflictsWith(theirs);
    }
    ASSERT_EQ(plugin.Filter(state, *Info(wanted), NodeView(snapshot, 0)).ok(), !want);
    NodeSet nodes = snapshot.nodes();
    ASSERT_TRUE(plugin.FilterNodes(state, *Info(wanted), snapshot, nodes).ok());
    ASSERT_EQ(nodes.Test(0), !want);
    conflicts += want ? 1 : 0;
  }
  EXPECT_GT(conflicts, 50u);
  EXPECT_LT(conflicts, kTries - 50u);
}

TEST_F(LargeListsTest, DisksThatConflictAreFoundHoweverManyThereAre) {
  Random random(2);
  const auto name = [&](std::string_view kind) {
    return std::string(kind) + std::to_string(random.Below(300));
  };
  const auto draw = [&] {
    api::Pod pod = MakePod();
    for (int i = 0; i < 24; ++i) {
      api::Volume& volume = pod.spec.volumes.emplace_back();
      const bool read_only = random.Below(2) == 0;
      switch (random.Below(5)) {
        case 0:
          volume.gce_persistent_disk.emplace();
          volume.gce_persistent_disk->pd_name = name("d");
          volume.gce_persistent_disk->read_only = read_only;
          break;
        case 1:
          volume.aws_elastic_block_store.emplace();
          volume.aws_elastic_block_store->volume_id = name("d");
          volume.aws_elastic_block_store->read_only = read_only;
          break;
        case 2:
          volume.iscsi.emplace();
          volume.iscsi->iqn = name("d");
          volume.iscsi->read_only = read_only;
          break;
        case 3:
          volume.rbd.emplace();
          volume.rbd->pool = "p" + std::to_string(random.Below(2));
          volume.rbd->image = "i" + std::to_string(random.Below(30));
          volume.rbd->monitors = {name("m"), name("m"), name("m")};
          volume.rbd->read_only = read_only;
          break;
        default:
          volume.name = name("d");
      }
    }
    return pod;
  };
  const auto with = [](const api::Volume& volume) {
    api::Pod pod = MakePod();
    pod.spec.volumes = {volume};
    return pod;
  };
  size_t conflicts = 0;
  constexpr int kTries = 300;
  for (int i = 0; i < kTries; ++i) {
    const api::Pod one = draw();
    const api::Pod other = draw();
    bool want = false;
    for (const api::Volume& ours : one.spec.volumes) {
      for (const api::Volume& theirs : other.spec.volumes) {
        want = want || DisksConflict(with(ours), with(theirs));
      }
    }
    ASSERT_EQ(DisksConflict(one, other), want) << i;
    conflicts += want ? 1 : 0;
  }
  EXPECT_GT(conflicts, 30u);
  EXPECT_LT(conflicts, kTries - 30u);
}

TEST_F(LargeListsTest, WhatIsHeldAgainstNodesSpendsTheCyclesBudget) {
  const PlainSnapshot snapshot =
      Cluster({MakeNode("n1").Label("cores", "8").Taint("a", "b", "NoSchedule"), MakeNode("n2")});
  api::Pod pod = MakePod();
  auto& terms = pod.spec.affinity.emplace()
                    .node_affinity.emplace()
                    .required_during_scheduling_ignored_during_execution.emplace()
                    .node_selector_terms;
  for (int i = 0; i < 200; ++i) {
    terms.emplace_back().match_expressions.push_back({"cores", "Gt", {std::to_string(100 + i)}});
    api::Toleration& toleration = pod.spec.tolerations.emplace_back();
    toleration.key = "key-" + std::to_string(i);
    toleration.operator_ = "Exists";
  }
  const PodInfoPtr info = Info(pod);
  NodeSet nodes;
  const auto both = [&](auto& plugin) {
    ASSERT_TRUE(plugin.PreFilter(state, *info, snapshot).status.ok());
    ExpectSpends([&] { return plugin.Filter(state, *info, NodeView(snapshot, 0)); });
    ExpectSpends([&] {
      nodes = snapshot.nodes();
      return plugin.FilterNodes(state, *info, snapshot, nodes);
    });
  };
  NodeAffinity affinity({}, handle);
  both(affinity);
  TaintToleration toleration(handle);
  both(toleration);
}

TEST_F(LargeListsTest, PreferencesSpendTheCyclesBudget) {
  const PlainSnapshot snapshot = Cluster({MakeNode("n1").Label("cores", "8"), MakeNode("n2")});
  api::Pod pod = MakePod();
  auto& terms = pod.spec.affinity.emplace()
                    .node_affinity.emplace()
                    .preferred_during_scheduling_ignored_during_execution;
  for (int i = 0; i < 200; ++i) {
    api::PreferredSchedulingTerm& term = terms.emplace_back();
    term.weight = 1;
    term.preference.match_expressions.push_back({"cores", "Gt", {std::to_string(i)}});
  }
  const PodInfoPtr info = Info(pod);
  NodeAffinity affinity({}, handle);
  ExpectSpends([&] { return affinity.PreScore(state, *info, snapshot, snapshot.nodes()); });

  PodBuilder social = MakePod();
  for (int i = 0; i < 200; ++i) {
    social.PreferPodAffinity(1, "cores", {{"app", "x" + std::to_string(i)}});
  }
  const PodInfoPtr prefers = Info(social);
  InterPodAffinity others({}, handle);
  ExpectSpends([&] { return others.PreScore(state, *prefers, snapshot, snapshot.nodes()); });
}

// A cluster in which it takes 5,000 steps to count the pods that a term means.
class CrowdedSnapshot final : public PlainSnapshot {
 public:
  static constexpr uint64_t kSteps = 5'000;
  explicit CrowdedSnapshot(PlainSnapshot snapshot) : PlainSnapshot(std::move(snapshot)) {}
  uint64_t StepsToCountPods(const PodQuery& /*query*/) const override { return kSteps; }
};

TEST_F(LargeListsTest, CountingThePodsThatAPreferenceMeansSpendsTheCyclesBudget) {
  const CrowdedSnapshot snapshot(Cluster({MakeNode("n1").Label("cores", "8"), MakeNode("n2")}));
  const auto spent = [&](const std::string& topology_key) {
    const PodInfoPtr info = Info(MakePod().PreferPodAffinity(1, topology_key, {{"app", "x"}}));
    InterPodAffinity plugin({}, handle);
    state.RenewBudget();
    EXPECT_NE(plugin.PreScore(state, *info, snapshot, snapshot.nodes()).code(), Code::kError);
    return state.budget().steps();
  };
  EXPECT_GE(spent("cores"), CrowdedSnapshot::kSteps);
  // No node has the label: there is nothing to count.
  EXPECT_LT(spent("other"), CrowdedSnapshot::kSteps);
}

TEST_F(LargeListsTest, SpreadConstraintsSpendTheCyclesBudget) {
  const PlainSnapshot snapshot = Cluster({MakeNode("n1").Label("zone", "a"), MakeNode("n2")});
  for (const char* when : {"DoNotSchedule", "ScheduleAnyway"}) {
    PodBuilder pod = MakePod();
    for (int i = 0; i < 200; ++i) pod.Spread(1, "zone", when, {{"app", "x" + std::to_string(i)}});
    const PodInfoPtr info = Info(pod);
    PodTopologySpread spread({}, handle);
    ExpectSpends([&] {
      return std::string_view(when) == "DoNotSchedule"
                 ? spread.PreFilter(state, *info, snapshot).status
                 : spread.PreScore(state, *info, snapshot, snapshot.nodes());
    });
  }
}

TEST_F(LargeListsTest, ShortListsSpendNothing) {
  const PlainSnapshot snapshot = Cluster({MakeNode("n1").Taint("a", "b", "NoSchedule")});
  const PodInfoPtr info = Info(MakePod());
  TaintToleration toleration(handle);
  state.RenewBudget(CycleBudget(0, 0));
  EXPECT_EQ(toleration.Filter(state, *info, NodeView(snapshot, 0)).code(),
            Code::kUnschedulableAndUnresolvable);
  EXPECT_FALSE(state.budget().spent());
}

}  // namespace
}  // namespace berth::plugins
