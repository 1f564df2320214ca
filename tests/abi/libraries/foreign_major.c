// SPDX-License-Identifier: Apache-2.0
// A library of another major version, of which only the first three members can be read.
#include "berth/loadable/abi.h"

struct foreign_library {
  size_t size;
  uint32_t abi_major;
  uint32_t abi_minor;
};

const berth_library* berth_plugin_entry(const berth_host* host) {
  static const struct foreign_library library = {sizeof(library), BERTH_ABI_MAJOR + 1, 3};
  (void)host;
  return (const berth_library*)(const void*)&library;
}
