// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <list>
#include <string>
#include <string_view>

#include "berth/pod_info.h"
#include "src/base/string_map.h"
#include "src/queue/hint_table.h"
#include "src/queue/queue_metrics.h"

namespace berth::queue {

// An event that arrived while some pod was in flight.
struct RecordedEvent {
  const EventMatch* match = nullptr;
  api::ObjectPtr old_object;
  api::ObjectPtr new_object;
};

// The pods that were popped and are not done, and the events since.
//
// One list holds both in the order of arrival: a pod needs the events behind its own mark. Events
// at the head, before the first mark, are dropped.
//
// Thread safety: belongs to the scheduling thread.
class InFlightPods {
 public:
  struct Pod {
    PodInfoPtr popped;
    PodInfoPtr newest;
    std::string key = {};  // of `popped`
    bool deleted = false;
  };

  // `metrics` must outlive this.
  explicit InFlightPods(QueueMetrics& metrics) : metrics_(metrics) {}

  size_t size() const { return pods_.size(); }
  // Events and marks.
  size_t recorded() const { return list_.size(); }

  // False: the pod is in flight already, and stays as it is.
  bool Add(const PodInfoPtr& pod);
  // nullptr when it is not in flight; by "namespace/name", the one popped last.
  Pod* Find(std::string_view uid);
  const Pod* Find(std::string_view uid) const { return const_cast<InFlightPods*>(this)->Find(uid); }
  Pod* FindByKey(std::string_view key);
  // Does nothing without pods in flight.
  void Record(RecordedEvent event);
  void Done(std::string_view uid);
  // Calls `visit` for each event since the pod was popped, until it returns false.
  void ForEachEventSince(std::string_view uid,
                         const std::function<bool(const RecordedEvent&)>& visit) const;

 private:
  struct Item {
    RecordedEvent event;  // a pod's mark has none
    Pod pod;
  };
  using Iterator = std::list<Item>::iterator;
  // The marks by a text that the mark holds.
  using Marks = absl::flat_hash_map<std::string_view, Iterator, base::StringHash>;

  QueueMetrics& metrics_;
  std::list<Item> list_;
  Marks pods_;    // by UID
  Marks by_key_;  // by "namespace/name"
};

}  // namespace berth::queue
