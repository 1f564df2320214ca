// SPDX-License-Identifier: Apache-2.0
// A plugin that is called like a built-in one.
#include "berth/loadable/abi.h"

static void* create(const berth_handle* handle, const berth_value* args, berth_text* error) {
  (void)handle, (void)args, (void)error;
  return NULL;
}
static void destroy(void* plugin) { (void)plugin; }

const berth_library* berth_plugin_entry(const berth_host* host) {
  static const berth_plugin plugin = {
      .size = sizeof(plugin), .name = {"NodeName", 8}, .create = create, .destroy = destroy};
  static const berth_plugin* const plugins[] = {&plugin};
  static const berth_library library = {.size = sizeof(library),
                                        .abi_major = BERTH_ABI_MAJOR,
                                        .abi_minor = BERTH_ABI_MINOR,
                                        .plugins = plugins,
                                        .num_plugins = 1};
  (void)host;
  return &library;
}
