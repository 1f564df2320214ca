// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace berth::metrics {

// Every metric Berth has. Names, types, labels and buckets are kube-scheduler's, but for the
// berth_ ones; a label's values stand in the order of MetricSpec::labels.
enum class Metric : uint16_t {
  kScheduleAttempts,
  kSchedulingAttemptDuration,
  kSchedulingAlgorithmDuration,
  kEventHandlingDuration,
  kPreemptionVictims,
  kPreemptionAttempts,
  kPreemptionGoroutinesExecution,
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
  kPermitWaitDuration,
  kCacheSize,
  kUnschedulablePods,
  kPluginEvaluation,
  kInFlightEvents,
  kRestClientRequestDuration,
  kRestClientRateLimiterDuration,
  kRestClientRequestSize,
  kRestClientResponseSize,
  kRestClientRequests,
  kRestClientRequestRetries,
  kLeaderElectionMasterStatus,
  kInboxDepth,
  kLoopTurns,
  kReusedVerdicts,
  kUndecodableObjects,
  kDroppedEvents,
  kWatchRestarts,
  kCount,
};

enum class MetricType : uint8_t { kCounter, kGauge, kHistogram };
enum class Stability : uint8_t { kStable, kBeta, kAlpha };

struct MetricSpec {
  std::string_view name;
  MetricType type = MetricType::kCounter;
  Stability stability = Stability::kAlpha;
  std::vector<std::string_view> labels;
  // Upper bounds, ascending, without +Inf. Histograms only.
  std::vector<double> buckets;
  std::string_view help;
};

// The one table, in the order of Metric.
std::span<const MetricSpec> MetricTable();
const MetricSpec& SpecOf(Metric metric);
// The metric of that full name; nullopt when there is none.
std::optional<Metric> FindMetric(std::string_view name);

}  // namespace berth::metrics
