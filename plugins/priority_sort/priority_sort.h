// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/in_tree/points.h"

namespace berth::plugins {

// Orders the queue: the higher priority first, among equals the one that waits longer.
//
// Thread safety: stateless.
class PrioritySort final : public QueueSortPlugin {
 public:
  static constexpr std::string_view kName = "PrioritySort";

  // Filters and scores nothing.
  Inputs DeclaredInputs() const { return Inputs::Of(0, {}); }
  bool Less(const QueueSortKey& a, const QueueSortKey& b) const override {
    if (a.pod->priority() != b.pod->priority()) return a.pod->priority() > b.pod->priority();
    return a.timestamp < b.timestamp;
  }
};

}  // namespace berth::plugins
