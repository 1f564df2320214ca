// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/object_waits.h"

#include "src/scheduler/watched_events.h"

namespace berth::scheduler {
namespace {

// The claim that the object, a volume, is bound to: "namespace/name", or "".
std::string ClaimOf(const api::ObjectPtr& object) {
  const auto* volume = api::As<api::PersistentVolume>(object);
  if (volume == nullptr || !volume->spec.claim_ref) return "";
  return api::NamespacedKey(volume->spec.claim_ref->namespace_, volume->spec.claim_ref->name);
}

}  // namespace

std::optional<ObjectWaits::Id> ObjectWaits::Add(ObjectWait wait, AsyncDone done, Time now) {
  if (auto verdict = wait.check()) {
    done(*std::move(verdict));
    return std::nullopt;
  }
  const Id id = ++last_id_;
  const Time deadline = now + wait.timeout;
  for (const ObjectKey& object : wait.objects) by_object_[{object.kind, object.key}].insert(id);
  by_deadline_.emplace(deadline, id);
  waits_.emplace(id, Waiting{std::move(wait), std::move(done), deadline});
  return id;
}

void ObjectWaits::Cancel(Id id) {
  const auto it = waits_.find(id);
  if (it != waits_.end()) End(it, it->second.wait.cancelled);
}

void ObjectWaits::Notify(const informers::InformerEvent& event) {
  if (waits_.empty()) return;
  const auto resource =
      event.kind == informers::Kind::kPod ? EventResource::kPod : EventResourceOf(event.kind);
  if (!resource) return;
  const bool gone = std::holds_alternative<std::monostate>(event.new_object);
  const api::ObjectMeta* meta = api::MetaOf(gone ? event.old_object : event.new_object);
  Ask({*resource, meta == nullptr ? "" : meta->Key()});
  if (*resource != EventResource::kPersistentVolume) return;
  const std::string before = ClaimOf(event.old_object);
  const std::string now = ClaimOf(event.new_object);
  if (!before.empty()) Ask({EventResource::kPersistentVolumeClaim, before});
  if (!now.empty() && now != before) Ask({EventResource::kPersistentVolumeClaim, now});
}

// A verdict ends a wait, and its receiver may add another.
void ObjectWaits::Ask(const Key& key) {
  const auto known = by_object_.find(key);
  if (known == by_object_.end()) return;
  const std::vector<Id> ids(known->second.begin(), known->second.end());
  for (const Id id : ids) {
    const auto it = waits_.find(id);
    if (it == waits_.end()) continue;
    if (auto verdict = it->second.wait.check()) End(it, *std::move(verdict));
  }
}

void ObjectWaits::Expire(Time now) {
  while (!by_deadline_.empty() && by_deadline_.begin()->first <= now) {
    const auto it = waits_.find(by_deadline_.begin()->second);
    End(it, it->second.wait.timed_out);
  }
}

std::optional<Time> ObjectWaits::NextExpiry() const {
  if (by_deadline_.empty()) return std::nullopt;
  return by_deadline_.begin()->first;
}

void ObjectWaits::End(Waits::iterator it, AsyncStatus verdict) {
  const Id id = it->first;
  const Waiting ended = std::move(it->second);
  waits_.erase(it);
  by_deadline_.erase({ended.deadline, id});
  for (const ObjectKey& object : ended.wait.objects) {
    const auto known = by_object_.find({object.kind, object.key});
    if (known == by_object_.end()) continue;  // named twice
    known->second.erase(id);
    if (known->second.empty()) by_object_.erase(known);
  }
  ended.done(std::move(verdict));
}

}  // namespace berth::scheduler
