// SPDX-License-Identifier: Apache-2.0
#include "src/queue/queue_metrics.h"

#include <initializer_list>
#include <utility>

#include "src/queue/entry.h"
#include "src/queue/scheduling_queue.h"

namespace berth::queue {
namespace {

using metrics::Metric;
using metrics::SeriesId;

constexpr std::string_view kQueueNames[] = {"active", "backoff", "unschedulable"};
constexpr std::string_view kHintNames[] = {"Queue", "QueueSkip", "Error"};

std::string Join(std::initializer_list<std::string_view> parts) {
  std::string joined;
  for (const std::string_view part : parts) joined.append(part).push_back('\0');
  return joined;
}

// A series shows from the moment it is first counted, so it is looked up only then.
SeriesId& Resolve(SeriesId& series, metrics::LocalMetrics& local, Metric metric,
                  std::initializer_list<std::string_view> labels) {
  if (series == SeriesId{}) series = local.Series(metric, labels);
  return series;
}

}  // namespace

QueueMetrics::QueueMetrics(metrics::LocalMetrics* local, const Clock* clock)
    : local_(local), clock_(clock) {
  if (local_ == nullptr) return;
  SetGauges({});
}

QueueMetrics::EventSeries& QueueMetrics::SeriesOf(std::string_view event) {
  auto found = incoming_.find(event);
  if (found == incoming_.end()) found = incoming_.emplace(event, EventSeries{}).first;
  return found->second;
}

void QueueMetrics::Incoming(Queue queue, std::string_view event, Count count, const Entry& entry) {
  if (!entry.is_group()) {
    IncomingPods(queue, event, count, 1);
    return;
  }
  if (local_ == nullptr) return;
  IncomingPods(queue, event, Count::kPod, entry.size());
  if (count == Count::kPod) return;
  const auto index = static_cast<size_t>(queue);
  local_->Add(Resolve(SeriesOf(event).groups[index], *local_, Metric::kQueueIncomingEntities,
                      {kQueueNames[index], event, "podgroup"}));
}

void QueueMetrics::IncomingPods(Queue queue, std::string_view event, Count count, size_t pods) {
  if (local_ == nullptr) return;
  const auto index = static_cast<size_t>(queue);
  EventSeries& series = SeriesOf(event);
  local_->Add(
      Resolve(series.pods[index], *local_, Metric::kQueueIncomingPods, {kQueueNames[index], event}),
      static_cast<double>(pods));
  if (count == Count::kPod) return;
  local_->Add(Resolve(series.entities[index], *local_, Metric::kQueueIncomingEntities,
                      {kQueueNames[index], event, "pod"}),
              static_cast<double>(pods));
}

void QueueMetrics::AddUnschedulable(std::string_view plugin, std::string_view profile, int by) {
  if (local_ == nullptr) return;
  SeriesId& series = unschedulable_[Join({plugin, profile})];
  local_->Add(Resolve(series, *local_, Metric::kUnschedulablePods, {plugin, profile}), by);
}

void QueueMetrics::AddInFlightEvents(std::string_view event, int by) {
  if (local_ == nullptr) return;
  auto found = in_flight_.find(event);
  if (found == in_flight_.end()) found = in_flight_.emplace(event, SeriesId{}).first;
  local_->Add(Resolve(found->second, *local_, Metric::kInFlightEvents, {event}), by);
}

void QueueMetrics::SetGauges(const QueueCounts& counts) {
  if (local_ == nullptr) return;
  const struct {
    std::string_view queue;
    size_t pods, members, groups;
  } gauges[] = {
      {"active", counts.active, counts.members.active, counts.groups.active},
      {"backoff", counts.backoff, counts.members.backoff, counts.groups.backoff},
      {"unschedulable", counts.unschedulable, counts.members.unschedulable,
       counts.groups.unschedulable},
      {"gated", counts.gated, counts.members.gated, counts.groups.gated},
  };
  for (const auto& gauge : gauges) {
    const auto set = [&](Metric metric, std::initializer_list<std::string_view> labels,
                         size_t value) {
      local_->Set(local_->Series(metric, labels), static_cast<double>(value));
    };
    set(Metric::kPendingPods, {gauge.queue}, gauge.pods);
    set(Metric::kQueuedEntities, {gauge.queue, "pod"}, gauge.pods - gauge.members);
    if (counts.has_groups) set(Metric::kQueuedEntities, {gauge.queue, "podgroup"}, gauge.groups);
  }
  for (const auto& [queue, pods] :
       {std::pair{"incomplete", counts.incomplete}, std::pair{"pending", counts.pending}}) {
    local_->Set(local_->Series(Metric::kPendingPods, {queue}), static_cast<double>(pods));
  }
}

void QueueMetrics::ObserveHint(std::string_view plugin, std::string_view event, Hint hint,
                               Duration duration) {
  if (local_ == nullptr) return;
  const std::string_view verdict = kHintNames[static_cast<size_t>(hint)];
  SeriesId& series = hints_[Join({plugin, event, verdict})];
  local_->Observe(
      Resolve(series, *local_, Metric::kQueueingHintExecutionDuration, {plugin, event, verdict}),
      duration);
}

}  // namespace berth::queue
