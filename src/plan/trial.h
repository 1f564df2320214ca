// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "src/cache/cache.h"
#include "src/engine/judgement.h"
#include "src/informers/kinds.h"
#include "src/plan/measure.h"
#include "src/plan/plan.h"

namespace berth::plan {

// The cluster with changes on top of each other, which are taken back in the reverse order.
class Trial {
 public:
  Trial(simulator::Simulation& simulation, const Limits& limits)
      : simulation_(simulation), most_steps_(limits.judged) {}
  ~Trial() { TakeBackTo(0); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  const simulator::Simulation& simulation() const { return simulation_; }
  size_t depth() const { return made_.size(); }
  size_t judged() const { return judged_; }
  bool exhausted() const {
    return steps() >= std::min(end_, most_steps_) || simulation_.interrupted();
  }
  // How many steps are left before the limit.
  size_t left() const { return most_steps_ - std::min(steps(), most_steps_); }
  // It is exhausted after so many more steps, too. nullopt: only after those of the limit.
  void EndAfter(std::optional<size_t> more) { end_ = more ? steps() + *more : SIZE_MAX; }

  void Remove(const api::Pod& pod) {
    const std::string key = pod.metadata.Key();
    made_.emplace_back(informers::Kind::kPod, key,
                       simulation_.api().Find(informers::Kind::kPod, key));
    simulation_.Delete(informers::Kind::kPod, key);
    NoteChange();
  }
  void Apply(api::ObjectPtr object) {
    const informers::Kind kind = simulator::KindOf(object);
    const std::string key = api::MetaOf(object)->Key();
    made_.emplace_back(kind, key, simulation_.api().Find(kind, key));
    simulation_.Apply(std::move(object));
    NoteChange();
  }
  void Place(const api::Pod& pod, const std::string& node) {
    auto placed = std::make_shared<api::Pod>(pod);
    placed->spec.node_name = node;
    Apply(PodPtr(std::move(placed)));
  }
  void TakeBackTo(size_t depth) {
    for (; made_.size() > depth; made_.pop_back()) {
      auto& [kind, key, object] = made_.back();
      if (object.index() == 0) {
        simulation_.Delete(kind, key);
      } else {
        simulation_.Apply(std::move(object));
      }
      NoteChange();
    }
    TakeIn();
  }

  // The pod as it counts, good as long as `pod`.
  PodPtr Counted(const api::Pod& pod) const {
    return simulation_.scheduler().Counted(PodPtr(PodPtr(), &pod));
  }

  // Of use until the next change.
  std::unique_ptr<engine::Judgement> Judge(const PodPtr& pod) {
    TakeIn();
    ++judged_;
    return simulation_.scheduler().Judge(pod);
  }
  bool FitsOn(const PodPtr& pod, const std::string& node) {
    const auto judgement = Judge(pod);
    if (judgement->kind() != engine::Judgement::Kind::kScheduled) return false;
    return std::ranges::binary_search(judgement->feasible(), judgement->snapshot().FindNode(node));
  }
  // What would become of the pod's group; nullopt: it is tried alone. Only what no claim and no
  // nomination is in the way of is tried.
  std::optional<engine::PodGroupPreview> TryGroup(const api::Pod& pod) {
    TakeIn();
    auto preview = simulation_.scheduler().PreviewPodGroup(pod, scheduler::Effects::kNone);
    if (preview) judged_ += preview->waiting.size();
    return preview;
  }
  PodInfoPtr InfoOf(const PodPtr& pod) { return simulation_.scheduler().cache().MakePodInfo(pod); }
  Result<packing::Stranding> Stranding(const Goal& goal) { return StrandingOf(goal, simulation_); }
  // As the changes so far have it.
  const cache::Cache& cache() {
    TakeIn();
    return simulation_.scheduler().cache();
  }

 private:
  // What a search does between two judgements would count for nothing otherwise.
  size_t steps() const { return judged_ + changes_ / kChangesOfAStep; }
  void NoteChange() {
    changed_ = true;
    ++changes_;
  }
  void TakeIn() {
    if (std::exchange(changed_, false)) simulation_.RunDue();
  }

  simulator::Simulation& simulation_;
  static constexpr size_t kChangesOfAStep = 4;
  const size_t most_steps_;
  // What stood there before; monostate: nothing did.
  std::vector<std::tuple<informers::Kind, std::string, api::ObjectPtr>> made_;
  bool changed_ = false;
  size_t judged_ = 0;
  size_t changes_ = 0;
  size_t end_ = SIZE_MAX;
};

// The feasible node with the highest total, by name where several have it, of those that
// `may_take` allows. "": there is none.
template <typename MayTake>
std::string BestNode(const engine::Judgement& judgement, MayTake may_take) {
  std::pair<int64_t, std::string_view> best;
  const std::vector<NodeRow>& rows = judgement.feasible();
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string& name = judgement.snapshot().node(rows[i]).metadata.name;
    const int64_t total = judgement.totals().size() == rows.size() ? judgement.totals()[i] : 0;
    if (!may_take(name)) continue;
    if (best.second.empty() || total > best.first || (total == best.first && name < best.second)) {
      best = {total, name};
    }
  }
  return std::string(best.second);
}

}  // namespace berth::plan
