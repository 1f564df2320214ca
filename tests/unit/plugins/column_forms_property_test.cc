// SPDX-License-Identifier: Apache-2.0
// By column and node by node must agree: on random clusters, for every plugin that has both forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "plugins/in_tree_registry.h"
#include "tests/support/random_cluster.h"
#include "tests/support/shipped.h"
#include "tests/support/volume_builders.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

// How often the two forms said yes and no, or a score was not 0, so that the test knows it saw
// something.
struct Tally {
  size_t kept = 0;
  size_t dropped = 0;
  size_t scored = 0;
};

struct Instance {
  std::string name;
  Plugin plugin;
};

ConfigValue FitStrategy(const char* type, bool shape) {
  ConfigValue::Map strategy{
      {"type", Item(type)},
      {"resources",
       Items({Args({{"name", Item("cpu")}, {"weight", Item(2)}}), Args({{"name", Item("memory")}}),
              Args({{"name", Item("ephemeral-storage")}}),
              Args({{"name", Item("nvidia.com/gpu")}, {"weight", Item(5)}})})}};
  if (shape) {
    const auto point = [](int64_t utilization, int64_t score) {
      return Args({{"utilization", Item(utilization)}, {"score", Item(score)}});
    };
    strategy.emplace_back("requestedToCapacityRatio",
                          Args({{"shape", Items({point(0, 0), point(40, 10), point(100, 2)})}}));
  }
  return Args({{"scoringStrategy", ConfigValue(std::move(strategy))},
               {"ignoredResources", Items({Item("vendor.io/fpga")})}});
}

ConfigValue AddedAffinity() {
  const ConfigValue in_zones =
      Args({{"matchExpressions", Items({Args({{"key", Item("zone")},
                                              {"operator", Item("In")},
                                              {"values", Items({Item("a"), Item("b")})}})})}});
  return Args({{"addedAffinity",
                Args({{"requiredDuringSchedulingIgnoredDuringExecution",
                       Args({{"nodeSelectorTerms", Items({in_zones})}})},
                      {"preferredDuringSchedulingIgnoredDuringExecution",
                       Items({Args({{"weight", Item(9)}, {"preference", in_zones}})})}})}});
}

ConfigValue WeightedZones() {
  const auto weighted = [](const char* value, int64_t weight) {
    return Args({{"value", Item(value)}, {"weight", Item(weight)}});
  };
  const ConfigValue everything = Args({});
  return Args(
      {{"constraints",
        Items({Args({{"labelSelector", everything},
                     {"topologyKey", Item("zone")},
                     {"weights", Items({weighted("a", 3), weighted("b", 1), weighted("c", 1)})},
                     {"whenUnsatisfiable", Item("DoNotSchedule")}}),
               Args({{"labelSelector", everything},
                     {"topologyKey", Item("cores")},
                     {"order", Items({Item("many"), Item("8"), Item("1")})},
                     {"whenUnsatisfiable", Item("ScheduleAnyway")}})})}});
}

// These have nothing to say without args.
constexpr std::string_view kNeedArgs[] = {"NodeLabel", "ServiceAffinity", "WeightedTopologySpread"};
// Their tests compare them, on clusters with devices or volumes.
constexpr std::string_view kComparedElsewhere[] = {"DynamicResources", "NodeVolumeLimits",
                                                   "VolumeBinding", "VolumeZone"};

class ColumnFormsTest : public testing::Test, public PluginFixture {
 public:
  // Selects most pods of RandomPod(), for the plugins that ask for services.
  void AddServices() {
    for (const char* app : {"web", "db"}) {
      api::Service service;
      service.metadata.name = app;
      service.metadata.namespace_ = "default";
      service.spec.selector = MakeLabels({{"app", app}});
      handle.plain_listers.Set(std::move(service));
    }
  }

