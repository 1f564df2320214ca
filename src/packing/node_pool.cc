// SPDX-License-Identifier: Apache-2.0
#include "src/packing/node_pool.h"

#include <string>

namespace berth::packing {

std::string_view NodePoolOf(const api::Node& node) {
  for (const std::string_view label : kNodePoolLabels) {
    if (const std::string* pool = api::Find(node.metadata.labels, label)) return *pool;
  }
  return "";
}

}  // namespace berth::packing
