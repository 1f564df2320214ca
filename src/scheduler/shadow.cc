// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/shadow.h"

#include <algorithm>

namespace berth::scheduler {
namespace {

bool IsRefused(const api::Pod& pod) {
  return std::any_of(pod.status.conditions.begin(), pod.status.conditions.end(),
                     [](const api::PodCondition& condition) {
                       return condition.type == "PodScheduled" && condition.status == "False" &&
                              condition.reason == "Unschedulable";
                     });
}

}  // namespace

bool ShadowWatch::IsPending(const PodPtr& pod) const {
  return pod->spec.node_name.empty() && profiles_.Find(pod->spec.scheduler_name) != nullptr;
}

void ShadowWatch::Before(const informers::InformerEvent& event, Time now) {
  if (event.kind != informers::Kind::kPod) return;
  const auto* old_pod = std::get_if<PodPtr>(&event.old_object);
  const auto* pod = std::get_if<PodPtr>(&event.new_object);
  if (old_pod != nullptr && pod != nullptr && (*old_pod)->metadata.uid == (*pod)->metadata.uid) {
    Update(*old_pod, *pod, now);
    return;
  }
  // A name that was deleted and created again while no watch ran is two pods.
  if (old_pod != nullptr && IsPending(*old_pod)) listener_.Gone(**old_pod);
  if (pod != nullptr && IsPending(*pod)) {
    listener_.Seen(**pod, now);
    if (IsRefused(**pod)) listener_.Refused(**pod);
  }
}

void ShadowWatch::Update(const PodPtr& old_pod, const PodPtr& pod, Time now) {
  if (!IsPending(old_pod)) return;
  if (!pod->spec.node_name.empty()) {
    listener_.Bound(old_pod, pod->spec.node_name, opinion_, now);
  } else if (!IsRefused(*old_pod) && IsRefused(*pod)) {
    listener_.Refused(*pod);
  }
}

}  // namespace berth::scheduler
