// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "berth/cluster_event.h"
#include "berth/pod_affinity.h"
#include "plugins/inter_pod_affinity/filter_state.h"
#include "plugins/inter_pod_affinity/score_state.h"
#include "plugins/shared/hint_objects.h"

// Which events may help a pod that InterPodAffinity rejected.

namespace berth::plugins {
namespace {

constexpr std::string_view kHardWeight = "hardPodAffinityWeight";
constexpr int32_t kMaxHardWeight = 100;

InterPodAffinityArgs ReadAffinityArgs(FieldReader& fields) {
  InterPodAffinityArgs args;
  fields.Read(kHardWeight, args.hard_pod_affinity_weight);
  fields.Read("ignorePreferredTermsOfExistingPods", args.ignore_preferred_terms_of_existing_pods);
  const int32_t weight = args.hard_pod_affinity_weight;
  if (weight < 0 || weight > kMaxHardWeight) {
    fields.Invalid(kHardWeight, std::to_string(weight), "not in valid range [0, 100]");
  }
  return args;
}

ConfigValue WithAffinityDefaults(const ConfigValue& args, const ArgsFeatures&) {
  return WithDefault(args, kHardWeight,
                     ConfigValue(int64_t{InterPodAffinityArgs{}.hard_pod_affinity_weight}));
}

using Terms = AffinityTermList;

size_t NumRequired(const std::optional<api::PodAffinity>& affinity) {
  return affinity ? affinity->required_during_scheduling_ignored_during_execution.size() : 0;
}

// The required terms of a pod. Each list is an error of its own, and preferred terms that cannot
// be read do not matter here.
class RequiredTerms {
 public:
  explicit RequiredTerms(const api::Pod& pod) : terms_(PodAffinityTerms::Make(pod)) {
    if (terms_ == nullptr) terms_ = std::make_shared<PodAffinityTerms>();
    if (!pod.spec.affinity) return;
    bad_affinity_ = affinity().size() != NumRequired(pod.spec.affinity->pod_affinity);
    bad_anti_affinity_ =
        anti_affinity().size() != NumRequired(pod.spec.affinity->pod_anti_affinity);
  }

  const Terms& affinity() const { return terms_->required_affinity; }
  const Terms& anti_affinity() const { return terms_->required_anti_affinity; }
  bool bad() const { return bad_affinity_ || bad_anti_affinity_; }
  bool bad_anti_affinity() const { return bad_anti_affinity_; }
  const std::string& error() const { return terms_->error; }

 private:
  std::shared_ptr<const PodAffinityTerms> terms_;
  bool bad_affinity_ = false;
  bool bad_anti_affinity_ = false;
};

// A pod that terms may mean, with the labels of its namespace.
struct Meant {
  const api::Pod& pod;
  const api::StringMap& namespace_labels;

  Meant(const api::Pod& meant, const TermResolver& resolver)
      : pod(meant), namespace_labels(resolver.NamespaceLabels(meant.metadata.namespace_)) {}

  bool ByAll(const Terms& terms) const {
    return !terms.empty() && std::all_of(terms.begin(), terms.end(), [&](const AffinityTerm& term) {
      return term.Matches(pod, namespace_labels);
    });
  }
  bool ByAny(const Terms& terms) const {
    return std::any_of(terms.begin(), terms.end(), [&](const AffinityTerm& term) {
      return term.Matches(pod, namespace_labels);
    });
  }
};

Result<QueueingHint> AfterAssignedPodChange(const TermResolver& resolver, const api::Pod& pod,
                                            const api::ObjectPtr& old_object,
                                            const api::ObjectPtr& new_object) {
  const auto change = AsChange<api::Pod>(old_object, new_object);
  if (!change) return Fail(change.error());
  const api::Pod* before = change->old_object;
  const api::Pod* after = change->new_object;
  for (const api::Pod* other : {before, after}) {
    if (other != nullptr && !IsPlaced(*other)) return QueueingHint::kQueueSkip;
  }
  const RequiredTerms terms(pod);
  if (terms.bad()) return Fail(terms.error());
  const Terms& wanted = terms.affinity();
  const Terms& unwanted = terms.anti_affinity();
  if (before == nullptr) return QueueIf(Meant(*after, resolver).ByAll(wanted));
  const Meant was(*before, resolver);
  if (after != nullptr) {
    const Meant is(*after, resolver);
    return QueueIf((!was.ByAll(wanted) && is.ByAll(wanted)) ||
                   (was.ByAny(unwanted) && !is.ByAny(unwanted)));
  }
  if (was.ByAny(unwanted)) return QueueingHint::kQueue;
  const RequiredTerms its_terms(*before);
  if (its_terms.bad_anti_affinity()) return Fail(its_terms.error());
  return QueueIf(Meant(pod, resolver).ByAny(its_terms.anti_affinity()));
}

// A node's value of a topology key before and after; nullptr where it has none.
struct ValueChange {
  const std::string* before;
  const std::string* after;

