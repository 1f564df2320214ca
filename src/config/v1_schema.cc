// SPDX-License-Identifier: Apache-2.0
#include "src/config/v1_schema.h"

#include <array>
#include <utility>

namespace berth::config {
namespace {

using enum SchemaKind;
using enum Print;

constexpr Schema kBoolean = {kBool, "bool"};
constexpr Schema kInt = {kInt32, "int32"};
constexpr Schema kLong = {kInt64, "int64"};
constexpr Schema kFloat = {kFloat32, "float32"};
constexpr Schema kText = {kString, "string"};
constexpr Schema kTextList = {kList, "[]string", &kText};
constexpr Schema kData = {kBytes, "[]uint8"};
constexpr Schema kTime = {kDuration, "string"};
constexpr Schema kRaw = {kAny, "runtime.RawExtension"};

// Every kind begins with these.
constexpr SchemaField kApiVersionField = {"apiVersion", &kText, kUnlessZero, "TypeMeta"};
constexpr SchemaField kKindField = {"kind", &kText, kUnlessZero, "TypeMeta"};

constexpr SchemaField kLeaderElectionFields[] = {
    {"leaderElect", &kBoolean, kAlways},    {"leaseDuration", &kTime, kAlways},
    {"renewDeadline", &kTime, kAlways},     {"retryPeriod", &kTime, kAlways},
    {"resourceLock", &kText, kAlways},      {"resourceName", &kText, kAlways},
    {"resourceNamespace", &kText, kAlways},
};
constexpr Schema kLeaderElection = {kStruct, "v1alpha1.LeaderElectionConfiguration", nullptr,
                                    kLeaderElectionFields};

constexpr SchemaField kClientConnectionFields[] = {
    {"kubeconfig", &kText, kAlways},  {"acceptContentTypes", &kText, kAlways},
    {"contentType", &kText, kAlways}, {"qps", &kFloat, kAlways},
    {"burst", &kInt, kAlways},
};
constexpr Schema kClientConnection = {kStruct, "v1alpha1.ClientConnectionConfiguration", nullptr,
                                      kClientConnectionFields};

constexpr SchemaField kPluginFields[] = {{"name", &kText, kAlways}, {"weight", &kInt, kIfGiven}};
constexpr Schema kPlugin = {kStruct, "v1.Plugin", nullptr, kPluginFields};
constexpr Schema kPluginList = {kList, "[]v1.Plugin", &kPlugin};
constexpr SchemaField kPluginSetFields[] = {{"enabled", &kPluginList}, {"disabled", &kPluginList}};
constexpr Schema kPluginSet = {kStruct, "v1.PluginSet", nullptr, kPluginSetFields};
constexpr SchemaField kPluginsFields[] = {
    {"preEnqueue", &kPluginSet},     {"queueSort", &kPluginSet},
    {"preFilter", &kPluginSet},      {"filter", &kPluginSet},
    {"postFilter", &kPluginSet},     {"preScore", &kPluginSet},
    {"score", &kPluginSet},          {"reserve", &kPluginSet},
    {"permit", &kPluginSet},         {"preBind", &kPluginSet},
    {"bind", &kPluginSet},           {"postBind", &kPluginSet},
    {"multiPoint", &kPluginSet},     {"placementGenerate", &kPluginSet},
    {"placementScore", &kPluginSet}, {"podGroupPostFilter", &kPluginSet},
};
constexpr Schema kPlugins = {kStruct, "v1.Plugins", nullptr, kPluginsFields};

constexpr SchemaField kPluginConfigFields[] = {{"name", &kText, kAlways}, {"args", &kRaw}};
constexpr Schema kPluginConfig = {kStruct, "v1.PluginConfig", nullptr, kPluginConfigFields};
constexpr Schema kPluginConfigList = {kList, "[]v1.PluginConfig", &kPluginConfig};
constexpr SchemaField kProfileFields[] = {
    {"schedulerName", &kText, kIfGiven},
    {"percentageOfNodesToScore", &kInt, kIfGiven},
    {"plugins", &kPlugins, kIfGiven},
    {"pluginConfig", &kPluginConfigList},
};
constexpr Schema kProfile = {kStruct, "v1.KubeSchedulerProfile", nullptr, kProfileFields};
constexpr Schema kProfileList = {kList, "[]v1.KubeSchedulerProfile", &kProfile};

constexpr SchemaField kTlsFields[] = {
    {"insecure", &kBoolean}, {"serverName", &kText}, {"certFile", &kText}, {"keyFile", &kText},
    {"caFile", &kText},      {"certData", &kData},   {"keyData", &kData},  {"caData", &kData},
};
constexpr Schema kTls = {kStruct, "v1.ExtenderTLSConfig", nullptr, kTlsFields};
constexpr SchemaField kManagedResourceFields[] = {{"name", &kText, kAlways},
                                                  {"ignoredByScheduler", &kBoolean}};
constexpr Schema kManagedResource = {kStruct, "v1.ExtenderManagedResource", nullptr,
                                     kManagedResourceFields};
constexpr Schema kManagedResourceList = {kList, "[]v1.ExtenderManagedResource", &kManagedResource};
constexpr SchemaField kExtenderFields[] = {
    {"urlPrefix", &kText, kAlways},
    {"filterVerb", &kText},
    {"preemptVerb", &kText},
    {"prioritizeVerb", &kText},
    {"weight", &kLong},
    {"bindVerb", &kText},
    {"enableHTTPS", &kBoolean},
    {"tlsConfig", &kTls, kIfGiven},
    {"httpTimeout", &kTime, kAlways},
    {"nodeCacheCapable", &kBoolean},
    {"managedResources", &kManagedResourceList},
    {"ignorable", &kBoolean},
};
constexpr Schema kExtender = {kStruct, "v1.Extender", nullptr, kExtenderFields};
constexpr Schema kExtenderList = {kList, "[]v1.Extender", &kExtender};

constexpr SchemaField kConfigurationFields[] = {
    kApiVersionField,
    kKindField,
    {"parallelism", &kInt, kIfGiven},
    {"leaderElection", &kLeaderElection, kAlways},
    {"clientConnection", &kClientConnection, kAlways},
    {"enableProfiling", &kBoolean, kIfGiven, "DebuggingConfiguration"},
    {"enableContentionProfiling", &kBoolean, kIfGiven, "DebuggingConfiguration"},
    {"percentageOfNodesToScore", &kInt, kIfGiven},
    {"podInitialBackoffSeconds", &kLong, kIfGiven},
    {"podMaxBackoffSeconds", &kLong, kIfGiven},
    {"profiles", &kProfileList},
    {"extenders", &kExtenderList},
    {"delayCacheUntilActive", &kBoolean},
};
constexpr Schema kConfiguration = {kStruct, "v1.KubeSchedulerConfiguration", nullptr,
                                   kConfigurationFields};

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
constexpr SchemaField kVolumeBindingFields[] = {
    kApiVersionField,
    kKindField,
    {"bindTimeoutSeconds", &kLong, kIfGiven},
    {"shape", &kShape},
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
    {"DefaultPreemption", {kStruct, "v1.DefaultPreemptionArgs", nullptr, kPreemptionFields}},
    {"DynamicResources", {kStruct, "v1.DynamicResourcesArgs", nullptr, kDynamicResourcesFields}},
    {"InterPodAffinity", {kStruct, "v1.InterPodAffinityArgs", nullptr, kInterPodAffinityFields}},
    {"NodeAffinity", {kStruct, "v1.NodeAffinityArgs", nullptr, kNodeAffinityArgsFields}},
    {"NodeResourcesBalancedAllocation",
     {kStruct, "v1.NodeResourcesBalancedAllocationArgs", nullptr, kBalancedFields}},
    {"NodeLabel", {kStruct, "v1.NodeLabelArgs", nullptr, kNodeLabelFields}},
    {"NodeResourcesFit", {kStruct, "v1.NodeResourcesFitArgs", nullptr, kFitFields}},
    {"NodeResourcesLeastAllocated",
     {kStruct, "v1.NodeResourcesLeastAllocatedArgs", nullptr, kAllocatedFields}},
    {"NodeResourcesMostAllocated",
     {kStruct, "v1.NodeResourcesMostAllocatedArgs", nullptr, kAllocatedFields}},
    {"PodTopologySpread", {kStruct, "v1.PodTopologySpreadArgs", nullptr, kSpreadFields}},
    {"RequestedToCapacityRatio",
     {kStruct, "v1.RequestedToCapacityRatioArgs", nullptr, kCapacityRatioFields}},
    {"ServiceAffinity", {kStruct, "v1.ServiceAffinityArgs", nullptr, kServiceAffinityFields}},
    {"VolumeBinding", {kStruct, "v1.VolumeBindingArgs", nullptr, kVolumeBindingFields}},
});

}  // namespace

const Schema& ConfigurationSchema() { return kConfiguration; }

const Schema* ArgsSchema(std::string_view plugin) {
  for (const auto& [name, schema] : kArgs) {
    if (name == plugin) return &schema;
  }
  return nullptr;
}

}  // namespace berth::config