  std::vector<Instance> MakeInstances() {
    const ConfigValue balanced =
        Args({{"resources", Items({Args({{"name", Item("cpu")}}), Args({{"name", Item("memory")}}),
                                   Args({{"name", Item("nvidia.com/gpu")}})})}});
    const std::vector<std::pair<std::string, ConfigValue>> variants = {
        {"NodeResourcesFit", FitStrategy("MostAllocated", false)},
        {"NodeResourcesFit", FitStrategy("RequestedToCapacityRatio", true)},
        {"NodeAffinity", AddedAffinity()},
        {"NodeResourcesAllocatable",
         Args({{"resources", Items({Args({{"name", Item("nvidia.com/gpu")}, {"weight", Item(5)}}),
                                    Args({{"name", Item("memory")}, {"weight", Item(1)}})})},
               {"mode", Item("Most")}})},
        {"NodeResourcesBalancedAllocation", balanced},
        {"InterPodAffinity", Args({{"hardPodAffinityWeight", Item(10)},
                                   {"ignorePreferredTermsOfExistingPods", ConfigValue(true)}})},
        {"NodeLabel", Args({{"presentLabels", Items({Item("ssd")})},
                            {"absentLabels", Items({Item("cores")})},
                            {"presentLabelsPreference", Items({Item("zone")})},
                            {"absentLabelsPreference", Items({Item("cores")})}})},
        {"WeightedTopologySpread", WeightedZones()},
        {"ServiceAffinity", Args({{"affinityLabels", Items({Item("zone"), Item("ssd")})}})},
    };
    std::vector<Instance> instances;
    std::vector<PluginRegistration> registry = InTreeRegistry();
    for (PluginRegistration& shipped : ShippedRegistry()) registry.push_back(std::move(shipped));
    for (const PluginRegistration& registration : registry) {
      if (std::ranges::find(kComparedElsewhere, registration.name) !=
          std::end(kComparedElsewhere)) {
        continue;
      }
      if (std::ranges::find(kNeedArgs, registration.name) == std::end(kNeedArgs)) {
        instances.push_back(
            {std::string(registration.name), *registration.factory(ConfigValue(), handle)});
      }
      for (const auto& [name, args] : variants) {
        if (name != registration.name) continue;
        auto plugin = registration.factory(args, handle);
        EXPECT_TRUE(plugin.has_value()) << name << ": " << plugin.error().message;
        if (!plugin) continue;
        instances.push_back({name + " " + args.ToJson(), std::move(*plugin)});
      }
    }
    return instances;
  }

  void SetUp() override {
    for (int i = 0; i < 100; ++i) {
      const MeasuredResource resource{
          .known = i % 7 != 0, .average = 1.0 * i, .deviation = i / 9.0, .last = 99.0 - i};
      const std::string name = "node-" + std::to_string(i);
      handle.measured.nodes[name] = {name, resource, resource};
    }
    handle.plain_listers.Set(MakeWaitingClass("local", kNoProvisioner));
    for (const char* zone : {"a", "b"}) {
      const auto in_zone = [&](const std::string& name) {
        return MakeVolume(name + zone, "local")
            .RequireNode({MakeRequirement("zone", "In", {zone})});
      };
      handle.plain_listers.Set(in_zone("bound-").Phase("Bound").Obj());
      handle.plain_listers.Set(in_zone("free-").Obj());
    }
  }

  // Gives the pod a claim that is bound to a volume in a zone, or waits for one.
  void AddClaim(Random& random, api::Pod& pod) {
    ClaimBuilder claim = MakeClaim("data", "local");
    claim->metadata.namespace_ = pod.metadata.namespace_;
    if (random.Below(2) == 0) claim.BoundTo(random.Below(2) == 0 ? "bound-a" : "bound-b");
    handle.plain_listers.Set(claim.Obj());
    pod.spec.volumes.emplace_back().persistent_volume_claim =
        api::PersistentVolumeClaimVolumeSource{"data", false};
  }

  void CompareFilter(const ColumnFilterPlugin& plugin, const CycleState& cycle, const PodInfo& pod,
                     const PlainSnapshot& snapshot, const NodeSet& candidates, Tally& tally) {
    NodeSet want = candidates;
    want.Filter(
        [&](NodeRow row) { return plugin.Filter(cycle, pod, NodeView(snapshot, row)).ok(); });
    NodeSet got = candidates;
    EXPECT_TRUE(plugin.FilterNodes(cycle, pod, snapshot, got).ok());
    EXPECT_EQ(got, want);
    tally.kept += want.Count();
    tally.dropped += candidates.Count() - want.Count();
  }

