// SPDX-License-Identifier: Apache-2.0
#include "src/config/feature_gates.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <utility>

namespace berth::config {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

Result<FeatureGates> Parse(std::vector<std::string> values, GateVersions versions = {}) {
  return FeatureGates::Parse(values, versions);
}

std::string ErrorOf(std::vector<std::string> values) {
  const auto gates = Parse(std::move(values));
  return gates ? "" : gates.error().message;
}

TEST(FeatureGateTableTest, IsSortedWithoutRepetitionAndNamesOnlyKnownDependencies) {
  std::set<std::string_view> names;
  std::string_view previous;
  for (const FeatureGate& gate : KnownFeatureGates()) {
    EXPECT_LT(previous, gate.name);
    previous = gate.name;
    names.insert(gate.name);
  }
  for (const FeatureGate& gate : KnownFeatureGates()) {
    SCOPED_TRACE(gate.name);
    std::string_view rest = gate.depends_on;
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find(' '));
      EXPECT_TRUE(names.contains(name)) << name;
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    }
  }
}

TEST(FeatureGateTableTest, HasTheDefaultsOfKubernetes137) {
  const struct {
    const char* name;
    bool enabled;
    bool locked;
    FeatureStage stage;
  } cases[] = {
      {"SchedulerPopFromBackoffQ", true, false, FeatureStage::kBeta},
      {"SchedulerAsyncPreemption", true, false, FeatureStage::kBeta},
      {"SchedulerAsyncAPICalls", false, false, FeatureStage::kBeta},
      {"NominatedNodeNameForExpectation", true, false, FeatureStage::kBeta},
      {"OpportunisticBatching", true, false, FeatureStage::kBeta},
      {"StorageCapacityScoring", true, false, FeatureStage::kBeta},
      {"VolumeAttributesClass", true, true, FeatureStage::kGA},
      {"TaintTolerationComparisonOperators", false, false, FeatureStage::kAlpha},
      {"PodLevelResources", true, false, FeatureStage::kBeta},
      {"InPlacePodVerticalScaling", true, true, FeatureStage::kGA},
      {"InPlacePodLevelResourcesVerticalScaling", true, false, FeatureStage::kBeta},
      {"NodeDeclaredFeatures", true, true, FeatureStage::kGA},
      {"DynamicResourceAllocation", true, true, FeatureStage::kGA},
      {"DRADeviceTaints", true, false, FeatureStage::kGA},
      {"DRAFractionalCapacityRange", false, false, FeatureStage::kBeta},
      {"GenericWorkload", false, false, FeatureStage::kBeta},
      {"TopologyAwareWorkloadScheduling", false, false, FeatureStage::kAlpha},
      {"CoordinatedLeaderElection", false, false, FeatureStage::kBeta},
      {"WatchListClient", true, false, FeatureStage::kBeta},
      {"ClientsAllowCBOR", false, false, FeatureStage::kAlpha},
  };
  const auto known = KnownFeatureGates();
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto gate = std::find_if(known.begin(), known.end(),
                                   [&](const FeatureGate& entry) { return entry.name == c.name; });
    ASSERT_NE(gate, known.end());
    const GateState& state = gate->At(GateVersions::kNewest);
    EXPECT_EQ(state.enabled_by_default, c.enabled);
    EXPECT_EQ(state.locked, c.locked);
    EXPECT_EQ(state.stage, c.stage);
    EXPECT_EQ(FeatureGates().Enabled(c.name), c.enabled);
  }
}

