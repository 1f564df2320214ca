// SPDX-License-Identifier: Apache-2.0
// A plugin that asks for more kinds than a library may.
#include "berth/loadable/abi.h"

static void* create(const berth_handle* handle, const berth_value* args, berth_text* error) {
  (void)handle, (void)args, (void)error;
  return NULL;
}
static void destroy(void* plugin) { (void)plugin; }

const berth_library* berth_plugin_entry(const berth_host* host) {
  static const berth_own_kind kind = {.size = sizeof(kind),
                                      .group = {"example.com", 11},
                                      .version = {"v1", 2},
                                      .resource = {"widgets", 7},
                                      .kind = {"Widget", 6}};
  static const berth_own_kind* const kinds[BERTH_MOST_OWN_KINDS + 1] = {&kind};
  static const berth_plugin plugin = {.size = sizeof(plugin),
                                      .name = {"Greedy", 6},
                                      .create = create,
                                      .destroy = destroy,
                                      .own_kinds = kinds,
                                      .num_own_kinds = BERTH_MOST_OWN_KINDS + 1};
  static const berth_plugin* const plugins[] = {&plugin};
  static const berth_library library = {.size = sizeof(library),
                                        .abi_major = BERTH_ABI_MAJOR,
                                        .abi_minor = BERTH_ABI_MINOR,
                                        .plugins = plugins,
                                        .num_plugins = 1};
  (void)host;
  return &library;
}
