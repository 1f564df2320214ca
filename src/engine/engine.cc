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

Decision RefusedBy(const KeptRejections::KnownRefusal& known) {
  Decision decision;
  decision.kind = Decision::Kind::kUnfit;
  decision.kept = true;
  decision.refusal = &known.refusal;
  return decision;
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
  // What is kept of why a class is rejected is about all nodes.
  KeptRejections* known = nullptr;
  if (refuse_alike == RefuseAlike::kYes && cluster.placement == nullptr)
    known = FindRejections(profile, pod);
  if (known != nullptr) {
    if (auto refused = RefuseAsBefore(pod, cluster, percentage_of_nodes_to_score, *known))
      return *std::move(refused);
    // An extender is asked about the node that the pod is nominated for, and that once.
    if (!known->by_row() || (AsksExtenders(pod, cluster) && IsNominated(pod, cluster.nominated)))
      known = nullptr;
  }
  // First what the last pod of the class makes likely.
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
  Evaluation evaluation(profile, cycle, pod, cluster, result_);
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
  Evaluation evaluation(profile, cycle, pod, cluster, result_);
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
      if (KeptRejections* known = FindRejections(profile, pod)) known->DropRefusal();
      return Choose(evaluation);
    case Evaluation::Outcome::kUnfit:
      return Unfit(profile, cycle, pod, cluster, evaluation.from_known());
    case Evaluation::Outcome::kNoNodes:
      decision.kind = Decision::Kind::kNoNodes;
      return decision;
    case Evaluation::Outcome::kError:
      break;
  }
  return Failed(evaluation.error());
}

Decision Engine::Unfit(const framework::Profile& profile, framework::Cycle& cycle,
                       const PodInfo& pod, const ClusterState& cluster, bool from_known) {
  KeptRejections* known = nullptr;
  if (from_known) {
    known = kept_->FindRejections(profile, pod);
    if (!IsNominated(pod, cluster.nominated)) {
      if (const auto* refusal = known->FindRefusal(pod, cluster)) return RefusedBy(*refusal);
    }
    known->Fill(result_.diagnosis);
  } else {
    known = KeepRejections(profile, cycle, pod, cluster);
  }
  if (known != nullptr && known->by_row()) cycle.state.Write(VictimsOfCycle{&known->victims()});
  Decision decision;
  decision.kind = Decision::Kind::kUnfit;
  decision.evaluated_nodes = result_.diagnosis.statuses.num_explicit();
  decision.from_known = from_known;
  return decision;
}

KeptRejections* Engine::FindRejections(const framework::Profile& profile, const PodInfo& pod) {
  return kept_ == nullptr ? nullptr : kept_->FindRejections(profile, pod);
}

KeptRejections* Engine::KeepRejections(const framework::Profile& profile,
                                       const framework::Cycle& cycle, const PodInfo& pod,
                                       const ClusterState& cluster) {
  // An extender may answer differently the next time.
  if (kept_ == nullptr || cluster.placement != nullptr || HasAskedExtenders(cluster))
    return nullptr;
  return kept_->KeepRejections(profile, cycle, pod, cluster, result_.diagnosis);
}

bool Engine::HasAskedExtenders(const ClusterState& cluster) const {
  return cluster.extenders != nullptr && cluster.extenders->num_calls() != extender_calls_;
}

// Why a pod is refused that is nominated itself is its own affair.
std::optional<Decision> Engine::RefuseAsBefore(const PodInfo& pod, const ClusterState& cluster,
                                               int32_t percentage, const KeptRejections& known) {
  if (IsNominated(pod, cluster.nominated)) return std::nullopt;
  const KeptRejections::KnownRefusal* refusal = known.FindRefusal(pod, cluster);
  if (refusal == nullptr) return std::nullopt;
  // Preemption may have remembered more of the pod before. What was just found stays.
  kept_->Evict();
  if (refusal->looked_at > 0 && (Samples(percentage) || AsksExtenders(pod, cluster)))
    MoveOn(refusal->looked_at, cluster);
  return RefusedBy(*refusal);
}

std::optional<Decision> Engine::DecideFromKept(const framework::Profile& profile,
                                               framework::Cycle& cycle, const PodInfo& pod,
                                               const ClusterState& cluster, int32_t percentage) {
  if (kept_ == nullptr || AsksExtenders(pod, cluster) || IsNominated(pod, cluster.nominated)) {
    return std::nullopt;
  }
  std::optional<Sample> sample;
  if (Samples(percentage)) {
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

void Engine::KeepRefusal(const framework::Profile& profile, const PodInfo& pod,
                         const ClusterState& cluster, Refusal refusal) {
  if (cluster.placement != nullptr || IsNominated(pod, cluster.nominated) ||
      HasAskedExtenders(cluster)) {
    return;
  }
  KeptRejections* const known = FindRejections(profile, pod);
  if (known == nullptr) return;
  known->KeepRefusal(pod, cluster, {std::move(refusal), looked_at_});
  kept_->Evict();
}

Decision Engine::Choose(Evaluation& evaluation) {
  const std::vector<NodeRow>& rows = result_.rows;
  Decision decision;
  decision.kind = Decision::Kind::kScheduled;
  decision.feasible_nodes = rows.size();
  decision.evaluated_nodes = std::max(evaluation.num_candidates(), rows.size());
  if (rows.size() == 1) {
    decision.node = rows.front();
    return decision;
  }
  if (evaluation.Score(nullptr) == Evaluation::Outcome::kError) return Failed(evaluation.error());
  const std::vector<int64_t>& totals = result_.totals;
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
