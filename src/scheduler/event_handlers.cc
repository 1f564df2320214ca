// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/event_handlers.h"

#include <algorithm>

#include "src/base/logging.h"
#include "src/informers/kinds.h"
#include "src/scheduler/counted_objects.h"
#include "src/scheduler/failure_handler.h"
#include "src/scheduler/watched_events.h"

namespace berth::scheduler {
namespace {

bool Assigned(const api::Pod& pod) { return !pod.spec.node_name.empty(); }

// None where the object is no group.
AnyPodGroup PodGroupOf(const api::ObjectPtr& object) {
  if (const auto* group = std::get_if<std::shared_ptr<const api::PodGroup>>(&object)) {
    return {.pod_group = *group};
  }
  if (const auto* group = std::get_if<std::shared_ptr<const api::CompositePodGroup>>(&object)) {
    return {.composite = *group};
  }
  return {};
}

// In kube-scheduler's words.
void LogEvent(int verbosity, std::string_view message, const api::Pod& pod) {
  if (base::LogVerbosity() >= verbosity) {
    base::LogV(verbosity, message, {{"pod", pod.metadata.Key()}});
  }
}

// What only a scheduler says, and of no pod that it has bound.
bool SaysUnscheduled(const api::PodCondition& condition) {
  return condition.type == "PodScheduled" && condition.status == "False" &&
         (condition.reason == "Unschedulable" || condition.reason == "SchedulerError");
}

// As kube-scheduler 1.37 has it in this label: the kind in small letters and an s, "storageclasss".
std::string InformerResource(std::string_view plural) {
  std::string resource(plural);
  if (plural.ends_with("sses")) return resource.replace(plural.size() - 2, 2, "s");
  if (plural.ends_with("ies")) return resource.replace(plural.size() - 3, 3, "ys");
  return resource;
}

}  // namespace

EventHandlers::EventHandlers(SchedulerState& state, queue::SchedulingQueue& queue,
                             const Profiles& profiles)
    : state_(state),
      queue_(queue),
      profiles_(profiles),
      metrics_(state.metrics, state.clock),
      bound_conditions_(state, profiles) {
  for (const informers::Kind kind : informers::WatchedKinds(state.features)) {
    unsynced_.insert(kind);
    metrics_.LatencyOf(kind);
  }
}

void EventHandlers::Handle(const informers::InformerEvent& event, Time now) {
  if (event.type == informers::EventType::kUndecodable) {
    HandleUndecodable(event, now);
    return;
  }
  if (event.type == informers::EventType::kSynced) {
    unsynced_.erase(event.kind);
    return;
  }
  if (const api::ObjectMeta* meta = api::MetaOf(event.new_object);
      meta != nullptr && meta->damage) {
    metrics_.CountUndecodable(event.kind);
  }
  metrics_.Start();
  if (event.kind == informers::Kind::kPod) {
    HandlePod(event, now);
  } else if (event.kind == informers::Kind::kNode) {
    HandleNode(event, now);
  } else if (event.kind == informers::Kind::kCoschedulingPodGroup) {
    HandleOtherObject(Counted(event, state_.features), now);
  } else {
    HandleOtherObject(event, now);
  }
  state_.object_waits.Notify(event);
  metrics_.Finish(event.kind);
}

void EventHandlers::HandlePod(const informers::InformerEvent& event, Time now) {
  const auto* old_pod = std::get_if<PodPtr>(&event.old_object);
  const auto* new_pod = std::get_if<PodPtr>(&event.new_object);
  const PodPtr* known = new_pod != nullptr ? new_pod : old_pod;
  TellOfPod(event, now);
  if (new_pod != nullptr && Assigned(**new_pod)) bound_conditions_.Check(*new_pod);
  // Only now does the cache know what the pod takes.
  if (!unread_pods_.empty()) {
    OpenNode(known != nullptr ? (*known)->metadata.Key() : event.undecodable->key, now);
  }
}

void EventHandlers::TellOfPod(const informers::InformerEvent& event, Time now) {
  using informers::EventType;
  const auto* old_pod = std::get_if<PodPtr>(&event.old_object);
  const auto* new_pod = std::get_if<PodPtr>(&event.new_object);
  // An object that could never be read was never seen by any part: its end is no news either.
  if (old_pod == nullptr && new_pod == nullptr) return;
  switch (event.type) {
    case EventType::kAdded:
      AddPod(Counted(*new_pod, state_.features, profiles_), now);
      break;
    case EventType::kUpdated:
      // A name that was deleted and created again while no watch ran is two pods. One that has lost
      // its node is to be bound again: a restore took the API server back to before its bind.
      if ((*old_pod)->metadata.uid != (*new_pod)->metadata.uid ||
          (Assigned(**old_pod) && !Assigned(**new_pod))) {
        DeletePod(Counted(*old_pod, state_.features, profiles_), now);
        AddPod(Counted(*new_pod, state_.features, profiles_), now);
      } else {
        UpdatePod(Counted(*old_pod, state_.features, profiles_),
                  Counted(*new_pod, state_.features, profiles_), now);
      }
      break;
    case EventType::kDeleted:
      DeletePod(Counted(*old_pod, state_.features, profiles_), now);
      break;
    case EventType::kSynced:
    case EventType::kUndecodable:
      break;
  }
}

void EventHandlers::AddPod(const PodPtr& pod, Time now) {
  if (Assigned(*pod)) {
    LogEvent(3, "Add event for scheduled pod", *pod);
    const PodInfoPtr info = state_.cluster.cache.MakePodInfo(pod);
    if (AwaitsResize(*info)) QueueResize(info, now);
    AddToCache(info);
    NotePlaced(pod);
    Move(EventResource::kAssignedPod, action::kAdd, {}, pod, now);
    metrics_.Handled(EventResource::kAssignedPod, action::kAdd);
  } else if (IsOurs(pod->spec.scheduler_name)) {
    LogEvent(3, "Add event for unscheduled pod", *pod);
    const PodInfoPtr info = state_.cluster.cache.MakePodInfo(pod);
    state_.cluster.pods.Set(info);
    state_.cluster.pod_groups.SetPending(pod);
    queue_.Add(WithPlaceHeldFor(info), now);
    if (state_.features.pod_groups()) {
      Move(EventResource::kUnscheduledPod, action::kAdd, {}, pod, now);
    }
    metrics_.Handled(EventResource::kUnscheduledPod, action::kAdd);
  }
}

// The pod, nominated for the node where room is held for it; where none is, as it is. The API
// server need not know: the pod is tried at once.
PodInfoPtr EventHandlers::WithPlaceHeldFor(const PodInfoPtr& info) {
  std::string node_name = state_.held_places.Take(*info->pod);
  if (node_name.empty()) return info;
  auto nominated = std::make_shared<api::Pod>(*info->pod);
  nominated->status.nominated_node_name = std::move(node_name);
  return state_.cluster.cache.MakePodInfo(std::move(nominated));
}

void EventHandlers::UpdatePod(const PodPtr& old_pod, const PodPtr& pod, Time now) {
  const bool pod_level_status = state_.features.in_place_pod_level_resources_vertical_scaling;
  if (Assigned(*old_pod)) {
    LogEvent(4, "Update event for scheduled pod", *pod);
    const PodInfoPtr info = state_.cluster.cache.MakePodInfo(pod);
    UpdateResize(old_pod, info, now);
    AddToCache(info);
    for (const ClusterEvent& event :
         PodUpdateEvents(EventResource::kAssignedPod, *old_pod, *pod, pod_level_status)) {
      Move(event.resource, event.action, old_pod, pod, now);
      metrics_.Handled(event.resource, event.action);
    }
    metrics_.Handled(EventResource::kAssignedPod, action::kUpdate);
    return;
  }
  if (Assigned(*pod)) {
    LogEvent(3, "Add event for scheduled pod", *pod);
    const PodInfoPtr info = state_.cluster.cache.MakePodInfo(pod);
    const PodPtr elsewhere = AssumedElsewhere(*pod);
    AddToCache(info);
    NotePlaced(pod);
    // Also one whose profile has gone since it was decided.
    if (state_.cluster.pods.Erase(*pod)) {
      LogEvent(3, "Delete event for unscheduled pod", *pod);
      queue_.Delete(*pod, now);
      state_.cluster.pod_groups.RemovePending(*pod);
      state_.writers.status_patcher.Forget(pod->metadata.uid);
      metrics_.Handled(EventResource::kUnscheduledPod, action::kDelete);
    }
    // Where the watch was away for so long that the pod was bound and resized meanwhile.
    if (AwaitsResize(*info)) QueueResize(info, now);
    if (elsewhere != nullptr) {
      Move(EventResource::kAssignedPod, action::kDelete, elsewhere, {}, now);
    }
    Move(EventResource::kAssignedPod, action::kAdd, {}, pod, now);
    metrics_.Handled(EventResource::kAssignedPod, action::kAdd);
    return;
  }
  if (IsOurs(pod->spec.scheduler_name) &&
      old_pod->metadata.resource_version != pod->metadata.resource_version) {
    UpdatePendingPod(old_pod, pod, now);
    for (const ClusterEvent& event :
         PodUpdateEvents(EventResource::kUnscheduledPod, *old_pod, *pod, pod_level_status)) {
      if (event.action != action::kUpdate) metrics_.Handled(event.resource, event.action);
    }
    metrics_.Handled(EventResource::kUnscheduledPod, action::kUpdate);
  }
}

void EventHandlers::UpdatePendingPod(const PodPtr& old_pod, const PodPtr& pod, Time now) {
  const PodInfoPtr info = state_.cluster.cache.MakePodInfo(pod);
  state_.cluster.pods.Set(info);
  state_.cluster.pod_groups.SetPending(pod);
  const auto cached = state_.cluster.cache.FindPod(pod->metadata.uid);
  if (cached && cached->assumed) {
    if (!old_pod->metadata.deletion_timestamp && pod->metadata.deletion_timestamp) {
      DropAssumedPod(*cached, now);
    }
    return;
  }
  LogEvent(4, "Update event for unscheduled pod", *pod);
  queue_.Update(old_pod, info, now);
  const std::string& nominated = old_pod->status.nominated_node_name;
  if (!nominated.empty() && nominated != pod->status.nominated_node_name) {
    MoveForLostNomination(old_pod, now);
  }
}

void EventHandlers::DeletePod(const PodPtr& pod, Time now) {
  if (Assigned(*pod)) {
    LogEvent(3, "Delete event for scheduled pod", *pod);
    state_.cluster.cache.RemovePod(pod->metadata.uid);
    state_.cluster.pod_groups.RemovePlaced(*pod);
    state_.cluster.node_metrics.RemovePlaced(*pod);
    Move(EventResource::kAssignedPod, action::kDelete, pod, {}, now);
    metrics_.Handled(EventResource::kAssignedPod, action::kDelete);
    if (state_.cluster.pods.Find(pod->metadata.Key()) != nullptr) EndResize(*pod, now);
    return;
  }
  if (!state_.cluster.pods.Erase(*pod)) return;  // it is another scheduler's
  LogEvent(3, "Delete event for unscheduled pod", *pod);
  queue_.Delete(*pod, now);
  state_.cluster.pod_groups.RemovePending(*pod);
  state_.writers.status_patcher.Forget(pod->metadata.uid);
  if (const auto cached = state_.cluster.cache.FindPod(pod->metadata.uid)) {
    DropAssumedPod(*cached, now);
  } else if (!pod->status.nominated_node_name.empty()) {
    MoveForLostNomination(pod, now);
  }
  metrics_.Handled(EventResource::kUnscheduledPod, action::kDelete);
}

bool EventHandlers::AwaitsResize(const PodInfo& pod) const {
  return pod.resize_deferred && IsOurs(pod.pod->spec.scheduler_name);
}

void EventHandlers::UpdateResize(const PodPtr& old_pod, const PodInfoPtr& pod, Time now) {
  const bool queued = state_.cluster.pods.Find(pod->pod->metadata.Key()) != nullptr;
  if (!AwaitsResize(*pod)) {
    if (queued) EndResize(*pod->pod, now);
  } else if (!queued) {
    QueueResize(pod, now);
  } else if (old_pod->metadata.resource_version != pod->pod->metadata.resource_version) {
    state_.cluster.pods.Set(pod);
    queue_.Update(old_pod, pod, now);
    metrics_.Handled(EventResource::kUnscheduledPod, action::kUpdate);
  }
}

void EventHandlers::QueueResize(const PodInfoPtr& pod, Time now) {
  base::LogV(3, "The resize of a pod on its node is deferred; the pod is queued for it",
             {{"pod", pod->pod->metadata.Key()}, {"node", pod->pod->spec.node_name}});
  state_.cluster.pods.Set(pod);
  queue_.Add(pod, now);
  metrics_.Handled(EventResource::kUnscheduledPod, action::kAdd);
}

void EventHandlers::EndResize(const api::Pod& pod, Time now) {
  state_.cluster.pods.Erase(pod);
  queue_.Delete(pod, now);
  metrics_.Handled(EventResource::kUnscheduledPod, action::kDelete);
}

EventHandlers::PodPtr EventHandlers::AssumedElsewhere(const api::Pod& bound) const {
  const auto cached = state_.cluster.cache.FindPod(bound.metadata.uid);
  if (!cached || !cached->assumed) return nullptr;
  const std::string_view node_name = state_.cluster.cache.node_name(cached->row);
  return node_name == bound.spec.node_name ? nullptr : PodOn(*cached->info->pod, node_name);
}

void EventHandlers::AddToCache(const PodInfoPtr& info) {
  const PodPtr& pod = info->pod;
  if (auto added = state_.cluster.cache.AddPod(info); !added) {
    base::LogError("Pod cannot be put on its node",
                   {{"pod", pod->metadata.Key()}, {"err", added.error().message}});
    return;
  }
  state_.cluster.pod_groups.SetPlaced(pod, pod->spec.node_name, false);
}

void EventHandlers::NotePlaced(const PodPtr& pod) {
  state_.cluster.node_metrics.SetPlaced(pod, pod->spec.node_name, state_.step_clock.WallNow());
}

void EventHandlers::OpenNode(const std::string& pod_key, Time now) {
  const auto unread = unread_pods_.find(pod_key);
  if (unread == unread_pods_.end()) return;
  const std::string node_name = std::move(unread->second);
  unread_pods_.erase(unread);
  state_.cluster.cache.OpenNode(pod_key);
  const NodeRow row = state_.cluster.cache.FindNode(node_name);
  if (row == kNoRow || state_.cluster.cache.closed_nodes().Test(row)) return;
  // No plugin had its say about a closed node: for parked pods it is as if the node came.
  Move(EventResource::kNode, action::kAdd, {}, state_.cluster.cache.node_ptr(row), now);
}

void EventHandlers::DropAssumedPod(const cache::CachedPod& pod, Time now) {
  const std::string& uid = pod.info->pod->metadata.uid;
  // What goes is the pod as it was assumed, not as the watch shows it: hints look at the node it
  // leaves.
  const PodPtr assumed = PodOn(*pod.info->pod, state_.cluster.cache.node_name(pod.row));
  if (WaitingPod* waiting = state_.waiting_pods.Find(uid)) {
    // Its binding cycle ends as any rejected one does, which also releases the room.
    waiting->Reject("", "removed");
  } else {
    state_.cluster.cache.RemovePod(uid);
    state_.cluster.pod_groups.RemovePlaced(*assumed);
    state_.cluster.node_metrics.RemovePlaced(*assumed);
  }
  Move(EventResource::kAssignedPod, action::kDelete, assumed, {}, now);
}

void EventHandlers::HandleNode(const informers::InformerEvent& event, Time now) {
  using informers::EventType;
  const auto* old_node = std::get_if<NodePtr>(&event.old_object);
  const auto* new_node = std::get_if<NodePtr>(&event.new_object);
  // The end of a node that could never be read.
  if (old_node == nullptr && new_node == nullptr) return;
  switch (event.type) {
    case EventType::kAdded:
      state_.cluster.cache.SetNode(*new_node);
      Move(EventResource::kNode, action::kAdd, {}, *new_node, now);
      metrics_.Handled(EventResource::kNode, action::kAdd);
      break;
    case EventType::kUpdated:
      state_.cluster.cache.SetNode(*new_node);
      for (const ClusterEvent& change : NodeUpdateEvents(**old_node, **new_node)) {
        Move(change.resource, change.action, *old_node, *new_node, now);
        metrics_.Handled(change.resource, change.action);
      }
      break;
    case EventType::kDeleted:
      Move(EventResource::kNode, action::kDelete, *old_node, {}, now);
      state_.cluster.cache.RemoveNode((*old_node)->metadata.name);
      metrics_.Handled(EventResource::kNode, action::kDelete);
      break;
    case EventType::kSynced:
    case EventType::kUndecodable:
      break;
  }
}

void EventHandlers::HandleOtherObject(const informers::InformerEvent& event, Time now) {
  ActionType action = action::kAdd;
  if (event.type != informers::EventType::kDeleted) {
    state_.cluster.objects.Set(event.new_object);
    state_.cluster.assumed_volumes.Expire(event.new_object);
    if (const auto* claim = std::get_if<ClaimPtr>(&event.new_object))
      state_.cluster.claims.Show(*claim);
    if (AnyPodGroup group = PodGroupOf(event.new_object)) queue_.SetPodGroup(std::move(group), now);
    state_.cluster.cache.TestSelectorOf(event.new_object);
    if (event.type == informers::EventType::kUpdated) action = action::kUpdate;
  } else if (!std::holds_alternative<std::monostate>(event.old_object)) {
    state_.cluster.objects.Remove(event.old_object);
    state_.cluster.assumed_volumes.Expire(event.old_object);
    if (const auto* claim = std::get_if<ClaimPtr>(&event.old_object))
      state_.cluster.claims.Remove(**claim);
    if (const AnyPodGroup group = PodGroupOf(event.old_object)) {
      queue_.DeletePodGroup(group, now);
      state_.writers.group_status_patcher.Forget(group.metadata().uid);
    }
    action = action::kDelete;
  } else {
    return;  // the end of an object that could never be read
  }
  if (const auto resource = EventResourceOf(event.kind)) {
    MoveForOther(*resource, action, event.old_object, event.new_object, now);
  }
  if (event.kind == informers::Kind::kDeviceTaintRule) MoveForTaintRule(event, now);
}

// What evicts pods for a rule writes its status again and again, which changes no device.
void EventHandlers::MoveForTaintRule(const informers::InformerEvent& event, Time now) {
  const auto* before = api::As<api::DeviceTaintRule>(event.old_object);
  const auto* after = api::As<api::DeviceTaintRule>(event.new_object);
  if (before != nullptr && after != nullptr && before->spec == after->spec) return;
  const auto concerns = [](const api::DeviceTaintRule* rule, const api::ResourceSlice& slice) {
    if (rule == nullptr || !rule->spec.device_selector) return false;
    const api::DeviceTaintSelector& selector = *rule->spec.device_selector;
    return (!selector.driver || *selector.driver == slice.spec.driver) &&
           (!selector.pool || *selector.pool == slice.spec.pool.name) &&
           (!selector.device || std::ranges::find(slice.spec.devices, *selector.device,
                                                  &api::Device::name) != slice.spec.devices.end());
  };
  state_.cluster.objects.ForEach<api::ResourceSlice>(
      [&](const std::shared_ptr<const api::ResourceSlice>& slice) {
        if (!concerns(before, *slice) && !concerns(after, *slice)) return;
        MoveForOther(EventResource::kResourceSlice, action::kUpdate, slice, slice, now);
      });
}

void EventHandlers::HandleUndecodable(const informers::InformerEvent& event, Time now) {
  const informers::Undecodable& unread = *event.undecodable;
  metrics_.CountUndecodable(event.kind);
  if (event.kind != informers::Kind::kPod) return;
  // A pod does not leave its node: another one of that name came in its place.
  const auto known = unread_pods_.find(unread.key);
  if (known != unread_pods_.end() && known->second != unread.node_name) OpenNode(unread.key, now);
  if (!unread.node_name.empty()) {
    state_.cluster.cache.CloseNode(unread.node_name, unread.key);
    unread_pods_.insert_or_assign(unread.key, unread.node_name);
    return;
  }
  if (!IsOurs(unread.scheduler_name)) return;
  const size_t slash = unread.key.find('/');
  auto pod = std::make_shared<api::Pod>();
  pod->metadata.namespace_ = unread.key.substr(0, slash);
  pod->metadata.name = unread.key.substr(slash + 1);
  pod->metadata.uid = unread.uid;
  api::PodStatusChange change;
  change.condition =
      UnscheduledCondition("SchedulerError", "the pod cannot be read: " + unread.error);
  state_.writers.status_patcher.Patch(std::move(pod), std::move(change));
}

void EventHandlers::Move(EventResource resource, ActionType action,
                         const api::ObjectPtr& old_object, const api::ObjectPtr& new_object,
                         Time now, const queue::PodPredicate& concerns) {
  queue_.MoveAllToActiveOrBackoffQueue({resource, action}, old_object, new_object, now, concerns);
}

// kube-scheduler handles what a plugin registered for, and pod groups.
void EventHandlers::MoveForOther(EventResource resource, ActionType action,
                                 const api::ObjectPtr& old_object, const api::ObjectPtr& new_object,
                                 Time now) {
  Move(resource, action, old_object, new_object, now);
  if (resource == EventResource::kPodGroup || resource == EventResource::kCompositePodGroup ||
      queue_.IsOfInterest({resource, action})) {
    metrics_.Handled(resource, action);
  }
}

void EventHandlers::HandleEnded(const cache::Nominator::Ended& nomination, Time now) {
  const api::Pod& pod = *nomination.pod->pod;
  const std::string& uid = pod.metadata.uid;
  if (state_.cluster.nominator.NominatedNode(uid) == nomination.node) return;
  if (const auto placed = state_.cluster.cache.FindPod(uid)) {
    if (state_.cluster.cache.node_name(placed->row) == nomination.node) return;
  } else if (const auto newest = state_.cluster.pods.Find(pod.metadata.Key());
             newest != nullptr && newest->status.nominated_node_name == nomination.node) {
    return;  // the watch will tell
  }
  api::Pod nominated = pod;
  nominated.status.nominated_node_name = nomination.node;
  Move(EventResource::kAssignedPod, action::kDelete,
       std::make_shared<const api::Pod>(std::move(nominated)), {}, now,
       [&uid, priority = pod.priority()](const api::Pod& other) {
         return other.priority() <= priority && other.metadata.uid != uid;
       });
}

void EventHandlers::MoveForLostNomination(const PodPtr& pod, Time now) {
  state_.cluster.nominator.ForgetEnded(pod->metadata.uid);
  Move(
      EventResource::kAssignedPod, action::kDelete, pod, {}, now,
      [priority = pod->priority()](const api::Pod& other) { return other.priority() <= priority; });
}

using metrics::Metric;

void EventMetrics::Handled(EventResource resource, ActionType action) {
  const auto [it, added] = events_.try_emplace({resource, action});
  if (added) {
    const ClusterEvent event{resource, action};
    it->second = metrics_.Series(Metric::kEventHandlingDuration, {event.Label()});
  }
  metrics_.Observe(it->second, clock_.Now() - started_);
}

metrics::SeriesId EventMetrics::LatencyOf(informers::Kind kind) {
  const auto [it, added] = kinds_.try_emplace(kind);
  if (added) {
    const informers::KindInfo& info = informers::InfoOf(kind);
    it->second = metrics_.Series(
        Metric::kInformerProcessingLatency,
        {"kube-scheduler", info.group(), info.version(), InformerResource(info.resource)});
  }
  return it->second;
}

void EventMetrics::CountUndecodable(informers::Kind kind) {
  const auto [it, added] = undecodable_.try_emplace(kind);
  if (added) {
    it->second = metrics_.Series(Metric::kUndecodableObjects, {informers::InfoOf(kind).resource});
  }
  metrics_.Add(it->second);
}

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
  state_.writers.status_patcher.Patch(pod, std::move(change));
}

void BoundConditions::BeginLeading() {
  if (std::exchange(leading_, true)) return;
  state_.cluster.cache.ForEachPod([this](const cache::CachedPod& pod) {
    if (!pod.assumed) Check(pod.info->pod);
  });
}

}  // namespace berth::scheduler
