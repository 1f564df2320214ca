// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/queueing_hints.h"

#include <algorithm>

#include "plugins/shared/hint_objects.h"

namespace berth::plugins {
namespace {

bool AnySelects(const SpreadConstraints& constraints, const api::Pod& pod) {
  return std::ranges::any_of(constraints, [&](const SpreadConstraint& constraint) {
    return constraint.selector.Matches(pod.metadata.labels);
  });
}

bool SelectionChanged(const SpreadConstraints& constraints, const api::Pod& before,
                      const api::Pod& after) {
  if (before.metadata.labels == after.metadata.labels) return false;
  return std::ranges::any_of(constraints, [&](const SpreadConstraint& constraint) {
    return constraint.selector.Matches(before.metadata.labels) !=
           constraint.selector.Matches(after.metadata.labels);
  });
}

// A value that is not there reads as "".
bool AnyValueChanged(const SpreadConstraints& constraints, const api::Node& before,
                     const api::Node& after) {
  const auto value = [](const api::Node& node, const std::string& key) -> std::string_view {
    const std::string* found = api::Find(node.metadata.labels, key);
    return found == nullptr ? std::string_view() : *found;
  };
  return std::ranges::any_of(constraints, [&](const SpreadConstraint& constraint) {
    return value(before, constraint.topology_key) != value(after, constraint.topology_key);
  });
}

// Whether the pod may stand where the constraints of `pod` count it.
bool MayCount(const api::Pod& other, const api::Pod& pod) {
  return IsPlaced(other) && other.metadata.namespace_ == pod.metadata.namespace_;
}

Result<QueueingHint> AfterAssignedPodChange(const ConstraintSource& source, const api::Pod& pod,
                                            const api::ObjectPtr& old_object,
                                            const api::ObjectPtr& new_object) {
  const auto change = AsChange<api::Pod>(old_object, new_object);
  if (!change) return Fail(change.error());
  const api::Pod* before = change->old_object;
  const api::Pod* after = change->new_object;
  for (const api::Pod* other : {before, after}) {
    if (other != nullptr && !MayCount(*other, pod)) return QueueingHint::kQueueSkip;
  }
  const auto constraints = source.Hard(pod);
  if (!constraints) return Fail(constraints.error());
  if (before != nullptr && after != nullptr) {
    return QueueIf(SelectionChanged(*constraints, *before, *after));
  }
  return QueueIf(AnySelects(*constraints, after != nullptr ? *after : *before));
}

Result<QueueingHint> AfterTargetPodChange(const ConstraintSource& source, const api::Pod& pod,
                                          const api::ObjectPtr& old_object,
                                          const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::Pod>(old_object, new_object);
  if (!change) return Fail(change.error());
  if (change->old_object == nullptr) return Fail("the event has no old object");
  const auto constraints = source.Hard(pod);
  if (!constraints) return Fail(constraints.error());
  const bool honors_taints =
      std::ranges::any_of(*constraints, &SpreadConstraint::honors_node_taints);
  const api::Pod& before = *change->old_object;
  const api::Pod& after = *change->new_object;
  if (honors_taints && before.spec.tolerations != after.spec.tolerations) {
    return QueueingHint::kQueue;
  }
  return QueueIf(SelectionChanged(*constraints, before, after));
}

Result<QueueingHint> AfterNodeChange(const ConstraintSource& source, const api::Pod& pod,
                                     const api::ObjectPtr& old_object,
                                     const api::ObjectPtr& new_object) {
  const auto change = AsChange<api::Node>(old_object, new_object);
  if (!change) return Fail(change.error());
  const auto constraints = source.Hard(pod);
  if (!constraints) return Fail(constraints.error());
  const api::Node* before = change->old_object;
  const api::Node* after = change->new_object;
  const auto counts = [&](const api::Node* node) {
    return node != nullptr && HasAllKeys(node->metadata.labels, *constraints);
  };
  if (before == nullptr || after == nullptr) return QueueIf(counts(before) || counts(after));
  if (counts(before) != counts(after)) return QueueingHint::kQueue;
  return QueueIf(counts(after) && (AnyValueChanged(*constraints, *before, *after) ||
                                   before->spec.taints != after->spec.taints));
}

}  // namespace

std::vector<ClusterEventWithHint> SpreadEvents(const ConstraintSource& source) {
  const auto with_source = [&source](auto hint) {
    return [&source, hint](const api::Pod& pod, const api::ObjectPtr& old_object,
                           const api::ObjectPtr& new_object) {
      return hint(source, pod, old_object, new_object);
    };
  };
  return {
      {{EventResource::kAssignedPod, action::kAdd | action::kUpdatePodLabel | action::kDelete},
       with_source(AfterAssignedPodChange)},
      {{EventResource::kTargetPod, action::kUpdatePodToleration | action::kUpdatePodLabel},
       with_source(AfterTargetPodChange)},
      {{EventResource::kNode,
        action::kAdd | action::kDelete | action::kUpdateNodeLabel | action::kUpdateNodeTaint},
       with_source(AfterNodeChange)},
  };
}

}  // namespace berth::plugins