  // A plugin may have no scores without what PreScore leaves.
  void CompareScore(const ColumnScorePlugin& plugin, bool prepared, const CycleState& cycle,
                    const PodInfo& pod, const PlainSnapshot& snapshot,
                    const std::vector<NodeRow>& rows, Tally& tally) {
    std::vector<int64_t> want;
    for (NodeRow row : rows) {
      const ScoreResult result = plugin.Score(cycle, pod, NodeView(snapshot, row));
      if (!prepared && !result.status.ok()) return;
      EXPECT_TRUE(result.status.ok()) << result.status.message();
      want.push_back(result.score);
      if (result.score != 0) ++tally.scored;
    }
    std::vector<int64_t> got(rows.size(), -12345);
    plugin.ScoreNodes(cycle, pod, snapshot, rows, got);
    EXPECT_EQ(got, want);
  }

  // With and without the state that PreFilter and PreScore leave.
  void CompareBothForms(const Plugin& plugin, const PodInfo& pod, const PlainSnapshot& snapshot,
                        const NodeSet& candidates, Tally& tally) {
    std::vector<NodeRow> rows;
    candidates.ForEach([&](NodeRow row) { rows.push_back(row); });
    CycleState cycle;
    bool prepared = true;
    if (plugin.pre_filter != nullptr) {
      prepared = plugin.pre_filter->PreFilter(cycle, pod, snapshot).status.ok();
    }
    Tally unprepared;
    if (const ColumnFilterPlugin* filter = plugin.column_filter) {
      const bool needs_state = !plugin.filter_without_pre_filter.empty();
      if (prepared || !needs_state) {
        CompareFilter(*filter, cycle, pod, snapshot, candidates, prepared ? tally : unprepared);
      }
      if (!needs_state) CompareFilter(*filter, CycleState(), pod, snapshot, candidates, unprepared);
    }
    prepared = true;
    if (plugin.pre_score != nullptr) {
      prepared = plugin.pre_score->PreScore(cycle, pod, snapshot, candidates).ok();
    }
    if (const ColumnScorePlugin* score = plugin.column_score) {
      const bool needs_state = !plugin.score_without_pre_score.empty();
      if (prepared || !needs_state) {
        CompareScore(*score, prepared, cycle, pod, snapshot, rows, tally);
      }
      if (!needs_state) CompareScore(*score, false, CycleState(), pod, snapshot, rows, tally);
    }
  }
};

TEST_F(ColumnFormsTest, EveryPluginAgreesWithItselfOnRandomClusters) {
  Random random(1);
  AddServices();
  std::vector<Instance> instances = MakeInstances();
  std::map<std::string, Tally> tallies;
  for (int round = 0; round < 60 && !HasFailure(); ++round) {
    const size_t count = 1 + random.Below(150);
    std::vector<api::Node> nodes = RandomNodes(random, count);
    for (api::Node& node : nodes) node.status.capacity = node.status.allocatable;
    PlainSnapshot snapshot = Cluster(nodes, RandomPlacedPods(random, 2 * count, count));
    if (round % 2 == 1) snapshot.ListFew();
    for (size_t i = 0; i < 8; ++i) {
      api::Pod drawn = RandomPod(random, i, count);
      if (i % 2 == 0) AddClaim(random, drawn);
      const PodInfoPtr pod = Info(drawn);
      NodeSet candidates = snapshot.nodes();
      const uint64_t holes = 1 + random.Below(20);
      for (NodeRow row = 0; row < count; ++row) {
        if (random.Below(holes + 1) == 0) candidates.Clear(row);
      }
      for (Instance& instance : instances) {
        SCOPED_TRACE("round " + std::to_string(round) + ", pod " + std::to_string(i) + ", " +
                     instance.name);
        CompareBothForms(instance.plugin, *pod, snapshot, candidates, tallies[instance.name]);
      }
    }
  }
  for (const Instance& instance : instances) {
    SCOPED_TRACE(instance.name);
    const Tally& tally = tallies[instance.name];
    if (instance.plugin.column_filter != nullptr) {
      EXPECT_GT(tally.kept, 100u);
      EXPECT_GT(tally.dropped, 100u);
    }
    if (instance.plugin.column_score != nullptr) {
      EXPECT_GT(tally.scored, 100u);
    }
  }
}

}  // namespace
}  // namespace berth::plugins
