// SPDX-License-Identifier: Apache-2.0
#include "src/framework/loadable/host_table.h"

namespace berth::framework::loadable {

const berth_host& HostTable() {
  static const berth_host host = [] {
    berth_host table{};
    table.size = sizeof(table);
    table.abi_major = BERTH_ABI_MAJOR;
    table.abi_minor = BERTH_ABI_MINOR;
    FillValues(table);
    FillObjects(table);
    FillNodes(table);
    FillHandle(table);
    FillVolumes(table);
    FillCounts(table);
    FillAsync(table);
    return table;
  }();
  return host;
}

}  // namespace berth::framework::loadable
