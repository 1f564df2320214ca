// SPDX-License-Identifier: Apache-2.0
#include "src/fixes/combine.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "src/explain/near_misses.h"
#include "src/fixes/cost.h"
#include "src/fixes/propose.h"
#include "src/fixes/tighten.h"

namespace berth::fixes {
namespace {

using engine::Judgement;
using explain::Change;

constexpr size_t kMostChanges = 8;

// How far a pod gets on a node: how many filters it passes, and how few reasons the next one has
// against it.
struct Stage {
  // nullopt: some node takes the pod.
  std::optional<explain::RejectedGroup> rejected;
  int64_t passed = -1;  // -1: PreFilter leaves the node out
  size_t reasons = 0;

  bool schedules() const { return !rejected.has_value(); }
  bool IsBeyond(const Stage& other) const {
    if (schedules() || passed != other.passed) return schedules() || passed > other.passed;
    return reasons < other.reasons;
  }
};

class Combination {
 public:
  Combination(const std::string& node, bool only_pod, const std::function<bool()>& spent,
              TrialCluster& trial)
      : node_(node), only_pod_(only_pod), spent_(spent), trial_(trial) {}

  bool Find(std::vector<Change>& changes) {
    std::optional<Stage> stage = Look();
    while (stage && !stage->schedules()) {
      if (changes.size() >= kMostChanges) return false;
      stage = Step(*stage, changes);
    }
    return stage.has_value() && Prune(changes);
  }

 private:
  // nullopt: the search is over, the pod cannot be judged, or the node is gone.
  std::optional<Stage> Look() {
    if (spent_()) return std::nullopt;
    judgement_ = trial_.Judge();
    Stage stage;
    if (judgement_->kind() == Judgement::Kind::kScheduled) return stage;
    if (judgement_->kind() != Judgement::Kind::kUnschedulable) return std::nullopt;
    judgement_->Explain();
    const NodeRow row = judgement_->snapshot().FindNode(node_);
    for (explain::RejectedGroup& group : explain::NearMisses(*judgement_)) {
      if (!std::ranges::binary_search(group.nodes, row)) continue;
      stage.passed = group.plugin.empty() ? -1 : static_cast<int64_t>(group.filters_passed);
      stage.reasons = group.reasons.size();
      group.nodes = {row};
      stage.rejected = std::move(group);
      return stage;
    }
    return std::nullopt;
  }

  // Makes the cheapest change that gets the pod further or, where none does alone, as many as it
  // takes. nullopt: nothing does.
  std::optional<Stage> Step(const Stage& from, std::vector<Change>& changes) {
    std::vector<Change> proposed = ProposeFor(from);
    const size_t depth = trial_.depth();
    for (const Change& change : proposed) {
      if (trial_.Make(change)) {
        std::optional<Stage> stage = Look();
        if (!stage) return std::nullopt;
        if (stage->IsBeyond(from)) {
          changes.push_back(change);
          return stage;
        }
      }
      trial_.TakeBackTo(depth);
    }
    for (Change& change : proposed) {
      if (changes.size() >= kMostChanges) return std::nullopt;
      if (!trial_.Make(change)) continue;
      changes.push_back(std::move(change));
      std::optional<Stage> stage = Look();
      if (!stage || stage->IsBeyond(from)) return stage;
    }
    return std::nullopt;
  }

  std::vector<Change> ProposeFor(const Stage& stage) {
    std::vector<Change> proposed;
    Propose({*stage.rejected, *judgement_, trial_, proposed});
    if (stage.rejected->code == Code::kUnschedulable && !only_pod_) {
      ProposeEvictions(trial_, node_, proposed);
    }
    if (only_pod_) std::erase_if(proposed, [](const Change& change) { return !IsOfPod(change); });
    std::ranges::stable_sort(proposed, {}, [](const Change& change) { return Cost(change); });
    return proposed;
  }

  // Leaves out what is not needed, the dearest first.
  bool Prune(std::vector<Change>& changes) {
    std::ranges::stable_sort(changes, std::greater(),
                             [](const Change& change) { return Cost(change); });
    LeaveOut(changes, trial_);
    // Changes of the pod last: those are the ones that are made again and again.
    std::ranges::stable_partition(changes, [](const Change& change) { return !IsOfPod(change); });
    return MakeFrom(0, changes, trial_) && trial_.Schedules();
  }

  const std::string node_;
  const bool only_pod_;
  const std::function<bool()>& spent_;
  TrialCluster& trial_;
  std::unique_ptr<Judgement> judgement_;
};

}  // namespace

std::vector<Change> Combine(const std::string& node, std::vector<Change> begun, bool only_pod,
                            const std::function<bool()>& spent, TrialCluster& trial) {
  if (!Combination(node, only_pod, spent, trial).Find(begun)) begun.clear();
  return begun;
}

}  // namespace berth::fixes
