// SPDX-License-Identifier: Apache-2.0
#include "src/engine/kept_nominations.h"

#include <algorithm>
#include <utility>

#include "src/framework/guarded.h"
#include "src/framework/timing.h"

namespace berth::engine {

void KeptNominations::Clear() {
  if (answers_.empty()) return;
  valid_ = false;
  answers_.clear();
  rejected_.clear();
  CountBytes();
}

bool KeptNominations::Refresh(const DecisionInput& input,
                              const std::vector<std::shared_ptr<KeptVerdicts>>& verdicts) {
  asked_.clear();
  bool local = true;
  for (const std::shared_ptr<KeptVerdicts>& one : verdicts) {
    if (one->skipped()) continue;
    asked_.push_back({.verdicts = one.get(), .own = {}});
    local = local && one->step().scope.local();
  }
  Changes& changes = input.changes;
  const bool same_nominations = valid_ && priority_ == input.pod.priority() &&
                                nominations_generation_ == input.nominated->generation();
  const bool same_cluster = valid_ && generation_ == changes.cache().generation() &&
                            objects_generation_ == input.objects_generation;
  if (same_nominations && same_cluster) return true;
  changes.Read(generation_);
  const bool known = valid_ && changes.complete() && changes.nodes().empty();
  // One that is skipped now may have rejected the row before.
  const bool was_local = std::exchange(local_, local);
  if (!known || !((local && was_local) || same_cluster)) {
    for (auto& [row, answer] : answers_) answer.known = false;
  } else {
    for (const NodeRow row : changes.pods()) {
      if (const auto changed = answers_.find(row); changed != answers_.end())
        changed->second.known = false;
    }
  }
  if (!same_nominations || !known) FindRows(input);
  valid_ = AskAll(input);
  asked_.clear();
  if (!valid_) return false;
  priority_ = input.pod.priority();
  nominations_generation_ = input.nominated->generation();
  generation_ = changes.generation();
  objects_generation_ = input.objects_generation;
  CountBytes();
  return true;
}

// Keeps the answers of rows for which the same pods are nominated.
void KeptNominations::FindRows(const DecisionInput& input) {
  absl::flat_hash_map<NodeRow, Answer> before = std::exchange(answers_, {});
  const cache::Cache& cache = input.changes.cache();
  input.nominated->ForEach([&](std::string_view node_name, const PodInfoPtr& nominated) {
    if (!input.nominated->Counts(input.pod, *nominated)) return;
    const NodeRow row = cache.FindNode(node_name);
    if (row != kNoRow) answers_[row].pods.push_back(nominated);
  });
  for (auto& [row, answer] : answers_) {
    const auto old = before.find(row);
    if (old != before.end() && old->second.known && old->second.pods == answer.pods) {
      answer = std::move(old->second);
    }
  }
}

bool KeptNominations::AskAll(const DecisionInput& input) {
  rejected_.clear();
  bool prepared = false;
  for (auto& [row, answer] : answers_) {
    if (!answer.known) {
      if (!std::exchange(prepared, true) && !AskPreFilters(input)) return false;
      if (!Ask(input, row, answer)) return false;
    }
    if (!answer.passes) rejected_.push_back(row);
  }
  return true;
}

bool KeptNominations::AskPreFilters(const DecisionInput& input) {
  return std::ranges::all_of(asked_, [&](Asked& asked) {
    const FilterStep& step = asked.verdicts->step();
    asked.has_own = step.extensions != nullptr;
    return !asked.has_own ||
           framework::Guarded(asked.own, [&] {
             return step.pre_filter->PreFilter(asked.own, input.pod, input.changes.cache()).status;
           }).ok();
  });
}

bool KeptNominations::Ask(const DecisionInput& input, NodeRow row, Answer& answer) const {
  std::vector<CycleState> imagined(asked_.size());
  for (size_t i = 0; i < asked_.size(); ++i) {
    if (asked_[i].has_own) imagined[i] = asked_[i].own.Clone();
  }
  Overlay overlay;
  const NodeView node(input.changes.cache(), row, &overlay);
  for (const PodInfoPtr& nominated : answer.pods) {
    overlay.AddPod(*nominated);
    for (size_t i = 0; i < asked_.size(); ++i) {
      if (!asked_[i].has_own) continue;
      PreFilterExtensions& extensions = *asked_[i].verdicts->step().extensions;
      const Status added = framework::Guarded(
          imagined[i], [&] { return extensions.AddPod(imagined[i], input.pod, *nominated, node); });
      if (!added.ok()) return false;
    }
  }
  answer.known = true;
  answer.passes = true;
  for (size_t i = 0; i < asked_.size() && answer.passes; ++i) {
    const FilterStep& step = asked_[i].verdicts->step();
    if (step.filter == nullptr) continue;
    framework::CountEvaluations(input.profile, input.cycle.observer, step.name,
                                framework::ExtensionPoint::kFilter, 1);
    const CycleState& state = asked_[i].has_own ? imagined[i] : asked_[i].verdicts->state();
    const Status status = framework::RunFilterPlugin(*step.filter, state, input.pod, node);
    if (status.code() == Code::kError) return false;
    answer.passes = status.ok();
  }
  return true;
}

void KeptNominations::CountBytes() {
  size_t pods = 0;
  for (const auto& [row, answer] : answers_) pods += answer.pods.capacity();
  bytes_.Set(answers_.capacity() * sizeof(std::pair<NodeRow, Answer>) + pods * sizeof(PodInfoPtr) +
             rejected_.capacity() * sizeof(NodeRow));
}

}  // namespace berth::engine
