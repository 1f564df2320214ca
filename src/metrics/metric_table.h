// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::metrics {

// Every metric Berth has. Names, types, help texts, labels and buckets are kube-scheduler's, but
// for the berth_ ones; a label's values stand in the order of MetricSpec::labels. docs/metrics.md
// is made from the table and says which of kube-scheduler's are left out.
enum class Metric : uint16_t {
  kScheduleAttempts,
  kSchedulingAttemptDuration,
  kSchedulingAlgorithmDuration,
  kEventHandlingDuration,
  kPreemptionVictims,
  kPreemptionAttempts,
  kPreemptionGoroutinesDuration,
  kPreemptionGoroutinesExecution,
  kPodGroupScheduleAttempts,
  kPodGroupSchedulingAttemptDuration,
  kPodGroupSchedulingAlgorithmDuration,
  kWorkloadPreemptionAttempts,
  kWorkloadPreemptionVictims,
  kPreemptionWorkloadDisruptions,
  kPreemptionEvaluationDuration,
  kPreemptionExecutionDuration,
  kPreemptionPdbViolations,
  kGeneratedPlacements,
  kPlacementEvaluations,
  kPlacementEvaluationDuration,
  kPendingPods,
  kQueuedEntities,
  kPodSchedulingSliDuration,
  kPodSchedulingAttempts,
  kPodScheduledAfterFlush,
  kFrameworkExtensionPointDuration,
  kPluginExecutionDuration,
  kQueueingHintExecutionDuration,
  kQueueIncomingPods,
  kQueueIncomingEntities,
  kGoroutines,
  kPermitWaitDuration,
  kCacheSize,
  kUnschedulablePods,
  kPluginEvaluation,
  kVolumeSchedulingStageErrors,
  kResourceClaimCreates,
  kBindingConditionsAllocations,
  kBindingConditionsWaitDuration,
  kInFlightEvents,
  kRestClientRequestDuration,
  kRestClientRateLimiterDuration,
  kRestClientRequestSize,
  kRestClientResponseSize,
  kRestClientRequests,
  kRestClientRequestRetries,
  kLeaderElectionMasterStatus,
  kLeaderElectionSlowpath,
  kInformerProcessingLatency,
  kAuthenticatedUserRequests,
  kAuthenticationAttempts,
  kAuthenticationDuration,
  kAuthorizationAttempts,
  kAuthorizationDuration,
  kDelegatedAuthnRequests,
  kDelegatedAuthnRequestDuration,
  kDelegatedAuthzRequests,
  kDelegatedAuthzRequestDuration,
  kKubernetesBuildInfo,
  kKubernetesFeatureEnabled,
  kVersionInfo,
  kRegisteredMetrics,
  kDisabledMetrics,
  kHiddenMetrics,
  kUnexpectedLabels,
  kProcessCpu,
  kProcessMaxFds,
  kProcessNetworkReceive,
  kProcessNetworkTransmit,
  kProcessOpenFds,
  kProcessResidentMemory,
  kProcessStartTime,
  kProcessVirtualMemory,
  kProcessVirtualMemoryMax,
  kHealthcheck,
  kHealthchecks,
  kSlisProcessStartTime,
  kPodResourceRequest,
  kPodResourceLimit,
  kBuildInfo,
  kInboxDepth,
  kLoopTurns,
  kLoopTurnDuration,
  kReusedVerdicts,
  kUndecodableObjects,
  kDroppedEvents,
  kInformerObjects,
  kInformerLists,
  kInformerWatches,
  kInformerErrors,
  kHeapBytes,
  kConfigReloads,
  kConfigLastReloadSuccessful,
  kExtenderRequests,
  kExtenderRequestDuration,
  kNodeMetricsReads,
  kNodeMetricsNodes,
  kRelocations,
  kRelocationEvictions,
  kShadowPods,
  kShadowScoreGivenAway,
  kShadowDecisionDuration,
  kShadowOnlyBerth,
  kOvercommittedNodes,
  kPackingNodes,
  kPackingNodesLowerBound,
  kPackingAllocatable,
  kPackingRequested,
  kPackingStranded,
  kPackingLargestFree,
  kPackingLargestPod,
  kPackingLargestGang,
  kPackingSurveys,
  kPackingSliceDuration,
  kCount,
};

enum class MetricType : uint8_t { kCounter, kGauge, kHistogram };
// kNone: of the process, without a promise.
enum class Stability : uint8_t { kStable, kBeta, kAlpha, kNone };
// Which endpoint shows it: /metrics, /metrics/resources or /metrics/slis.
enum class Page : uint8_t { kMetrics, kResources, kSlis };

struct MetricSpec {
  std::string_view name;
  MetricType type = MetricType::kCounter;
  Stability stability = Stability::kAlpha;
  std::vector<std::string_view> labels;
  // Upper bounds, ascending, without +Inf. Histograms only.
  std::vector<double> buckets;
  std::string_view help;
  Page page = Page::kMetrics;
  // The version that deprecated it and so hid it, as "1.37.0"; "" for most.
  std::string_view deprecated_version = {};
  // Of a histogram: it never has native buckets.
  bool classic_alone = false;
};

// The one table, in the order of Metric.
std::span<const MetricSpec> MetricTable();
const MetricSpec& SpecOf(Metric metric);
// The metric of that full name; nullopt when there is none.
std::optional<Metric> FindMetric(std::string_view name);

// "STABLE", ...; "" for kNone.
std::string_view StabilityName(Stability stability);
// "counter", ...
std::string_view MetricTypeName(MetricType type);
// What the exposition says: stability and deprecation, then the help text.
std::string AnnotatedHelp(const MetricSpec& spec);

}  // namespace berth::metrics
