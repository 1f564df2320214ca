// SPDX-License-Identifier: Apache-2.0
// Keeps pods off nodes that are marked for maintenance with the annotation
// example.com/maintenance: "true". A pod with the same annotation goes there all the same. No args.
#include <berth/loadable/abi.h>
#include <stdlib.h>
#include <string.h>

#define STRING(literal) ((berth_string){literal, sizeof(literal) - 1})

static const berth_host* host;

static bool marked(berth_map annotations) {
  berth_string value;
  return host->map_find(annotations, STRING("example.com/maintenance"), &value) &&
         value.size == 4 && memcmp(value.data, "true", 4) == 0;
}

// There is nothing to keep but the handle.
struct node_maintenance {
  const berth_handle* handle;
};

static void* create(const berth_handle* handle, const berth_value* args, berth_text* error) {
  if (host->value_type(args) != BERTH_VALUE_NULL && host->value_size(args) > 0) {
    host->text_set(error, STRING("NodeMaintenance takes no args"));
    return NULL;
  }
  struct node_maintenance* plugin = malloc(sizeof(*plugin));
  if (plugin == NULL) {
    host->text_set(error, STRING("out of memory"));
    return NULL;
  }
  plugin->handle = handle;
  return plugin;
}

static void destroy(void* plugin) { free(plugin); }

// Preemption must not try such a node: evicting its pods would not help.
static berth_code filter(void* plugin, berth_verdict* verdict, const berth_state* state,
                         const berth_pod* pod, const berth_node* node) {
  (void)plugin, (void)state;
  if (!marked(host->node_annotations(node)) || marked(host->pod_annotations(pod))) {
    return BERTH_SUCCESS;
  }
  host->verdict_reason(verdict, STRING("node(s) were in maintenance"));
  return BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE;
}

// Only a node that is not in maintenance (any more) can help.
static int32_t after_node_change(void* plugin, void* context, const berth_pod* pod,
                                 const berth_object* old_object, const berth_object* new_object) {
  (void)plugin, (void)context, (void)pod, (void)old_object;
  berth_node node;
  if (new_object == NULL || !host->object_node(new_object, &node)) return BERTH_QUEUE;
  return marked(host->node_annotations(&node)) ? BERTH_QUEUE_SKIP : BERTH_QUEUE;
}

static void events_to_register(void* plugin, berth_events* events,
                               void (*add)(berth_events* events,
                                           const berth_cluster_event* event)) {
  (void)plugin;
  const berth_cluster_event node_event = {
      .size = sizeof(node_event),
      .kind = BERTH_KIND_NODE,
      .action = BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_ANNOTATION,
      .hint = after_node_change,
  };
  add(events, &node_event);
}

const berth_library* berth_plugin_entry(const berth_host* offered) {
  static berth_plugin plugin;
  static const berth_plugin* const plugins[] = {&plugin};
  static berth_library library;
  host = offered;
  plugin.size = sizeof(plugin);
  plugin.name = STRING("NodeMaintenance");
  plugin.create = create;
  plugin.destroy = destroy;
  plugin.events_to_register = events_to_register;
  plugin.filter = filter;
  library.size = sizeof(library);
  library.abi_major = BERTH_ABI_MAJOR;
  library.abi_minor = BERTH_ABI_MINOR;
  library.version = STRING("1.0.0");
  library.plugins = plugins;
  library.num_plugins = 1;
  return &library;
}
