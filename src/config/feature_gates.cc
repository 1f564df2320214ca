// SPDX-License-Identifier: Apache-2.0
#include "src/config/feature_gates.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>

#include "berth/check.h"
#include "berth/field_errors.h"
#include "src/base/text.h"

namespace berth::config {
namespace {

using Settings = std::map<std::string, bool, std::less<>>;

// Gates that change what kube-scheduler does and that Resolve() does not pass on.
constexpr auto kWithoutEffect = std::to_array<std::string_view>({
    "AllowParsingUserUIDFromCertAuth",
    "CoordinatedLeaderElection",
    "DRAAdminAccess",
    "DRAExtendedResource",
    "DRAPrioritizedList",
    "InPlacePodVerticalScaling",
    "InterPodAffinityHostnameFastPath",
    "OpportunisticBatching",
    "SchedulerAsyncAPICalls",
    "SchedulerAsyncPreemption",
    "SchedulerPreQueueingHints",
    "VolumeAttributesClass",
    "WatchListClient",
});

constexpr size_t kUnknown = static_cast<size_t>(-1);

size_t IndexOf(std::string_view name) {
  const auto gates = KnownFeatureGates();
  const auto it = std::lower_bound(
      gates.begin(), gates.end(), name,
      [](const FeatureGate& gate, std::string_view wanted) { return gate.name < wanted; });
  if (it == gates.end() || it->name != name) return kUnknown;
  return static_cast<size_t>(it - gates.begin());
}

constexpr std::string_view kBlanks = " \t";

Result<void> ReadSetting(std::string_view entry, Settings& settings) {
  const size_t equals = entry.find('=');
  const std::string name(base::Trim(entry.substr(0, equals), kBlanks));
  if (equals == std::string_view::npos) return Fail("missing bool value for " + name);
  const std::string value(base::Trim(entry.substr(equals + 1), kBlanks));
  const auto enabled = base::ParseBool(value);
  if (!enabled) {
    return Fail("invalid value of " + name + "=" + value + ", err: strconv.ParseBool: parsing " +
                Quoted(value) + ": invalid syntax");
  }
  settings[name] = *enabled;
  return {};
}

Result<Settings> ReadSettings(std::span<const std::string> values) {
  Settings settings;
  bool with_prefix = false;
  bool without_prefix = false;
  for (std::string_view rest : values) {
    while (!rest.empty()) {
      const size_t comma = rest.find(',');
      std::string_view entry = rest.substr(0, comma);
      rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
      if (base::Trim(entry, kBlanks).empty()) continue;
      const size_t colon = entry.find(':');
      if (colon == std::string_view::npos) {
        without_prefix = true;
      } else {
        const std::string component(base::Trim(entry.substr(0, colon), kBlanks));
        if (component != "kube") return Fail("component not registered: " + component);
        with_prefix = true;
        entry.remove_prefix(colon + 1);
      }
      if (auto read = ReadSetting(entry, settings); !read) return Fail(read.error());
    }
  }
  if (with_prefix && without_prefix) {
    return Fail(
        "set kube feature gates with default empty prefix or kube: prefix consistently, do not "
        "mix use");
  }
  return settings;
}

void CheckDependencies(const std::vector<bool>& enabled, std::vector<std::string>& problems) {
  const auto gates = KnownFeatureGates();
  for (size_t i = 0; i < gates.size(); ++i) {
    if (!enabled[i]) continue;
    std::string off;
    std::string_view rest = gates[i].depends_on;
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
      if (enabled[IndexOf(name)]) continue;
      if (!off.empty()) off += ' ';
      off += name;
    }
    if (off.empty()) continue;
    problems.push_back(std::string(gates[i].name) +
                       " is enabled, but depends on features that are disabled: [" + off + "]");
  }
}

// `set`: whether --feature-gates names it.
std::optional<std::string> WarningFor(std::string_view name, const GateState& gate, bool value,
                                      bool set) {
  const std::string setting = std::string(name) + "=" + (value ? "true" : "false");
  if (value != gate.enabled_by_default &&
      std::find(kWithoutEffect.begin(), kWithoutEffect.end(), name) != kWithoutEffect.end()) {
    return "feature gate " + setting + " has no effect yet";
  }
  if (set && (gate.stage == FeatureStage::kGA || gate.stage == FeatureStage::kDeprecated)) {
    const char* stage = gate.stage == FeatureStage::kGA ? "GA" : "deprecated";
    return "feature gate " + setting + " is " + stage + " and will be removed in a later release";
  }
  return std::nullopt;
}

}  // namespace

const GateState& FeatureGate::At(int minor) const {
  static constexpr GateState kNotYet;
  const GateState* found = &kNotYet;
  for (const GateState& state : states) {
    if (state.stage != FeatureStage::kPreAlpha && state.since <= minor) found = &state;
  }
  return *found;
}

FeatureGates::FeatureGates(GateVersions versions) : versions_(versions) {
  for (const FeatureGate& gate : KnownFeatureGates()) {
    enabled_.push_back(gate.At(versions.emulated).enabled_by_default);
  }
  // The one gate whose default hangs on the version that must be able to read what is written.
  if (versions.emulated >= 37 && versions.min_compatibility >= 37) {
    enabled_[IndexOf("DRAFractionalCapacityRange")] = true;
  }
}

