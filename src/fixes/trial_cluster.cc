// SPDX-License-Identifier: Apache-2.0
#include "src/fixes/trial_cluster.h"

#include "src/informers/kinds.h"

namespace berth::fixes {

using informers::Kind;

TrialCluster::TrialCluster(simulator::Simulation& simulation, std::shared_ptr<const api::Pod> pod)
    : simulation_(simulation), pod_(std::move(pod)), pod_key_(pod_->metadata.Key()) {}

bool TrialCluster::Make(const explain::Change& change) {
  std::optional<Delta> delta = Apply(change, *pod_, objects());
  if (!delta) return false;
  Before& before = made_.emplace_back();
  before.pod = pod_;
  for (auto& [kind, key] : delta->removed) {
    before.objects.emplace_back(std::pair(kind, key), objects().Find(kind, key));
    simulation_.Delete(kind, key);
  }
  for (api::ObjectPtr& object : delta->put) {
    const Kind kind = simulator::KindOf(object);
    std::string key = informers::MetaOf(object)->Key();
    if (kind == Kind::kPod && key == pod_key_) {
      // It is judged from here: the cluster need not hear of it.
      pod_ = std::get<std::shared_ptr<const api::Pod>>(object);
      continue;
    }
    before.objects.emplace_back(std::pair(kind, key), objects().Find(kind, key));
    simulation_.Apply(std::move(object));
  }
  if (!before.objects.empty()) simulation_.RunDue();
  return true;
}

void TrialCluster::Tell(const std::shared_ptr<const api::Pod>& pod) {
  Before& before = made_.emplace_back();
  before.pod = std::exchange(pod_, pod);
  before.objects.emplace_back(std::pair(Kind::kPod, pod_key_),
                              objects().Find(Kind::kPod, pod_key_));
  simulation_.Apply(pod);
  simulation_.RunDue();
}

void TrialCluster::TakeBackTo(size_t depth) {
  bool changed = false;
  while (made_.size() > depth) {
    Before& before = made_.back();
    for (auto it = before.objects.rbegin(); it != before.objects.rend(); ++it) {
      auto& [of, object] = *it;
      changed = true;
      if (object.index() == 0) {
        simulation_.Delete(of.first, of.second);
      } else {
        simulation_.Apply(std::move(object));
      }
    }
    pod_ = std::move(before.pod);
    made_.pop_back();
  }
  if (changed) simulation_.RunDue();
}

std::unique_ptr<engine::Judgement> TrialCluster::Judge() {
  ++judged_;
  return simulation_.scheduler().Judge(pod_);
}

}  // namespace berth::fixes
