// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/default_preemption.h"

#include <algorithm>
#include <chrono>

#include "berth/field_errors.h"
#include "berth/fit_error.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kPercentage = "minCandidateNodesPercentage";
constexpr std::string_view kAbsolute = "minCandidateNodesAbsolute";

DefaultPreemptionArgs ReadPreemptionArgs(FieldReader& fields) {
  DefaultPreemptionArgs args;
  fields.Read(kPercentage, args.min_candidate_nodes_percentage);
  fields.Read(kAbsolute, args.min_candidate_nodes_absolute);
  return args;
}

std::vector<std::string> PreemptionProblems(const DefaultPreemptionArgs& args,
                                            const std::string& path) {
  const std::string percentage_path = FieldPath(path, kPercentage);
  const std::string absolute_path = FieldPath(path, kAbsolute);
  const int32_t percentage = args.min_candidate_nodes_percentage;
  const int32_t absolute = args.min_candidate_nodes_absolute;
  std::vector<std::string> problems;
  CheckRange(percentage, 0, 100, percentage_path, problems);
  CheckRange(absolute, 0, INT64_MAX, absolute_path, problems);
  if (percentage == 0 && absolute == 0) {
    problems.push_back(InvalidField(
        percentage_path, "0", "cannot be zero at the same time as minCandidateNodesAbsolute"));
    problems.push_back(InvalidField(
        absolute_path, "0", "cannot be zero at the same time as minCandidateNodesPercentage"));
  }
  return problems;
}

ConfigValue WithPreemptionDefaults(const ConfigValue& args, const ArgsFeatures&) {
  const DefaultPreemptionArgs defaults;
  return WithDefault(
      WithDefault(args, kPercentage, ConfigValue(int64_t{defaults.min_candidate_nodes_percentage})),
      kAbsolute, ConfigValue(int64_t{defaults.min_candidate_nodes_absolute}));
}

constexpr std::string_view kPrefix = "preemption: ";
constexpr std::string_view kPod = "pod";
constexpr std::string_view kNotHelpful = "Preemption is not helpful for scheduling";

}  // namespace

constexpr ArgsKind<DefaultPreemptionArgs> kDefaultPreemptionArgs =
    MakeArgsKind<"DefaultPreemption", ReadPreemptionArgs, PreemptionProblems>(
        WithPreemptionDefaults);

DefaultPreemption::DefaultPreemption(const DefaultPreemptionArgs& args, Handle& handle)
    : DefaultPreemption(args, handle, kName, Nodes::kSome) {}

DefaultPreemption::DefaultPreemption(const DefaultPreemptionArgs& args, Handle& handle,
                                     std::string_view plugin, Nodes nodes)
    : handle_(handle),
      args_(args),
      nodes_(nodes),
      evictions_(std::make_shared<Evictions>(handle, plugin)),
      no_victims_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable,
                                        "No preemption victims found for incoming pod")),
      waiting_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable,
                                     "waiting for the preemption for this pod to be finished")),
      group_waiting_(
          handle.reasons().Make(Code::kUnschedulableAndUnresolvable,
                                "waiting for the preemption for this pod group to be finished")) {}

PostFilterResult DefaultPreemption::PostFilter(CycleState& state, const PodInfo& pod,
                                               const Snapshot& snapshot,
                                               const NodeToStatus& statuses) {
  handle_.CountMetric("preemption_attempts_total", {}, 1);
  const Time start = handle_.stopwatch().Now();
  PostFilterResult result = Preempt(state, pod, snapshot, statuses);
  if (handle_.features().generic_workload) {
    const std::chrono::duration<double> took = handle_.stopwatch().Now() - start;
    handle_.ObserveMetric("preemption_evaluation_duration_seconds",
                          {kPod, CodeName(result.status.code())}, took.count());
  }
  return result;
}

PostFilterResult DefaultPreemption::Preempt(CycleState& state, const PodInfo& pod,
                                            const Snapshot& snapshot,
                                            const NodeToStatus& statuses) {
  if (const Status status = MayPreempt(state, pod, snapshot, statuses); !status.ok()) {
    return {status};
  }
  Search search = FindCandidates(state, pod, snapshot, statuses, nodes_);
  if (search.candidates.empty()) return Unhelpful(state, snapshot, search);
  const auto candidates = handle_.ProcessPreemption(pod, std::move(search.candidates));
  if (!candidates) {
    return {state.reasons().Error(std::string(kPrefix) + candidates.error().message)};
  }
  if (candidates->empty()) return {Reject(state, "no candidate node for preemption")};

  const Time now = handle_.clock().WallNow();
  const Candidate& best = (*candidates)[PickCandidate(*candidates, now, handle_.random())];
  const std::string& node_name = snapshot.node(best.row).metadata.name;
  Execute(pod, snapshot, best);
  const std::string message = "found a potential placement for pod on node " + node_name +
                              ", preempting " + std::to_string(best.victims.size()) + " victims";
  return {state.reasons().Make(Code::kSuccess, std::string(kPrefix) + message),
          NominatingInfo{NominatingMode::kOverride, node_name}};
}

