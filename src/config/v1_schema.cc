// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "src/config/schema.h"
#include "src/config/tables.h"

namespace berth::config {
namespace {

using enum SchemaKind;
using enum Print;

// A struct's schema, and that of lists of it.
template <size_t n>
struct Struct {
  // `go_list`: as in "[]v1.ResourceSpec".
  constexpr Struct(std::string_view go_list, const SchemaField (&given)[n])
      : fields(std::to_array(given)),
        one{kStruct, go_list.substr(2), nullptr, fields},
        list{kList, go_list, &one} {}
  Struct(const Struct&) = delete;
  Struct& operator=(const Struct&) = delete;

  std::array<SchemaField, n> fields;
  Schema one;
  Schema list;
};

// The schema of a plugin's args, whose kind begins with fields that others have, too.
template <size_t m, size_t n>
struct Args {
  constexpr Args(std::string_view go_type, const SchemaField (&first)[m],
                 const SchemaField (&own)[n])
      : type{kStruct, go_type, nullptr, fields} {
    std::ranges::copy(own, std::ranges::copy(first, fields.begin()).out);
  }
  Args(const Args&) = delete;
  Args& operator=(const Args&) = delete;

  std::array<SchemaField, m + n> fields = {};
  Schema type;
};

constexpr Schema kBoolean = {kBool, "bool"};
constexpr Schema kInt = {kInt32, "int32"};
constexpr Schema kLong = {kInt64, "int64"};
constexpr Schema kReal = {kFloat64, "float64"};
constexpr Schema kText = {kString, "string"};
constexpr Schema kTextList = {kList, "[]string", &kText};
constexpr Schema kTextMap = {kStringMap, "map[string]string"};
constexpr Schema kTime = {kDuration, "string"};

// Args are read by their plugins; here is what messages and printing need of them.

constexpr Struct kResource{"[]v1.ResourceSpec", {{"name", &kText, kAlways}, {"weight", &kLong}}};
constexpr Struct kPoint{"[]v1.UtilizationShapePoint",
                        {{"utilization", &kInt, kAlways}, {"score", &kInt, kAlways}}};

constexpr Schema kNodeOperator = {kString, "v1.NodeSelectorOperator"};
constexpr Struct kNodeRequirement{
    "[]v1.NodeSelectorRequirement",
    {{"key", &kText, kAlways}, {"operator", &kNodeOperator, kAlways}, {"values", &kTextList}}};
constexpr Struct kNodeTerm{
    "[]v1.NodeSelectorTerm",
    {{"matchExpressions", &kNodeRequirement.list}, {"matchFields", &kNodeRequirement.list}}};
constexpr Struct kNodeSelector{"[]v1.NodeSelector",
                               {{"nodeSelectorTerms", &kNodeTerm.list, kAlways}}};
constexpr Struct kPreferred{"[]v1.PreferredSchedulingTerm",
                            {{"weight", &kInt, kAlways}, {"preference", &kNodeTerm.one, kAlways}}};
constexpr Struct kNodeAffinity{
    "[]v1.NodeAffinity",
    {{"requiredDuringSchedulingIgnoredDuringExecution", &kNodeSelector.one, kIfGiven},
     {"preferredDuringSchedulingIgnoredDuringExecution", &kPreferred.list}}};

constexpr Schema kLabelOperator = {kString, "v1.LabelSelectorOperator"};
constexpr Struct kLabelRequirement{
    "[]v1.LabelSelectorRequirement",
    {{"key", &kText, kAlways}, {"operator", &kLabelOperator, kAlways}, {"values", &kTextList}}};
constexpr Struct kLabelSelector{
    "[]v1.LabelSelector",
    {{"matchLabels", &kTextMap}, {"matchExpressions", &kLabelRequirement.list}}};
constexpr Schema kUnsatisfiable = {kString, "v1.UnsatisfiableConstraintAction"};
constexpr Schema kInclusion = {kString, "v1.NodeInclusionPolicy"};
constexpr Struct kConstraint{"[]v1.TopologySpreadConstraint",
                             {{"maxSkew", &kInt, kAlways},
                              {"topologyKey", &kText, kAlways},
                              {"whenUnsatisfiable", &kUnsatisfiable, kAlways},
                              {"labelSelector", &kLabelSelector.one, kIfGiven},
                              {"minDomains", &kInt, kIfGiven},
                              {"nodeAffinityPolicy", &kInclusion, kIfGiven},
                              {"nodeTaintsPolicy", &kInclusion, kIfGiven},
                              {"matchLabelKeys", &kTextList}}};

constexpr SchemaField kTypeMeta[] = {{"apiVersion", &kText, kUnlessZero, "TypeMeta"},
                                     {"kind", &kText, kUnlessZero, "TypeMeta"}};

constexpr Args kPreemption{"v1.DefaultPreemptionArgs",
                           kTypeMeta,
                           {{"minCandidateNodesPercentage", &kInt, kIfGiven},
                            {"minCandidateNodesAbsolute", &kInt, kIfGiven}}};
constexpr Args kDynamicResources{
    "v1.DynamicResourcesArgs",
    kTypeMeta,
    {{"filterTimeout", &kTime, kAlways}, {"bindingTimeout", &kTime, kIfGiven}}};
constexpr Args kInterPodAffinity{"v1.InterPodAffinityArgs",
                                 kTypeMeta,
                                 {{"hardPodAffinityWeight", &kInt, kIfGiven},
                                  {"ignorePreferredTermsOfExistingPods", &kBoolean, kAlways}}};
constexpr Args kNodeAffinityArgs{
    "v1.NodeAffinityArgs", kTypeMeta, {{"addedAffinity", &kNodeAffinity.one, kIfGiven}}};
constexpr Args kBalanced{
    "v1.NodeResourcesBalancedAllocationArgs", kTypeMeta, {{"resources", &kResource.list}}};
constexpr Struct kRatio{"[]v1.RequestedToCapacityRatioParam", {{"shape", &kPoint.list}}};
constexpr Schema kStrategyType = {kString, "v1.ScoringStrategyType"};
constexpr Struct kStrategy{"[]v1.ScoringStrategy",
                           {{"type", &kStrategyType},
                            {"resources", &kResource.list},
                            {"requestedToCapacityRatio", &kRatio.one, kIfGiven}}};
constexpr Args kFitArgs{"v1.NodeResourcesFitArgs",
                        kTypeMeta,
                        {{"ignoredResources", &kTextList},
                         {"ignoredResourceGroups", &kTextList},
                         {"scoringStrategy", &kStrategy.one, kIfGiven}}};
constexpr Schema kDefaulting = {kString, "v1.PodTopologySpreadConstraintsDefaulting"};
constexpr Args kSpread{
    "v1.PodTopologySpreadArgs",
    kTypeMeta,
    {{"defaultConstraints", &kConstraint.list}, {"defaultingType", &kDefaulting}}};
constexpr Args kVolumeBinding{"v1.VolumeBindingArgs",
                              kTypeMeta,
                              {{"bindTimeoutSeconds", &kLong, kIfGiven}, {"shape", &kPoint.list}}};

// Berth's own kinds.
constexpr Schema kQuantity = {kString, "resource.Quantity"};
constexpr Schema kRequestMap = {kAny, "v1.ResourceList"};
constexpr Struct kShapeDevices{
    "[]v1.ShapeDevices",
    {{"deviceClassName", &kText, kAlways}, {"count", &kLong}, {"share", &kQuantity}}};
constexpr Struct kPodShape{"[]v1.PodShape",
                           {{"weight", &kLong},
                            {"requests", &kRequestMap},
                            {"devices", &kShapeDevices.list},
                            {"matchExpressions", &kNodeRequirement.list}}};
constexpr Args kFragmentationAware{
    "v1.FragmentationAwareArgs",
    kTypeMeta,
    {{"measure", &kText}, {"resources", &kResource.list}, {"mix", &kPodShape.list}}};
constexpr Struct kWeightedValue{"[]v1.WeightedTopologyValue",
                                {{"value", &kText, kAlways}, {"weight", &kInt, kAlways}}};
constexpr Struct kWeightedConstraint{"[]v1.WeightedTopologySpreadConstraint",
                                     {{"labelSelector", &kLabelSelector.one, kIfGiven},
                                      {"namespaces", &kTextList},
                                      {"matchLabelKeys", &kTextList},
                                      {"topologyKey", &kText, kAlways},
                                      {"weights", &kWeightedValue.list},
                                      {"order", &kTextList},
                                      {"maxSkew", &kInt, kIfGiven},
                                      {"whenUnsatisfiable", &kUnsatisfiable, kAlways}}};
constexpr Args kWeightedSpread{
    "v1.WeightedTopologySpreadArgs", kTypeMeta, {{"constraints", &kWeightedConstraint.list}}};
constexpr Args kRelocation{"v1.RelocationArgs",
                           kTypeMeta,
                           {{"minPendingSeconds", &kLong, kIfGiven},
                            {"maxMovesPerHour", &kLong, kIfGiven},
                            {"maxMovesPerPod", &kLong, kIfGiven}}};

// Of scheduler-plugins.
constexpr Schema kModeType = {kString, "v1.ModeType"};
constexpr Args kAllocatable{"v1.NodeResourcesAllocatableArgs",
                            kTypeMeta,
                            {{"resources", &kResource.list}, {"mode", &kModeType}}};
constexpr Args kCoscheduling{"v1.CoschedulingArgs",
                             kTypeMeta,
                             {{"permitWaitingTimeSeconds", &kLong, kIfGiven},
                              {"podGroupBackoffSeconds", &kLong, kIfGiven},
                              {"podGroupRejectPercentage", &kInt, kIfGiven},
                              {"searchSteps", &kInt, kIfGiven}}};
constexpr Struct kNumaStrategy{"[]v1.ScoringStrategy",
                               {{"type", &kStrategyType}, {"resources", &kResource.list}}};
constexpr Struct kNumaCache{"[]v1.NodeResourceTopologyCache",
                            {{"foreignPodsDetect", &kText, kIfGiven},
                             {"resyncMethod", &kText, kIfGiven},
                             {"informerMode", &kText, kIfGiven},
                             {"resyncScope", &kText, kIfGiven}}};
constexpr Args kNuma{"v1.NodeResourceTopologyMatchArgs",
                     kTypeMeta,
                     {{"scoringStrategy", &kNumaStrategy.one, kIfGiven},
                      {"cacheResyncPeriodSeconds", &kLong, kIfGiven},
                      {"discardReservedNodes", &kBoolean},
                      {"cache", &kNumaCache.one, kIfGiven}}};

// Of its Trimaran: each begins with the fields of one struct.
constexpr Schema kProviderType = {kString, "v1.MetricProviderType"};
constexpr Struct kMetricProvider{"[]v1.MetricProviderSpec",
                                 {{"type", &kProviderType},
                                  {"address", &kText, kIfGiven},
                                  {"token", &kText, kIfGiven},
                                  {"insecureSkipVerify", &kBoolean, kIfGiven}}};
constexpr SchemaField kTrimaran[] = {
    kTypeMeta[0],
    kTypeMeta[1],
    {"metricProvider", &kMetricProvider.one, kAlways, "TrimaranSpec"},
    {"watcherAddress", &kText, kIfGiven, "TrimaranSpec"}};
constexpr Args kTargetLoad{"v1.TargetLoadPackingArgs",
                           kTrimaran,
                           {{"defaultRequests", &kRequestMap},
                            {"defaultRequestsMultiplier", &kText, kIfGiven},
                            {"targetUtilization", &kLong, kIfGiven}}};
constexpr Args kLoadVariation{
    "v1.LoadVariationRiskBalancingArgs",
    kTrimaran,
    {{"safeVarianceMargin", &kReal, kIfGiven}, {"safeVarianceSensitivity", &kReal, kIfGiven}}};
constexpr Schema kWeightMap = {kAny, "map[v1.ResourceName]float64"};
constexpr Args kLowRisk{
    "v1.LowRiskOverCommitmentArgs",
    kTrimaran,
    {{"smoothingWindowSize", &kLong, kIfGiven}, {"riskLimitWeights", &kWeightMap}}};
constexpr Schema kThresholdMap = {kAny, "map[v1.ResourceName]int64"};
constexpr Args kNodeOverload{"v1.NodeOverloadArgs", kTrimaran, {{"thresholds", &kThresholdMap}}};

// Of plugins that kube-scheduler has no more; the kinds as v1beta1 had them.
constexpr Args kNodeLabel{"v1.NodeLabelArgs",
                          kTypeMeta,
                          {{"presentLabels", &kTextList},
                           {"absentLabels", &kTextList},
                           {"presentLabelsPreference", &kTextList},
                           {"absentLabelsPreference", &kTextList}}};
constexpr Args kLeastAllocated{
    "v1.NodeResourcesLeastAllocatedArgs", kTypeMeta, {{"resources", &kResource.list}}};
constexpr Args kMostAllocated{
    "v1.NodeResourcesMostAllocatedArgs", kTypeMeta, {{"resources", &kResource.list}}};
constexpr Args kCapacityRatio{"v1.RequestedToCapacityRatioArgs",
                              kTypeMeta,
                              {{"shape", &kPoint.list}, {"resources", &kResource.list}}};
constexpr Args kServiceAffinity{
    "v1.ServiceAffinityArgs",
    kTypeMeta,
    {{"affinityLabels", &kTextList}, {"antiAffinityLabelsPreference", &kTextList}}};

constexpr const Schema* kArgs[] = {&kAllocatable.type,
                                   &kBalanced.type,
                                   &kCapacityRatio.type,
                                   &kCoscheduling.type,
                                   &kDynamicResources.type,
                                   &kFitArgs.type,
                                   &kFragmentationAware.type,
                                   &kInterPodAffinity.type,
                                   &kLeastAllocated.type,
                                   &kLoadVariation.type,
                                   &kLowRisk.type,
                                   &kMostAllocated.type,
                                   &kNodeAffinityArgs.type,
                                   &kNodeLabel.type,
                                   &kNodeOverload.type,
                                   &kNuma.type,
                                   &kPreemption.type,
                                   &kRelocation.type,
                                   &kServiceAffinity.type,
                                   &kSpread.type,
                                   &kTargetLoad.type,
                                   &kVolumeBinding.type,
                                   &kWeightedSpread.type};

}  // namespace

const Schema& ConfigurationSchema() { return SchemaFor<SchedulerConfiguration>::kSchema; }

const Schema* ArgsSchema(std::string_view plugin) {
  const std::string go_type = "v1." + std::string(plugin) + "Args";
  const auto found = std::ranges::find(kArgs, go_type, &Schema::go_type);
  return found == std::end(kArgs) ? nullptr : *found;
}

}  // namespace berth::config
