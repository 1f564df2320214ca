// SPDX-License-Identifier: Apache-2.0
// A library that finds no host to its taste.
#include "berth/loadable/abi.h"

const berth_library* berth_plugin_entry(const berth_host* host) {
  (void)host;
  return NULL;
}
