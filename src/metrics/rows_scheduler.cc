// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/metric_rows.h"

namespace berth::metrics {

// NOLINTNEXTLINE(readability-function-size): a table.
std::vector<MetricRow> SchedulerRows() {
  using enum Stability;
  return {
      {Metric::kScheduleAttempts,
       Counter("scheduler_schedule_attempts_total", kStable, {"result", "profile"},
               "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod "
               "could not be scheduled, while 'error' means an internal scheduler problem.")},
      {Metric::kSchedulingAttemptDuration,
       Histogram("scheduler_scheduling_attempt_duration_seconds", kStable, {"result", "profile"},
                 Exponential(0.001, 2, 15),
                 "Scheduling attempt latency in seconds (scheduling algorithm + binding)")},
      {Metric::kSchedulingAlgorithmDuration,
       Histogram("scheduler_scheduling_algorithm_duration_seconds", kBeta, {},
                 Exponential(0.001, 2, 15), "Scheduling algorithm latency in seconds")},
      {Metric::kEventHandlingDuration,
       Histogram("scheduler_event_handling_duration_seconds", kAlpha, {"event"},
                 Exponential(0.0001, 2, 12), "Event handling latency in seconds.")},
      {Metric::kPreemptionVictims,
       Histogram("scheduler_preemption_victims", kStable, {}, Exponential(1, 2, 7),
                 "Number of selected preemption victims for preemption initiated by a single pod")},
      {Metric::kPreemptionAttempts, Counter("scheduler_preemption_attempts_total", kStable, {},
                                            "Total preemption attempts in the cluster till now")},
      {Metric::kPreemptionGoroutinesDuration,
       Histogram("scheduler_preemption_goroutines_duration_seconds", kAlpha, {"result"},
                 Exponential(0.01, 2, 20),
                 "Duration in seconds for running goroutines for the preemption.", "1.37.0")},
      {Metric::kPreemptionGoroutinesExecution,
       Counter("scheduler_preemption_goroutines_execution_total", kAlpha, {"result"},
               "Number of preemption goroutines executed.")},
      {Metric::kPodGroupScheduleAttempts,
       Counter("scheduler_podgroup_schedule_attempts_total", kAlpha, {"result", "profile"},
               "Number of attempts to schedule pod group, by the result. 'unschedulable' means a "
               "pod group could not be scheduled, while 'error' means an internal scheduler "
               "problem.")},
      {Metric::kPodGroupSchedulingAttemptDuration,
       Histogram("scheduler_podgroup_scheduling_attempt_duration_seconds", kAlpha,
                 {"result", "profile"}, Exponential(0.001, 2, 15),
                 "Pod group scheduling attempt latency in seconds")},
      {Metric::kPodGroupSchedulingAlgorithmDuration,
       Histogram("scheduler_podgroup_scheduling_algorithm_duration_seconds", kAlpha, {},
                 Exponential(0.001, 2, 15), "Pod group scheduling algorithm latency in seconds")},
      {Metric::kWorkloadPreemptionAttempts,
       Counter("scheduler_workload_preemption_attempts_total", kAlpha, {"result"},
               "Total preemption attempts initiated by workload (including pod groups) in the "
               "cluster till now.")},
      {Metric::kWorkloadPreemptionVictims,
       Histogram("scheduler_workload_preemption_victims", kAlpha, {}, Exponential(1, 2, 11),
                 "Number of pod preemption victims caused by workload preemption.")},
      {Metric::kPreemptionWorkloadDisruptions,
       Histogram("scheduler_preemption_workload_disruptions", kAlpha, {"preemptor"},
                 Exponential(1, 2, 11),
                 "Number of workload preemption units being preempted. A single preemption unit "
                 "can be all pods in a pod group (in case of DisruptionMode=all), or a single pod "
                 "(in case of DisruptionMode=single).")},
      {Metric::kPreemptionEvaluationDuration,
       Histogram("scheduler_preemption_evaluation_duration_seconds", kAlpha,
                 {"preemptor", "result"}, Exponential(0.001, 2, 16),
                 "Duration in seconds for identifying the target preemption victims.")},
      {Metric::kPreemptionExecutionDuration,
       Histogram("scheduler_preemption_execution_duration_seconds", kAlpha, {"preemptor", "result"},
                 Exponential(0.001, 2, 16),
                 "Duration in seconds for preempting the target preemption victims. With async "
                 "preemption enabled, preemption execution does not block the scheduling of other "
                 "pods.")},
      {Metric::kPreemptionPdbViolations,
       Counter("scheduler_preemption_pdb_violations_total", kAlpha, {"preemptor"},
               "Total number of pod disruption budget violations caused by preemption.")},
      {Metric::kGeneratedPlacements,
       Counter("scheduler_generated_placements_total", kAlpha, {"profile"},
               "Number of candidate placements generated when scheduling pod groups.")},
      {Metric::kPlacementEvaluations,
       Counter("scheduler_placement_evaluations_total", kAlpha, {"result", "profile"},
               "Number of candidate placements evaluated when scheduling pod groups, by result. "
               "'feasible' means the pod group fit into the placement, while 'infeasible' means it "
               "did not.")},
      {Metric::kPlacementEvaluationDuration,
       Histogram("scheduler_placement_evaluation_duration_seconds", kAlpha, {"result", "profile"},
                 Exponential(0.001, 2, 15),
                 "Latency in seconds of evaluating a single candidate placement when scheduling "
                 "pod groups, by result. 'feasible' means the pod group fit into the placement, "
                 "while 'infeasible' means it did not.")},
      {Metric::kPendingPods,
       Gauge("scheduler_pending_pods", kStable, {"queue"},
             "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; "
             "'backoff' means number of pods in backoffQ; 'unschedulable' means number of pods in "
             "unschedulableEntities that the scheduler attempted to schedule and failed; 'gated' "
             "is the number of unschedulable pods that the scheduler never attempted to schedule "
             "because they are gated; 'incomplete' means number of pods in incompletePodGroupPods; "
             "'pending' means number of pods in pendingPodGroupPods.")},
      {Metric::kQueuedEntities,
       Gauge("scheduler_queued_entities", kAlpha, {"queue", "type"},
             "Number of queued scheduling entities ('pod' or 'podgroup'; 'pod' stands for "
             "individual pods that are not members of any podgroup) by the queue type. 'active' "
             "means number of entities in activeQ; 'backoff' means number of entities in backoffQ; "
             "'unschedulable' means number of entities in unschedulableEntities that the scheduler "
             "attempted to schedule and failed; 'gated' is the number of unschedulable entities "
             "that the scheduler never attempted to schedule because they are gated.")},
      {Metric::kPodSchedulingSliDuration,
       Histogram("scheduler_pod_scheduling_sli_duration_seconds", kBeta, {"attempts"},
                 Exponential(0.01, 2, 20),
                 "E2e latency for a pod being scheduled, from the time the pod enters the "
                 "scheduling queue and might involve multiple scheduling attempts.")},
      {Metric::kPodSchedulingAttempts,
       Histogram("scheduler_pod_scheduling_attempts", kStable, {}, Exponential(1, 2, 5),
                 "Number of attempts to successfully schedule a pod.")},
      {Metric::kPodScheduledAfterFlush,
       Counter("scheduler_pod_scheduled_after_flush_total", kAlpha, {},
               "Number of pods that were successfully scheduled after being flushed from "
               "unschedulableEntities due to timeout. This metric helps detect potential queueing "
               "hint misconfigurations or event handling issues.")},
      {Metric::kFrameworkExtensionPointDuration,
       Histogram("scheduler_framework_extension_point_duration_seconds", kStable,
                 {"extension_point", "status", "profile"}, Exponential(0.0001, 2, 12),
                 "Latency for running all plugins of a specific extension point.")},
      {Metric::kPluginExecutionDuration,
       Histogram("scheduler_plugin_execution_duration_seconds", kBeta,
                 {"plugin", "extension_point", "status"}, Exponential(0.00001, 1.5, 20),
                 "Duration for running a plugin at a specific extension point.")},
      {Metric::kQueueingHintExecutionDuration,
       Histogram("scheduler_queueing_hint_execution_duration_seconds", kAlpha,
                 {"plugin", "event", "hint"}, Exponential(0.00001, 1.5, 20),
                 "Duration for running a queueing hint function of a plugin.")},
      {Metric::kQueueIncomingPods,
       Counter("scheduler_queue_incoming_pods_total", kStable, {"queue", "event"},
               "Number of pods added to scheduling queues by event and queue type.")},
      {Metric::kQueueIncomingEntities,
       Counter("scheduler_queue_incoming_entities_total", kAlpha, {"queue", "event", "type"},
               "Number of scheduling entities added to scheduling queues by event, queue type, and "
               "entity type. Entity types are either 'pod' (for individual pods that are not "
               "members of any podgroup) or 'podgroup'.")},
      {Metric::kGoroutines,
       Gauge("scheduler_goroutines", kBeta, {"operation"},
             "Number of running goroutines split by the work they do such as binding.")},
      {Metric::kPermitWaitDuration,
       Histogram("scheduler_permit_wait_duration_seconds", kBeta, {"result"},
                 Exponential(0.001, 2, 15), "Duration of waiting on permit.")},
      {Metric::kCacheSize,
       Gauge("scheduler_cache_size", kAlpha, {"type"},
             "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.")},
      {Metric::kUnschedulablePods,
       Gauge("scheduler_unschedulable_pods", kBeta, {"plugin", "profile"},
             "The number of unschedulable pods broken down by plugin name. A pod will increment "
             "the gauge for all plugins that caused it to not schedule and so this metric have "
             "meaning only when broken down by plugin.")},
      {Metric::kPluginEvaluation,
       Counter("scheduler_plugin_evaluation_total", kBeta, {"plugin", "extension_point", "profile"},
               "Number of attempts to schedule pods by each plugin and the extension point "
               "(available only in PreFilter, Filter, PreScore, and Score).")},
      {Metric::kVolumeSchedulingStageErrors,
       Counter("scheduler_volume_scheduling_stage_error_total", kAlpha, {"operation"},
               "Volume scheduling stage error count")},
      {Metric::kResourceClaimCreates,
       Counter("dynamic_resource_allocation_resourceclaim_creates_total", kAlpha,
               {"status", "admin_access", "owner_api_group", "owner_api_kind"},
               "Number of ResourceClaims creation requests, categorized by creation status, admin "
               "access, and owning API group and kind (either Pod or scheduling.k8s.io/PodGroup)")},
      {Metric::kBindingConditionsAllocations,
       Counter("scheduler_dra_bindingconditions_allocations_total", kAlpha,
               {"profile", "driver", "status"},
               "Number of allocations using devices with BindingConditions, counted per driver per "
               "scheduling attempt")},
      {Metric::kBindingConditionsWaitDuration,
       Histogram("scheduler_dra_bindingconditions_wait_duration_seconds", kAlpha,
                 {"profile", "driver", "status"}, Exponential(0.1, 2, 14),
                 "Time in seconds spent waiting for BindingConditions to be satisfied during "
                 "PreBind.")},
      {Metric::kInFlightEvents,
       Gauge("scheduler_inflight_events", kAlpha, {"event"},
             "Number of events currently tracked in the scheduling queue.")},
  };
}

}  // namespace berth::metrics
