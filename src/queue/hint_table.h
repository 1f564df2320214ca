// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/cluster_event.h"
#include "src/base/string_map.h"
#include "src/queue/entry.h"
#include "src/queue/queue_metrics.h"
#include "src/queue/queued_pod.h"

namespace berth::queue {

// Where a parked pod should go. Higher values win over lower ones.
enum class QueueingStrategy : uint8_t { kSkip, kAfterBackoff, kImmediately };

// One kind of event, and who registered for it.
struct EventMatch {
  struct Hint {
    uint32_t plugin = 0;
    const QueueingHintFn* call = nullptr;  // may hold nullptr: always kQueue
  };

  ClusterEvent event;
  std::string label;
  bool wildcard = false;
  // Whether any plugin of any profile registered for it; wildcard events interest all.
  bool of_interest = false;
  std::vector<std::vector<Hint>> by_profile;  // in the order of registration
  // By plugin: whether it registered for the event in any profile.
  std::vector<bool> plugins;
};

// What plugins registered for, with profiles and plugins numbered from 0, and the decision whether
// an event is worth another attempt.
//
// Thread safety: belongs to the scheduling thread.
class HintTable {
 public:
  static constexpr uint32_t kUnknown = UINT32_MAX;

  explicit HintTable(std::vector<ProfileHints> profiles);
  // Numbers profiles and plugins again. What Match() returned stays valid, with the new numbers;
  // entries need a Refresh().
  void Replace(std::vector<ProfileHints> profiles);

  size_t profile_count() const { return profiles_.size(); }
  size_t plugin_count() const { return plugin_names_.size(); }
  // kUnknown for a name without a registration.
  uint32_t ProfileNumber(std::string_view scheduler_name) const;
  uint32_t PluginNumber(std::string_view plugin) const;
  // Whether what the plugin's hints say to a pod depends on the pod's class alone.
  bool ByClass(uint32_t plugin) const { return by_class_[plugin]; }
  // Whether the plugin tells of the pods that it may hold back no more.
  bool TellsOfGates(uint32_t plugin) const { return plugin != kUnknown && tells_of_gates_[plugin]; }

  // Valid as long as the table.
  const EventMatch& Match(const ClusterEvent& event);

  // Copies the pod's rejectors and gating plugin into the entry as numbers; a group has those of
  // its members.
  void Refresh(Entry& entry) const;
  // The same for an entry whose profile is known.
  void RefreshRejectors(Entry& entry) const;

  // Asks the hints of the plugins that rejected the pod. A Pending plugin's yes means at once; the
  // yes of another one, or a failing hint, after the backoff. Of a group's members the best answer
  // counts.
  QueueingStrategy Evaluate(const Entry& entry, const EventMatch& match,
                            const api::ObjectPtr& old_object, const api::ObjectPtr& new_object,
                            QueueMetrics& metrics) const;

 private:
  void Number();
  bool Alike(const Entry& a, const Entry& b) const;
  QueueingStrategy EvaluatePod(const Entry& entry, const EventMatch& match,
                               const api::ObjectPtr& old_object, const api::ObjectPtr& new_object,
                               QueueMetrics& metrics) const;
  // Finds who registered for the match's event.
  void Fill(EventMatch& match) const;
  bool Ask(const Entry& entry, const EventMatch& match, const EventMatch::Hint& hint,
           const api::ObjectPtr& old_object, const api::ObjectPtr& new_object,
           QueueMetrics& metrics) const;

  std::vector<ProfileHints> profiles_;
  std::vector<std::string> plugin_names_;
  std::vector<bool> by_class_;
  std::vector<bool> tells_of_gates_;
  base::StringMap<uint32_t> profile_numbers_;
  base::StringMap<uint32_t> plugin_numbers_;
  std::vector<std::unique_ptr<EventMatch>> matches_;  // few dozens of kinds at most
};

}  // namespace berth::queue
