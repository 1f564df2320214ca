// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/loadable/abi/host.h"
#include "berth/loadable/abi/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bits of berth_plugin::flags.
enum {
  // pre_bind, bind and post_bind may block: they are called on up to `max_workers` threads of the
  // plugin's own.
  BERTH_PLUGIN_BLOCKS = 1 << 0,
  // pre_bind may run at the same time as those of its neighbours in the profile's list.
  BERTH_PLUGIN_PRE_BIND_IN_PARALLEL = 1 << 1,
  // `pod_parts` and `reach` say all that filter, score and hints depend on, besides args. What they
  // and the pre-points answer may then be kept and used again, for other pods as well, so score
  // must not look for what pre_filter left in the state. A profile keeps answers only if all its
  // filters and scores declare their inputs; without it the plugin is asked each time.
  BERTH_PLUGIN_DECLARES_INPUTS = 1 << 2,
  // In its place: what filter says depends on what belongs to one pod, such as its claims.
  // pre_filter is asked about each pod and, unless it says Skip, so is filter, about every node
  // that the other plugins leave; their answers are kept for that pod. A pod for which pre_filter
  // names nodes, or pre_score does not say Skip, is evaluated by itself.
  BERTH_PLUGIN_EACH_POD = 1 << 3
};

// The parts of the pod that filter and score read. There are none for names and annotations: a
// plugin that reads those declares no inputs.
enum {
  BERTH_READS_POD_NODE_NAME = 1 << 0,
  BERTH_READS_POD_TOLERATIONS = 1 << 1,
  BERTH_READS_POD_NODE_AFFINITY = 1 << 2,  // nodeSelector and node affinity
  BERTH_READS_POD_HOST_PORTS = 1 << 3,
  BERTH_READS_POD_REQUESTS = 1 << 4,
  BERTH_READS_POD_IMAGES = 1 << 5,
  BERTH_READS_POD_LABELS = 1 << 6,  // all of them
  BERTH_READS_POD_NAMESPACE = 1 << 7,
  BERTH_READS_POD_PRIORITY = 1 << 8,
  BERTH_READS_POD_TOPOLOGY_SPREAD = 1 << 10,
  BERTH_READS_POD_OWNER = 1 << 13,
  // The labels that a Service, ReplicationController, ReplicaSet or StatefulSet may select by: all
  // that berth_host::selector_of_pod and counts of what it selects depend on.
  BERTH_READS_POD_SELECTED_LABELS = 1 << 15
};

// How far from the node what they read lies; a set, as bits.
enum {
  BERTH_REACH_NODE = 1 << 0,           // the node itself
  BERTH_REACH_USAGE = 1 << 1,          // the pods on it
  BERTH_REACH_CLUSTER = 1 << 2,        // other nodes and their pods
  BERTH_REACH_OTHER_OBJECTS = 1 << 3,  // neither pods nor nodes
  BERTH_REACH_ALL_NODES = 1 << 4       // other nodes, but not their pods
};

enum { BERTH_QUEUE_SKIP = 0, BERTH_QUEUE = 1 };

// A kind of the API that a plugin asks for, most often a custom resource. Berth lists and watches
// it where a profile enables the plugin, keeps its objects, and shows them by find_object and
// each_object. While the API server has no such kind, or does not permit to list it, there are no
// objects; the log says so once, and they come when that changes.
typedef struct berth_own_kind {
  size_t size;
  berth_string group;     // "example.com"; a kind has one, so none of the core group
  berth_string version;   // "v1"
  berth_string resource;  // "maintenancewindows": lower case and plural, as in paths
  berth_string kind;      // "MaintenanceWindow"
  bool namespaced;
} berth_own_kind;

// How many a library may ask for, all its plugins together.
enum { BERTH_MOST_OWN_KINDS = 16 };