PreemptionPreview DefaultPreemption::Preview(CycleState& state, const PodInfo& pod,
                                             const Snapshot& snapshot,
                                             const NodeToStatus& statuses) {
  PreemptionPreview preview;
  if (const Status status = MayPreempt(state, pod, snapshot, statuses); !status.ok()) {
    preview.message = status.message();
    return preview;
  }
  Search search = FindCandidates(state, pod, snapshot, statuses, Nodes::kAll);
  if (search.candidates.empty()) {
    preview.message = Unhelpful(state, snapshot, search).status.message();
    return preview;
  }
  preview.candidates = std::move(search.candidates);
  std::sort(preview.candidates.begin(), preview.candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.row < b.row; });
  preview.best = BestCandidates(preview.candidates, handle_.clock().WallNow());
  return preview;
}

void DefaultPreemption::TakeOver(PreemptionPlugin& predecessor) {
  evictions_ = static_cast<DefaultPreemption&>(predecessor).evictions_;
}

void DefaultPreemption::TakeMovedGates(std::vector<std::string>& pod_keys) {
  evictions_->TakeMoved(pod_keys);
}

Status DefaultPreemption::MayPreempt(const CycleState& state, const PodInfo& pod,
                                     const Snapshot& snapshot, const NodeToStatus& statuses) const {
  const api::ObjectMeta& metadata = pod.pod->metadata;
  const auto newest = handle_.FindPendingPod(metadata.namespace_, metadata.name);
  if (newest == nullptr) {
    const std::string missing = "pod " + Quoted(metadata.name) + " not found";
    return state.reasons().Error(std::string(kPrefix) + missing);
  }
  const std::string_view reason = NotEligible(*newest, snapshot, statuses);
  return reason.empty() ? Status::Success() : Reject(state, reason);
}

std::string_view DefaultPreemption::NotEligible(const api::Pod& pod, const Snapshot& snapshot,
                                                const NodeToStatus& statuses) const {
  if (pod.spec.preemption_policy == "Never") return "not eligible due to preemptionPolicy=Never.";
  const std::string& nominated_node = pod.status.nominated_node_name;
  if (nominated_node.empty()) return "";
  const NodeRow row = snapshot.FindNode(nominated_node);
  if (row == kNoRow || statuses.Get(row).code() == Code::kUnschedulableAndUnresolvable) return "";
  for (const PodInfo* placed : snapshot.pods(row)) {
    if (GoesFor(pod, *placed, snapshot)) {
      return "not eligible due to a terminating pod on the nominated node.";
    }
  }
  return "";
}

bool DefaultPreemption::GoesFor(const api::Pod& pod, const PodInfo& placed,
                                const Snapshot& snapshot) const {
  return TerminatingByPreemption(*placed.pod) &&
         Victims(handle_, snapshot).PriorityOf(placed) < pod.priority();
}

std::unique_ptr<VictimSelection> DefaultPreemption::MakeSelection(const SelectionInput& input) {
  return std::make_unique<VictimSelection>(input.pod, input.snapshot, input.victims, input.dry_run,
                                           input.budgets, input.now, input.known);
}

size_t DefaultPreemption::NumCandidates(size_t nodes) const {
  const size_t wanted =
      std::max(nodes * static_cast<size_t>(args_.min_candidate_nodes_percentage) / 100,
               static_cast<size_t>(args_.min_candidate_nodes_absolute));
  return std::min(wanted, nodes);
}

