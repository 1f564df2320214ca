// SPDX-License-Identifier: Apache-2.0
#include "src/engine/engine.h"

#include <algorithm>
#include <string>
#include <utility>

#include "src/cache/node_order.h"
#include "src/engine/filter.h"
#include "src/engine/kept_evaluations.h"
#include "src/framework/timing.h"

namespace berth::engine {
namespace {

constexpr size_t kMinFeasibleNodesToFind = 100;

Decision Failed(const Status& status) {
  Decision decision;
  decision.kind = Decision::Kind::kError;
  decision.error = status.message();
  return decision;
}

Decision Unfit(const Diagnosis& diagnosis) {
  Decision decision;
  decision.kind = Decision::Kind::kUnfit;
  decision.evaluated_nodes = diagnosis.statuses.num_explicit();
  return decision;
}

bool IsNominated(const PodInfo& pod, const NominatedPods& nominated) {
  return !pod.pod->status.nominated_node_name.empty() ||
         !nominated.NodeOf(pod.pod->metadata.uid).empty();
}

}  // namespace

int32_t AdaptivePercentageOfNodesToScore(size_t nodes) {
  constexpr int64_t kDefault = 50;
  constexpr int64_t kLeast = 5;
  constexpr int64_t kNodesForOneLess = 125;
  return static_cast<int32_t>(
      std::max(kDefault - static_cast<int64_t>(nodes) / kNodesForOneLess, kLeast));
}

bool NominatedPods::Matter(const PodInfo& pod) const {
  if (empty()) return false;
  bool matter = false;
  ForEach([&](std::string_view, const PodInfo& other) { matter = matter || Counts(pod, other); });
  return matter;
}

size_t NumFeasibleNodesToFind(size_t nodes, int32_t percentage) {
  if (nodes < kMinFeasibleNodesToFind) return nodes;
  const size_t wanted = nodes * static_cast<size_t>(percentage) / 100;
  return std::max(wanted, kMinFeasibleNodesToFind);
}

Engine::Engine(Random random) : random_(random) {}

Engine::Engine(Random random, const cache::Cache& cache, size_t max_kept_bytes)
    : random_(random),
      kept_(max_kept_bytes == 0 ? nullptr
                                : std::make_unique<KeptEvaluations>(cache, max_kept_bytes)) {}

Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

void Engine::ForgetKept() {
  if (kept_ != nullptr) kept_->Clear();
}

void Engine::AgeKept() {
  if (kept_ != nullptr) kept_->Age();
}

void Engine::KeepRefusal(const framework::Profile& profile, framework::Cycle cycle,
                         const PodInfo& pod, const World& world, Refusal refusal) {
  if (kept_ == nullptr || IsNominated(pod, world.nominated)) return;
  // An extender may answer differently the next time.
  if (world.extenders != nullptr && world.extenders->num_calls() != extender_calls_) return;
  kept_->KeepRefusal(profile, std::move(cycle), pod, world, diagnosis_, std::move(refusal));
}

void Engine::FillOrder(const World& world) {
  order_.clear();
  if (world.node_order != nullptr) {
    for (const NodeRow row : world.node_order->rows()) {
      if (candidates_.Test(row)) order_.push_back(row);
    }
  } else {
    candidates_.ForEach([this](NodeRow row) { order_.push_back(row); });
  }
  if (order_.empty()) return;
  const size_t start = next_start_node_index_ % order_.size();
  std::rotate(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(start), order_.end());
}

// The search ends at the feasible node that is one too many; that one counts as not looked at.
void Engine::Sample(size_t wanted) {
  if (feasible_.Count() <= wanted) return;
  size_t found = 0;
  for (const NodeRow row : order_) {
    if (found <= wanted && feasible_.Test(row)) ++found;
    if (found <= wanted) continue;
    candidates_.Clear(row);
    feasible_.Clear(row);
  }
}

Status Engine::AskExtenders(const World& world, const framework::Cycle& cycle, const PodInfo& pod,
                            NodeSet& feasible) {
  if (world.extenders == nullptr || !world.extenders->Involved(*pod.pod)) return Status::Success();
  std::erase_if(order_, [&feasible](NodeRow row) { return !feasible.Test(row); });
  const size_t asked = order_.size();
  auto left = world.extenders->Filter(*pod.pod, world.snapshot, std::move(order_));
  if (!left) return cycle.state.reasons().Error(left.error().message);
  for (const auto& [row, code, reason] : left->rejected) {
    diagnosis_.statuses.Set(row, cycle.state.reasons().Make(code, reason), extender::kExtenderName);
  }
  order_ = std::move(left->nodes);
  feasible.Assign(feasible.size(), false);
  for (const NodeRow row : order_) feasible.Set(row);
  // No event tells what would change an extender's mind, so any may.
  if (order_.size() != asked) diagnosis_.AddPlugin(extender::kExtenderName);
  return Status::Success();
}

Decision Engine::Schedule(const framework::Profile& profile, framework::Cycle& cycle,
                          const PodInfo& pod, const World& world,
                          int32_t percentage_of_nodes_to_score, RefuseAlike refuse_alike) {
  const Snapshot& snapshot = world.snapshot;
  const bool all_nodes = percentage_of_nodes_to_score <= 0 || percentage_of_nodes_to_score >= 100;
  const bool asks_extenders = world.extenders != nullptr && world.extenders->Involved(*pod.pod);
  if (world.extenders != nullptr) extender_calls_ = world.extenders->num_calls();
  if (kept_ != nullptr) {
    // Why a pod is refused that is nominated itself is its own affair.
    if (refuse_alike == RefuseAlike::kYes && !IsNominated(pod, world.nominated)) {
      if (const Refusal* refusal = kept_->FindRefusal(profile, pod, world)) {
        Decision decision;
        decision.kind = Decision::Kind::kUnfit;
        decision.kept = true;
        decision.refusal = refusal;
        return decision;
      }
    }
    if (all_nodes && !asks_extenders && pod.pod->status.nominated_node_name.empty() &&
        !world.nominated.Matter(pod)) {
      if (auto kept =
              kept_->Decide(profile, cycle.observer, pod, world.objects_generation, random_)) {
        return *kept;
      }
    }
  }
  diagnosis_.Reset(snapshot.num_rows());
  diagnosis_.num_all_nodes = snapshot.num_nodes();
  if (snapshot.num_nodes() == 0) {
    Decision decision;
    decision.kind = Decision::Kind::kNoNodes;
    return decision;
  }

  const Status pre_filter = PreFilterNodes(profile, cycle, pod, snapshot, diagnosis_, candidates_);
  if (!pre_filter.ok()) return pre_filter.rejected() ? Unfit(diagnosis_) : Failed(pre_filter);

  const std::string& nominated_node = pod.pod->status.nominated_node_name;
  if (!nominated_node.empty()) {
    const NodeRow row = snapshot.FindNode(nominated_node);
    if (row != kNoRow) {
      NodeSet only(snapshot.num_rows());
      only.Set(row);
      FilterPass pass(profile, cycle, pod, world);
      NodeSet left = only;
      order_.assign(1, row);
      if (pass.Run(left).ok() && AskExtenders(world, cycle, pod, left).ok() && !left.Empty()) {
        candidates_ = left;
        return Choose(profile, cycle, pod, world, left);
      }
      // What was said of it counts, even where PreFilter leaves it out.
      const bool narrowed = !diagnosis_.statuses.absent().reasons().empty();
      if (pass.Explain(only, diagnosis_).ok() && narrowed) {
        SetNarrowedReason(cycle.state, diagnosis_);
      }
    }
  }

  framework::PointTimer timer(profile, cycle.observer, framework::ExtensionPoint::kFilter);
  FilterPass pass(profile, cycle, pod, world);
  feasible_ = candidates_;
  if (const Status status = pass.Run(feasible_); !status.ok()) {
    timer.Finish(status.code());
    return Failed(status);
  }
  timer.Finish(Code::kSuccess);

  const size_t candidates = candidates_.Count();
  const extender::Extenders* extenders = world.extenders;
  if (percentage_of_nodes_to_score == 0 && asks_extenders) {
    percentage_of_nodes_to_score = AdaptivePercentageOfNodesToScore(candidates);
  }
  const bool samples = percentage_of_nodes_to_score > 0 && percentage_of_nodes_to_score < 100;
  if (samples || asks_extenders) FillOrder(world);
  if (samples) {
    const bool any_will_do =
        profile.plugins().score.empty() &&
        (extenders == nullptr || (!extenders->HasFilter() && !extenders->HasPrioritizer()));
    const size_t wanted =
        any_will_do ? 1 : NumFeasibleNodesToFind(candidates, percentage_of_nodes_to_score);
    Sample(wanted);
  }
  if (samples || asks_extenders) {
    next_start_node_index_ = (next_start_node_index_ + candidates_.Count()) % snapshot.num_nodes();
  }
  if (const Status status = AskExtenders(world, cycle, pod, feasible_); !status.ok()) {
    return Failed(status);
  }
  if (!feasible_.Empty()) return Choose(profile, cycle, pod, world, feasible_);

  if (const Status status = pass.Explain(candidates_, diagnosis_); !status.ok()) {
    return Failed(status);
  }
  return Unfit(diagnosis_);
}

Decision Engine::Choose(const framework::Profile& profile, framework::Cycle& cycle,
                        const PodInfo& pod, const World& world, const NodeSet& feasible) {
  const Snapshot& snapshot = world.snapshot;
  rows_.clear();
  feasible.ForEach([this](NodeRow row) { rows_.push_back(row); });
  if (kept_ != nullptr) kept_->DropRefusal(profile, pod);
  Decision decision;
  decision.kind = Decision::Kind::kScheduled;
  decision.feasible_nodes = rows_.size();
  decision.evaluated_nodes = std::max(candidates_.Count(), rows_.size());
  if (rows_.size() == 1) {
    decision.node = rows_.front();
    return decision;
  }
  if (const Status status = framework::RunPreScore(profile, cycle, pod, snapshot, feasible);
      !status.ok()) {
    return Failed(status);
  }
  if (const Status status =
          framework::RunScore(profile, cycle, pod, snapshot, rows_, totals_, nullptr);
      !status.ok()) {
    return Failed(status);
  }
  if (world.extenders != nullptr) {
    world.extenders->Prioritize(*pod.pod, snapshot, order_, rows_, totals_);
  }
  const int64_t best = *std::max_element(totals_.begin(), totals_.end());
  const auto ties = static_cast<uint64_t>(std::count(totals_.begin(), totals_.end(), best));
  uint64_t skip = ties == 1 ? 0 : random_.Below(ties);
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (totals_[i] != best) continue;
    if (skip-- == 0) {
      decision.node = rows_[i];
      break;
    }
  }
  return decision;
}

}  // namespace berth::engine
