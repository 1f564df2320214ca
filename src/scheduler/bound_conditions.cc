// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/bound_conditions.h"

#include <algorithm>
#include <utility>

#include "src/base/logging.h"

namespace berth::scheduler {
namespace {

// What only a scheduler says, and of no pod that it has bound.
bool SaysUnscheduled(const api::PodCondition& condition) {
  return condition.type == "PodScheduled" && condition.status == "False" &&
         (condition.reason == "Unschedulable" || condition.reason == "SchedulerError");
}

}  // namespace

void BoundConditions::Check(const std::shared_ptr<const api::Pod>& pod) {
  if (!leading_) return;
  const auto& conditions = pod->status.conditions;
  if (std::none_of(conditions.begin(), conditions.end(), SaysUnscheduled)) return;
  if (profiles_.Find(pod->spec.scheduler_name) == nullptr) return;
  base::LogV(2, "Bound pod says that it is not scheduled; its condition is put right",
             {{"pod", pod->metadata.Key()}, {"node", pod->spec.node_name}});
  api::PodStatusChange change;
  change.condition.emplace();
  change.condition->type = "PodScheduled";
  change.condition->status = "True";
  change.condition->observed_generation = pod->metadata.generation;
  state_.status_patcher.Patch(pod, std::move(change));
}

void BoundConditions::BeginLeading() {
  if (std::exchange(leading_, true)) return;
  state_.cache.ForEachPod([this](const cache::CachedPod& pod) {
    if (!pod.assumed) Check(pod.info->pod);
  });
}

}  // namespace berth::scheduler
