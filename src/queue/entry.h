// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/queue/queued_pod.h"

namespace berth::queue {

// Which container of the queue holds an entry.
enum class Holder : uint8_t { kNone, kActive, kBackoff, kErrorBackoff, kParked };

// A queued pod with the queue's own books about it.
struct Entry {
  struct Rejector {
    uint32_t plugin = 0;  // HintTable's number
    bool pending = false;
  };

  std::unique_ptr<QueuedPod> pod;
  std::string key;  // namespace/name
  Holder holder = Holder::kNone;
  // Counts up with each entry into activeQ, a backoffQ or the parked pods: breaks ties, gives
  // order.
  uint64_t sequence = 0;
  size_t heap_index = 0;
  uint32_t profile = 0;
  // The rejectors that registered for some event; from the pod's two plugin lists.
  std::vector<Rejector> rejectors;
  uint32_t gating_plugin = 0;
  bool counted_as_gated = false;

  bool rejected() const {
    return !pod->unschedulable_plugins.empty() || !pod->pending_plugins.empty();
  }
};

}  // namespace berth::queue
