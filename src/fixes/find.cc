// SPDX-License-Identifier: Apache-2.0
#include "src/fixes/find.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "src/explain/near_misses.h"
#include "src/fixes/cost.h"
#include "src/fixes/propose.h"
#include "src/fixes/tighten.h"
#include "src/fixes/trial_cluster.h"

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
    for (const Change& change : ProposeSingles()) {
      if (Spent()) break;
      if (trial_.Make(change) && trial_.Schedules()) Keep({change});
      trial_.TakeBackTo(0);
    }
    Rank();
    found_.tried = trial_.judged();
    return std::move(found_);
  }

 private:
  // What is worth a trial by itself, the cheapest first.
  std::vector<Change> ProposeSingles() {
    std::vector<Change> changes;
    const std::unique_ptr<Judgement> judgement = trial_.Judge();
    if (judgement->kind() != Judgement::Kind::kUnschedulable) return changes;
    judgement->Explain();
    const auto groups = explain::NearMisses(*judgement);
    for (const explain::RejectedGroup& group : groups) {
      Propose(group, *judgement, trial_, changes);
    }
    ProposeNodes(groups, *judgement, changes);
    std::ranges::stable_sort(changes, {}, [](const Change& change) { return Cost(change); });
    return changes;
  }

  bool Spent() {
    if (trial_.judged() < options_.max_trials && clock_.Now() < deadline_) return false;
    return found_.cut_short = true;
  }

  // Of changes that are made and let the pod schedule.
  void Keep(std::vector<Change> changes) {
    Tighten(changes, trial_);
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

  TrialCluster trial_;
  const Clock& clock_;
  const FindOptions options_;
  const Time deadline_;
  explain::Fixes found_;
};

}  // namespace

explain::Fixes FindFixes(simulator::Simulation& simulation,
                         const std::shared_ptr<const api::Pod>& pod, const Clock& clock,
                         const FindOptions& options) {
  return Search(simulation, pod, clock, options).Run();
}

}  // namespace berth::fixes
