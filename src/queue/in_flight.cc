// SPDX-License-Identifier: Apache-2.0
#include "src/queue/in_flight.h"

#include <iterator>
#include <utility>

namespace berth::queue {
namespace {

// How kube-scheduler labels a pod's mark in scheduler_inflight_events.
constexpr std::string_view kPodPopped = "PodPopped";

}  // namespace

bool InFlightPods::Add(const PodInfoPtr& pod) {
  const api::ObjectMeta& metadata = pod->pod->metadata;
  const auto [known, added] = pods_.try_emplace(metadata.uid);
  if (!added) return false;
  list_.push_back({{}, {.popped = pod, .newest = pod, .key = metadata.Key()}});
  const Iterator mark = std::prev(list_.end());
  known->second = mark;
  if (const auto [named, is_new] = by_key_.try_emplace(mark->pod.key, mark); !is_new) {
    // The text goes with the pod that had the name before.
    by_key_.erase(named);
    by_key_.emplace(mark->pod.key, mark);
  }
  metrics_.AddInFlightEvents(kPodPopped, 1);
  return true;
}

InFlightPods::Pod* InFlightPods::Find(std::string_view uid) {
  // As it is for most: a pod comes, or its bind is confirmed.
  if (pods_.empty()) return nullptr;
  auto found = pods_.find(uid);
  return found == pods_.end() ? nullptr : &found->second->pod;
}

InFlightPods::Pod* InFlightPods::FindByKey(std::string_view key) {
  auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &found->second->pod;
}

void InFlightPods::Record(RecordedEvent event) {
  if (pods_.empty()) return;
  metrics_.AddInFlightEvents(event.match->label, 1);
  list_.push_back({std::move(event), {}});
}

void InFlightPods::Done(std::string_view uid) {
  auto found = pods_.find(uid);
  if (found == pods_.end()) return;
  const Iterator mark = found->second;
  const auto named = by_key_.find(mark->pod.key);
  if (named != by_key_.end() && named->second == mark) by_key_.erase(named);
  pods_.erase(found);
  list_.erase(mark);
  metrics_.AddInFlightEvents(kPodPopped, -1);
  while (!list_.empty() && list_.front().event.match != nullptr) {
    metrics_.AddInFlightEvents(list_.front().event.match->label, -1);
    list_.pop_front();
  }
}

void InFlightPods::ForEachEventSince(std::string_view uid,
                                     const std::function<bool(const RecordedEvent&)>& visit) const {
  auto found = pods_.find(uid);
  if (found == pods_.end()) return;
  for (auto item = std::next(found->second); item != list_.end(); ++item) {
    if (item->event.match != nullptr && !visit(item->event)) return;
  }
}

}  // namespace berth::queue
