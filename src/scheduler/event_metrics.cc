// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/event_metrics.h"

#include "src/informers/kinds.h"

namespace berth::scheduler {

using metrics::Metric;

void EventMetrics::Handled(EventResource resource, ActionType action) {
  const auto [it, added] = events_.try_emplace({resource, action});
  if (added) {
    const ClusterEvent event{resource, action};
    it->second = metrics_.Series(Metric::kEventHandlingDuration, {event.Label()});
  }
  metrics_.Observe(it->second, clock_.Now() - started_);
}

void EventMetrics::Finish(informers::Kind kind) {
  const auto [it, added] = kinds_.try_emplace(kind);
  if (added) {
    const informers::KindInfo& info = informers::InfoOf(kind);
    it->second = metrics_.Series(Metric::kInformerProcessingLatency,
                                 {"kube-scheduler", info.group(), info.version(), info.resource});
  }
  metrics_.Observe(it->second, clock_.Now() - started_);
}

void EventMetrics::CountUndecodable(informers::Kind kind) {
  const auto [it, added] = undecodable_.try_emplace(kind);
  if (added) {
    it->second = metrics_.Series(Metric::kUndecodableObjects, {informers::InfoOf(kind).resource});
  }
  metrics_.Add(it->second);
}

}  // namespace berth::scheduler
