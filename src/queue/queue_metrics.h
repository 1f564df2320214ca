// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "berth/cluster_event.h"
#include "berth/time.h"
#include "src/base/string_map.h"
#include "src/metrics/local_metrics.h"

namespace berth::queue {

struct Entry;
struct QueueCounts;

// The queue's metrics, with their series looked up once.
//
// Thread safety: belongs to the scheduling thread.
class QueueMetrics {
 public:
  // Counts nothing.
  QueueMetrics() = default;
  // `clock` times the queueing hints; nullptr leaves that out. Both must outlive this.
  explicit QueueMetrics(metrics::LocalMetrics* local, const Clock* clock = nullptr);

  enum class Queue { kActive, kBackoff, kUnschedulable };
  // Whether queue_incoming_entities_total counts a pod that enters a queue, too.
  enum class Count { kPod, kPodAndEntity };
  // A pod, or a pod group with all its pods, entered `queue`.
  void Incoming(Queue queue, std::string_view event, Count count, const Entry& entry);
  // So many pods did, none of a pod group.
  void IncomingPods(Queue queue, std::string_view event, Count count, size_t pods);
  // A plugin rejected one pod more, or fewer.
  void AddUnschedulable(std::string_view plugin, std::string_view profile, int by);
  void AddInFlightEvents(std::string_view event, int by);
  void SetGauges(const QueueCounts& counts);

  enum class Hint { kQueue, kQueueSkip, kError };
  bool times_hints() const { return local_ != nullptr && clock_ != nullptr; }
  Time Now() const { return clock_->Now(); }
  void ObserveHint(std::string_view plugin, std::string_view event, Hint hint, Duration duration);

 private:
  using PerQueue = std::array<metrics::SeriesId, 3>;
  struct EventSeries {
    PerQueue pods;
    PerQueue entities;
    PerQueue groups;
  };
  EventSeries& SeriesOf(std::string_view event);

  metrics::LocalMetrics* local_ = nullptr;
  const Clock* clock_ = nullptr;
  base::StringMap<EventSeries> incoming_;
  base::StringMap<metrics::SeriesId> in_flight_;
  // By plugin and profile, and by plugin, event and verdict; joined by '\0'.
  base::StringMap<metrics::SeriesId> unschedulable_;
  base::StringMap<metrics::SeriesId> hints_;
};

}  // namespace berth::queue
