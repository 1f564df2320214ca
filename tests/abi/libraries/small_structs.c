// SPDX-License-Identifier: Apache-2.0
// A plugin whose struct is smaller than in the first version.
#include "berth/loadable/abi.h"

const berth_library* berth_plugin_entry(const berth_host* host) {
  static const berth_plugin plugin = {.size = 24, .name = {"Small", 5}};
  static const berth_plugin* const plugins[] = {&plugin};
  static const berth_library library = {.size = sizeof(library),
                                        .abi_major = BERTH_ABI_MAJOR,
                                        .abi_minor = BERTH_ABI_MINOR,
                                        .plugins = plugins,
                                        .num_plugins = 1};
  (void)host;
  return &library;
}
