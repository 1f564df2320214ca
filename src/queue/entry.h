// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "berth/in_tree/pod_groups.h"
#include "src/queue/queued_pod.h"

namespace berth::queue {

// Which container of the queue holds an entry.
enum class Holder : uint8_t { kNone, kActive, kBackoff, kErrorBackoff, kParked };

// A queued pod, or pod group, with the queue's own books about it. A member of a group is in no
// holder of its own.
struct Entry {
  struct Rejector {
    uint32_t plugin = 0;  // HintTable's number
    bool pending = false;

    friend bool operator==(const Rejector&, const Rejector&) = default;
  };

  std::unique_ptr<QueuedPod> pod;
  std::string key;  // namespace/name; of a group by EntryKey()
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
  bool gate_moved = false;  // its gating plugin may let it in, and was not asked since
  // While it waited at its gate an event came that would have let it out: it is not to wait for
  // another one. ParkedPods::Wanted() knows of later ones, too.
  bool wanted = false;
  uint64_t wanted_before = 0;  // ParkedGroup::wanted counts from here
  // Of a group; never empty there. It is a root: pods of groups below it are its members.
  std::vector<std::unique_ptr<Entry>> members;
  AnyPodGroup object;
  // Of a member: the group that it is queued with. nullptr: it waits for that group.
  Entry* group = nullptr;

  bool is_group() const { return static_cast<bool>(object); }
  size_t size() const { return is_group() ? members.size() : 1; }

  bool rejected() const {
    return !pod->unschedulable_plugins.empty() || !pod->pending_plugins.empty();
  }
};

// What the entry of a group is found by.
inline std::string EntryKey(const AnyPodGroup& group) {
  return (group.composite ? "compositepodgroup/" : "podgroup/") + group.metadata().Key();
}

}  // namespace berth::queue
