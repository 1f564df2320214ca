// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/object.h"
#include "berth/cluster_event.h"
#include "berth/result.h"

namespace berth::plugins {

// The objects of a cluster event, as the kind a queueing hint expects.
template <typename T>
struct Change {
  const T* old_object = nullptr;  // nullptr for an addition
  const T* new_object = nullptr;  // nullptr for a deletion
};

// Errors: an object of another kind, or none at all.
template <typename T>
Result<Change<T>> AsChange(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  const Change<T> change{api::As<T>(old_object), api::As<T>(new_object)};
  const bool old_is_other = old_object.index() != 0 && change.old_object == nullptr;
  const bool new_is_other = new_object.index() != 0 && change.new_object == nullptr;
  if (old_is_other || new_is_other) return Fail("the event's object is of another kind");
  if (change.old_object == nullptr && change.new_object == nullptr) {
    return Fail("the event has no object");
  }
  return change;
}

// The same for events that always show the object's new state.
template <typename T>
Result<Change<T>> AsUpdate(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  auto change = AsChange<T>(old_object, new_object);
  if (change && change->new_object == nullptr) return Fail("the event has no new object");
  return change;
}

inline QueueingHint QueueIf(bool helps) {
  return helps ? QueueingHint::kQueue : QueueingHint::kQueueSkip;
}

// Whether the pod has a node, or a nomination for one: only such a pod's end leaves room.
inline bool IsPlaced(const api::Pod& pod) {
  return !pod.spec.node_name.empty() || !pod.status.nominated_node_name.empty();
}

}  // namespace berth::plugins
