// SPDX-License-Identifier: Apache-2.0
#include "src/queue/pod_group_queue.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "berth/check.h"
#include "src/cache/pod_group_forest.h"

namespace berth::queue {
namespace {

constexpr std::string_view kPodAdd = "UnscheduledPodAdd";
constexpr std::string_view kPodUpdate = "UnscheduledPodUpdate";

std::string GroupKey(const api::Pod& pod) {
  return api::NamespacedKey(pod.metadata.namespace_, *PodGroupNameOf(pod));
}

// "" without a root.
std::string RootKey(const PodGroupNode* node) {
  const PodGroupNode* root = node == nullptr ? nullptr : RootOf(*node);
  return root == nullptr ? "" : EntryKey(root->object);
}

// A pod that stands for the group where pods are ordered.
PodInfoPtr StandIn(const AnyPodGroup& group, int32_t priority, std::string_view scheduler_name) {
  auto pod = std::make_shared<api::Pod>();
  pod->metadata.namespace_ = group.metadata().namespace_;
  pod->metadata.name = group.metadata().name;
  pod->spec.scheduler_name = scheduler_name;
  pod->spec.priority = priority;
  auto info = std::make_shared<PodInfo>();
  info->pod_priority = priority;
  info->pod = std::move(pod);
  return info;
}

// Whether the group tries `a` before `b`.
bool GoesFirst(const std::unique_ptr<Entry>& a, const std::unique_ptr<Entry>& b) {
  const auto key = [](const QueuedPod& pod) {
    return std::tuple(-int64_t{pod.info->priority()}, -pod.attempts, pod.timestamp,
                      std::string_view(pod.pod().metadata.name));
  };
  return key(*a->pod) < key(*b->pod);
}

// The lowest of its pods', which is the last one's, where the group has none of its own.
int32_t PriorityOf(const AnyPodGroup& group, const std::vector<std::unique_ptr<Entry>>& members) {
  return IsCoscheduled(group) ? members.back()->pod->info->priority() : group.priority();
}

}  // namespace

void PodGroupQueue::Insert(Members& members, std::unique_ptr<Entry> member) {
  const auto at = std::upper_bound(members.begin(), members.end(), member, GoesFirst);
  members.insert(at, std::move(member));
}

Entry* PodGroupQueue::MakeEntry(std::unique_ptr<QueuedPod> group, AnyPodGroup object,
                                Members members) {
  const std::string& scheduler_name = members.front()->pod->pod().spec.scheduler_name;
  group->info = StandIn(object, PriorityOf(object, members), scheduler_name);
  Entry* entry = state_.InsertGroup(std::move(group), std::move(object), std::move(members));
  queued_.insert(entry);
  return entry;
}

const PodGroupNode* PodGroupQueue::RootOfPod(const api::Pod& pod) const {
  const PodGroupNode* group =
      state_.options().pod_groups->Find(pod.metadata.namespace_, *PodGroupNameOf(pod));
  return group == nullptr ? nullptr : RootOf(*group);
}

void PodGroupQueue::Set(AnyPodGroup object, Time now) {
  cache::PodGroupForest& forest = *state_.options().pod_groups;
  const PodGroupNode* known = forest.Find(object);
  const bool moved = known != nullptr && known->object && known->object.parent() != object.parent();
  const std::string before = moved ? RootKey(known) : "";
  forest.Set(object);
  if (moved) Release(before, now);
  const PodGroupNode* root = RootOf(*forest.Find(object));
  if (root == nullptr) return;
  const std::string key = EntryKey(root->object);
  Entry* entry = state_.Find(key);
  if (entry != nullptr && key == EntryKey(object)) {
    entry->object = std::move(object);
    RenewPriority(entry);
  }
  TakeIn(*root, 1, now);
}

void PodGroupQueue::RenewPriority(Entry* entry) {
  const int32_t priority = PriorityOf(entry->object, entry->members);
  if (entry->pod->info->priority() == priority) return;
  state_.Replace(entry, StandIn(entry->object, priority, entry->pod->pod().spec.scheduler_name));
}

void PodGroupQueue::Remove(const AnyPodGroup& object, Time now) {
  cache::PodGroupForest& forest = *state_.options().pod_groups;
  const std::string before = RootKey(forest.Find(object));
  forest.Remove(object);
  Release(before, now);
}

void PodGroupQueue::Release(std::string_view entry_key, Time now) {
  Entry* entry = state_.Find(entry_key);
  if (entry == nullptr) return;
  const auto stays = [&](const std::unique_ptr<Entry>& member) {
    const PodGroupNode* root = RootOfPod(member->pod->pod());
    return root != nullptr && EntryKey(root->object) == entry_key;
  };
  const auto staying = std::ranges::count_if(entry->members, stays);
  if (static_cast<size_t>(staying) == entry->members.size()) return;
  Members left;
  if (staying == 0) {
    left = std::move(entry->members);
    queued_.erase(entry);
    state_.Extract(entry);
  } else {
    state_.ChangeMembers(entry, [&] {
      const auto gone = std::ranges::stable_partition(entry->members, stays);
      std::ranges::move(gone, std::back_inserter(left));
      entry->members.erase(gone.begin(), gone.end());
    });
    Requeue(entry, kPodUpdate, now);
  }
  num_incomplete_ += left.size();
  for (auto& member : left) {
    member->group = nullptr;
    incomplete_[GroupKey(member->pod->pod())].push_back(std::move(member));
  }
}

void PodGroupQueue::TakeIn(const PodGroupNode& group, int depth, Time now) {
  if (incomplete_.empty() || depth > kMaxPodGroupTreeDepth) return;
  for (const PodGroupNode* child : group.children) TakeIn(*child, depth + 1, now);
  if (group.composite) return;
  const auto waiting = incomplete_.find(group.object.metadata().Key());
  if (waiting == incomplete_.end()) return;
  Members members = std::move(waiting->second);
  incomplete_.erase(waiting);
  num_incomplete_ -= members.size();
  for (auto& member : members) {
    members_.erase(member->key);
    Add(std::move(member->pod), now);
  }
}

void PodGroupQueue::Add(std::unique_ptr<QueuedPod> pod, Time now) {
  std::unique_ptr<Entry> member = state_.MakeMember(std::move(pod));
  Entry* added = member.get();
  const bool fresh = members_.emplace(member->key, added).second;
  BERTH_CHECK(fresh, "a member of a pod group is queued already");
  const PodGroupNode* root = RootOfPod(member->pod->pod());
  if (root == nullptr) {
    incomplete_[GroupKey(member->pod->pod())].push_back(std::move(member));
    ++num_incomplete_;
    return;
  }
  const std::string key = EntryKey(root->object);
  if (Entry* entry = state_.Find(key); entry != nullptr) {
    state_.ChangeMembers(entry, [&] {
      member->group = entry;
      Insert(entry->members, std::move(member));
    });
    RenewPriority(entry);
    if (entry->holder == Holder::kParked) {
      state_.CountParked(*entry, kPodAdd);  // the pod's event may move it
    } else {
      state_.CheckNewMember(entry, added, kPodAdd, now);
    }
    return;
  }
  if (key == in_flight_) {
    pending_.push_back(std::move(member));
    return;
  }
  auto group = std::make_unique<QueuedPod>();
  group->timestamp = member->pod->timestamp;
  group->initial_attempt_timestamp = member->pod->initial_attempt_timestamp;
  // One whose bind failed alone comes back outside of a cycle: nothing else holds it back.
  group->unschedulable_count = member->pod->unschedulable_count;
  group->consecutive_errors_count = member->pod->consecutive_errors_count;
  Members members;
  members.push_back(std::move(member));
  Entry* entry = MakeEntry(std::move(group), root->object, std::move(members));
  state_.Return(entry, QueueingStrategy::kAfterBackoff, kPodAdd, now);
}

Entry* PodGroupQueue::Find(std::string_view pod_key) const {
  if (members_.empty()) return nullptr;
  const auto found = members_.find(pod_key);
  return found == members_.end() ? nullptr : found->second;
}

bool PodGroupQueue::IsIncomplete(const Entry& member) const {
  const auto group = incomplete_.find(GroupKey(member.pod->pod()));
  return group != incomplete_.end() &&
         std::ranges::any_of(group->second,
                             [&member](const auto& one) { return one.get() == &member; });
}

Entry* PodGroupQueue::EntryOf(const api::Pod& pod) const {
  const PodGroupNode* root = RootOfPod(pod);
  return root == nullptr ? nullptr : state_.Find(EntryKey(root->object));
}

void PodGroupQueue::Requeue(Entry* entry, std::string_view event, Time now) {
  if (entry->holder == Holder::kActive) {
    state_.Requeue(entry, QueueingStrategy::kImmediately, event, now);
  } else if (entry->holder == Holder::kParked) {
    state_.CountParked(*entry, event);
  } else {
    state_.Requeue(entry, QueueingStrategy::kAfterBackoff, event, now);
  }
}

std::unique_ptr<QueuedPod> PodGroupQueue::Take(Entry* member, Time now) {
  members_.erase(member->key);
  const auto take = [&](Members& members) {
    const auto at = std::find_if(members.begin(), members.end(),
                                 [&](const auto& other) { return other.get() == member; });
    if (at == members.end()) return std::unique_ptr<QueuedPod>();
    std::unique_ptr<QueuedPod> pod = std::move((*at)->pod);
    members.erase(at);
    return pod;
  };
  Entry* entry = member->group;
  if (entry == nullptr) {
    if (std::unique_ptr<QueuedPod> pod = take(pending_)) return pod;
    const auto group = incomplete_.find(GroupKey(member->pod->pod()));
    BERTH_CHECK(group != incomplete_.end(), "a member of a pod group is nowhere");
    std::unique_ptr<QueuedPod> pod = take(group->second);
    --num_incomplete_;
    if (group->second.empty()) incomplete_.erase(group);
    return pod;
  }
  if (entry->members.size() == 1) {
    std::unique_ptr<QueuedPod> pod = std::move(member->pod);
    queued_.erase(entry);
    state_.Extract(entry);
    return pod;
  }
  std::unique_ptr<QueuedPod> pod;
  state_.ChangeMembers(entry, [&] { pod = take(entry->members); });
  RenewPriority(entry);
  Requeue(entry, kPodAdd, now);
  return pod;
}

std::unique_ptr<QueuedPod> PodGroupQueue::Pop(Entry* entry) {
  auto group = std::make_unique<QueuedGroup>();
  group->object = entry->object;
  in_flight_ = entry->key;
  popped_.clear();
  for (auto& member : entry->members) {
    members_.erase(member->key);
    popped_.insert(member->pod->pod().metadata.uid);
    group->members.push_back(std::move(member->pod));
  }
  queued_.erase(entry);
  std::unique_ptr<QueuedPod> pod = state_.Extract(entry);
  pod->group = std::move(group);
  return pod;
}

void PodGroupQueue::Return(std::unique_ptr<QueuedPod> group, GroupResult result,
                           std::string_view event, Time now) {
  in_flight_.clear();
  if (pending_.empty()) return;
  const bool left_over = std::ranges::any_of(pending_, [this](const auto& member) {
    return popped_.contains(member->pod->pod().metadata.uid);
  });
  Members members;
  for (auto& member : std::exchange(pending_, {})) Insert(members, std::move(member));
  const bool scheduled = result == GroupResult::kScheduled;
  if (scheduled) {
    group->unschedulable_count = group->consecutive_errors_count = 0;
  } else if (result == GroupResult::kRejected) {
    ++group->unschedulable_count;
    group->consecutive_errors_count = 0;
  } else {
    ++group->consecutive_errors_count;
  }
  // What a scheduled group left over is tried at once, in its turn of before.
  if (!scheduled || !left_over) group->timestamp = now;
  group->was_flushed_from_unschedulable = false;
  group->flush_timestamp.reset();
  auto object = std::move(group->group->object);
  group->group.reset();
  Entry* entry = MakeEntry(std::move(group), std::move(object), std::move(members));
  state_.Return(entry, scheduled ? QueueingStrategy::kImmediately : QueueingStrategy::kAfterBackoff,
                event, now);
}

}  // namespace berth::queue