// A cluster event that may make a pod schedulable which the plugin rejected.
typedef struct berth_cluster_event {
  size_t size;
  int32_t kind;     // BERTH_KIND_..., or BERTH_KIND_OWN + the index in own_kinds
  uint32_t action;  // BERTH_ACTION_..., as bits
  // BERTH_QUEUE: the event may help `pod`, so it is tried again; BERTH_QUEUE_SKIP: it cannot help.
  // `old_object` is NULL for an addition, `new_object` for a deletion. NULL: every such event
  // helps. `context` must live as long as the plugin. Scheduling thread.
  int32_t (*hint)(void* plugin, void* context, const berth_pod* pod, const berth_object* old_object,
                  const berth_object* new_object);
  void* context;
} berth_cluster_event;

// One plugin: its name and the extension points it takes part in, under Kubernetes' names; NULL
// where it does not. `plugin` is what create() returned. A verdict is a berth_code; its reasons go
// to `verdict`. Scheduling thread unless noted.
typedef struct berth_plugin {
  size_t size;
  berth_string name;
  uint32_t flags;
  uint32_t max_workers;  // with BERTH_PLUGIN_BLOCKS; 0: 4
  uint32_t pod_parts;    // with BERTH_PLUGIN_DECLARES_INPUTS
  uint32_t reach;

  // Makes an instance for one profile from its args, a null value when the configuration names
  // none. NULL: the args are bad or something else is wrong; `error` says what. The thread that
  // builds the scheduler; what the handle offers on the scheduling thread may be used.
  void* (*create)(const berth_handle* handle, const berth_value* args, berth_text* error);
  // No other call runs or follows. Any thread.
  void (*destroy)(void* plugin);

  // Names the cluster events; `add` with `events` for each. NULL: the plugin wants all. Once,
  // after create().
  void (*events_to_register)(void* plugin, berth_events* events,
                             void (*add)(berth_events* events, const berth_cluster_event* event));

  // Whether the pod may enter activeQ. No state yet.
  berth_code (*pre_enqueue)(void* plugin, berth_verdict* verdict, const berth_pod* pod);

  // Whether `a` comes before `b`; times are those of entering the queue, in nanoseconds since 1970.
  bool (*queue_sort)(void* plugin, const berth_pod* a, int64_t a_time, const berth_pod* b,
                     int64_t b_time);

  // Looks at the pod and the cluster once. Skip: filter has nothing to say.
  berth_code (*pre_filter)(void* plugin, berth_verdict* verdict, berth_state* state,
                           const berth_pod* pod, const berth_nodes* nodes, berth_names* names);
  // Both or none: keep the state true when `other` is imagined on the node, or away from it.
  berth_code (*add_pod)(void* plugin, berth_verdict* verdict, berth_state* state,
                        const berth_pod* pod, const berth_pod* other, const berth_node* node);
  berth_code (*remove_pod)(void* plugin, berth_verdict* verdict, berth_state* state,
                           const berth_pod* pod, const berth_pod* other, const berth_node* node);

  // Whether the pod can run on the node. Evaluation.
  berth_code (*filter)(void* plugin, berth_verdict* verdict, const berth_state* state,
                       const berth_pod* pod, const berth_node* node);
  // The same for many nodes: clears the bits of rows that filter rejects. Optional, besides filter,
  // with which it must agree. Anything but success: filter is asked about each node instead.
  // Evaluation.
  berth_code (*filter_nodes)(void* plugin, const berth_state* state, const berth_pod* pod,
                             const berth_nodes* nodes, uint64_t* words, size_t num_words);

  // Tries to make room after no node passed. Success: there will be room on the node that it writes
  // to `nominated`; Unschedulable: the next plugin may try. Without a text the pod's nomination
  // stays as it is, an empty one clears it.
  berth_code (*post_filter)(void* plugin, berth_verdict* verdict, berth_state* state,
                            const berth_pod* pod, const berth_nodes* nodes,
                            const berth_statuses* statuses, berth_text* nominated);

  // Looks at the nodes that passed, once. Skip: score adds nothing.
  berth_code (*pre_score)(void* plugin, berth_verdict* verdict, berth_state* state,
                          const berth_pod* pod, const berth_nodes* nodes, const uint64_t* words,
                          size_t num_words);
  // From 0 to 100, or anything that normalize_score brings there. Evaluation.
  berth_code (*score)(void* plugin, berth_verdict* verdict, const berth_state* state,
                      const berth_pod* pod, const berth_node* node, int64_t* score);
  // The same for many nodes: scores[i] belongs to rows[i]. Optional, besides score, with which it
  // must agree. Anything but success: score is asked about each node instead. Evaluation.
  berth_code (*score_nodes)(void* plugin, const berth_state* state, const berth_pod* pod,
                            const berth_nodes* nodes, const uint32_t* rows, int64_t* scores,
                            size_t n);
  // Turns scores, of all nodes that passed, into 0 to 100.
  berth_code (*normalize_score)(void* plugin, berth_verdict* verdict, const berth_state* state,
                                const berth_pod* pod, const berth_nodes* nodes,
                                const uint32_t* rows, int64_t* scores, size_t n);

  // Both or none. unreserve is also called when reserve was never reached, and more than once.
  berth_code (*reserve)(void* plugin, berth_verdict* verdict, berth_state* state,
                        const berth_pod* pod, berth_string node_name);
  void (*unreserve)(void* plugin, berth_state* state, const berth_pod* pod, berth_string node_name);

  // With BERTH_WAIT: for how many nanoseconds, at most 15 minutes.
  berth_code (*permit)(void* plugin, berth_verdict* verdict, berth_state* state,
                       const berth_pod* pod, berth_string node_name, int64_t* timeout);

  // Success: pre_bind has work; Skip: it has none. NULL: it always has.
  berth_code (*pre_bind_pre_flight)(void* plugin, berth_verdict* verdict, berth_state* state,
                                    const berth_pod* pod, berth_string node_name);
  // Ends by async_done. What it is given is good until then. Binding thread, or a worker.
  void (*pre_bind)(void* plugin, berth_state* state, const berth_pod* pod, berth_string node_name,
                   berth_async* async);
  // The same; Skip passes the pod on to the next Bind plugin.
  void (*bind)(void* plugin, berth_state* state, const berth_pod* pod, berth_string node_name,
               berth_async* async);
  // Called once the pod is bound. Binding thread, or a worker.
  void (*post_bind)(void* plugin, berth_state* state, const berth_pod* pod, berth_string node_name);

  // Besides add_pod: from now on pods come and go in the cluster, and the state is to change by
  // add_pod and remove_pod alone, so counts in it must be copied (berth_host::counts_copy).
  // Optional.
  void (*detach)(void* plugin, berth_state* state);
  // What filter would say, as an error, where a profile does not call pre_filter, without which it
  // cannot do. "": it is called all the same.
  berth_string filter_without_pre_filter;

  // The kinds that the plugin asks for; `own_kinds[i]` is BERTH_KIND_OWN + i to it. Without
  // events_to_register their events are among those that it wants. A filter or score that reads
  // them declares no inputs.
  const berth_own_kind* const* own_kinds;
  size_t num_own_kinds;
} berth_plugin;

// What a library has. The first three members are the same in every major version.
typedef struct berth_library {
  size_t size;
  uint32_t abi_major;  // BERTH_ABI_MAJOR and BERTH_ABI_MINOR, as compiled
  uint32_t abi_minor;
  berth_string version;  // the library's own; for the log
  const berth_plugin* const* plugins;
  size_t num_plugins;
} berth_library;

// The one function that a library exports. Called once, before any other; what it returns must stay
// as it is for the life of the process, as libraries are never unloaded. NULL: the library cannot
// work with this host.
#define BERTH_PLUGIN_ENTRY "berth_plugin_entry"
typedef const berth_library* (*berth_plugin_entry_function)(const berth_host* host);

#if defined(__GNUC__)
#define BERTH_EXPORT __attribute__((visibility("default")))
#else
#define BERTH_EXPORT
#endif
BERTH_EXPORT const berth_library* berth_plugin_entry(const berth_host* host);

#ifdef __cplusplus
}
#endif
