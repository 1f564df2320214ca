// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>

#include "berth/cluster_event.h"
#include "berth/time.h"
#include "src/informers/informer_event.h"
#include "src/metrics/local_metrics.h"

namespace berth::scheduler {

// How long the event handlers take, by cluster event and by kind, and what could not be decoded.
//
// Thread safety: the scheduling thread.
class EventMetrics {
 public:
  // Both must outlive this.
  EventMetrics(metrics::LocalMetrics& metrics, const Clock& clock)
      : metrics_(metrics), clock_(clock) {}

  // An object's change is about to be handled.
  void Start() { started_ = clock_.Now(); }
  // The change has been handled as that event. There may be several, or none.
  void Handled(EventResource resource, ActionType action);
  // It is over.
  void Finish(informers::Kind kind);
  void CountUndecodable(informers::Kind kind);

 private:
  metrics::LocalMetrics& metrics_;
  const Clock& clock_;
  Time started_;
  std::map<std::pair<EventResource, ActionType>, metrics::SeriesId> events_;
  std::map<informers::Kind, metrics::SeriesId> kinds_;
  std::map<informers::Kind, metrics::SeriesId> undecodable_;
};

}  // namespace berth::scheduler
