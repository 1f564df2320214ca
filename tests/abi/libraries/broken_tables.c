// SPDX-License-Identifier: Apache-2.0
// A plugin with reserve, but without unreserve.
#include "berth/loadable/abi.h"

static void* create(const berth_handle* handle, const berth_value* args, berth_text* error) {
  (void)handle, (void)args, (void)error;
  return NULL;
}
static void destroy(void* plugin) { (void)plugin; }
static berth_code reserve(void* plugin, berth_verdict* verdict, berth_state* state,
                          const berth_pod* pod, berth_string node_name) {
  (void)plugin, (void)verdict, (void)state, (void)pod, (void)node_name;
  return BERTH_SUCCESS;
}

const berth_library* berth_plugin_entry(const berth_host* host) {
  static const berth_plugin plugin = {.size = sizeof(plugin),
                                      .name = {"Half", 4},
                                      .create = create,
                                      .destroy = destroy,
                                      .reserve = reserve};
  static const berth_plugin* const plugins[] = {&plugin};
  static const berth_library library = {.size = sizeof(library),
                                        .abi_major = BERTH_ABI_MAJOR,
                                        .abi_minor = BERTH_ABI_MINOR,
                                        .plugins = plugins,
                                        .num_plugins = 1};
  (void)host;
  return &library;
}