  bool appeared() const { return before == nullptr && after != nullptr; }
  bool vanished() const { return before != nullptr && after == nullptr; }
  bool moved() const { return before != nullptr && after != nullptr && *before != *after; }
};

Result<QueueingHint> AfterNodeChange(const api::Pod& pod, const api::ObjectPtr& old_object,
                                     const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::Node>(old_object, new_object);
  if (!change) return Fail(change.error());
  const api::Node* before = change->old_object;
  const auto value_of = [&](const AffinityTerm& term) {
    return ValueChange{
        before == nullptr ? nullptr : api::Find(before->metadata.labels, term.topology_key),
        api::Find(change->new_object->metadata.labels, term.topology_key)};
  };
  const RequiredTerms terms(pod);
  if (terms.bad()) return Fail(terms.error());
  for (const AffinityTerm& term : terms.affinity()) {
    const ValueChange value = value_of(term);
    if (value.appeared() || value.moved()) return QueueingHint::kQueue;
  }
  for (const AffinityTerm& term : terms.anti_affinity()) {
    const ValueChange value = value_of(term);
    // A new node helps with or without the key: without it, nothing on it is too near.
    if (before == nullptr || value.vanished() || value.moved()) return QueueingHint::kQueue;
  }
  return QueueingHint::kQueueSkip;
}

// Namespace selectors see the labels that namespaces have now. (kube-scheduler's hints see none, so
// there a pod whose terms select namespaces by label waits for the flush after five minutes.)
// `resolver` must outlive the hints.
std::vector<ClusterEventWithHint> InterPodAffinityEvents(const TermResolver& resolver) {
  return {
      {{EventResource::kAssignedPod, action::kAdd | action::kUpdatePodLabel | action::kDelete},
       [&resolver](const api::Pod& pod, const api::ObjectPtr& old_object,
                   const api::ObjectPtr& new_object) {
         return AfterAssignedPodChange(resolver, pod, old_object, new_object);
       }},
      {{EventResource::kTargetPod, action::kUpdatePodLabel}, nullptr},
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel}, AfterNodeChange},
  };
}

bool HasUnreadableTerms(const PodInfo& pod) {
  return pod.affinity != nullptr && !pod.affinity->error.empty();
}

}  // namespace

constexpr ArgsKind<InterPodAffinityArgs> kInterPodAffinityArgs =
    MakeArgsKind<"InterPodAffinity", ReadAffinityArgs>(WithAffinityDefaults);

InterPodAffinity::InterPodAffinity(const InterPodAffinityArgs& args, Handle& handle)
    : args_(args),
      resolver_(handle.listers()),
      affinity_rejection_(
          handle.reasons().Make(Code::kUnschedulableAndUnresolvable, kAffinityReason)),
      anti_affinity_rejection_(handle.reasons().Make(Code::kUnschedulable, kAntiAffinityReason)),
      placed_pods_rejection_(handle.reasons().Make(Code::kUnschedulable, kPlacedPodsReason)) {}

// Placed pods may name any topology key, so a change anywhere may matter anywhere.
Inputs InterPodAffinity::DeclaredInputs() const {
  return Inputs::Of(pod_part::kTestedLabels | pod_part::kNamespace | pod_part::kPodAffinity,
                    {{Reach::kNode}, {Reach::kCluster}, {Reach::kOtherObjects}});
}

