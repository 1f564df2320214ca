// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/loadable/abi/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// What Berth offers. The table lives as long as the process. Functions that only read what they are
// given (values, maps, pods, nodes, objects) may be called on any thread while that is good.
typedef struct berth_host {
  size_t size;
  uint32_t abi_major;
  uint32_t abi_minor;

  // --- Answers. A plugin gets these pointers for one call.

  // Replaces the text.
  void (*text_set)(berth_text* text, berth_string value);
  // Adds a reason to the verdict that the plugin is about to return; of an error, what went wrong.
  void (*verdict_reason)(berth_verdict* verdict, berth_string reason);
  // Only these nodes can pass; more calls add more. No call: no restriction; n 0: no node.
  void (*names_restrict)(berth_names* names, const berth_string* nodes, size_t n);

  // --- Configuration values. A wrong type reads as false, 0 or empty.

  int32_t (*value_type)(const berth_value* value);
  bool (*value_bool)(const berth_value* value);
  int64_t (*value_integer)(const berth_value* value);
  double (*value_real)(const berth_value* value);  // also of an integer
  berth_string (*value_string)(const berth_value* value);
  // Elements of a list, members of a map in file order.
  size_t (*value_size)(const berth_value* value);
  const berth_value* (*value_at)(const berth_value* value, size_t index);  // NULL: past the end
  berth_string (*value_key)(const berth_value* value, size_t index);       // of a map's member
  // The line in the file, from 1; 0 when it was not read from one.
  int32_t (*value_line)(const berth_value* value);
  void (*value_json)(const berth_value* value, berth_text* json);

  // --- Maps.

  size_t (*map_size)(berth_map map);
  bool (*map_at)(berth_map map, size_t index, berth_string* key, berth_string* value);
  // False, and `value` is left alone, when the key is not there.
  bool (*map_find)(berth_map map, berth_string key, berth_string* value);

  // --- Pods. A name that the host does not know reads as "" or 0.

  berth_string (*pod_text)(const berth_pod* pod, int32_t name);
  int64_t (*pod_number)(const berth_pod* pod, int32_t name);
  berth_map (*pod_labels)(const berth_pod* pod);
  berth_map (*pod_annotations)(const berth_pod* pod);
  berth_map (*pod_node_selector)(const berth_pod* pod);
  // What it asks for, all containers, pod level and overhead included.
  int64_t (*pod_request)(const berth_pod* pod, uint32_t resource);
  size_t (*pod_num_tolerations)(const berth_pod* pod);
  bool (*pod_toleration)(const berth_pod* pod, size_t index, berth_toleration* toleration);

  // --- Nodes.

  berth_string (*node_text)(const berth_node* node, int32_t name);
  int64_t (*node_number)(const berth_node* node, int32_t name);
  berth_map (*node_labels)(const berth_node* node);
  berth_map (*node_annotations)(const berth_node* node);
  size_t (*node_num_taints)(const berth_node* node);
  bool (*node_taint)(const berth_node* node, size_t index, berth_taint* taint);
  // Of a node in an event: 0, as no pods are known to be on it.
  int64_t (*node_allocatable)(const berth_node* node, uint32_t resource);
  int64_t (*node_requested)(const berth_node* node, uint32_t resource);
  // Calls visit() for each pod on the node, until it returns false.
  void (*node_each_pod)(const berth_node* node, bool (*visit)(void* context, const berth_pod* pod),
                        void* context);

  // --- The cluster: rows of nodes. Rows that are not in nodes_words() mean nothing.

  size_t (*nodes_num_rows)(const berth_nodes* nodes);
  size_t (*nodes_count)(const berth_nodes* nodes);
  // The rows that hold a node, 64 a word, row 0 in the lowest bit of the first.
  const uint64_t* (*nodes_words)(const berth_nodes* nodes);
  bool (*nodes_at)(const berth_nodes* nodes, uint32_t row, berth_node* node);
  bool (*nodes_find)(const berth_nodes* nodes, berth_string name, berth_node* node);
  // One value a row; NULL: all are 0.
  const int64_t* (*nodes_column)(const berth_nodes* nodes, int32_t column, uint32_t resource);
  // Adds the rows of nodes with the label to `words`. Scheduling thread; looks in an index.
  void (*nodes_with_label)(const berth_nodes* nodes, berth_string key, berth_string value,
                           uint64_t* words);
  // How many pods of the namespace with the label are placed or assumed, those that are being
  // deleted left out. Scheduling thread; the number is kept up to date while it is asked for.
  int64_t (*nodes_count_pods)(const berth_nodes* nodes, berth_string namespace_, berth_string key,
                              berth_string value);

  // --- Objects of events, which hints get.

  bool (*object_pod)(const berth_object* object, berth_pod* pod);     // false: it is no pod
  bool (*object_node)(const berth_object* object, berth_node* node);  // false: it is no node
  berth_string (*object_text)(const berth_object* object, int32_t name);
  berth_map (*object_labels)(const berth_object* object);
  berth_map (*object_annotations)(const berth_object* object);

  // --- What the plugin keeps for one pod. Only the plugin that wrote it reads it.

  // NULL when nothing was kept.
  void* (*state_get)(const berth_state* state);
  // Replaces what was kept. `destroy` is called on any thread. `clone` makes a copy that add_pod
  // and remove_pod may change; without it all copies share `data`, which must not change then.
  // `bytes` says about how much memory it holds, what several share in parts: Berth limits the sum
  // of what it keeps. Without it the data counts for nothing, so what grows with the cluster or
  // with what pods ask for has it.
  void (*state_set)(berth_state* state, void* data, void (*destroy)(void* data),
                    void* (*clone)(const void* data), size_t (*bytes)(const void* data));

  // --- The handle. It outlives the plugin instance. Scheduling thread unless noted.

  berth_string (*scheduler_name)(const berth_handle* handle);
  int64_t (*now)(const berth_handle* handle);      // nanoseconds since 1970; any thread
  uint64_t (*random)(const berth_handle* handle);  // of the scheduler's seed
  void (*log)(const berth_handle* handle, int32_t level, berth_string text);  // any thread
  // The id of a resource such as nvidia.com/gpu; it never changes.
  uint32_t (*resource_id)(const berth_handle* handle, berth_string name);
  // The cluster as it is now; good until the call that the plugin is in returns.
  const berth_nodes* (*nodes)(const berth_handle* handle);
  // An event about the pod in the API.
  void (*record_event)(const berth_handle* handle, const berth_pod* pod, bool warning,
                       berth_string reason, berth_string action, berth_string note);
  // Moves pods, named "namespace/name", to activeQ when the running cycle is over.
  void (*activate)(const berth_handle* handle, const berth_string* pods, size_t n);
  // Calls visit() with the newest version of a pod that waits to be scheduled. False: there is
  // none.
  bool (*find_pending_pod)(const berth_handle* handle, berth_string namespace_, berth_string name,
                           void (*visit)(void* context, const berth_pod* pod), void* context);
  // Runs the task on the scheduling thread, between two cycles. Any thread.
  void (*post)(const berth_handle* handle, berth_task task);

  // Pods that wait at Permit.
  void (*each_waiting_pod)(const berth_handle* handle,
                           bool (*visit)(void* context, berth_waiting_pod* pod), void* context);
  // NULL when no such pod waits.
  berth_waiting_pod* (*find_waiting_pod)(const berth_handle* handle, berth_string uid);
  void (*waiting_pod)(const berth_waiting_pod* waiting, berth_pod* pod);
  berth_string (*waiting_pod_node)(const berth_waiting_pod* waiting);
  // In the name of the handle's plugin: it objects no more; it rejects the pod.
  void (*waiting_pod_allow)(berth_waiting_pod* waiting, const berth_handle* handle);
  void (*waiting_pod_reject)(berth_waiting_pod* waiting, const berth_handle* handle,
                             berth_string reason);

  // A metric of the plugin's own; the same spec gives the same metric, which lives as long as the
  // handle. NULL: a bad name, or one in use with another type or other labels. Any thread, as all
  // functions of metrics.
  berth_metric* (*metric)(const berth_handle* handle, const berth_metric_spec* spec);
  // Adds to a counter or gauge. One label value for each label of the spec, else nothing happens.
  void (*metric_add)(berth_metric* metric, const berth_string* labels, size_t n, double by);
  void (*metric_set)(berth_metric* metric, const berth_string* labels, size_t n, double value);
  void (*metric_observe)(berth_metric* metric, const berth_string* labels, size_t n, double value);

  // --- Asynchronous work. Any thread. `async` is good until async_done, which the plugin must call
  // exactly once, also after a cancellation (with BERTH_ERROR).

  void (*async_done)(berth_async* async, berth_code code, berth_string message);
  bool (*async_cancelled)(const berth_async* async);
  // Runs the task when the answer is waited for no more; at once if that has happened. It may still
  // run while async_done is called elsewhere: free what it uses in `drop`. At most one task for
  // each work.
  void (*async_on_cancel)(berth_async* async, berth_task task);
  // Binds the pod as DefaultBinder does, and ends the work with the outcome in place of async_done.
  // In bind only.
  void (*async_bind_by_default)(berth_async* async);

  // --- Why nodes were rejected.

  // Why the node on the row was rejected; success: it was not.
  berth_code (*statuses_code)(const berth_statuses* statuses, uint32_t row);

  // --- Volumes, and what else is neither pod nor node.

  int64_t (*object_number)(const berth_object* object, int32_t name);
  // Whether a PersistentVolume can be used on the node, by its node affinity, or a
  // CSIStorageCapacity is about it, by its topology. Of other kinds: true.
  bool (*object_reaches)(const berth_object* object, const berth_node* node);
  // Calls visit() for each claim that the pod's volumes name, until it returns false; an ephemeral
  // volume's claim is the pod's own.
  void (*pod_each_claim)(const berth_pod* pod,
                         bool (*visit)(void* context, berth_string claim, bool ephemeral),
                         void* context);
  // Calls visit() with the object of a kind of cluster events, pods and nodes apart. False: there
  // is none, or objects of the kind are not looked up by name. Scheduling thread, and evaluation.
  bool (*find_object)(const berth_handle* handle, int32_t kind, berth_string namespace_,
                      berth_string name, void (*visit)(void* context, const berth_object* object),
                      void* context);
  // Calls visit() for each object of the kind until it returns false: the PersistentVolumes or
  // CSIStorageCapacities of storage class `of`, the VolumeAttachments of node `of`; of a
  // BERTH_KIND_NAMESPACE all, of a BERTH_KIND_SERVICE those of namespace `of` by name, of others
  // none. Scheduling thread, and evaluation.
  void (*each_object)(const berth_handle* handle, int32_t kind, berth_string of,
                      bool (*visit)(void* context, const berth_object* object), void* context);

  // --- Amounts as resource scores count them.

  // What the pod's containers ask for of each resource, in the units of BERTH_CPU for cpu, else
  // whole units: without pod-level requests, and with 100m of cpu and 200Mi of memory for a
  // container that asks for none.
  void (*pod_scored_requests)(const berth_pod* pod, const berth_string* resources, int64_t* amounts,
                              size_t n);
  // The same of all pods on the node; cpu and memory only, of a node in an event 0.
  int64_t (*node_non_zero_requested)(const berth_node* node, uint32_t resource);
  // Whether the resource is none of those that every node has: extended, hugepages-*,
  // attachable-volumes-* and *kubernetes.io/* names.
  bool (*is_scalar_resource)(berth_string name);
  // The allocatable amount in whole units. False, and `amount` is left alone: the node names no
  // such resource.
  bool (*node_find_allocatable)(const berth_node* node, berth_string resource, int64_t* amount);

  // The cluster that a node is of; NULL for a node in an event.
  const berth_nodes* (*node_nodes)(const berth_node* node);

  // --- More of handles, volumes and services.

  int64_t (*handle_number)(const berth_handle* handle, int32_t name);
  // Calls visit() for each volume of the pod, until it returns false.
  void (*pod_each_volume)(const berth_pod* pod,
                          bool (*visit)(void* context, const berth_volume* volume), void* context);
  // Of a Service: the labels that it selects pods by. Of other kinds: empty.
  berth_map (*object_selector)(const berth_object* object);

  // --- Pods that have labels, counted. What is made here the plugin frees, on any thread.

  // Selects what has all these labels.
  berth_selector* (*selector_of_labels)(berth_map labels);
  // Selects what belongs together with the pod: what all services that select it, and its
  // controller (a ReplicationController, ReplicaSet or StatefulSet), select. NULL: nothing selects
  // the pod. Scheduling thread, and evaluation.
  berth_selector* (*selector_of_pod)(const berth_handle* handle, const berth_pod* pod);
  bool (*selector_matches)(const berth_selector* selector, berth_map labels);
  void (*selector_free)(berth_selector* selector);
  // Counts the placed and assumed pods of a namespace that the selector matches; without those that
  // are being deleted, if so wished. The counts go on changing with the cluster: read them within
  // the pod's scheduling cycle. Scheduling thread; kept up to date while it is asked for.
  berth_counts* (*counts_make)(const berth_nodes* nodes, berth_string namespace_,
                               const berth_selector* selector, bool skip_terminating);
  // The same counts, which change no more.
  berth_counts* (*counts_copy)(const berth_counts* counts);
  // How many pods are on each of the rows; on any thread while the cluster does not change.
  void (*counts_read)(const berth_counts* counts, const uint32_t* rows, int64_t* pods, size_t n);
  // Calls visit() for each row with a pod, ascending, until it returns false.
  void (*counts_each)(const berth_counts* counts,
                      bool (*visit)(void* context, uint32_t row, int64_t pods), void* context);
  // About how much memory they take: of counts that several share, the part that falls on these.
  size_t (*counts_bytes)(const berth_counts* counts);
  void (*counts_free)(berth_counts* counts);

  // --- Kinds of the plugin's own (berth_plugin::own_kinds). find_object and each_object take them,
  // too; each_object shows the objects of namespace `of`, "" for all, in order of namespace and
  // name. What they show does not change until the call that the plugin is in returns.

  // The object as the API server sent it: JSON in UTF-8, without blanks and without a zero at its
  // end; metadata.managedFields and the annotation in which kubectl keeps what it applied last are
  // left out. Good until the call that the plugin is in returns; of an event, until the hint does.
  // Of an object that was read from a file it is what the file has, so object_text alone is sure to
  // have the namespace and the uid. Of other kinds: "".
  berth_string (*object_json)(const berth_object* object);
} berth_host;

#ifdef __cplusplus
}
#endif
