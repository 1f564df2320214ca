// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/metric_table.h"

#include "berth/check.h"

namespace berth::metrics {
namespace {

// `count` bounds: start, start * factor, start * factor^2, ...
std::vector<double> Exponential(double start, double factor, int count) {
  std::vector<double> bounds;
  for (double bound = start; count > 0; --count, bound *= factor) bounds.push_back(bound);
  return bounds;
}

std::vector<double> RequestSeconds() {
  return {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};
}

std::vector<double> RequestBytes() {
  return {64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216};
}

constexpr auto kCounter = MetricType::kCounter;
constexpr auto kGauge = MetricType::kGauge;
constexpr auto kHistogram = MetricType::kHistogram;
constexpr auto kStable = Stability::kStable;
constexpr auto kBeta = Stability::kBeta;
constexpr auto kAlpha = Stability::kAlpha;

struct Row {
  Metric metric;
  MetricSpec spec;
};

// The plain order of the enum is checked below, so that a row cannot end up under another name.
std::vector<Row> Rows() {
  return {
      {Metric::kScheduleAttempts,
       {"scheduler_schedule_attempts_total",
        kCounter,
        kStable,
        {"result", "profile"},
        {},
        "Attempts to schedule a pod, by outcome: 'scheduled', 'unschedulable' where no node would "
        "do, 'error' where the scheduler itself failed."}},
      {Metric::kSchedulingAttemptDuration,
       {"scheduler_scheduling_attempt_duration_seconds",
        kHistogram,
        kStable,
        {"result", "profile"},
        Exponential(0.001, 2, 15),
        "Length of an attempt to schedule a pod, in seconds; binding included where it got that "
        "far."}},
      {Metric::kSchedulingAlgorithmDuration,
       {"scheduler_scheduling_algorithm_duration_seconds",
        kHistogram,
        kBeta,
        {},
        Exponential(0.001, 2, 15),
        "Time taken to choose a node for a pod, in seconds."}},
      {Metric::kEventHandlingDuration,
       {"scheduler_event_handling_duration_seconds",
        kHistogram,
        kAlpha,
        {"event"},
        Exponential(0.0001, 2, 12),
        "Time taken to apply a change in the cluster, in seconds, by event."}},
      {Metric::kPreemptionVictims,
       {"scheduler_preemption_victims",
        kHistogram,
        kStable,
        {},
        Exponential(1, 2, 7),
        "Pods chosen to make room for one pod."}},
      {Metric::kPreemptionAttempts,
       {"scheduler_preemption_attempts_total",
        kCounter,
        kStable,
        {},
        {},
        "Attempts to make room for a pod by preemption."}},
      {Metric::kPreemptionGoroutinesExecution,
       {"scheduler_preemption_goroutines_execution_total",
        kCounter,
        kAlpha,
        {"result"},
        {},
        "Preemptions whose evictions are over, by result: 'success' or 'error'."}},
      {Metric::kPendingPods,
       {"scheduler_pending_pods",
        kGauge,
        kStable,
        {"queue"},
        {},
        "Pods waiting for a node, by queue: 'active', 'backoff', 'unschedulable' after a failed "
        "attempt, 'gated' before the first; 'incomplete' and 'pending' concern pod groups."}},
      {Metric::kQueuedEntities,
       {"scheduler_queued_entities",
        kGauge,
        kAlpha,
        {"queue", "type"},
        {},
        "Entities waiting to be scheduled, by queue and type: pods on their own, or pod groups."}},
      {Metric::kPodSchedulingSliDuration,
       {"scheduler_pod_scheduling_sli_duration_seconds",
        kHistogram,
        kBeta,
        {"attempts"},
        Exponential(0.01, 2, 20),
        "Time from a pod's first entry into the active queue until it was scheduled, in seconds, "
        "by the number of attempts it took."}},
      {Metric::kPodSchedulingAttempts,
       {"scheduler_pod_scheduling_attempts",
        kHistogram,
        kStable,
        {},
        Exponential(1, 2, 5),
        "Attempts it took to schedule a pod."}},
      {Metric::kPodScheduledAfterFlush,
       {"scheduler_pod_scheduled_after_flush_total",
        kCounter,
        kAlpha,
        {},
        {},
        "Pods scheduled once they had been parked for too long, which no event had announced. A "
        "rising count points at a queueing hint that misses something."}},
      {Metric::kFrameworkExtensionPointDuration,
       {"scheduler_framework_extension_point_duration_seconds",
        kHistogram,
        kStable,
        {"extension_point", "status", "profile"},
        Exponential(0.0001, 2, 12),
        "Time taken by all plugins of an extension point together, in seconds."}},
      {Metric::kPluginExecutionDuration,
       {"scheduler_plugin_execution_duration_seconds",
        kHistogram,
        kBeta,
        {"plugin", "extension_point", "status"},
        Exponential(0.00001, 1.5, 20),
        "Time taken by one plugin at an extension point, in seconds; sampled."}},
      {Metric::kQueueingHintExecutionDuration,
       {"scheduler_queueing_hint_execution_duration_seconds",
        kHistogram,
        kAlpha,
        {"plugin", "event", "hint"},
        Exponential(0.00001, 1.5, 20),
        "Time taken by one call of a plugin's queueing hint, in seconds."}},
      {Metric::kQueueIncomingPods,
       {"scheduler_queue_incoming_pods_total",
        kCounter,
        kStable,
        {"queue", "event"},
        {},
        "Pods that entered a queue, by queue and by the event that sent them there."}},
      {Metric::kQueueIncomingEntities,
       {"scheduler_queue_incoming_entities_total",
        kCounter,
        kAlpha,
        {"queue", "event", "type"},
        {},
        "Entities that entered a queue, by queue, event and type."}},
      {Metric::kPermitWaitDuration,
       {"scheduler_permit_wait_duration_seconds",
        kHistogram,
        kBeta,
        {"result"},
        Exponential(0.001, 2, 15),
        "Time pods were held back by Permit, in seconds, by outcome."}},
      {Metric::kCacheSize,
       {"scheduler_cache_size",
        kGauge,
        kAlpha,
        {"type"},
        {},
        "Nodes, pods and assumed pods that the scheduler holds."}},
      {Metric::kUnschedulablePods,
       {"scheduler_unschedulable_pods",
        kGauge,
        kBeta,
        {"plugin", "profile"},
        {},
        "Pods that could not be scheduled, by the plugin that rejected them. A pod counts for each "
        "plugin that did, so the sum over plugins means nothing."}},
      {Metric::kPluginEvaluation,
       {"scheduler_plugin_evaluation_total",
        kCounter,
        kBeta,
        {"plugin", "extension_point", "profile"},
        {},
        "Evaluations by a plugin at PreFilter, Filter, PreScore or Score."}},
      {Metric::kInFlightEvents,
       {"scheduler_inflight_events",
        kGauge,
        kAlpha,
        {"event"},
        {},
        "Events kept for pods that are being scheduled, and, as PodPopped, these pods."}},
      {Metric::kRestClientRequestDuration,
       {"rest_client_request_duration_seconds",
        kHistogram,
        kAlpha,
        {"verb", "host"},
        RequestSeconds(),
        "Time until a request to the API server was answered, in seconds."}},
      {Metric::kRestClientRateLimiterDuration,
       {"rest_client_rate_limiter_duration_seconds",
        kHistogram,
        kAlpha,
        {"verb", "host"},
        RequestSeconds(),
        "Time a request waited for the client's own rate limit, in seconds."}},
      {Metric::kRestClientRequestSize,
       {"rest_client_request_size_bytes",
        kHistogram,
        kAlpha,
        {"verb", "host"},
        RequestBytes(),
        "Size of request bodies, in bytes."}},
      {Metric::kRestClientResponseSize,
       {"rest_client_response_size_bytes",
        kHistogram,
        kAlpha,
        {"verb", "host"},
        RequestBytes(),
        "Size of response bodies, in bytes."}},
      {Metric::kRestClientRequests,
       {"rest_client_requests_total",
        kCounter,
        kAlpha,
        {"code", "method", "host"},
        {},
        "Requests to the API server, by status code; '<error>' where none came."}},
      {Metric::kRestClientRequestRetries,
       {"rest_client_request_retries_total",
        kCounter,
        kAlpha,
        {"code", "verb", "host"},
        {},
        "Requests that were sent again."}},
      {Metric::kLeaderElectionMasterStatus,
       {"leader_election_master_status",
        kGauge,
        kAlpha,
        {"name"},
        {},
        "1 while this process holds the lease of that name, else 0."}},
      {Metric::kInboxDepth,
       {"berth_inbox_depth",
        kGauge,
        kAlpha,
        {},
        {},
        "Messages that the scheduling loop found waiting at its last turn."}},
      {Metric::kLoopTurns,
       {"berth_loop_turns_total", kCounter, kAlpha, {}, {}, "Turns of the scheduling loop."}},
      {Metric::kReusedVerdicts,
       {"berth_reused_verdicts_total",
        kCounter,
        kAlpha,
        {},
        {},
        "Attempts that failed as another pod of the class had, without an evaluation."}},
      {Metric::kUndecodableObjects,
       {"berth_undecodable_objects_total",
        kCounter,
        kAlpha,
        {"resource"},
        {},
        "Objects from the API server that could not be decoded, by resource."}},
      {Metric::kDroppedEvents,
       {"berth_dropped_events_total",
        kCounter,
        kAlpha,
        {},
        {},
        "Kubernetes events that were not sent because too many were waiting."}},
      {Metric::kWatchRestarts,
       {"berth_watch_restarts_total",
        kCounter,
        kAlpha,
        {"resource", "reason"},
        {},
        "Watches that had to be resumed or listed anew, by resource and reason."}},
  };
}

std::vector<MetricSpec> MakeTable() {
  std::vector<MetricSpec> table;
  for (Row& row : Rows()) {
    BERTH_CHECK(static_cast<size_t>(row.metric) == table.size(), "metric table is out of order");
    table.push_back(std::move(row.spec));
  }
  BERTH_CHECK(table.size() == static_cast<size_t>(Metric::kCount), "metric table is incomplete");
  return table;
}

}  // namespace

std::span<const MetricSpec> MetricTable() {
  static const std::vector<MetricSpec> table = MakeTable();
  return table;
}

const MetricSpec& SpecOf(Metric metric) { return MetricTable()[static_cast<size_t>(metric)]; }

std::optional<Metric> FindMetric(std::string_view name) {
  const auto table = MetricTable();
  for (size_t i = 0; i < table.size(); ++i) {
    if (table[i].name == name) return static_cast<Metric>(i);
  }
  return std::nullopt;
}

}  // namespace berth::metrics