Result<FeatureGates> FeatureGates::Parse(std::span<const std::string> values,
                                         GateVersions versions) {
  const auto settings = ReadSettings(values);
  if (!settings) return Fail(settings.error());

  FeatureGates result(versions);
  const auto gates = KnownFeatureGates();
  std::vector<std::string> problems;
  for (const auto& [name, value] : *settings) {
    const size_t index = IndexOf(name);
    if (index == kUnknown) return Fail("unrecognized feature gate: " + name);
    const GateState& state = gates[index].At(versions.emulated);
    if (state.locked && state.enabled_by_default != value) {
      problems.push_back("cannot set feature gate " + name + " to " + (value ? "true" : "false") +
                         ", feature is locked to " + (value ? "false" : "true"));
    } else if (state.stage == FeatureStage::kPreAlpha) {
      problems.push_back("cannot set feature gate " + name + " to " + (value ? "true" : "false") +
                         ", feature is PreAlpha at emulated version 1." +
                         std::to_string(versions.emulated) + ", min compatibility version 1." +
                         std::to_string(versions.min_compatibility));
    }
  }
  if (auto error = AggregateProblems(problems)) return Fail(*error);

  for (const auto& [bulk, stage] :
       {std::pair{"AllAlpha", FeatureStage::kAlpha}, std::pair{"AllBeta", FeatureStage::kBeta}}) {
    const auto setting = settings->find(bulk);
    if (setting == settings->end()) continue;
    for (size_t i = 0; i < gates.size(); ++i) {
      const bool is_bulk = gates[i].name == "AllAlpha" || gates[i].name == "AllBeta";
      if (gates[i].At(versions.emulated).stage == stage && !is_bulk)
        result.enabled_[i] = setting->second;
    }
  }
  for (const auto& [name, value] : *settings) result.enabled_[IndexOf(name)] = value;
  for (size_t i = 0; i < gates.size(); ++i) {
    const bool set = settings->contains(gates[i].name);
    if (auto warning =
            WarningFor(gates[i].name, gates[i].At(versions.emulated), result.enabled_[i], set)) {
      result.warnings_.push_back(*std::move(warning));
    }
  }

  CheckDependencies(result.enabled_, problems);
  if (auto error = AggregateProblems(problems)) return Fail(*error);
  return result;
}

bool FeatureGates::Enabled(std::string_view name) const {
  const size_t index = IndexOf(name);
  BERTH_CHECK(index != kUnknown, "a feature gate that does not exist");
  return enabled_[index];
}

Features FeatureGates::Resolve() const {
  Features features;
  features.pod_level_resources = Enabled("PodLevelResources");
  features.in_place_pod_level_resources_vertical_scaling =
      Enabled("InPlacePodLevelResourcesVerticalScaling");
  features.in_place_pod_vertical_scaling_scheduler_preemption =
      Enabled("InPlacePodVerticalScalingSchedulerPreemption");
  features.nominated_node_name_for_expectation = Enabled("NominatedNodeNameForExpectation");
  features.scheduler_pop_from_backoff_q = Enabled("SchedulerPopFromBackoffQ");
  features.taint_toleration_comparison_operators = Enabled("TaintTolerationComparisonOperators");
  features.match_label_keys_in_pod_topology_spread = Enabled("MatchLabelKeysInPodTopologySpread");
  features.storage_capacity_scoring = Enabled("StorageCapacityScoring");
  features.volume_limit_scaling = Enabled("VolumeLimitScaling");
  features.dra_consumable_capacity = Enabled("DRAConsumableCapacity");
  features.dra_derived_attributes = Enabled("DRADerivedAttributes");
  features.dra_device_binding_conditions =
      Enabled("DRADeviceBindingConditions") && Enabled("DRAResourceClaimDeviceStatus");
  features.dra_device_compatibility_groups = Enabled("DRADeviceCompatibilityGroups");
  features.dra_device_taint_rules = Enabled("DRADeviceTaintRules");
  features.dra_device_taints = Enabled("DRADeviceTaints");
  features.dra_fractional_capacity_range = Enabled("DRAFractionalCapacityRange");
  features.dra_list_type_attributes = Enabled("DRAListTypeAttributes");
  features.dra_node_allocatable_resources = Enabled("DRANodeAllocatableResources");
  features.dra_optional_node_operations = Enabled("DRAOptionalNodeOperations");
  features.dra_partitionable_devices = Enabled("DRAPartitionableDevices");
  features.dra_scheduler_filter_timeout = Enabled("DRASchedulerFilterTimeout");
  features.dra_workload_resource_claims = Enabled("DRAWorkloadResourceClaims");
  features.generic_workload = Enabled("GenericWorkload");
  features.composite_pod_group = Enabled("CompositePodGroup");
  features.pod_group_preemption_policy = Enabled("PodGroupPreemptionPolicy");
  features.topology_aware_workload_scheduling = Enabled("TopologyAwareWorkloadScheduling");
  return features;
}

ArgsFeatures FeatureGates::ResolveForArgs() const {
  ArgsFeatures features;
  features.storage_capacity_scoring = Enabled("StorageCapacityScoring");
  features.dra_scheduler_filter_timeout = Enabled("DRASchedulerFilterTimeout");
  features.dra_device_binding_conditions =
      Enabled("DRADeviceBindingConditions") && Enabled("DRAResourceClaimDeviceStatus");
  return features;
}

}  // namespace berth::config
