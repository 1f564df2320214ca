// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "berth/cluster_event.h"
#include "berth/time.h"
#include "src/metrics/local_metrics.h"

namespace berth::queue {

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
  // One pod entered `queue`; `moved` is false if it had been there before.
  void Incoming(Queue queue, std::string_view event, bool moved);
  // A plugin rejected one pod more, or fewer.
  void AddUnschedulable(std::string_view plugin, std::string_view profile, int by);
  void AddInFlightEvents(std::string_view event, int by);
  void SetGauges(const QueueCounts& counts);

  enum class Hint { kQueue, kQueueSkip, kError };
  bool times_hints() const { return local_ != nullptr && clock_ != nullptr; }
  Time Now() const { return clock_->Now(); }
  void ObserveHint(std::string_view plugin, std::string_view event, Hint hint, Duration duration);

 private:
  struct EventSeries {
    std::array<metrics::SeriesId, 3> pods;
    std::array<metrics::SeriesId, 3> entities;
  };

  metrics::LocalMetrics* local_ = nullptr;
  const Clock* clock_ = nullptr;
  absl::flat_hash_map<std::string, EventSeries> incoming_;
  absl::flat_hash_map<std::string, metrics::SeriesId> in_flight_;
};

}  // namespace berth::queue
