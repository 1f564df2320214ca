// SPDX-License-Identifier: Apache-2.0
#include "src/questions/mirror.h"

#include "src/informers/kinds.h"

namespace berth::questions {
namespace {

using informers::EventType;
using informers::InformerEvent;
using informers::Kind;
using PodPtr = std::shared_ptr<const api::Pod>;

api::ObjectPtr OnNode(const api::Pod& pod, const std::string& node) {
  auto placed = std::make_shared<api::Pod>(pod);
  placed->spec.node_name = node;
  return PodPtr(std::move(placed));
}

// Whether a decision may hold of it.
bool IsPending(const api::Pod& pod) {
  return pod.spec.node_name.empty() && !pod.metadata.deletion_timestamp;
}

}  // namespace

void Mirror::Take(const InformerEvent& event) {
  switch (event.type) {
    case EventType::kAdded:
    case EventType::kUpdated:
      undecodable_.erase({event.kind, api::MetaOf(event.new_object)->Key()});
      if (const auto* pod = std::get_if<PodPtr>(&event.new_object)) {
        TakePod(*pod);
      } else {
        simulation_->Apply(event.new_object);
      }
      break;
    case EventType::kDeleted:
      if (const api::ObjectMeta* meta = api::MetaOf(event.old_object)) {
        const std::string key = meta->Key();
        undecodable_.erase({event.kind, key});
        if (event.kind == Kind::kPod) decided_.erase(key);
        simulation_->Delete(event.kind, key);
      } else {
        undecodable_.erase({event.kind, event.undecodable->key});
        simulation_->Post(informers::InformerEvent(event));
      }
      break;
    case EventType::kUndecodable:
      undecodable_[{event.kind, event.undecodable->key}] = event;
      simulation_->Post(informers::InformerEvent(event));
      break;
    case EventType::kSynced:
      synced_.insert(event.kind);
      if (event.kind == Kind::kPod) early_.clear();
      break;
  }
}

void Mirror::TakePod(const PodPtr& pod) {
  const std::string key = pod->metadata.Key();
  if (const auto found = decided_.find(key); found != decided_.end()) {
    scheduler::PodAssignment& decision = found->second;
    const bool same = decision.pod->metadata.uid == pod->metadata.uid;
    if (same && IsPending(*pod)) {
      decision.pod = pod;
      return simulation_->Apply(OnNode(*pod, decision.node_name));
    }
    if (same && pod->spec.node_name == decision.node_name) {
      decided_.erase(found);
    } else {
      TakeBack(found);
    }
  }
  simulation_->Apply(pod);
  if (const auto early = early_.extract(key)) Take(early.mapped());
}

void Mirror::Take(const scheduler::PodAssignment& decision) {
  const std::string key = decision.pod->metadata.Key();
  const std::string& uid = decision.pod->metadata.uid;
  const auto is_same = [&uid](const auto& entry) { return entry.second.pod->metadata.uid == uid; };
  if (const auto found = decided_.find(key); found != decided_.end() && is_same(*found)) {
    TakeBack(found);
  }
  if (const auto found = early_.find(key); found != early_.end() && is_same(*found)) {
    early_.erase(found);
  }
  if (decision.node_name.empty()) return;
  const PodPtr pod = simulation_->FindPod(key);
  if (pod == nullptr && !synced_.contains(Kind::kPod)) {
    early_.insert_or_assign(key, decision);
  } else if (pod != nullptr && pod->metadata.uid == uid && IsPending(*pod)) {
    simulation_->Apply(OnNode(*pod, decision.node_name));
    decided_.emplace(key, scheduler::PodAssignment{pod, decision.node_name});
  }
}

// Not as an update: no scheduler sees a pod that leaves its node alive.
void Mirror::TakeBack(Decisions::iterator decided) {
  simulation_->Delete(Kind::kPod, decided->first);
  simulation_->Apply(decided->second.pod);
  decided_.erase(decided);
}

void Mirror::WithoutDecision(const std::string& pod_key, const std::function<void()>& work) {
  const auto decided = decided_.find(pod_key);
  if (decided == decided_.end()) return work();
  const scheduler::PodAssignment decision = decided->second;
  TakeBack(decided);
  simulation_->RunDue();
  work();
  Take(decision);
  simulation_->RunDue();
}

void Mirror::CopyTo(simulator::Simulation& other) const {
  simulator::CopyObjects(*simulation_, other);
  for (const auto& [key, event] : undecodable_) other.Post(informers::InformerEvent(event));
}

}  // namespace berth::questions