DefaultPreemption::Search DefaultPreemption::FindCandidates(CycleState& state, const PodInfo& pod,
                                                            const Snapshot& snapshot,
                                                            const NodeToStatus& statuses,
                                                            Nodes nodes) {
  const bool all = nodes == Nodes::kAll;
  Search search;
  std::vector<NodeRow> potential;
  snapshot.nodes().ForEach([&](NodeRow row) {
    if (statuses.Get(row).code() == Code::kUnschedulable) potential.push_back(row);
  });
  if (potential.empty()) return search;

  const Time now = handle_.clock().WallNow();
  const size_t offset = all ? 0 : handle_.random().Below(potential.size());
  const size_t wanted = all ? potential.size() + 1 : NumCandidates(potential.size());
  DisruptionBudgets budgets(handle_.listers());
  const std::unique_ptr<DryRun> dry_run = handle_.StartDryRun(state, pod);
  Victims victims(handle_, snapshot);
  const auto* kept = state.Find<VictimsOfCycle>();
  const std::unique_ptr<VictimSelection> selection = MakeSelection(
      {pod, snapshot, victims, *dry_run, budgets, now, kept == nullptr ? nullptr : kept->known});
  std::vector<Candidate> violating;
  Candidate candidate;
  for (size_t i = 0; i < potential.size(); ++i) {
    const NodeRow row = potential[(offset + i) % potential.size()];
    Status status = selection->Select(row, candidate, no_victims_);
    if (status.ok() && candidate.victims.empty()) {
      status = state.reasons().Error("expected at least one victim pod on node " +
                                     Quoted(snapshot.node(row).metadata.name));
    }
    if (!status.ok()) {
      search.rejected.emplace_back(row, status);
      continue;
    }
    std::vector<Candidate>& list =
        candidate.num_pdb_violations == 0 ? search.candidates : violating;
    if (list.size() < wanted) list.push_back(std::move(candidate));
    if (!search.candidates.empty() && search.candidates.size() + violating.size() >= wanted) break;
  }
  search.candidates.insert(search.candidates.end(), std::make_move_iterator(violating.begin()),
                           std::make_move_iterator(violating.end()));
  return search;
}

PostFilterResult DefaultPreemption::Unhelpful(CycleState& state, const Snapshot& snapshot,
                                              const Search& search) {
  std::vector<std::string> errors;
  for (const auto& [row, status] : search.rejected) {
    if (status.code() == Code::kError) errors.push_back(status.message());
  }
  if (const auto error = AggregateProblems(errors)) {
    return {state.reasons().Error(std::string(kPrefix) + error->message)};
  }
  ReasonHistogram histogram;
  for (const auto& [row, status] : search.rejected) histogram.Add(status.reasons());
  const ReasonSet* not_helpful = state.reasons().Intern(kNotHelpful);
  const size_t others = snapshot.num_nodes() - search.rejected.size();
  if (others > 0) histogram.Add(*not_helpful, others);
  return {Reject(state, FitErrorHead(snapshot.num_nodes()) + histogram.ToString()),
          NominatingInfo{NominatingMode::kOverride, ""}};
}

std::vector<EvictedPod> DefaultPreemption::OnGoneNodes(
    const Snapshot& snapshot, const std::vector<const PodInfo*>& evicted) const {
  std::vector<EvictedPod> pods;
  if (!handle_.features().generic_workload) return pods;
  for (const PodGroupState::Member& member : Victims(handle_, snapshot).OnGoneNodes(evicted)) {
    if (!member.pod->metadata.deletion_timestamp) pods.push_back({member.pod, member.node_name});
  }
  return pods;
}

void DefaultPreemption::Execute(const PodInfo& pod, const Snapshot& snapshot,
                                const Candidate& candidate) {
  handle_.ObserveMetric("preemption_victims", {}, static_cast<double>(candidate.victims.size()));
  if (handle_.features().generic_workload && candidate.num_pdb_violations > 0) {
    handle_.CountMetric("preemption_pdb_violations_total", {kPod},
                        static_cast<double>(candidate.num_pdb_violations));
  }
  std::vector<EvictedPod> victims = OnGoneNodes(snapshot, candidate.victims);
  const std::string& node_name = snapshot.node(candidate.row).metadata.name;
  for (const PodInfo* victim : candidate.victims) {
    if (victim->pod->metadata.deletion_timestamp) continue;
    // A pod of a group may be on another node, which its own object names once it is bound.
    const std::string& own = victim->pod->spec.node_name;
    victims.push_back({victim->pod, own.empty() ? node_name : own});
  }
  const api::ObjectMeta& metadata = pod.pod->metadata;
  evictions_->Start({metadata.uid, kPod, pod.priority(), {metadata.Key()}}, node_name,
                    std::move(victims));
}

Status DefaultPreemption::Reject(const CycleState& state, std::string_view message) const {
  return state.reasons().Make(Code::kUnschedulable, std::string(kPrefix) + std::string(message));
}

Status DefaultPreemption::PreEnqueue(const PodInfo& pod) {
  return evictions_->Gate(pod, waiting_, group_waiting_);
}

std::vector<ClusterEventWithHint> DefaultPreemption::EventsToRegister() const {
  return Evictions::EventsToRegister();
}

}  // namespace berth::plugins