TEST(FeatureGatesTest, ReadsNamesWithAndWithoutComponent) {
  const struct {
    const char* name;
    std::vector<std::string> values;
    bool want;  // of VolumeLimitScaling, which is on by default
  } cases[] = {
      {"nothing", {}, true},
      {"empty", {""}, true},
      {"plain", {"VolumeLimitScaling=false"}, false},
      {"with component", {"kube:VolumeLimitScaling=false"}, false},
      {"with blanks", {" VolumeLimitScaling = false "}, false},
      {"among others", {"PodLevelResources=true,VolumeLimitScaling=false,"}, false},
      {"in the second flag", {"PodLevelResources=true", "VolumeLimitScaling=f"}, false},
      {"the last one counts", {"VolumeLimitScaling=false", "VolumeLimitScaling=T"}, true},
      {"all beta off", {"AllBeta=false"}, false},
      {"by name wins over all beta", {"VolumeLimitScaling=true,AllBeta=false"}, true},
      {"all alpha does not touch beta", {"AllAlpha=false"}, true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto gates = Parse(c.values);
    ASSERT_TRUE(gates) << gates.error().message;
    EXPECT_EQ(gates->Enabled("VolumeLimitScaling"), c.want);
  }
}

TEST(FeatureGatesTest, AllAlphaTurnsOnAlphaGatesOnly) {
  const auto gates = Parse({"AllAlpha=true,GenericWorkload=true"});
  ASSERT_TRUE(gates) << gates.error().message;
  EXPECT_TRUE(gates->Enabled("TaintTolerationComparisonOperators"));
  EXPECT_FALSE(gates->Enabled("SchedulerAsyncAPICalls"));
}

TEST(FeatureGatesTest, RefusesWhatKubeSchedulerRefusesInItsWords) {
  const struct {
    const char* name;
    std::vector<std::string> values;
    const char* want;
  } cases[] = {
      {"unknown", {"Foo=true"}, "unrecognized feature gate: Foo"},
      {"names are case-sensitive",
       {"podLevelResources=true"},
       "unrecognized feature gate: podLevelResources"},
      {"a gate of an older version",
       {"SchedulerQueueingHints=true"},
       "unrecognized feature gate: SchedulerQueueingHints"},
      {"no value", {"VolumeLimitScaling"}, "missing bool value for VolumeLimitScaling"},
      {"no bool",
       {"VolumeLimitScaling=maybe"},
       "invalid value of VolumeLimitScaling=maybe, err: strconv.ParseBool: parsing \"maybe\": "
       "invalid syntax"},
      {"other component", {"wardle:VolumeLimitScaling=false"}, "component not registered: wardle"},
      {"with and without component",
       {"kube:VolumeLimitScaling=false", "PodLevelResources=true"},
       "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix "
       "use"},
      {"locked",
       {"InPlacePodVerticalScaling=false"},
       "cannot set feature gate InPlacePodVerticalScaling to false, feature is locked to true"},
      {"dependencies off",
       {"CompositePodGroup=true"},
       "CompositePodGroup is enabled, but depends on features that are disabled: [GenericWorkload "
       "TopologyAwareWorkloadScheduling]"},
      {"dependency turned off",
       {"DRADeviceTaints=false"},
       "DRADeviceTaintRules is enabled, but depends on features that are disabled: "
       "[DRADeviceTaints]"},
      {"several",
       {"PodLevelResources=false"},
       "[InPlacePodLevelResourcesVerticalScaling is enabled, but depends on features that are "
       "disabled: [PodLevelResources], PodLevelResourcesFixDefaulting is enabled, but depends on "
       "features that are disabled: [PodLevelResources], PodLevelResourcesFixKubeletQOSClass is "
       "enabled, but depends on features that are disabled: [PodLevelResources]]"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(ErrorOf(c.values), c.want);
  }
}

TEST(FeatureGatesTest, ALockedGateMayBeSetToItsDefault) {
  const auto gates = Parse({"InPlacePodVerticalScaling=true"});
  ASSERT_TRUE(gates);
  EXPECT_THAT(gates->warnings(),
              ElementsAre("feature gate InPlacePodVerticalScaling=true is GA and will be removed "
                          "in a later release"));
}

TEST(FeatureGatesTest, MinCompatibilityVersionMovesOneDefault) {
  EXPECT_FALSE(Parse({}, {.min_compatibility = 36})->Enabled("DRAFractionalCapacityRange"));
  EXPECT_TRUE(Parse({}, {.min_compatibility = 37})->Enabled("DRAFractionalCapacityRange"));
  EXPECT_FALSE(Parse({"DRAFractionalCapacityRange=false"}, {.min_compatibility = 37})
                   ->Enabled("DRAFractionalCapacityRange"));
}

TEST(FeatureGatesTest, ResolvesIntoWhatPluginsAreTold) {
  const Features defaults = FeatureGates().Resolve();
  EXPECT_TRUE(defaults.pod_level_resources);
  EXPECT_TRUE(defaults.in_place_pod_level_resources_vertical_scaling);
  EXPECT_TRUE(defaults.nominated_node_name_for_expectation);
  EXPECT_TRUE(defaults.scheduler_pop_from_backoff_q);
  EXPECT_FALSE(defaults.taint_toleration_comparison_operators);
  EXPECT_TRUE(defaults.match_label_keys_in_pod_topology_spread);

  const struct {
    const char* flag;
    bool Features::* field;
    bool want;
  } cases[] = {
      {"PodLevelResources=false,InPlacePodLevelResourcesVerticalScaling=false,"
       "PodLevelResourcesFixDefaulting=false,PodLevelResourcesFixKubeletQOSClass=false",
       &Features::pod_level_resources, false},
      {"InPlacePodLevelResourcesVerticalScaling=false",
       &Features::in_place_pod_level_resources_vertical_scaling, false},
      {"NominatedNodeNameForExpectation=false", &Features::nominated_node_name_for_expectation,
       false},
      {"SchedulerPopFromBackoffQ=false", &Features::scheduler_pop_from_backoff_q, false},
      {"TaintTolerationComparisonOperators=true", &Features::taint_toleration_comparison_operators,
       true},
      {"InPlacePodVerticalScalingSchedulerPreemption=true",
       &Features::in_place_pod_vertical_scaling_scheduler_preemption, true},
      {"MatchLabelKeysInPodTopologySpread=false,MatchLabelKeysInPodTopologySpreadSelectorMerge="
       "false",
       &Features::match_label_keys_in_pod_topology_spread, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.flag);
    const auto gates = Parse({c.flag});
    ASSERT_TRUE(gates) << gates.error().message;
    EXPECT_EQ(gates->Resolve().*c.field, c.want);
    EXPECT_THAT(gates->warnings(), IsEmpty());
  }
}

TEST(FeatureGatesTest, GatesOfDevicesThatAreActedUponAreNotWarnedOf) {
  for (const char* flag : {"DRADerivedAttributes=true", "DRAListTypeAttributes=true",
                           "DRANodeAllocatableResources=true",
                           "DRAWorkloadResourceClaims=true,GenericWorkload=true"}) {
    const auto gates = Parse({flag});
    ASSERT_TRUE(gates) << gates.error().message;
    EXPECT_THAT(gates->warnings(), IsEmpty()) << flag;
  }
}

TEST(FeatureGateTableTest, StatesAreInTheOrderOfVersionsThatAreEmulated) {
  for (const FeatureGate& gate : KnownFeatureGates()) {
    SCOPED_TRACE(gate.name);
    EXPECT_NE(gate.At(GateVersions::kNewest).stage, FeatureStage::kPreAlpha);
    int previous = -1;
    for (const GateState& state : gate.states) {
      if (state.stage == FeatureStage::kPreAlpha) continue;
      EXPECT_LT(previous, state.since);
      previous = state.since;
      EXPECT_LE(state.since, GateVersions::kNewest);
      if (state.since != 0) EXPECT_GT(state.since, GateVersions::kOldest);
    }
  }
}

TEST(FeatureGatesTest, AnEmulatedVersionHasTheGatesAndDefaultsOfThen) {
  const FeatureGates now;
  for (const char* gate : {"OpportunisticBatching", "DRADeviceTaints"}) {
    EXPECT_TRUE(now.Enabled(gate)) << gate;
    EXPECT_FALSE(FeatureGates({.emulated = 34, .min_compatibility = 34}).Enabled(gate)) << gate;
  }
  for (int minor = GateVersions::kOldest; minor <= GateVersions::kNewest; ++minor) {
    const auto none = Parse({}, {.emulated = minor, .min_compatibility = minor - 1});
    ASSERT_TRUE(none) << "1." << minor << ": " << none.error().message;
    EXPECT_EQ(none->emulated_minor(), minor);
    for (const char* bulk : {"AllAlpha=false", "AllBeta=true"}) {
      EXPECT_TRUE(Parse({bulk}, {.emulated = minor, .min_compatibility = minor - 1}))
          << bulk << " in 1." << minor;
    }
  }
  const GateVersions before = {.emulated = 36, .min_compatibility = 35};
  const auto too_new = Parse({"InPlacePodVerticalScalingSchedulerPreemption=true"}, before);
  ASSERT_FALSE(too_new);
  EXPECT_EQ(too_new.error().message,
            "cannot set feature gate InPlacePodVerticalScalingSchedulerPreemption to true, feature "
            "is PreAlpha at emulated version 1.36, min compatibility version 1.35");
  // What did not exist is off, also where all of a stage is on.
  EXPECT_FALSE(FeatureGates(before).Enabled("InPlacePodVerticalScalingSchedulerPreemption"));
}

TEST(FeatureGatesTest, WarnsOfGatesThatChangeNothingYet) {
  const auto changed = Parse({"CoordinatedLeaderElection=true"});
  ASSERT_TRUE(changed);
  EXPECT_THAT(changed->warnings(),
              ElementsAre("feature gate CoordinatedLeaderElection=true has no effect "
                          "yet"));
  const auto unchanged = Parse({"CoordinatedLeaderElection=false"});
  ASSERT_TRUE(unchanged);
  EXPECT_THAT(unchanged->warnings(), IsEmpty());
  const auto at_once = Parse({"AllBeta=true"});
  ASSERT_TRUE(at_once) << at_once.error().message;
  EXPECT_THAT(at_once->warnings(),
              Contains("feature gate CoordinatedLeaderElection=true has no effect yet"));
  const auto older = Parse({"DRAPrioritizedList=false"}, {.emulated = 36, .min_compatibility = 35});
  ASSERT_TRUE(older) << older.error().message;
  EXPECT_THAT(older->warnings(),
              ElementsAre("feature gate DRAPrioritizedList=false has no effect yet"));
}

}  // namespace
}  // namespace berth::config