PreFilterResult InterPodAffinity::PreFilter(CycleState& state, const PodInfo& pod,
                                            const Snapshot& snapshot) {
  if (HasUnreadableTerms(pod)) {
    return {.status = state.reasons().Make(Code::kUnschedulableAndUnresolvable,
                                           "parsing pod: " + pod.affinity->error)};
  }
  FindPlaced(pod, snapshot, Only(AffinityTermKind::kRequiredAntiAffinity));
  if (placed_.empty() && (pod.affinity == nullptr || !pod.affinity->any_required())) {
    return {.status = Status::Skip()};
  }
  PodAffinityFilterState data(pod, snapshot, resolver_, placed_, state.budget());
  if (state.budget().spent()) return {.status = state.reasons().Error(state.budget().Message())};
  if (data.nothing_to_say()) return {.status = Status::Skip()};
  state.Write(std::move(data));
  return {};
}

bool InterPodAffinity::UpdatePreFilter(CycleState& state, const PodInfo& pod,
                                       const Snapshot& snapshot, std::span<const NodeRow> rows,
                                       NodeSet& touched) {
  FindPlaced(pod, snapshot, Only(AffinityTermKind::kRequiredAntiAffinity));
  auto* data = state.Find<PodAffinityFilterState>();
  if (data == nullptr) {  // PreFilter said Skip
    return placed_.empty() && (pod.affinity == nullptr || !pod.affinity->any_required());
  }
  return data->Update(rows, placed_, touched);
}

Status InterPodAffinity::AddPod(CycleState& state, const PodInfo&, const PodInfo& added,
                                const NodeView& node) {
  state.Mutable<PodAffinityFilterState>().UpdateWithPod(node.snapshot(), added, node.row(), 1);
  return Status::Success();
}

Status InterPodAffinity::RemovePod(CycleState& state, const PodInfo&, const PodInfo& removed,
                                   const NodeView& node) {
  state.Mutable<PodAffinityFilterState>().UpdateWithPod(node.snapshot(), removed, node.row(), -1);
  return Status::Success();
}

void InterPodAffinity::Detach(CycleState& state) {
  state.Mutable<PodAffinityFilterState>().Detach();
}

Status InterPodAffinity::Filter(const CycleState& state, const PodInfo&,
                                const NodeView& node) const {
  const auto& data = state.Read<PodAffinityFilterState>();
  if (!data.SatisfiesAffinity(node.row())) return affinity_rejection_;
  if (!data.SatisfiesAntiAffinity(node.row())) return anti_affinity_rejection_;
  if (!data.SatisfiesPlacedPods(node.row())) return placed_pods_rejection_;
  return Status::Success();
}

Status InterPodAffinity::FilterNodes(const CycleState& state, const PodInfo&, const Snapshot&,
                                     NodeSet& nodes) const {
  state.Read<PodAffinityFilterState>().FilterNodes(nodes);
  return {};
}

Status InterPodAffinity::PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                                  const NodeSet&) {
  if (HasUnreadableTerms(pod)) {
    return state.reasons().Error("failed to parse pod: " + pod.affinity->error);
  }
  const bool prefers = pod.affinity != nullptr && pod.affinity->any_preferred();
  if (args_.ignore_preferred_terms_of_existing_pods && !prefers) return Status::Skip();

  PodAffinityScoreState data;
  if (prefers) {
    const OwnTerms own = ReadOwnTerms(*pod.affinity, snapshot, state.budget());
    if (state.budget().spent()) return state.reasons().Error(state.budget().Message());
    for (const OwnTerm& term : own) {
      data.AddOwn(term.topology, CountByDomain(snapshot, term.query, *term.topology), term.weight);
    }
  }
  FindPlaced(pod, snapshot, ScoredKinds());
  for (const AffinityTermCounts& placed : placed_) {
    data.AddPlaced(snapshot, placed, WeightOf(*placed.term));
  }
  if (data.empty()) return Status::Skip();
  data.MakeGroups();
  state.Write(std::move(data));
  return Status::Success();
}

std::optional<ScoreGroups> InterPodAffinity::Groups(const CycleState& state) const {
  const auto* data = state.Find<PodAffinityScoreState>();
  return data == nullptr ? std::nullopt : data->Groups();
}

