// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "src/queue/queue_state.h"

// How a QueueState asks whether parked pods are still held back.
namespace berth::queue {

// Of a group it asks about the member that gates it, and about those that came since: the others
// are asked once that one is let in.
bool QueueState::StillGated(Entry* entry) {
  if (!entry->counted_as_gated || pre_enqueue_ == nullptr) return false;
  const std::string& gating_plugin = entry->pod->gating_plugin;
  const QueuedPod* pod = entry->is_group() ? nullptr : entry->pod.get();
  bool changed = false;
  for (const auto& member : entry->members) {
    const QueuedPod& queued = *member->pod;
    if (queued.gating_plugin == gating_plugin) {
      if (pod == nullptr) pod = &queued;
    } else if (!member->rejected()) {
      changed = true;
    }
  }
  if (pod == nullptr || pre_enqueue_(*pod->info, gating_plugin).gating_plugin != gating_plugin) {
    return false;
  }
  if (changed) {
    ChangeMembers(entry, [&] {
      for (const auto& member : entry->members) {
        if (!member->pod->gated() && !member->rejected()) RunPreEnqueueOfPod(member.get());
      }
    });
  }
  return true;
}

void QueueState::SetNotFlushed(Entry* entry) {
  entry->pod->was_flushed_from_unschedulable = false;
  for (const auto& member : entry->members) member->pod->was_flushed_from_unschedulable = false;
}

bool QueueState::OnlyMovedWake(const ParkedGroup& group) const {
  const Entry& entry = group.any();
  // Without the gate for it, a pod that backs off is not asked whether it is let in.
  return options_.pop_from_backoff_q && take_moved_gates_ != nullptr && entry.counted_as_gated &&
         !entry.is_group() && hints_.TellsOfGates(entry.gating_plugin);
}

void QueueState::NoteMovedGates() {
  if (!take_moved_gates_) return;
  moved_gates_.clear();
  take_moved_gates_(moved_gates_);
  for (const std::string& key : moved_gates_) {
    Entry* const entry = Find(key);
    if (entry != nullptr && entry->holder == Holder::kParked && entry->counted_as_gated) {
      parked_.SetGateMoved(entry, true);
    }
  }
}

void QueueState::CountStillGated(size_t pods, std::string_view event) {
  if (pods == 0) return;
  metrics_.IncomingPods(QueueMetrics::Queue::kUnschedulable, event,
                        QueueMetrics::Count::kPodAndEntity, pods);
}

}  // namespace berth::queue
