// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "berth/label_selector.h"
#include "src/fixes/propose.h"

namespace berth::fixes {
namespace {

using explain::EvictPods;
using informers::Kind;

constexpr size_t kMostNodes = 3;

// The budgets that select some of the pods, by name.
std::vector<EvictPods::Budget> BudgetsOf(const std::vector<const PodInfo*>& pods,
                                         const simulator::MemoryApi& objects) {
  std::vector<EvictPods::Budget> budgets;
  objects.ForEach(Kind::kPodDisruptionBudget, [&](const api::ObjectPtr& object) {
    const auto& budget = *api::As<api::PodDisruptionBudget>(object);
    const auto selector = LabelSelectorMatcher::Make(budget.spec.selector);
    if (!selector) return;
    const auto evicted = std::ranges::count_if(pods, [&](const PodInfo* pod) {
      const api::ObjectMeta& meta = pod->pod->metadata;
      return meta.namespace_ == budget.metadata.namespace_ && selector->Matches(meta.labels);
    });
    if (evicted == 0) return;
    budgets.push_back({budget.metadata.Key(), evicted, budget.status.disruptions_allowed});
  });
  return budgets;
}

void PreviewEvictions(TrialCluster& trial, std::string_view node,
                      std::vector<explain::Change>& out) {
  const std::unique_ptr<engine::Judgement> judgement = trial.Judge();
  judgement->Explain();
  judgement->PreviewPreemption();
  if (!judgement->preemption()) return;
  const PreemptionPreview& preview = *judgement->preemption();
  std::vector<size_t> order(preview.candidates.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto rank = [&](size_t i) {
    const PreemptionCandidate& candidate = preview.candidates[i];
    return std::tuple(!std::ranges::binary_search(preview.best, i), candidate.num_pdb_violations,
                      candidate.victims.size(), i);
  };
  std::ranges::sort(order, {}, rank);
  size_t proposed = 0;
  for (const size_t i : order) {
    const PreemptionCandidate& candidate = preview.candidates[i];
    EvictPods change;
    change.node = judgement->snapshot().node(candidate.row).metadata.name;
    if (!node.empty() && change.node != node) continue;
    if (++proposed > kMostNodes) return;
    for (const PodInfo* victim : candidate.victims) {
      change.pods.push_back(victim->pod->metadata.Key());
    }
    change.budgets = BudgetsOf(candidate.victims, trial.objects());
    out.push_back(std::move(change));
  }
}

}  // namespace

void ProposeEvictions(TrialCluster& trial, std::string_view node,
                      std::vector<explain::Change>& out) {
  // Whether the pod itself may preempt says nothing about what a person may evict.
  if (trial.pod().spec.preemption_policy == "Never") {
    auto pod = std::make_shared<api::Pod>(trial.pod());
    pod->spec.preemption_policy.reset();
    const size_t depth = trial.depth();
    trial.Tell(std::move(pod));
    PreviewEvictions(trial, node, out);
    trial.TakeBackTo(depth);
  } else {
    PreviewEvictions(trial, node, out);
  }
}

}  // namespace berth::fixes
