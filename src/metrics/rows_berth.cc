// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/metric_rows.h"

namespace berth::metrics {

std::vector<MetricRow> BerthRows() {
  using enum Stability;
  return {
      {Metric::kBuildInfo,
       Gauge("berth_build_info", kAlpha, {"version"}, "Always 1; tells the version of Berth.")},
      {Metric::kInboxDepth,
       Gauge("berth_inbox_depth", kAlpha, {},
             "Messages that the scheduling loop found waiting at its last turn.")},
      {Metric::kLoopTurns,
       Counter("berth_loop_turns_total", kAlpha, {},
               "Turns of the scheduling loop: each applies the messages that have come, and "
               "schedules at most one pod.")},
      {Metric::kLoopTurnDuration,
       // 20 ms is one of the bounds.
       Histogram("berth_turn_duration_seconds", kAlpha, {}, Exponential(0.02 / 256, 2, 16),
                 "Time taken by one turn of the scheduling loop, in seconds. Health checks, "
                 "queries and changes of the cluster wait that long at most.")},
      {Metric::kReusedVerdicts,
       Counter("berth_reused_verdicts_total", kAlpha, {"result"},
               "Attempts that were decided by what plugins had answered for earlier pods of the "
               "class, by result. scheduler_plugin_evaluation_total counts only what was asked.")},
      {Metric::kUndecodableObjects,
       Counter("berth_undecodable_objects_total", kAlpha, {"resource"},
               "Objects from the API server that could not be decoded, by resource.")},
      {Metric::kDroppedEvents,
       Counter("berth_dropped_events_total", kAlpha, {},
               "Kubernetes events that were not sent because too many were waiting.")},
      {Metric::kInformerObjects, Gauge("berth_informer_objects", kAlpha, {"resource"},
                                       "Objects that an informer knows, by resource.")},
      {Metric::kInformerLists,
       Counter("berth_informer_lists_total", kAlpha, {"resource"},
               "Initial lists and relists that came to their end, by resource.")},
      {Metric::kInformerWatches, Counter("berth_informer_watches_total", kAlpha, {"resource"},
                                         "Watches that were started or resumed, by resource.")},
      {Metric::kInformerErrors, Counter("berth_informer_errors_total", kAlpha, {"resource"},
                                        "Lists and watches that failed, by resource.")},
      {Metric::kHeapBytes, Gauge("berth_heap_bytes", kAlpha, {"state"},
                                 "Memory of the C++ heap, in bytes: in use by objects, or free and "
                                 "kept for the next ones.")},
      {Metric::kConfigReloads,
       Counter("berth_config_reloads_total", kAlpha, {"result"},
               "New versions of the configuration file that --reload-config saw, by result: "
               "'success' or 'failure'.")},
      {Metric::kConfigLastReloadSuccessful,
       Gauge("berth_config_last_reload_successful", kAlpha, {},
             "1 while the configuration file that was read last is the one that runs, else 0.")},
      {Metric::kExtenderRequests,
       Counter("berth_extender_requests_total", kAlpha, {"extender", "verb", "result"},
               "Calls of HTTP extenders, by how they ended: 'success', 'refused' by the extender, "
               "'bad_answer', 'bad_status', 'timeout', or 'failed' on the way.")},
      {Metric::kExtenderRequestDuration,
       Histogram("berth_extender_request_duration_seconds", kAlpha, {"extender", "verb"},
                 Exponential(0.001, 2, 15), "Time that calls of HTTP extenders took, in seconds.")},
      {Metric::kNodeMetricsReads,
       Counter(
           "berth_node_metrics_reads_total", kAlpha, {"source", "result"},
           "How often it was asked what nodes use, by source and by how that ended: 'success', "
           "'failed' on the way, 'bad_status', 'bad_answer', or 'old' where it was measured too "
           "long ago.")},
      {Metric::kNodeMetricsNodes,
       Gauge("berth_node_metrics_nodes", kAlpha, {"source"},
             "Nodes of which a source has said what they use, not too long ago.")},
  };
}

std::vector<MetricRow> ShadowRows() {
  using enum Stability;
  return {
      {Metric::kRelocations,
       Counter(
           "berth_relocations_total", kAlpha, {"result"},
           "Searches of the plugin Relocation for pods whose move makes room for a pending one or "
           "a "
           "pod group, by result: 'no_moves', or else, once it is known of all evictions, 'moved' "
           "or 'given_up'.")},
      {Metric::kRelocationEvictions, Counter("berth_relocation_evictions_total", kAlpha, {"result"},
                                             "Evictions that the plugin Relocation asked for, by "
                                             "answer: 'evicted', 'gone', 'refused' "
                                             "by a PodDisruptionBudget, or 'failed'.")},
      {Metric::kShadowPods,
       Counter("berth_shadow_pods_total", kAlpha, {"comparison"},
               "With --shadow, pods that the other scheduler bound, by how its node compares with "
               "the one that Berth chooses at that moment: 'same_node', 'tie', 'lower_than_berth', "
               "'higher_than_berth' or 'refused_by_berth'.")},
      {Metric::kShadowScoreGivenAway,
       Counter("berth_shadow_score_given_away_total", kAlpha, {"scheduler"},
               "With --shadow, sum of what the choices of a scheduler, 'berth' or 'other', lack to "
               "the best score of the moment.")},
      {Metric::kShadowDecisionDuration,
       Histogram("berth_shadow_decision_duration_seconds", kAlpha, {"scheduler"},
                 Exponential(0.0001, 2, 20),
                 "With --shadow, time from the moment a pod was seen until 'berth' had decided, "
                 "and until the bind of the 'other' was seen, in seconds.")},
      {Metric::kShadowOnlyBerth,
       Gauge("berth_shadow_pods_only_berth_places", kAlpha, {},
             "With --shadow, pending pods that Berth has a node for while the other scheduler says "
             "that none fits.")},
  };
}

std::vector<MetricRow> PackingRows() {
  using enum Stability;
  return {
      {Metric::kOvercommittedNodes,
       Gauge("berth_overcommitted_nodes", kAlpha, {"resource"},
             "Nodes whose pods request more of a resource than is allocatable, or that have more "
             "pods than they may ('pods'). Extended resources of few nodes count as 'other'.")},
      {Metric::kPackingNodes,
       Gauge("berth_packing_nodes", kAlpha, {"node_pool", "state"},
             "Nodes of a pool: 'open' and 'closed' to new pods, and those 'used' by pods that are "
             "not tied to their node.")},
      {Metric::kPackingNodesLowerBound,
       Gauge("berth_packing_nodes_lower_bound", kAlpha, {"node_pool"},
             "How many nodes of a pool the pods that are not tied to their node need at least.")},
      {Metric::kPackingAllocatable,
       Gauge("berth_packing_allocatable", kAlpha, {"node_pool", "resource"},
             "What the nodes of a pool offer: cores, bytes or pieces.")},
      {Metric::kPackingRequested,
       Gauge("berth_packing_requested", kAlpha, {"node_pool", "resource"},
             "What the pods on the nodes of a pool request.")},
      {Metric::kPackingStranded,
       Gauge("berth_packing_stranded", kAlpha, {"node_pool", "resource"},
             "What is free on nodes of a pool where no typical and no pending pod can use it, "
             "because something else is exhausted there.")},
      {Metric::kPackingLargestFree,
       Gauge("berth_packing_largest_free", kAlpha, {"node_pool", "resource"},
             "The most of a resource that one open node of a pool has free.")},
      {Metric::kPackingLargestPod,
       Gauge("berth_packing_largest_pod", kAlpha, {"node_pool", "resource"},
             "The cpu and memory of the largest pod that fits on a node of a pool now and asks for "
             "them in the pool's proportion.")},
      {Metric::kPackingLargestGang,
       Gauge("berth_packing_largest_gang", kAlpha, {"node_pool"},
             "How many copies of a pool's typical pod fit on its nodes now.")},
      {Metric::kPackingSurveys,
       Counter("berth_packing_surveys_total", kAlpha, {},
               "How often the figures of packing and overcommitted nodes were computed.")},
      {Metric::kPackingSliceDuration,
       Histogram("berth_packing_slice_duration_seconds", kAlpha, {}, Exponential(0.00005, 2, 10),
                 "Time for which the figures of packing held up the scheduling loop at once, in "
                 "seconds.")},
  };
}

}  // namespace berth::metrics
