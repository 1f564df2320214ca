// SPDX-License-Identifier: Apache-2.0
#include "plugins/priority_sort/priority_sort.h"

namespace berth::plugins {

bool PrioritySort::Less(const QueueSortKey& a, const QueueSortKey& b) const {
  if (a.pod->priority() != b.pod->priority()) return a.pod->priority() > b.pod->priority();
  return a.timestamp < b.timestamp;
}

}  // namespace berth::plugins
