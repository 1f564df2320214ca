// SPDX-License-Identifier: Apache-2.0
#include "src/fixes/find.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "src/explain/near_misses.h"
#include "src/fixes/combine.h"
#include "src/fixes/cost.h"
#include "src/fixes/propose.h"
#include "src/fixes/tighten.h"
#include "src/fixes/trial_cluster.h"
#include "src/informers/kinds.h"

namespace berth::fixes {
namespace {

using engine::Judgement;
using explain::Change;
using explain::Fix;

class Search {
 public:
  Search(simulator::Simulation& simulation, std::shared_ptr<const api::Pod> pod, const Clock& clock,
         const FindOptions& options)
      : trial_(simulation, std::move(pod)),
        clock_(clock),
        options_(options),
        deadline_(clock.Now() + options.max_time) {}

  explain::Fixes Run() {
    if (LookAtPod()) {
      TrySingles();
      if (found_.fixes.empty()) TryCombinations();
      Rank();
    }
    found_.tried = trial_.judged();
    return std::move(found_);
  }

 private:
  // What rejects the pod, as it is; false: it is not unschedulable.
  bool LookAtPod() {
    const std::unique_ptr<Judgement> judgement = trial_.Judge();
    if (judgement->kind() != Judgement::Kind::kUnschedulable) return false;
    judgement->Explain();
    const auto groups = explain::NearMisses(*judgement);
    for (const explain::RejectedGroup& group : groups) {
      const Refusal refusal{group, *judgement, trial_, singles_};
      Propose(refusal);
      for (const NodeRow row : refusal.Examples()) {
        targets_.push_back(refusal.node(row).metadata.name);
      }
    }
    ProposeNodes(groups, *judgement, new_nodes_);
    ProposeEvictions(trial_, "", singles_);
    singles_.insert(singles_.end(), new_nodes_.begin(), new_nodes_.end());
    std::ranges::stable_sort(singles_, {}, [](const Change& change) { return Cost(change); });
    return true;
  }

  void TrySingles() {
    for (const Change& change : singles_) {
      if (Spent()) return;
      if (trial_.Make(change) && trial_.Schedules()) Keep({change});
      trial_.TakeBackTo(0);
    }
  }

  // For the nearest misses, then for a new node.
  void TryCombinations() {
    const std::function<bool()> spent = [this] { return Spent(); };
    if (targets_.size() > kMostTargets) targets_.resize(kMostTargets);
    for (const std::string& target : targets_) {
      if (Spent()) return;
      KeepNew(Combine(target, {}, false, spent, trial_));
    }
    if (new_nodes_.size() > kMostTargets) new_nodes_.resize(kMostTargets);
    for (const Change& add : new_nodes_) {
      const auto delta = NodeLike(std::get<explain::AddNode>(add).like, trial_.objects());
      if (!delta || Spent() || !trial_.Make(add)) return;
      KeepNew(Combine(informers::MetaOf(delta->put.front())->name, {add}, true, spent, trial_));
    }
  }

  // Unless there is no such combination, or it is known.
  void KeepNew(std::vector<Change> changes) {
    if (!changes.empty() && std::ranges::find(known_, changes) == known_.end()) {
      known_.push_back(changes);
      Keep(std::move(changes));
    }
    trial_.TakeBackTo(0);
  }

  bool Spent() {
    if (trial_.judged() < options_.max_trials && clock_.Now() < deadline_ &&
        !(options_.interrupted && options_.interrupted())) {
      return false;
    }
    return found_.cut_short = true;
  }

  // Of changes that are made and let the pod schedule.
  void Keep(std::vector<Change> changes) {
    do {
      Tighten(changes, trial_);
      // What was needed beside a larger change may not be beside a smaller one.
    } while (changes.size() > 1 && LeaveOut(changes, trial_));
    const std::unique_ptr<Judgement> judgement = trial_.Judge();
    if (judgement->kind() != Judgement::Kind::kScheduled) return;
    Fix fix;
    for (const NodeRow row : judgement->feasible()) {
      fix.nodes.push_back(judgement->snapshot().node(row).metadata.name);
    }
    std::ranges::sort(fix.nodes);
    fix.cost = Cost(changes);
    fix.changes = std::move(changes);
    found_.fixes.push_back(std::move(fix));
  }

  void Rank() {
    std::vector<Fix>& fixes = found_.fixes;
    std::ranges::stable_sort(fixes, {}, &Fix::cost);
    std::map<std::string_view, size_t> alike;
    std::erase_if(fixes, [&](const Fix& fix) {
      const std::string_view name = fix.changes.size() == 1 ? ChangeName(fix.changes.front()) : "";
      return ++alike[name] > options_.max_alike;
    });
    if (fixes.size() > options_.max_fixes) fixes.resize(options_.max_fixes);
  }

  static constexpr size_t kMostTargets = 8;

  TrialCluster trial_;
  const Clock& clock_;
  const FindOptions options_;
  const Time deadline_;
  std::vector<Change> singles_;    // worth a trial alone, the cheapest first
  std::vector<Change> new_nodes_;  // those of them that add one
  std::vector<std::string> targets_;
  std::vector<std::vector<Change>> known_;  // combinations, before their amounts were made small
  explain::Fixes found_;
};

}  // namespace

explain::Fixes FindFixes(simulator::Simulation& simulation,
                         const std::shared_ptr<const api::Pod>& pod, const Clock& clock,
                         const FindOptions& options) {
  return Search(simulation, pod, clock, options).Run();
}

bool HaveSameFixes(const api::Pod& a, const api::Pod& b) {
  return a.metadata.namespace_ == b.metadata.namespace_ && a.metadata.labels == b.metadata.labels &&
         a.metadata.owner_references == b.metadata.owner_references && a.spec == b.spec &&
         a.status.nominated_node_name == b.status.nominated_node_name &&
         a.status.resource_claim_statuses == b.status.resource_claim_statuses &&
         // Of an ephemeral volume the claim is named after the pod.
         std::ranges::none_of(a.spec.volumes, [](const api::Volume& volume) {
           return volume.ephemeral.has_value();
         });
}

}  // namespace berth::fixes
