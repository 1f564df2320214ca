// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_declared_features/node_declared_features.h"

#include <algorithm>
#include <span>

#include "berth/matching.h"
#include "plugins/shared/hint_objects.h"

namespace berth::plugins {
namespace {

struct PreFilterState {
  std::vector<std::string_view> required;
};

bool DeclaresAll(const api::Node& node, std::span<const std::string_view> required) {
  const std::vector<std::string>& declared = node.status.declared_features;
  return std::all_of(required.begin(), required.end(), [&](std::string_view feature) {
    return std::find(declared.begin(), declared.end(), feature) != declared.end();
  });
}

Result<QueueingHint> AfterNodeChange(const api::Pod&, const api::ObjectPtr& old_object,
                                     const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::Node>(old_object, new_object);
  if (!change) return Fail(change.error());
  return QueueIf(change->old_object == nullptr || change->old_object->status.declared_features !=
                                                      change->new_object->status.declared_features);
}

Result<QueueingHint> AfterPodUpdate(const api::Pod&, const api::ObjectPtr& old_object,
                                    const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::Pod>(old_object, new_object);
  if (!change) return Fail(change.error());
  if (change->old_object == nullptr) return Fail("the event has no old object");
  return QueueIf(RequiredNodeFeatures(*change->old_object) !=
                 RequiredNodeFeatures(*change->new_object));
}

}  // namespace

PreFilterResult NodeDeclaredFeatures::PreFilter(CycleState& state, const PodInfo& pod,
                                                const Snapshot&) {
  std::vector<std::string_view> required = RequiredNodeFeatures(*pod.pod);
  if (required.empty()) return {.status = Status::Skip()};
  state.Write(PreFilterState{std::move(required)});
  return {};
}

Status NodeDeclaredFeatures::Filter(const CycleState& state, const PodInfo& pod,
                                    const NodeView& node) const {
  const auto data =
      state.ReadOr<PreFilterState>([&] { return PreFilterState{RequiredNodeFeatures(*pod.pod)}; });
  return DeclaresAll(node.node(), data->required) ? Status::Success() : rejection_;
}

std::vector<ClusterEventWithHint> NodeDeclaredFeatures::EventsToRegister() const {
  return {
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeDeclaredFeature}, AfterNodeChange},
      {{EventResource::kTargetPod, action::kUpdate}, AfterPodUpdate},
  };
}

}  // namespace berth::plugins
