// SPDX-License-Identifier: Apache-2.0
#include "src/recording/header.h"

#include <charconv>
#include <cstddef>
#include <iterator>
#include <utility>

#include "berth/config_value.h"
#include "src/base/json.h"
#include "src/documents/parse.h"

namespace berth::recording {
namespace {

// 2: what plugins post is written as messages. 3: so is that a volume was written, and what nodes
// are measured to use. 4: the plugin that ended a binding cycle is not.
constexpr int64_t kFormat = 4;

struct Gate {
  std::string_view name;
  bool Features::* member;
};

constexpr Gate kGates[] = {
    {"podLevelResources", &Features::pod_level_resources},
    {"inPlacePodLevelResourcesVerticalScaling",
     &Features::in_place_pod_level_resources_vertical_scaling},
    {"inPlacePodVerticalScalingSchedulerPreemption",
     &Features::in_place_pod_vertical_scaling_scheduler_preemption},
    {"nominatedNodeNameForExpectation", &Features::nominated_node_name_for_expectation},
    {"schedulerPopFromBackoffQ", &Features::scheduler_pop_from_backoff_q},
    {"taintTolerationComparisonOperators", &Features::taint_toleration_comparison_operators},
    {"matchLabelKeysInPodTopologySpread", &Features::match_label_keys_in_pod_topology_spread},
    {"storageCapacityScoring", &Features::storage_capacity_scoring},
    {"volumeLimitScaling", &Features::volume_limit_scaling},
    {"draConsumableCapacity", &Features::dra_consumable_capacity},
    {"draDerivedAttributes", &Features::dra_derived_attributes},
    {"draDeviceBindingConditions", &Features::dra_device_binding_conditions},
    {"draDeviceCompatibilityGroups", &Features::dra_device_compatibility_groups},
    {"draDeviceTaintRules", &Features::dra_device_taint_rules},
    {"draDeviceTaints", &Features::dra_device_taints},
    {"draFractionalCapacityRange", &Features::dra_fractional_capacity_range},
    {"draListTypeAttributes", &Features::dra_list_type_attributes},
    {"draNodeAllocatableResources", &Features::dra_node_allocatable_resources},
    {"draOptionalNodeOperations", &Features::dra_optional_node_operations},
    {"draPartitionableDevices", &Features::dra_partitionable_devices},
    {"draSchedulerFilterTimeout", &Features::dra_scheduler_filter_timeout},
    {"draWorkloadResourceClaims", &Features::dra_workload_resource_claims},
    {"genericWorkload", &Features::generic_workload},
    {"compositePodGroup", &Features::composite_pod_group},
    {"podGroupPreemptionPolicy", &Features::pod_group_preemption_policy},
    {"topologyAwareWorkloadScheduling", &Features::topology_aware_workload_scheduling},
    {"coscheduling", &Features::coscheduling},
    {"nodeResourceTopologies", &Features::node_resource_topologies},
    {"elasticQuotas", &Features::elastic_quotas},
};
// Stands for a member of any type.
struct AnyMember {
  template <typename T>
  operator T() const;
};

template <size_t... members>
constexpr bool HasMembers(std::index_sequence<members...>) {
  return requires { Features{(static_cast<void>(members), AnyMember())...}; };
}

// A gate more needs a line more; plugin_kinds and max_pd_volumes are no gates.
static_assert(HasMembers(std::make_index_sequence<std::size(kGates) + 2>()) &&
              !HasMembers(std::make_index_sequence<std::size(kGates) + 3>()));

void AppendPluginKinds(const std::vector<api::PluginKind>& kinds, std::string& out) {
  base::JsonList list(out);
  for (const api::PluginKind& kind : kinds) {
    base::JsonObject object(list.Next());
    object.Add("group", kind.group);
    object.Add("version", kind.version);
    object.Add("resource", kind.resource);
    object.Add("kind", kind.kind);
    object.Add("namespaced", kind.namespaced);
  }
}

// False: one lacks a field, or there are too many.
bool ReadPluginKinds(const ConfigValue::List& values, std::vector<api::PluginKind>& out) {
  bool whole = values.size() <= api::kMostPluginKinds;
  for (size_t i = 0; whole && i < values.size(); ++i) {
    FieldReader fields(values[i], "pluginKinds");
    api::PluginKind& kind = out.emplace_back();
    whole = fields.Read("group", kind.group) && fields.Read("version", kind.version) &&
            fields.Read("resource", kind.resource) && fields.Read("kind", kind.kind) &&
            fields.Read("namespaced", kind.namespaced);
  }
  return whole;
}

// JSON's numbers are too short for seeds and times.
std::string Digits(auto number) { return std::to_string(number); }

template <typename Number>
bool ReadDigits(FieldReader& fields, std::string_view field, Number& out) {
  std::string text;
  if (!fields.Read(field, text)) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string ToJson(const Header& header) {
  std::string text;
  base::JsonObject object(text);
  object.Add("format", kFormat);
  object.Add("berthVersion", header.berth_version);
  object.Add("id", header.id);
  object.Add("part", header.part);
  object.Add("start", Digits(header.start.time_since_epoch().count()));
  object.Add("seed", Digits(header.seed));
  object.Add("leading", header.leading);
  object.Add("asksExtenders", header.asks_extenders);
  object.Add("podMaxInUnschedulablePods",
             Digits(header.pod_max_in_unschedulable_pods_duration.count()));
  object.Add("maxKeptBytes", Digits(header.max_kept_bytes));
  base::JsonObject features(object.Key("features"));
  for (const Gate& gate : kGates) features.Add(gate.name, header.features.*gate.member);
  features.Add("maxPdVolumes", header.features.max_pd_volumes);
  features.Close();
  AppendPluginKinds(header.plugin_kinds, object.Key("pluginKinds"));
  object.Add("configuration", header.configuration);
  object.Close();
  return text;
}

Result<Header> ReadHeader(std::string_view json) {
  const auto document = documents::ParseJson(json, "");
  if (!document) return Fail(document.error());
  Header header;
  int64_t format = 0;
  int64_t part = 0;
  int64_t start = 0;
  int64_t in_unschedulable = 0;
  FieldReader fields(*document, "");
  bool whole = fields.Read("berthVersion", header.berth_version);
  if (!fields.Read("format", format) || format != kFormat) {
    return Fail("a recording of format " + std::to_string(format) + ", written by Berth " +
                header.berth_version + "; this version reads format " + std::to_string(kFormat));
  }
  whole = fields.Read("id", header.id) && whole;
  whole = fields.Read("part", part) && whole;
  whole = ReadDigits(fields, "start", start) && whole;
  whole = ReadDigits(fields, "seed", header.seed) && whole;
  whole = fields.Read("leading", header.leading) && whole;
  whole = fields.Read("asksExtenders", header.asks_extenders) && whole;
  whole = ReadDigits(fields, "podMaxInUnschedulablePods", in_unschedulable) && whole;
  whole = ReadDigits(fields, "maxKeptBytes", header.max_kept_bytes) && whole;
  whole = fields.Read("configuration", header.configuration) && whole;
  if (const ConfigValue* features = fields.Get("features")) {
    // Gates that the recording Berth did not have yet were off for it, or had no say.
    FieldReader gates(*features, "features");
    for (const Gate& gate : kGates) gates.Read(gate.name, header.features.*gate.member);
    gates.Read("maxPdVolumes", header.features.max_pd_volumes);
  } else {
    whole = false;
  }
  // Not there where an earlier version recorded.
  whole = ReadPluginKinds(fields.GetList("pluginKinds"), header.plugin_kinds) && whole;
  if (!whole) return Fail("the header lacks a field");
  // From 1970 to 2200: sums with the recording's spans stay within what a Time holds.
  constexpr int64_t kLatest = int64_t{7'258'118'400} * 1'000'000'000;
  if (start < 0 || start > kLatest || part < 0)
    return Fail("the header has a time or part that cannot be");
  header.part = static_cast<uint32_t>(part);
  header.start = Time(Duration(start));
  header.pod_max_in_unschedulable_pods_duration = Duration(in_unschedulable);
  return header;
}

}  // namespace berth::recording
