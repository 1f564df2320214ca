// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// 0 until the first release of Berth: any change is a new minor version. See abi.h.
#define BERTH_ABI_MAJOR 0
#define BERTH_ABI_MINOR 4

// Whether the struct that `pointer` points to is of a version that has `member`.
#define BERTH_HAS(pointer, member) \
  ((pointer)->size >= (size_t)((const char*)(&(pointer)->member + 1) - (const char*)(pointer)))

#ifdef __cplusplus
extern "C" {
#endif

// UTF-8 text without a terminating zero. `data` may be NULL when `size` is 0.
typedef struct berth_string {
  const char* data;
  size_t size;
} berth_string;

// What a plugin answers.
typedef int32_t berth_code;
enum {
  BERTH_SUCCESS = 0,
  // Internal failure: the pod is retried after a backoff.
  BERTH_ERROR = 1,
  // Not here, not now; evicting pods may help.
  BERTH_UNSCHEDULABLE = 2,
  // Not here, and evicting pods cannot help.
  BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE = 3,
  // permit only: the pod waits for an approval.
  BERTH_WAIT = 4,
  // Nothing to do for this pod: pre_filter, pre_score, pre_bind_pre_flight, bind.
  BERTH_SKIP = 5,
  // Rejected, waiting for something outside; the event that helps skips the backoff.
  BERTH_PENDING = 6
};

// Views: values that may be copied freely. Their members are the host's business.
typedef struct berth_map {  // strings by string, sorted by key
  const void* map;
} berth_map;
typedef struct berth_pod {
  const void* object;
  const void* info;
} berth_pod;
typedef struct berth_node {
  const void* object;
  const void* nodes;
  const void* overlay;
  uint32_t row;
  uint32_t reserved;
} berth_node;
typedef struct berth_object {  // of any kind that is watched
  const void* object;
} berth_object;

// Opaque things.
typedef struct berth_host_handle berth_handle;  // what one plugin instance gets from its profile
typedef struct berth_host_value berth_value;    // a value of the configuration file
typedef struct berth_host_text berth_text;      // a place for a text that the plugin writes
typedef struct berth_host_verdict berth_verdict;
typedef struct berth_host_state berth_state;  // what the plugin keeps for one pod
typedef struct berth_host_nodes berth_nodes;  // the cluster as one scheduling cycle sees it
typedef struct berth_host_names berth_names;  // the nodes that pre_filter narrows the search to
typedef struct berth_host_events berth_events;
typedef struct berth_host_waiting_pod berth_waiting_pod;
typedef struct berth_host_async berth_async;  // asynchronous work for one pod
typedef struct berth_host_metric berth_metric;
typedef struct berth_host_statuses berth_statuses;  // why nodes were rejected
typedef struct berth_host_selector berth_selector;  // which labels a pod must have
typedef struct berth_host_counts berth_counts;      // how many pods are on each row

// Work for later. `run` is called at most once; `drop`, unless NULL, is called exactly once, after
// `run` or when it is certain that `run` will not be called. Both get `context`.
typedef struct berth_task {
  void (*run)(void* context);
  void (*drop)(void* context);
  void* context;
} berth_task;

// Resources that need no berth_host::resource_id.
enum {
  BERTH_CPU = 0,               // in milli-cores
  BERTH_MEMORY = 1,            // in bytes
  BERTH_EPHEMERAL_STORAGE = 2  // in bytes; all others are counted in whole units
};

// Names for berth_host::pod_text, pod_number, node_text, node_number, object_text, object_number
// and nodes_column.
enum {
  BERTH_POD_NAME = 0,
  BERTH_POD_NAMESPACE = 1,
  BERTH_POD_UID = 2,
  BERTH_POD_SCHEDULER_NAME = 3,
  BERTH_POD_NODE_NAME = 4,
  BERTH_POD_NOMINATED_NODE_NAME = 5,
  BERTH_POD_PREEMPTION_POLICY = 6,
  BERTH_POD_PHASE = 7,
  BERTH_POD_OWNER_KIND = 8,  // of the owner that controls it; "" when none does
  BERTH_POD_OWNER_NAME = 9,
  BERTH_POD_OWNER_UID = 10
};
enum {
  BERTH_POD_PRIORITY = 0,
  BERTH_POD_CREATION_TIME = 1,  // times are nanoseconds since 1970, 0 when there is none
  BERTH_POD_DELETION_TIME = 2,
  BERTH_POD_START_TIME = 3,
  BERTH_POD_HOST_NETWORK = 4,  // 0 or 1
  BERTH_POD_NUM_TOPOLOGY_SPREAD_CONSTRAINTS = 5
};
enum { BERTH_NODE_NAME = 0, BERTH_NODE_UID = 1 };
enum {
  BERTH_NODE_UNSCHEDULABLE = 0,  // 0 or 1
  BERTH_NODE_ALLOWED_PODS = 1,
  BERTH_NODE_POD_COUNT = 2
};
enum {
  BERTH_OBJECT_NAME = 0,
  BERTH_OBJECT_NAMESPACE = 1,
  BERTH_OBJECT_UID = 2,
  // Of volumes and what is near them; "" where the kind has no such thing.
  BERTH_OBJECT_STORAGE_CLASS = 3,    // PersistentVolume, PersistentVolumeClaim, CSIStorageCapacity
  BERTH_OBJECT_PHASE = 4,            // PersistentVolume, PersistentVolumeClaim
  BERTH_OBJECT_VOLUME_NAME = 5,      // PersistentVolumeClaim, VolumeAttachment
  BERTH_OBJECT_CLAIM_NAMESPACE = 6,  // of a PersistentVolume's claimRef
  BERTH_OBJECT_CLAIM_NAME = 7,
  BERTH_OBJECT_DRIVER = 8,         // PersistentVolume (CSI), StorageClass, VolumeAttachment
  BERTH_OBJECT_VOLUME_HANDLE = 9,  // PersistentVolume (CSI)
  BERTH_OBJECT_NODE_NAME = 10,     // VolumeAttachment
  BERTH_OBJECT_BINDING_MODE = 11,  // StorageClass
  // Of a cloud provider's disk that Kubernetes once attached itself: berth_volume has the same.
  BERTH_OBJECT_IN_TREE_PLUGIN = 12,  // PersistentVolume
  BERTH_OBJECT_DISK = 13,            // PersistentVolume
  // spec.storageClassName of a PersistentVolumeClaim; BERTH_OBJECT_STORAGE_CLASS is that of the
  // annotation where the claim has it.
  BERTH_OBJECT_SPEC_STORAGE_CLASS = 14,
  BERTH_OBJECT_OWNER_UID = 15  // of the owner that controls it, any kind
};
enum {
  // In bytes: what a PersistentVolume or a CSIStorageCapacity has, what a PersistentVolumeClaim
  // asks for.
  BERTH_OBJECT_STORAGE = 0
};
enum {
  BERTH_COLUMN_ALLOCATABLE = 0,  // of a resource
  BERTH_COLUMN_REQUESTED = 1,
  BERTH_COLUMN_ALLOWED_PODS = 2,  // the resource does not matter
  BERTH_COLUMN_POD_COUNT = 3,
  BERTH_COLUMN_NON_ZERO_REQUESTED = 4  // of BERTH_CPU or BERTH_MEMORY; node_non_zero_requested
};
// Names for berth_host::handle_number.
enum {
  // How many disks the environment (KUBE_MAX_PD_VOLS) lets a node have; 0: it does not say.
  BERTH_HANDLE_MAX_PD_VOLUMES = 0
};

// A volume of a pod.
typedef struct berth_volume {
  size_t size;
  // Of a cloud provider's disk: "kubernetes.io/aws-ebs", -gce-pd, -azure-disk or -cinder, and what
  // that calls the disk. Else both are "".
  berth_string in_tree_plugin;
  berth_string disk;
  // Whether it stands for a PersistentVolumeClaim in the pod's namespace, and which; an ephemeral
  // volume's claim is the pod's own.
  bool has_claim;
  bool ephemeral;
  berth_string claim;
} berth_volume;

typedef struct berth_taint {
  berth_string key;
  berth_string value;
  berth_string effect;
} berth_taint;

typedef struct berth_toleration {
  berth_string key;
  berth_string op;  // "" and Equal compare values, Exists ignores them
  berth_string value;
  berth_string effect;  // "": every effect
} berth_toleration;

// Types of a berth_value.
enum {
  BERTH_VALUE_NULL = 0,
  BERTH_VALUE_BOOL = 1,
  BERTH_VALUE_INTEGER = 2,
  BERTH_VALUE_REAL = 3,  // a number that is no int64
  BERTH_VALUE_STRING = 4,
  BERTH_VALUE_LIST = 5,
  BERTH_VALUE_MAP = 6
};

// Kinds of objects in cluster events, and of what is looked up by kind.
enum {
  BERTH_KIND_WILDCARD = 0,
  BERTH_KIND_POD = 1,  // every pod; the next three tell them apart
  BERTH_KIND_ASSIGNED_POD = 2,
  BERTH_KIND_UNSCHEDULED_POD = 3,
  BERTH_KIND_TARGET_POD = 4,  // the rejected pod itself
  BERTH_KIND_NODE = 5,
  BERTH_KIND_NAMESPACE = 6,
  BERTH_KIND_PERSISTENT_VOLUME = 7,
  BERTH_KIND_PERSISTENT_VOLUME_CLAIM = 8,
  BERTH_KIND_CSI_NODE = 9,
  BERTH_KIND_CSI_DRIVER = 10,
  BERTH_KIND_VOLUME_ATTACHMENT = 11,
  BERTH_KIND_CSI_STORAGE_CAPACITY = 12,
  BERTH_KIND_STORAGE_CLASS = 13,
  BERTH_KIND_RESOURCE_CLAIM = 14,
  BERTH_KIND_RESOURCE_SLICE = 15,
  BERTH_KIND_DEVICE_CLASS = 16,
  BERTH_KIND_POD_GROUP = 17,
  BERTH_KIND_COMPOSITE_POD_GROUP = 18,
  BERTH_KIND_SERVICE = 1000,  // for berth_host::each_object only: there is no event of services
  // The first of berth_plugin::own_kinds; the others follow.
  BERTH_KIND_OWN = 2000
};

// What happened to the object; a set, as bits.
enum {
  BERTH_ACTION_ADD = 1 << 0,
  BERTH_ACTION_DELETE = 1 << 1,
  BERTH_ACTION_UPDATE_NODE_ALLOCATABLE = 1 << 2,
  BERTH_ACTION_UPDATE_NODE_LABEL = 1 << 3,
  BERTH_ACTION_UPDATE_NODE_TAINT = 1 << 4,
  BERTH_ACTION_UPDATE_NODE_CONDITION = 1 << 5,
  BERTH_ACTION_UPDATE_NODE_ANNOTATION = 1 << 6,
  BERTH_ACTION_UPDATE_NODE_DECLARED_FEATURE = 1 << 7,
  BERTH_ACTION_UPDATE_POD_LABEL = 1 << 9,
  BERTH_ACTION_UPDATE_POD_SCALE_DOWN = 1 << 10,
  BERTH_ACTION_UPDATE_POD_SCALE_UP = 1 << 11,
  BERTH_ACTION_UPDATE_POD_TOLERATION = 1 << 12,
  BERTH_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 1 << 13,
  BERTH_ACTION_ALL = (1 << 15) - 1
};

enum { BERTH_LOG_INFO = 0, BERTH_LOG_WARNING = 1, BERTH_LOG_ERROR = 2 };

enum { BERTH_COUNTER = 0, BERTH_GAUGE = 1, BERTH_HISTOGRAM = 2 };

// A metric of the plugin's own; shown as berth_plugin_<plugin>_<name>, the plugin's name in
// snake_case.
typedef struct berth_metric_spec {
  size_t size;
  int32_t type;
  berth_string name;
  berth_string help;
  const berth_string* labels;
  size_t num_labels;
  const double* buckets;  // of a histogram: upper bounds, ascending, without +Inf
  size_t num_buckets;
} berth_metric_spec;

#ifdef __cplusplus
}
#endif