bool InterPodAffinity::UpdatePreScore(CycleState& state, const PodInfo& pod,
                                      const Snapshot& snapshot, std::span<const NodeRow> rows,
                                      const NodeSet&, NodeSet& touched) {
  const bool prefers = pod.affinity != nullptr && pod.affinity->any_preferred();
  if (args_.ignore_preferred_terms_of_existing_pods && !prefers) return true;
  auto* data = state.Find<PodAffinityScoreState>();  // nullptr: PreScore said Skip
  if (data == nullptr && prefers) return false;
  FindPlaced(pod, snapshot, ScoredKinds());
  return data == nullptr ? placed_.empty() : data->Update(rows, placed_, touched);
}

// What it takes to count the pods that they mean is spent before anything is counted.
InterPodAffinity::OwnTerms InterPodAffinity::ReadOwnTerms(const PodAffinityTerms& affinity,
                                                          const Snapshot& snapshot,
                                                          CycleBudget& budget) {
  OwnTerms own;
  // Where a term that the spec repeats stands.
  absl::flat_hash_map<const AffinityTerm*, size_t> known;
  const auto add = [&](const AffinityTermList& terms, int64_t sign) {
    for (const AffinityTerm& term : terms) {
      if (budget.spent()) return;
      const auto [at, is_new] = known.try_emplace(&term, own.size());
      if (!is_new) {
        own[at->second].weight += sign * term.weight;
        continue;
      }
      OwnTerm& made = own.emplace_back();
      made.topology = snapshot.GetTopology(term.topology_key);
      made.query.all_of.push_back(resolver_.Resolve(term, budget));
      made.weight = sign * term.weight;
      const bool counts = made.topology->num_domains > 0 && !budget.spent();
      budget.Spend(counts ? snapshot.StepsToCountPods(made.query) : 1);
    }
  };
  add(affinity.preferred_affinity, 1);
  add(affinity.preferred_anti_affinity, -1);
  return own;
}

void InterPodAffinity::FindPlaced(const PodInfo& pod, const Snapshot& snapshot,
                                  AffinityTermKinds kinds) {
  placed_.clear();
  snapshot.MatchingAffinityTerms(*pod.pod, resolver_.NamespaceLabels(pod.pod->metadata.namespace_),
                                 kinds, placed_);
}

AffinityTermKinds InterPodAffinity::ScoredKinds() const {
  AffinityTermKinds kinds =
      Only(AffinityTermKind::kPreferredAffinity) | Only(AffinityTermKind::kPreferredAntiAffinity);
  if (args_.hard_pod_affinity_weight > 0) kinds |= Only(AffinityTermKind::kRequiredAffinity);
  return kinds;
}

int64_t InterPodAffinity::WeightOf(const AffinityTerm& placed) const {
  if (placed.kind == AffinityTermKind::kPreferredAffinity) return placed.weight;
  if (placed.kind == AffinityTermKind::kPreferredAntiAffinity) return -int64_t{placed.weight};
  return args_.hard_pod_affinity_weight;
}

ScoreResult InterPodAffinity::Score(const CycleState& state, const PodInfo&,
                                    const NodeView& node) const {
  return {state.Read<PodAffinityScoreState>().Score(node.row())};
}

void InterPodAffinity::ScoreNodes(const CycleState& state, const PodInfo&, const Snapshot&,
                                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const {
  state.Read<PodAffinityScoreState>().ScoreNodes(nodes, scores);
}

Status InterPodAffinity::NormalizeScore(const CycleState&, const PodInfo&, std::span<const NodeRow>,
                                        std::span<int64_t> scores) const {
  if (scores.empty()) return Status::Success();
  const auto [min_at, max_at] = std::minmax_element(scores.begin(), scores.end());
  const int64_t min = *min_at;
  const auto range = static_cast<double>(*max_at - min);
  for (int64_t& score : scores) {
    // The quotient first: 29 of 100 becomes 28, as in kube-scheduler.
    const double scaled =
        range > 0 ? double{kMaxNodeScore} * (static_cast<double>(score - min) / range) : 0;
    score = static_cast<int64_t>(scaled);
  }
  return Status::Success();
}

std::vector<ClusterEventWithHint> InterPodAffinity::EventsToRegister() const {
  return InterPodAffinityEvents(resolver_);
}

}  // namespace berth::plugins
