// SPDX-License-Identifier: Apache-2.0
#include "src/mirror/mirror.h"

#include "src/informers/kinds.h"

namespace berth::mirror {
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

}  // namespace

void Mirror::Take(const InformerEvent& event) {
  switch (event.type) {
    case EventType::kAdded:
    case EventType::kUpdated:
      undecodable_.erase({event.kind, informers::MetaOf(event.new_object)->Key()});
      if (const auto* pod = std::get_if<PodPtr>(&event.new_object)) {
        TakePod(*pod);
      } else {
        simulation_->Apply(event.new_object);
      }
      break;
    case EventType::kDeleted:
      if (const api::ObjectMeta* meta = informers::MetaOf(event.old_object)) {
        const std::string key = meta->Key();
        undecodable_.erase({event.kind, key});
        if (event.kind == Kind::kPod) decided_.erase(key);
        simulation_->Delete(event.kind, key);
      } else {
        undecodable_.erase({event.kind, event.undecodable.key});
        simulation_->Tell(event);
      }
      break;
    case EventType::kUndecodable:
      undecodable_[{event.kind, event.undecodable.key}] = event;
      simulation_->Tell(event);
      break;
    case EventType::kSynced:
      synced_.insert(event.kind);
      break;
  }
}

void Mirror::TakePod(const PodPtr& pod) {
  const auto decided = decided_.find(pod->metadata.Key());
  if (decided == decided_.end()) return simulation_->Apply(pod);
  if (!pod->spec.node_name.empty() || pod->metadata.uid != decided->second.pod->metadata.uid) {
    decided_.erase(decided);
    return simulation_->Apply(pod);
  }
  decided->second.pod = pod;
  simulation_->Apply(OnNode(*pod, decided->second.node));
}

void Mirror::SetDecided(const std::vector<DecidedPod>& pods) {
  std::map<std::string, DecidedPod> before = std::exchange(decided_, {});
  for (const DecidedPod& pod : pods) {
    const auto known = before.find(pod.pod->metadata.Key());
    if (known == before.end() || known->second.node != pod.node) continue;
    if (known->second.pod->metadata.uid == pod.pod->metadata.uid) {
      decided_.insert(before.extract(known));
    }
  }
  for (const auto& [key, pod] : before) {
    // Not as an update: no scheduler hears of a pod that leaves its node alive.
    simulation_->Delete(Kind::kPod, key);
    simulation_->Apply(pod.pod);
  }
  for (const DecidedPod& pod : pods) {
    const std::string key = pod.pod->metadata.Key();
    if (decided_.contains(key)) continue;
    const PodPtr unbound = simulation_->FindPod(key);
    // Gone, another, or bound by now.
    if (unbound == nullptr || unbound->metadata.uid != pod.pod->metadata.uid) continue;
    if (!unbound->spec.node_name.empty()) continue;
    simulation_->Apply(OnNode(*unbound, pod.node));
    decided_.emplace(key, DecidedPod{unbound, pod.node});
  }
}

std::vector<DecidedPod> Mirror::decided() const {
  std::vector<DecidedPod> pods;
  pods.reserve(decided_.size());
  for (const auto& [key, pod] : decided_) pods.push_back(pod);
  return pods;
}

void Mirror::CopyTo(simulator::Simulation& other) const {
  simulator::CopyObjects(*simulation_, other);
  for (const auto& [key, event] : undecodable_) other.Tell(event);
}

}  // namespace berth::mirror
