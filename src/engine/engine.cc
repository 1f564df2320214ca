// SPDX-License-Identifier: Apache-2.0
#include "src/engine/engine.h"

#include <algorithm>
#include <utility>

#include "src/cache/node_order.h"
#include "src/engine/kept_evaluations.h"
#include "src/engine/sample.h"

namespace berth::engine {
namespace {

Decision Failed(const std::string& error) {
  Decision decision;
  decision.kind = Decision::Kind::kError;
  decision.error = error;
  return decision;
}

bool IsNominated(const PodInfo& pod, const cache::Nominator& nominated) {
  return !pod.pod->status.nominated_node_name.empty() ||
         !nominated.NominatedNode(pod.pod->metadata.uid).empty();
}

bool AsksExtenders(const PodInfo& pod, const ClusterState& cluster) {
  return cluster.extenders != nullptr && cluster.extenders->Involved(*pod.pod);
}

// Whether the filters alone decide, about every node.
bool SpeaksOfAllNodes(const PodInfo& pod, const ClusterState& cluster) {
  return cluster.placement == nullptr && !AsksExtenders(pod, cluster);
}

}  // namespace

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

Decision Engine::Schedule(const framework::Profile& profile, framework::Cycle& cycle,
                          const PodInfo& pod, const ClusterState& cluster,
                          int32_t percentage_of_nodes_to_score, RefuseAlike refuse_alike) {
  if (cluster.extenders != nullptr) extender_calls_ = cluster.extenders->num_calls();
  const bool refuses_alike = refuse_alike == RefuseAlike::kYes;
  if (refuses_alike) {
    if (auto refused = Refuse(profile, pod, cluster, percentage_of_nodes_to_score))
      return *std::move(refused);
  }
  // First what the last pod of the class makes likely.
  KeptRejections* known = refuses_alike ? FindRejections(profile, pod, cluster) : nullptr;
  const bool known_first = known != nullptr && known->expects_rejection();
  const auto decide_from_known = [&] {
    return DecideFromKnown(profile, cycle, pod, cluster, percentage_of_nodes_to_score, *known);
  };
  if (known_first) {
    if (auto decided = decide_from_known()) return *std::move(decided);
  }
  if (auto kept = DecideFromKept(profile, cycle, pod, cluster, percentage_of_nodes_to_score)) {
    return *std::move(kept);
  }
  if (known != nullptr && !known_first) {
    if (auto decided = decide_from_known()) return *std::move(decided);
  }
  Evaluation evaluation(profile, cycle, pod, cluster, findings_);
  const Evaluation::Outcome outcome =
      evaluation.Search(percentage_of_nodes_to_score, next_start_node_index_);
  // Preemption may have remembered more of the pod before.
  if (kept_ != nullptr) kept_->Evict();
  return Conclude(profile, cycle, pod, cluster, evaluation, outcome);
}

std::optional<Decision> Engine::DecideFromKnown(const framework::Profile& profile,
                                                framework::Cycle& cycle, const PodInfo& pod,
                                                const ClusterState& cluster, int32_t percentage,
                                                KeptRejections& known) {
  Evaluation evaluation(profile, cycle, pod, cluster, findings_);
  bool ended = false;
  const auto outcome = evaluation.SearchKnown(percentage, next_start_node_index_, known, ended);
  if (ended) kept_->DropRejections(profile, pod);
  kept_->Evict();  // what was found on the way may have taken room
  if (outcome) return Conclude(profile, cycle, pod, cluster, evaluation, *outcome);
  cycle = cycle.Fresh();
  return std::nullopt;
}

Decision Engine::Conclude(const framework::Profile& profile, framework::Cycle& cycle,
                          const PodInfo& pod, const ClusterState& cluster, Evaluation& evaluation,
                          Evaluation::Outcome outcome) {
  looked_at_ = evaluation.has_filtered() ? evaluation.num_candidates() : 0;
  if (outcome == Evaluation::Outcome::kUnfit) outcome = evaluation.Explain();
  Decision decision;
  switch (outcome) {
    case Evaluation::Outcome::kFeasible:
      if (kept_ != nullptr) kept_->DropRefusal(profile, pod);
      return Choose(evaluation);
    case Evaluation::Outcome::kUnfit: {
      decision.kind = Decision::Kind::kUnfit;
      decision.evaluated_nodes = findings_.diagnosis.statuses.num_explicit();
      decision.from_known = evaluation.from_known();
      KeptRejections* const known = evaluation.from_known()
                                        ? kept_->FindRejections(profile, pod)
                                        : KeepRejections(profile, cycle, pod, cluster);
      if (known != nullptr) cycle.state.Write(VictimsOfCycle{&known->victims()});
      return decision;
    }
    case Evaluation::Outcome::kNoNodes:
      decision.kind = Decision::Kind::kNoNodes;
      return decision;
    case Evaluation::Outcome::kError:
      break;
  }
  return Failed(evaluation.error());
}

KeptRejections* Engine::FindRejections(const framework::Profile& profile, const PodInfo& pod,
                                       const ClusterState& cluster) {
  if (kept_ == nullptr || !SpeaksOfAllNodes(pod, cluster)) return nullptr;
  return kept_->FindRejections(profile, pod);
}

KeptRejections* Engine::KeepRejections(const framework::Profile& profile,
                                       const framework::Cycle& cycle, const PodInfo& pod,
                                       const ClusterState& cluster) {
  if (kept_ == nullptr || !SpeaksOfAllNodes(pod, cluster)) return nullptr;
  return kept_->KeepRejections(profile, cycle, pod, cluster, findings_.diagnosis);
}

std::optional<Decision> Engine::Refuse(const framework::Profile& profile, const PodInfo& pod,
                                       const ClusterState& cluster, int32_t percentage) {
  // Why a pod is refused that is nominated itself is its own affair, and a refusal speaks of all
  // nodes.
  if (kept_ == nullptr || cluster.placement != nullptr || IsNominated(pod, cluster.nominated)) {
    return std::nullopt;
  }
  const KeptRefusal* known = kept_->FindRefusal(profile, pod, cluster);
  if (known == nullptr) return std::nullopt;
  if (percentage > 0 && percentage < 100) MoveOn(known->looked_at(), cluster);
  Decision decision;
  decision.kind = Decision::Kind::kUnfit;
  decision.kept = true;
  decision.refusal = &known->refusal();
  return decision;
}

std::optional<Decision> Engine::DecideFromKept(const framework::Profile& profile,
                                               framework::Cycle& cycle, const PodInfo& pod,
                                               const ClusterState& cluster, int32_t percentage) {
  if (kept_ == nullptr || AsksExtenders(pod, cluster) || IsNominated(pod, cluster.nominated)) {
    return std::nullopt;
  }
  const bool all_nodes = percentage <= 0 || percentage >= 100;
  std::optional<Sample> sample;
  if (!all_nodes) {
    if (cluster.placement != nullptr || cluster.node_order == nullptr) return std::nullopt;
    const size_t nodes = cluster.num_nodes();
    sample = {.order = cluster.node_order->rows(),
              .start = next_start_node_index_,
              .wanted = NumNodesToFind(profile, cluster.extenders, nodes, percentage)};
  }
  auto decision = kept_->Decide(profile, cycle, pod, cluster, sample ? &*sample : nullptr, random_);
  if (decision && sample) MoveOn(decision->evaluated_nodes, cluster);
  // PostFilter tells by a plugin's state whether the pod's evaluation has asked its PreFilter.
  if (!decision) cycle.state = CycleState();
  return decision;
}

// The search that would have been made begins where it would have ended.
void Engine::MoveOn(size_t looked_at, const ClusterState& cluster) {
  next_start_node_index_ = (next_start_node_index_ + looked_at) % cluster.num_nodes();
}

void Engine::KeepRefusal(const framework::Profile& profile, framework::Cycle cycle,
                         const PodInfo& pod, const ClusterState& cluster, Refusal refusal) {
  if (kept_ == nullptr || cluster.placement != nullptr || IsNominated(pod, cluster.nominated))
    return;
  // An extender may answer differently the next time.
  if (cluster.extenders != nullptr && cluster.extenders->num_calls() != extender_calls_) return;
  kept_->KeepRefusal(profile, std::move(cycle), pod, cluster, findings_.diagnosis, looked_at_,
                     std::move(refusal));
}

Decision Engine::Choose(Evaluation& evaluation) {
  const std::vector<NodeRow>& rows = findings_.rows;
  Decision decision;
  decision.kind = Decision::Kind::kScheduled;
  decision.feasible_nodes = rows.size();
  decision.evaluated_nodes = std::max(evaluation.num_candidates(), rows.size());
  if (rows.size() == 1) {
    decision.node = rows.front();
    return decision;
  }
  if (evaluation.Score(nullptr) == Evaluation::Outcome::kError) return Failed(evaluation.error());
  const std::vector<int64_t>& totals = findings_.totals;
  const int64_t best = *std::max_element(totals.begin(), totals.end());
  const auto ties = static_cast<uint64_t>(std::count(totals.begin(), totals.end(), best));
  uint64_t skip = ties == 1 ? 0 : random_.Below(ties);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (totals[i] != best) continue;
    if (skip-- == 0) {
      decision.node = rows[i];
      break;
    }
  }
  return decision;
}

}  // namespace berth::engine
