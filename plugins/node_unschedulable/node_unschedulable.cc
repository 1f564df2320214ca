// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_unschedulable/node_unschedulable.h"

#include "berth/matching.h"
#include "plugins/shared/hint_objects.h"

namespace berth::plugins {
namespace {

Result<QueueingHint> AfterNodeChange(const api::ObjectPtr& old_object,
                                     const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::Node>(old_object, new_object);
  if (!change) return Fail(change.error());
  const bool was_closed = change->old_object == nullptr || change->old_object->spec.unschedulable;
  return QueueIf(was_closed && !change->new_object->spec.unschedulable);
}

}  // namespace

NodeUnschedulable::NodeUnschedulable(Handle& handle)
    : rejection_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable, kReason)),
      comparison_operators_(handle.features().taint_toleration_comparison_operators) {}

bool NodeUnschedulable::ToleratesUnschedulable(const api::Pod& pod) const {
  static const api::Taint kTaint{"node.kubernetes.io/unschedulable", "",
                                 std::string(api::kTaintEffectNoSchedule)};
  return Tolerates(pod.spec.tolerations, kTaint, comparison_operators_);
}

Status NodeUnschedulable::Filter(const CycleState&, const PodInfo& pod,
                                 const NodeView& node) const {
  if (!node.node().spec.unschedulable || ToleratesUnschedulable(*pod.pod)) return Status::Success();
  return rejection_;
}

Status NodeUnschedulable::FilterNodes(const CycleState&, const PodInfo& pod,
                                      const Snapshot& snapshot, NodeSet& nodes) const {
  if (!ToleratesUnschedulable(*pod.pod)) nodes -= snapshot.unschedulable_nodes();
  return {};
}

std::vector<ClusterEventWithHint> NodeUnschedulable::EventsToRegister() const {
  return {
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeTaint},
       [](const api::Pod&, const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
         return AfterNodeChange(old_object, new_object);
       }},
      {{EventResource::kTargetPod, action::kUpdatePodToleration},
       [this](const api::Pod&, const api::ObjectPtr& old_object,
              const api::ObjectPtr& new_object) -> Result<QueueingHint> {
         const auto change = AsUpdate<api::Pod>(old_object, new_object);
         if (!change) return Fail(change.error());
         return QueueIf(ToleratesUnschedulable(*change->new_object));
       }},
  };
}

}  // namespace berth::plugins
