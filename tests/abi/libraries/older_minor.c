// SPDX-License-Identifier: Apache-2.0
// A library that was built against older headers.
#include "berth/loadable/abi.h"

const berth_library* berth_plugin_entry(const berth_host* host) {
  static const berth_library library = {
      .size = sizeof(library), .abi_major = BERTH_ABI_MAJOR, .abi_minor = 2};
  (void)host;
  return &library;
}
