// SPDX-License-Identifier: Apache-2.0
#include "plugins/priority_sort/priority_sort.h"

namespace berth::plugins {

Result<std::unique_ptr<Plugin>> PrioritySort::Make(const ConfigValue& args, Handle& handle) {
  (void)args, (void)handle;
  return std::make_unique<PrioritySort>();
}

bool PrioritySort::Less(const QueueSortKey& a, const QueueSortKey& b) const {
  if (a.pod->priority() != b.pod->priority()) return a.pod->priority() > b.pod->priority();
  return a.timestamp < b.timestamp;
}

}  // namespace berth::plugins
