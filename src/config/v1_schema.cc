// SPDX-License-Identifier: Apache-2.0
#include "src/config/v1_schema.h"

#include <array>
#include <utility>

#include "src/config/tables.h"

namespace berth::config {
namespace {

using enum SchemaKind;
using enum Print;

constexpr Schema kBoolean = {kBool, "bool"};
constexpr Schema kInt = {kInt32, "int32"};
constexpr Schema kLong = {kInt64, "int64"};
constexpr Schema kText = {kString, "string"};
constexpr Schema kTextList = {kList, "[]string", &kText};
constexpr Schema kTime = {kDuration, "string"};

// Args are read by their plugins; here is what messages and printing need of them. Every kind
// begins with these.
constexpr SchemaField kApiVersionField = {"apiVersion", &kText, kUnlessZero, "TypeMeta"};
constexpr SchemaField kKindField = {"kind", &kText, kUnlessZero, "TypeMeta"};

constexpr SchemaField kResourceFields[] = {{"name", &kText, kAlways}, {"weight", &kLong}};
constexpr Schema kResource = {kStruct, "v1.ResourceSpec", nullptr, kResourceFields};
constexpr Schema kResourceList = {kList, "[]v1.ResourceSpec", &kResource};
constexpr SchemaField kPointFields[] = {{"utilization", &kInt, kAlways}, {"score", &kInt, kAlways}};
constexpr Schema kPoint = {kStruct, "v1.UtilizationShapePoint", nullptr, kPointFields};
constexpr Schema kShape = {kList, "[]v1.UtilizationShapePoint", &kPoint};

constexpr Schema kNodeOperator = {kString, "v1.NodeSelectorOperator"};
constexpr SchemaField kNodeRequirementFields[] = {
    {"key", &kText, kAlways}, {"operator", &kNodeOperator, kAlways}, {"values", &kTextList}};
constexpr Schema kNodeRequirement = {kStruct, "v1.NodeSelectorRequirement", nullptr,
                                     kNodeRequirementFields};
constexpr Schema kNodeRequirementList = {kList, "[]v1.NodeSelectorRequirement", &kNodeRequirement};
constexpr SchemaField kNodeTermFields[] = {{"matchExpressions", &kNodeRequirementList},
                                           {"matchFields", &kNodeRequirementList}};
constexpr Schema kNodeTerm = {kStruct, "v1.NodeSelectorTerm", nullptr, kNodeTermFields};
constexpr Schema kNodeTermList = {kList, "[]v1.NodeSelectorTerm", &kNodeTerm};
constexpr SchemaField kNodeSelectorFields[] = {{"nodeSelectorTerms", &kNodeTermList, kAlways}};
constexpr Schema kNodeSelector = {kStruct, "v1.NodeSelector", nullptr, kNodeSelectorFields};
constexpr SchemaField kPreferredFields[] = {{"weight", &kInt, kAlways},
                                            {"preference", &kNodeTerm, kAlways}};
constexpr Schema kPreferred = {kStruct, "v1.PreferredSchedulingTerm", nullptr, kPreferredFields};
constexpr Schema kPreferredList = {kList, "[]v1.PreferredSchedulingTerm", &kPreferred};
constexpr SchemaField kNodeAffinityFields[] = {
    {"requiredDuringSchedulingIgnoredDuringExecution", &kNodeSelector, kIfGiven},
    {"preferredDuringSchedulingIgnoredDuringExecution", &kPreferredList}};
constexpr Schema kNodeAffinity = {kStruct, "v1.NodeAffinity", nullptr, kNodeAffinityFields};

constexpr Schema kLabelOperator = {kString, "v1.LabelSelectorOperator"};
constexpr SchemaField kLabelRequirementFields[] = {
    {"key", &kText, kAlways}, {"operator", &kLabelOperator, kAlways}, {"values", &kTextList}};
constexpr Schema kLabelRequirement = {kStruct, "v1.LabelSelectorRequirement", nullptr,
                                      kLabelRequirementFields};
constexpr Schema kLabelRequirementList = {kList, "[]v1.LabelSelectorRequirement",
                                          &kLabelRequirement};
constexpr Schema kTextMap = {kStringMap, "map[string]string"};
constexpr SchemaField kLabelSelectorFields[] = {{"matchLabels", &kTextMap},
                                                {"matchExpressions", &kLabelRequirementList}};
constexpr Schema kLabelSelector = {kStruct, "v1.LabelSelector", nullptr, kLabelSelectorFields};
constexpr Schema kUnsatisfiable = {kString, "v1.UnsatisfiableConstraintAction"};
constexpr Schema kInclusion = {kString, "v1.NodeInclusionPolicy"};
constexpr SchemaField kConstraintFields[] = {
    {"maxSkew", &kInt, kAlways},
    {"topologyKey", &kText, kAlways},
    {"whenUnsatisfiable", &kUnsatisfiable, kAlways},
    {"labelSelector", &kLabelSelector, kIfGiven},
    {"minDomains", &kInt, kIfGiven},
    {"nodeAffinityPolicy", &kInclusion, kIfGiven},
    {"nodeTaintsPolicy", &kInclusion, kIfGiven},
    {"matchLabelKeys", &kTextList},
};
constexpr Schema kConstraint = {kStruct, "v1.TopologySpreadConstraint", nullptr, kConstraintFields};
constexpr Schema kConstraintList = {kList, "[]v1.TopologySpreadConstraint", &kConstraint};

constexpr SchemaField kPreemptionFields[] = {
    kApiVersionField,
    kKindField,
    {"minCandidateNodesPercentage", &kInt, kIfGiven},
    {"minCandidateNodesAbsolute", &kInt, kIfGiven},
};
constexpr SchemaField kDynamicResourcesFields[] = {
    kApiVersionField,
    kKindField,
    {"filterTimeout", &kTime, kAlways},
    {"bindingTimeout", &kTime, kIfGiven},
};
constexpr SchemaField kInterPodAffinityFields[] = {
    kApiVersionField,
    kKindField,
    {"hardPodAffinityWeight", &kInt, kIfGiven},
    {"ignorePreferredTermsOfExistingPods", &kBoolean, kAlways},
};
constexpr SchemaField kNodeAffinityArgsFields[] = {
    kApiVersionField, kKindField, {"addedAffinity", &kNodeAffinity, kIfGiven}};
constexpr SchemaField kBalancedFields[] = {
    kApiVersionField, kKindField, {"resources", &kResourceList}};
// scheduler-plugins' own kind.
constexpr Schema kModeType = {kString, "v1.ModeType"};
constexpr SchemaField kAllocatableFields[] = {
    kApiVersionField, kKindField, {"resources", &kResourceList}, {"mode", &kModeType}};
constexpr Schema kQuantity = {kString, "resource.Quantity"};
constexpr Schema kRequestMap = {kAny, "v1.ResourceList"};
constexpr SchemaField kShapeDevicesFields[] = {
    {"deviceClassName", &kText, kAlways}, {"count", &kLong}, {"share", &kQuantity}};
constexpr Schema kShapeDevices = {kStruct, "v1.ShapeDevices", nullptr, kShapeDevicesFields};
constexpr Schema kShapeDevicesList = {kList, "[]v1.ShapeDevices", &kShapeDevices};
constexpr SchemaField kPodShapeFields[] = {{"weight", &kLong},
                                           {"requests", &kRequestMap},
                                           {"devices", &kShapeDevicesList},
                                           {"matchExpressions", &kNodeRequirementList}};
constexpr Schema kPodShape = {kStruct, "v1.PodShape", nullptr, kPodShapeFields};
constexpr Schema kPodShapeList = {kList, "[]v1.PodShape", &kPodShape};
constexpr SchemaField kFragmentationAwareFields[] = {
    kApiVersionField, kKindField, {"resources", &kResourceList}, {"mix", &kPodShapeList}};
constexpr SchemaField kRatioFields[] = {{"shape", &kShape}};
constexpr Schema kRatio = {kStruct, "v1.RequestedToCapacityRatioParam", nullptr, kRatioFields};
constexpr Schema kStrategyType = {kString, "v1.ScoringStrategyType"};
constexpr SchemaField kStrategyFields[] = {{"type", &kStrategyType},
                                           {"resources", &kResourceList},
                                           {"requestedToCapacityRatio", &kRatio, kIfGiven}};
constexpr Schema kStrategy = {kStruct, "v1.ScoringStrategy", nullptr, kStrategyFields};
constexpr SchemaField kFitFields[] = {
    kApiVersionField,
    kKindField,
    {"ignoredResources", &kTextList},
    {"ignoredResourceGroups", &kTextList},
    {"scoringStrategy", &kStrategy, kIfGiven},
};
constexpr Schema kDefaulting = {kString, "v1.PodTopologySpreadConstraintsDefaulting"};
constexpr SchemaField kSpreadFields[] = {
    kApiVersionField,
    kKindField,
    {"defaultConstraints", &kConstraintList},
    {"defaultingType", &kDefaulting},
};
// Berth's own kind.
constexpr SchemaField kWeightedValueFields[] = {{"value", &kText, kAlways},
                                                {"weight", &kInt, kAlways}};
constexpr Schema kWeightedValue = {kStruct, "v1.WeightedTopologyValue", nullptr,
                                   kWeightedValueFields};
constexpr Schema kWeightedValueList = {kList, "[]v1.WeightedTopologyValue", &kWeightedValue};
constexpr SchemaField kWeightedConstraintFields[] = {
    {"labelSelector", &kLabelSelector, kIfGiven},
    {"namespaces", &kTextList},
    {"matchLabelKeys", &kTextList},
    {"topologyKey", &kText, kAlways},
    {"weights", &kWeightedValueList},
    {"order", &kTextList},
    {"maxSkew", &kInt, kIfGiven},
    {"whenUnsatisfiable", &kUnsatisfiable, kAlways},
};
constexpr Schema kWeightedConstraint = {kStruct, "v1.WeightedTopologySpreadConstraint", nullptr,
                                        kWeightedConstraintFields};
constexpr Schema kWeightedConstraintList = {kList, "[]v1.WeightedTopologySpreadConstraint",
                                            &kWeightedConstraint};
constexpr SchemaField kWeightedSpreadFields[] = {
    kApiVersionField, kKindField, {"constraints", &kWeightedConstraintList}};
constexpr SchemaField kRelocationFields[] = {
    kApiVersionField,
    kKindField,
    {"minPendingSeconds", &kLong, kIfGiven},
    {"maxMovesPerHour", &kLong, kIfGiven},
    {"maxMovesPerPod", &kLong, kIfGiven},
};
constexpr SchemaField kVolumeBindingFields[] = {
    kApiVersionField,
    kKindField,
    {"bindTimeoutSeconds", &kLong, kIfGiven},
    {"shape", &kShape},
};

constexpr SchemaField kCoschedulingFields[] = {
    kApiVersionField,
    kKindField,
    {"permitWaitingTimeSeconds", &kLong, kIfGiven},
    {"podGroupBackoffSeconds", &kLong, kIfGiven},
    {"podGroupRejectPercentage", &kInt, kIfGiven},
    {"searchSteps", &kInt, kIfGiven},
};

// NodeResourceTopologyMatch of scheduler-plugins.
constexpr SchemaField kNumaStrategyFields[] = {{"type", &kStrategyType},
                                               {"resources", &kResourceList}};
constexpr Schema kNumaStrategy = {kStruct, "v1.ScoringStrategy", nullptr, kNumaStrategyFields};
constexpr SchemaField kNumaCacheFields[] = {
    {"foreignPodsDetect", &kText, kIfGiven},
    {"resyncMethod", &kText, kIfGiven},
    {"informerMode", &kText, kIfGiven},
    {"resyncScope", &kText, kIfGiven},
};
constexpr Schema kNumaCache = {kStruct, "v1.NodeResourceTopologyCache", nullptr, kNumaCacheFields};
constexpr SchemaField kNumaFields[] = {
    kApiVersionField,
    kKindField,
    {"scoringStrategy", &kNumaStrategy, kIfGiven},
    {"cacheResyncPeriodSeconds", &kLong, kIfGiven},
    {"discardReservedNodes", &kBoolean},
    {"cache", &kNumaCache, kIfGiven},
};

// Of scheduler-plugins' Trimaran: each begins with the fields of one struct.
constexpr Schema kReal = {kFloat64, "float64"};
constexpr Schema kProviderType = {kString, "v1.MetricProviderType"};
constexpr SchemaField kMetricProviderFields[] = {{"type", &kProviderType},
                                                 {"address", &kText, kIfGiven},
                                                 {"token", &kText, kIfGiven},
                                                 {"insecureSkipVerify", &kBoolean, kIfGiven}};
constexpr Schema kMetricProvider = {kStruct, "v1.MetricProviderSpec", nullptr,
                                    kMetricProviderFields};
constexpr Schema kWeightMap = {kAny, "map[v1.ResourceName]float64"};
constexpr SchemaField kTargetLoadFields[] = {
    kApiVersionField,
    kKindField,
    {"metricProvider", &kMetricProvider, kAlways, "TrimaranSpec"},
    {"watcherAddress", &kText, kIfGiven, "TrimaranSpec"},
    {"defaultRequests", &kRequestMap},
    {"defaultRequestsMultiplier", &kText, kIfGiven},
    {"targetUtilization", &kLong, kIfGiven},
};
constexpr SchemaField kLoadVariationFields[] = {
    kApiVersionField,
    kKindField,
    {"metricProvider", &kMetricProvider, kAlways, "TrimaranSpec"},
    {"watcherAddress", &kText, kIfGiven, "TrimaranSpec"},
    {"safeVarianceMargin", &kReal, kIfGiven},
    {"safeVarianceSensitivity", &kReal, kIfGiven},
};
constexpr SchemaField kLowRiskFields[] = {
    kApiVersionField,
    kKindField,
    {"metricProvider", &kMetricProvider, kAlways, "TrimaranSpec"},
    {"watcherAddress", &kText, kIfGiven, "TrimaranSpec"},
    {"smoothingWindowSize", &kLong, kIfGiven},
    {"riskLimitWeights", &kWeightMap},
};
constexpr Schema kThresholdMap = {kAny, "map[v1.ResourceName]int64"};
constexpr SchemaField kNodeOverloadFields[] = {
    kApiVersionField,
    kKindField,
    {"metricProvider", &kMetricProvider, kAlways, "TrimaranSpec"},
    {"watcherAddress", &kText, kIfGiven, "TrimaranSpec"},
    {"thresholds", &kThresholdMap},
};

// Of plugins that kube-scheduler has no more; the kinds as v1beta1 had them.
constexpr SchemaField kNodeLabelFields[] = {
    kApiVersionField,
    kKindField,
    {"presentLabels", &kTextList},
    {"absentLabels", &kTextList},
    {"presentLabelsPreference", &kTextList},
    {"absentLabelsPreference", &kTextList},
};
constexpr SchemaField kAllocatedFields[] = {
    kApiVersionField, kKindField, {"resources", &kResourceList}};
constexpr SchemaField kCapacityRatioFields[] = {
    kApiVersionField,
    kKindField,
    {"shape", &kShape},
    {"resources", &kResourceList},
};
constexpr SchemaField kServiceAffinityFields[] = {
    kApiVersionField,
    kKindField,
    {"affinityLabels", &kTextList},
    {"antiAffinityLabelsPreference", &kTextList},
};

constexpr auto kArgs = std::to_array<std::pair<std::string_view, Schema>>({
    {"Coscheduling", {kStruct, "v1.CoschedulingArgs", nullptr, kCoschedulingFields}},
    {"DefaultPreemption", {kStruct, "v1.DefaultPreemptionArgs", nullptr, kPreemptionFields}},
    {"DynamicResources", {kStruct, "v1.DynamicResourcesArgs", nullptr, kDynamicResourcesFields}},
    {"FragmentationAware",
     {kStruct, "v1.FragmentationAwareArgs", nullptr, kFragmentationAwareFields}},
    {"InterPodAffinity", {kStruct, "v1.InterPodAffinityArgs", nullptr, kInterPodAffinityFields}},
    {"LoadVariationRiskBalancing",
     {kStruct, "v1.LoadVariationRiskBalancingArgs", nullptr, kLoadVariationFields}},
    {"LowRiskOverCommitment", {kStruct, "v1.LowRiskOverCommitmentArgs", nullptr, kLowRiskFields}},
    {"NodeAffinity", {kStruct, "v1.NodeAffinityArgs", nullptr, kNodeAffinityArgsFields}},
    {"NodeOverload", {kStruct, "v1.NodeOverloadArgs", nullptr, kNodeOverloadFields}},
    {"NodeResourcesAllocatable",
     {kStruct, "v1.NodeResourcesAllocatableArgs", nullptr, kAllocatableFields}},
    {"NodeResourceTopologyMatch",
     {kStruct, "v1.NodeResourceTopologyMatchArgs", nullptr, kNumaFields}},
    {"NodeResourcesBalancedAllocation",
     {kStruct, "v1.NodeResourcesBalancedAllocationArgs", nullptr, kBalancedFields}},
    {"NodeLabel", {kStruct, "v1.NodeLabelArgs", nullptr, kNodeLabelFields}},
    {"NodeResourcesFit", {kStruct, "v1.NodeResourcesFitArgs", nullptr, kFitFields}},
    {"NodeResourcesLeastAllocated",
     {kStruct, "v1.NodeResourcesLeastAllocatedArgs", nullptr, kAllocatedFields}},
    {"NodeResourcesMostAllocated",
     {kStruct, "v1.NodeResourcesMostAllocatedArgs", nullptr, kAllocatedFields}},
    {"PodTopologySpread", {kStruct, "v1.PodTopologySpreadArgs", nullptr, kSpreadFields}},
    {"Relocation", {kStruct, "v1.RelocationArgs", nullptr, kRelocationFields}},
    {"RequestedToCapacityRatio",
     {kStruct, "v1.RequestedToCapacityRatioArgs", nullptr, kCapacityRatioFields}},
    {"ServiceAffinity", {kStruct, "v1.ServiceAffinityArgs", nullptr, kServiceAffinityFields}},
    {"TargetLoadPacking", {kStruct, "v1.TargetLoadPackingArgs", nullptr, kTargetLoadFields}},
    {"VolumeBinding", {kStruct, "v1.VolumeBindingArgs", nullptr, kVolumeBindingFields}},
    {"WeightedTopologySpread",
     {kStruct, "v1.WeightedTopologySpreadArgs", nullptr, kWeightedSpreadFields}},
});

}  // namespace

const Schema& ConfigurationSchema() { return SchemaFor<SchedulerConfiguration>::kSchema; }

const Schema* ArgsSchema(std::string_view plugin) {
  for (const auto& [name, schema] : kArgs) {
    if (name == plugin) return &schema;
  }
  return nullptr;
}

}  // namespace berth::config
