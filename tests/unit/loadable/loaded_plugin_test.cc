// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "src/metrics/plugin_metric_table.h"
#include "tests/support/builders.h"
#include "tests/support/plain_snapshot.h"
#include "tests/support/random_cluster.h"
#include "tests/unit/loadable/loaded.h"

namespace berth::framework {
namespace {

using test::MakeNode;
using test::MakePod;
using test::PlainSnapshot;
using testing::ElementsAre;

class LoadedPluginTest : public test::LoadedFixture {
 protected:
  PodInfoPtr Info(const api::Pod& pod) {
    return PodInfo::Make(std::make_shared<const api::Pod>(pod), handle_.names);
  }
  std::vector<api::Node> Nodes() {
    return {MakeNode("a").Allocatable({{"cpu", "5m"}, {"example.com/gpu", "2"}}),
            MakeNode("b").Allocatable({{"cpu", "20m"}})};
  }

  CycleState state_;
};

TEST_F(LoadedPluginTest, OnlyThePointsThatTheLibraryHasAreThere) {
  const Plugin& everywhere = MakePlugin("Everywhere");
#define BERTH_THERE(Name, member, ...) EXPECT_NE(everywhere.member, nullptr) << #member;
  BERTH_EXTENSION_POINTS(BERTH_THERE)
#undef BERTH_THERE
  const Plugin& scores = MakePlugin("ScoresOnly");
  std::vector<std::string> there;
#define BERTH_LIST(Name, member, ...) \
  if (scores.member != nullptr) there.emplace_back(#member);
  BERTH_EXTENSION_POINTS(BERTH_LIST)
  BERTH_PLUGIN_EXTENSIONS(BERTH_LIST)
#undef BERTH_LIST
  EXPECT_THAT(there, ElementsAre("score"));
}

TEST_F(LoadedPluginTest, PreEnqueueSeesThePod) {
  auto& plugin = Make<PreEnqueuePlugin>("Everywhere");
  EXPECT_TRUE(plugin.PreEnqueue(*Info(MakePod())).ok());
  EXPECT_EQ(plugin.PreEnqueue(*Info(MakePod().Label("gated", ""))).code(),
            Code::kUnschedulableAndUnresolvable);
}

TEST_F(LoadedPluginTest, QueueSortOrdersByWhatThePluginSays) {
  auto& plugin = Make<QueueSortPlugin>("Everywhere");
  const auto low = Info(MakePod().Priority(1));
  const auto high = Info(MakePod().Priority(2));
  const Time early{};
  const Time late = early + std::chrono::seconds(1);
  EXPECT_TRUE(plugin.Less({high.get(), late}, {low.get(), early}));
  EXPECT_FALSE(plugin.Less({low.get(), early}, {high.get(), late}));
  EXPECT_TRUE(plugin.Less({low.get(), early}, {low.get(), late}));
}

TEST_F(LoadedPluginTest, PreFilterSkipsNarrowsAndRejects) {
  auto& plugin = Make<PreFilterPlugin>("Everywhere");
  const PlainSnapshot snapshot(handle_.names, Nodes());
  const PlainSnapshot empty(handle_.names, {});
  const auto plain = plugin.PreFilter(state_, *Info(MakePod()), snapshot);
  EXPECT_TRUE(plain.status.ok());
  EXPECT_FALSE(plain.node_names.has_value());
  EXPECT_TRUE(plugin.PreFilter(state_, *Info(MakePod().Label("skip", "")), snapshot).status.skip());
  const auto only = plugin.PreFilter(state_, *Info(MakePod().Label("only", "z")), snapshot);
  ASSERT_TRUE(only.node_names.has_value());
  EXPECT_THAT(*only.node_names, ElementsAre("other", "z"));
  const auto rejected = plugin.PreFilter(state_, *Info(MakePod()), empty);
  EXPECT_EQ(rejected.status.code(), Code::kUnschedulable);
  EXPECT_EQ(rejected.status.message(), "empty");
}

TEST_F(LoadedPluginTest, StateBelongsToOneInstanceAndIsClonedForTrials) {
  const Plugin& plugin = MakePlugin("Everywhere");
  const Plugin& other = MakePlugin("Everywhere");
  const PlainSnapshot snapshot(handle_.names, Nodes());
  const auto pod = Info(MakePod());
  for (auto* each : {&plugin, &other}) {
    ASSERT_TRUE(each->pre_filter->PreFilter(state_, *pod, snapshot).status.ok());
  }
  PreFilterExtensions* const extensions = plugin.pre_filter_extensions;
  ASSERT_NE(extensions, nullptr);
  CycleState trial = state_.Clone();
  ASSERT_TRUE(extensions->AddPod(trial, *pod, *pod, snapshot.view("a")).ok());
  ASSERT_TRUE(extensions->AddPod(trial, *pod, *pod, snapshot.view("a")).ok());
  ASSERT_TRUE(extensions->RemovePod(trial, *pod, *pod, snapshot.view("a")).ok());
  EXPECT_EQ(plugin.filter->Filter(trial, *pod, snapshot.view("a")).message(), "imagined 1");
  EXPECT_TRUE(other.filter->Filter(trial, *pod, snapshot.view("a")).ok());
  EXPECT_TRUE(plugin.filter->Filter(state_, *pod, snapshot.view("a")).ok());
}

TEST_F(LoadedPluginTest, StateTakesWhatThePluginSays) {
  const PlainSnapshot snapshot(handle_.names, Nodes());
  for (const size_t plugins : {size_t{1}, size_t{2}}) {
    auto& plugin = Make<PreFilterPlugin>("Everywhere");
    ASSERT_TRUE(plugin.PreFilter(state_, *Info(MakePod()), snapshot).status.ok());
    const CycleState clone = state_.Clone();
    for (const CycleState* state : {&clone, &std::as_const(state_)}) {
      EXPECT_GE(state->bytes(), plugins * 10'000);
      EXPECT_LT(state->bytes(), plugins * 10'000 + 1'000);
    }
  }
}

TEST_F(LoadedPluginTest, FilterSeesAmountsOfNodesAndOverlays) {
  auto& plugin = Make<FilterPlugin>("Everywhere");
  const PlainSnapshot snapshot(handle_.names, Nodes());
  const auto pod = Info(MakePod().Req({{"example.com/gpu", "2"}}));
  EXPECT_TRUE(plugin.Filter(state_, *pod, snapshot.view("a")).ok());
  const Status rejected = plugin.Filter(state_, *pod, snapshot.view("b"));
  EXPECT_EQ(rejected.code(), Code::kUnschedulable);
  EXPECT_THAT(rejected.reasons(), ElementsAre("b lacks GPUs"));
  Overlay overlay;
  overlay.AddPod(*pod);
  EXPECT_EQ(plugin.Filter(state_, *pod, snapshot.view("a", &overlay)).message(), "a lacks GPUs");
}

TEST_F(LoadedPluginTest, ColumnFormsAgreeWithTheOthersOnRandomClusters) {
  auto& filter = Make<ColumnFilterPlugin>("Everywhere");
  auto& score = Make<ColumnScorePlugin>("Everywhere");
  Random random(37);
  size_t rejected = 0;
  for (int round = 0; round < 50; ++round) {
    std::vector<api::Node> nodes = test::RandomNodes(random, 1 + random.Below(130));
    for (api::Node& node : nodes) {
      const auto gpus = api::Quantity::FromUnits(static_cast<int64_t>(random.Below(3)));
      node.status.allocatable.emplace_back("example.com/gpu", gpus);
    }
    const PlainSnapshot snapshot(handle_.names, nodes,
                                 test::RandomPlacedPods(random, 50, nodes.size()));
    const auto pod = Info(MakePod().Req({{"example.com/gpu", std::to_string(random.Below(3))}}));
    NodeSet passed = snapshot.nodes();
    ASSERT_TRUE(filter.FilterNodes(state_, *pod, snapshot, passed).ok());
    std::vector<NodeRow> rows;
    snapshot.nodes().ForEach([&](NodeRow row) { rows.push_back(row); });
    std::vector<int64_t> scores(rows.size());
    score.ScoreNodes(state_, *pod, snapshot, rows, scores);
    for (size_t i = 0; i < rows.size(); ++i) {
      const NodeView node(snapshot, rows[i]);
      ASSERT_EQ(passed.Test(rows[i]), filter.Filter(state_, *pod, node).ok());
      ASSERT_EQ(scores[i], score.Score(state_, *pod, node).score);
      rejected += passed.Test(rows[i]) ? 0 : 1;
    }
  }
  EXPECT_GT(rejected, 100u);
}

TEST_F(LoadedPluginTest, ScoresAreNormalised) {
  const Plugin& plugin = MakePlugin("Everywhere");
  const PlainSnapshot snapshot(handle_.names, Nodes());
  handle_.current_snapshot = &snapshot;
  const auto pod = Info(MakePod());
  std::vector<int64_t> scores{plugin.score->Score(state_, *pod, snapshot.view("a")).score,
                              plugin.score->Score(state_, *pod, snapshot.view("b")).score};
  EXPECT_THAT(scores, ElementsAre(50, 200));
  ASSERT_NE(plugin.score_extensions, nullptr);
  ASSERT_TRUE(
      plugin.score_extensions->NormalizeScore(state_, *pod, std::vector<NodeRow>{0, 1}, scores)
          .ok());
  EXPECT_THAT(scores, ElementsAre(0, 100));
  EXPECT_EQ(MakePlugin("ScoresOnly").score_extensions, nullptr);
}

// Rejects every row with one code, and row 0 for good.
class FixedStatuses final : public NodeToStatus {
 public:
  explicit FixedStatuses(Code code) : code_(code) {}
  Status Get(NodeRow row) const override {
    return Status(row == 0 ? Code::kUnschedulableAndUnresolvable : code_);
  }

 private:
  Code code_;
};

TEST_F(LoadedPluginTest, PostFilterSeesWhyNodesWereRejectedAndNominates) {
  auto& plugin = Make<PostFilterPlugin>("Everywhere");
  const PlainSnapshot snapshot(handle_.names, Nodes());
  const auto pod = Info(MakePod());
  const auto helped =
      plugin.PostFilter(state_, *pod, snapshot, FixedStatuses(Code::kUnschedulable));
  EXPECT_TRUE(helped.status.ok());
  ASSERT_TRUE(helped.nominating.has_value());
  EXPECT_EQ(helped.nominating->mode, NominatingMode::kOverride);
  EXPECT_EQ(helped.nominating->nominated_node_name, "b");
  const auto lost =
      plugin.PostFilter(state_, *pod, snapshot, FixedStatuses(Code::kUnschedulableAndUnresolvable));
  EXPECT_EQ(lost.status.message(), "no node can be helped");
  EXPECT_FALSE(lost.nominating.has_value());
}

TEST_F(LoadedPluginTest, PreScoreSeesTheFeasibleNodes) {
  auto& plugin = Make<PreScorePlugin>("Everywhere");
  const PlainSnapshot snapshot(handle_.names, Nodes());
  NodeSet one(2);
  one.Set(1);
  EXPECT_TRUE(plugin.PreScore(state_, *Info(MakePod()), snapshot, snapshot.nodes()).ok());
  EXPECT_TRUE(plugin.PreScore(state_, *Info(MakePod()), snapshot, one).skip());
  const Status failed =
      plugin.PreScore(state_, *Info(MakePod().Label("unscorable", "")), snapshot, snapshot.nodes());
  EXPECT_EQ(failed.code(), Code::kError);
  EXPECT_EQ(failed.message(), "unscorable");
}

TEST_F(LoadedPluginTest, ReserveAndPermitAnswer) {
  auto& reserve = Make<ReservePlugin>("Everywhere");
  EXPECT_TRUE(reserve.Reserve(state_, *Info(MakePod()), "a").ok());
  EXPECT_EQ(reserve.Reserve(state_, *Info(MakePod()), "full").message(), "full");
  auto& permit = Make<PermitPlugin>("Everywhere");
  EXPECT_TRUE(permit.Permit(state_, *Info(MakePod()), "a").status.ok());
  const PermitResult waits = permit.Permit(state_, *Info(MakePod().Label("waits", "")), "a");
  EXPECT_TRUE(waits.status.wait());
  EXPECT_EQ(waits.timeout, std::chrono::seconds(7));
  EXPECT_EQ(waits.status.message(), "told to wait");
}

TEST_F(LoadedPluginTest, HintsSeeThePodAndTheObjects) {
  auto& plugin = Make<EnqueueExtensions>("Everywhere");
  const auto events = plugin.EventsToRegister();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].event,
            (ClusterEvent{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel}));
  EXPECT_EQ(events[1].event, (ClusterEvent{EventResource::kAssignedPod, action::kDelete}));
  EXPECT_EQ(events[1].hint, nullptr);
  const api::Pod pod = MakePod().Label("wants", "disk");
  const api::ObjectPtr with = MakeNode("a").Label("disk", "").Ptr();
  const api::ObjectPtr without = MakeNode("a").Ptr();
  EXPECT_EQ(*events[0].hint(pod, {}, with), QueueingHint::kQueue);
  EXPECT_EQ(*events[0].hint(pod, {}, without), QueueingHint::kQueueSkip);
  EXPECT_EQ(*events[0].hint(pod, without, {}), QueueingHint::kQueueSkip);
  EXPECT_EQ(*events[0].hint(pod, without, with), QueueingHint::kQueueSkip);
}

TEST_F(LoadedPluginTest, VolumesAndWhatIsNearThemAreShown) {
  api::PersistentVolumeClaim claim;
  claim.metadata.namespace_ = "default";
  claim.metadata.name = "data";
  claim.spec.storage_class_name = "fast";
  claim.spec.resources.requests = {{"storage", api::Quantity::FromUnits(7)}};
  claim.status.phase = "Pending";
  handle_.plain_listers.Set(claim);
  api::StorageClass storage_class;
  storage_class.metadata.name = "fast";
  storage_class.provisioner = "disks.example.com";
  storage_class.volume_binding_mode = "WaitForFirstConsumer";
  handle_.plain_listers.Set(storage_class);
  api::CSIStorageCapacity capacity;
  capacity.metadata.name = "room";
  capacity.storage_class_name = "fast";
  capacity.capacity = api::Quantity::FromUnits(99);
  capacity.node_topology.emplace().match_labels = {{"zone", "a"}};
  handle_.plain_listers.Set(capacity);
  api::PersistentVolume volume;
  volume.metadata.name = "pv-1";
  volume.spec.storage_class_name = "fast";
  volume.spec.csi.emplace().driver = "disks.example.com";
  volume.spec.csi->volume_handle = "disk-1";
  volume.spec.claim_ref.emplace().name = "data";
  volume.spec.claim_ref->namespace_ = "default";
  volume.spec.node_affinity.emplace().required.emplace().node_selector_terms = {
      {{test::MakeRequirement("zone", "In", {"a"})}, {}}};
  handle_.plain_listers.Set(volume);
  api::VolumeAttachment attachment;
  attachment.metadata.name = "attached";
  attachment.spec.attacher = "disks.example.com";
  attachment.spec.node_name = "a";
  attachment.spec.source.persistent_volume_name = "pv-1";
  handle_.plain_listers.Set(attachment);

  auto& plugin = Make<FilterPlugin>("ShowsVolumes");
  const PlainSnapshot snapshot(
      handle_.names, {MakeNode("a").Label("zone", "a"), MakeNode("b").Label("zone", "b")});
  const auto seen = [&](const api::Pod& pod, const char* node) {
    return plugin.Filter(state_, *Info(pod), snapshot.view(node)).reasons().front();
  };
  const api::Pod pod = MakePod().Name("web").ClaimVolume("data").EphemeralVolume("scratch");
  EXPECT_EQ(seen(pod, "a"),
            "claim data Pending 7 disks.example.com WaitForFirstConsumer 99 pv-1 unbound "
            "ephemeral web-scratch disks.example.com pv-1 a ");
  EXPECT_EQ(seen(pod, "b"),
            "claim data Pending 7 disks.example.com WaitForFirstConsumer unbound "
            "ephemeral web-scratch ");
  claim.spec.volume_name = "pv-1";
  claim.status.phase = "Bound";
  handle_.plain_listers.Set(claim);
  EXPECT_EQ(seen(pod, "b"),
            "claim data Bound 7 disks.example.com WaitForFirstConsumer disks.example.com disk-1 "
            "default/data elsewhere ephemeral web-scratch ");
}

TEST_F(LoadedPluginTest, InputsAreDeclaredOnlyByPluginsThatDoSo) {
  EXPECT_FALSE(MakePlugin("Everywhere").inputs.declared);
  const Inputs inputs = MakePlugin("ScoresOnly").inputs;
  EXPECT_TRUE(inputs.declared);
  EXPECT_EQ(inputs.pod, PodParts{pod_part::kRequests});
  ASSERT_EQ(inputs.inputs.size(), 1u);
  EXPECT_EQ(inputs.inputs.front().reach, Reach::kNode);
}

TEST_F(LoadedPluginTest, WhatAPluginThrowsIsAnErrorWithItsText) {
  const PlainSnapshot snapshot(handle_.names, Nodes());
  const auto pod = Info(MakePod());
  const NodeView node = snapshot.view("a");
  const struct {
    const char* point;
    Status status;
  } cases[] = {
      {"PreFilter",
       Make<PreFilterPlugin>("Everywhere", "PreFilter").PreFilter(state_, *pod, snapshot).status},
      {"AddPod",
       Make<PreFilterExtensions>("Everywhere", "AddPod").AddPod(state_, *pod, *pod, node)},
      {"Filter", Make<FilterPlugin>("Everywhere", "Filter").Filter(state_, *pod, node)},
      {"PreScore", Make<PreScorePlugin>("Everywhere", "PreScore")
                       .PreScore(state_, *pod, snapshot, snapshot.nodes())},
      {"Score", Make<ScorePlugin>("Everywhere", "Score").Score(state_, *pod, node).status},
      {"Reserve", Make<ReservePlugin>("Everywhere", "Reserve").Reserve(state_, *pod, "a")},
      {"Permit", Make<PermitPlugin>("Everywhere", "Permit").Permit(state_, *pod, "a").status},
      {"PreBindPreFlight",
       Make<PreBindPlugin>("Everywhere", "PreBindPreFlight").PreBindPreFlight(state_, *pod, "a")},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.point);
    EXPECT_EQ(c.status.code(), Code::kError);
    EXPECT_EQ(c.status.message(), "plugin threw: no " + std::string(c.point) + " today");
  }
}

TEST_F(LoadedPluginTest, AThrowWithoutAVerdictLeavesTheSafeAnswer) {
  const PlainSnapshot snapshot(handle_.names, Nodes());
  const auto pod = Info(MakePod().Req({{"example.com/gpu", "1"}}));
  EXPECT_EQ(Make<PreEnqueuePlugin>("Everywhere", "PreEnqueue").PreEnqueue(*pod).code(),
            Code::kError);
  Make<ReservePlugin>("Everywhere", "Unreserve").Unreserve(state_, *pod, "a");
  Make<PostBindPlugin>("Everywhere", "PostBind").PostBind(state_, *pod, "a");

  // The per-node form takes over from the one by column.
  NodeSet nodes = snapshot.nodes();
  EXPECT_TRUE(Make<ColumnFilterPlugin>("Everywhere", "FilterNodes")
                  .FilterNodes(state_, *pod, snapshot, nodes)
                  .ok());
  EXPECT_TRUE(nodes.Test(0));
  EXPECT_FALSE(nodes.Test(1));
  std::vector<int64_t> scores(2);
  Make<ColumnScorePlugin>("Everywhere", "ScoreNodes")
      .ScoreNodes(state_, *pod, snapshot, std::vector<NodeRow>{0, 1}, scores);
  EXPECT_THAT(scores, ElementsAre(50, 200));

  // Better an event too many than a pod that is never tried again.
  auto events = Make<EnqueueExtensions>("Everywhere", "EventsToRegister").EventsToRegister();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_TRUE(events.front().event.wildcard());
  events = Make<EnqueueExtensions>("Everywhere", "Hint").EventsToRegister();
  EXPECT_EQ(*events.front().hint(*pod->pod, {}, {}), QueueingHint::kQueue);
}

TEST_F(LoadedPluginTest, CountsInMetricsOfItsOwn) {
  auto& plugin = Make<ReservePlugin>("Everywhere");
  plugin.Unreserve(state_, *Info(MakePod()), "a");
  plugin.Unreserve(state_, *Info(MakePod()), "a");
  PluginMetricSpec spec;
  spec.name = "calls_total";
  spec.help = "Calls.";
  spec.labels = {"point"};
  EXPECT_TRUE(handle_.own_metrics.Define("Everywhere", spec));
  spec.labels = {"spot"};
  EXPECT_FALSE(handle_.own_metrics.Define("Everywhere", spec));
  EXPECT_EQ(handle_.own_metrics.Value("berth_plugin_everywhere_calls_total", {"Unreserve"}), 2);
}

}  // namespace
}  // namespace berth::framework
