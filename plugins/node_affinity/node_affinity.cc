// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_affinity/node_affinity.h"

#include <algorithm>

#include "berth/field_errors.h"
#include "plugins/shared/hint_objects.h"
#include "plugins/shared/normalize_score.h"
#include "plugins/shared/spend_on_nodes.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

api::NodeSelectorTerm ReadTerm(FieldReader& fields) {
  api::NodeSelectorTerm term;
  term.match_expressions = ReadNodeRequirements(fields, "matchExpressions");
  term.match_fields = ReadNodeRequirements(fields, "matchFields");
  return term;
}

api::NodeSelector ReadSelector(FieldReader& fields) {
  api::NodeSelector selector;
  ReadEach(fields, "nodeSelectorTerms",
           [&](FieldReader& entry) { selector.node_selector_terms.push_back(ReadTerm(entry)); });
  return selector;
}

api::PreferredSchedulingTerm ReadPreferred(FieldReader& fields) {
  api::PreferredSchedulingTerm term;
  fields.Read("weight", term.weight);
  ReadNested(fields, "preference",
             [&](FieldReader& nested) { term.preference = ReadTerm(nested); });
  return term;
}

api::NodeAffinity ReadAffinity(FieldReader& fields) {
  api::NodeAffinity affinity;
  ReadNested(fields, kRequired, [&](FieldReader& nested) {
    affinity.required_during_scheduling_ignored_during_execution = ReadSelector(nested);
  });
  ReadEach(fields, kPreferred, [&](FieldReader& entry) {
    affinity.preferred_during_scheduling_ignored_during_execution.push_back(ReadPreferred(entry));
  });
  return affinity;
}

std::vector<std::string> AddedAffinityProblems(const NodeAffinityArgs& args,
                                               const std::string& path) {
  std::vector<std::string> problems;
  if (!args.added_affinity) return problems;
  const std::string added = FieldPath(path, "addedAffinity");
  if (const auto& required =
          args.added_affinity->required_during_scheduling_ignored_during_execution) {
    const NodeSelectorMatcher matcher = NodeSelectorMatcher::Make(*required);
    for (const Error& error : matcher.errors()) {
      problems.push_back(added + "." + std::string(kRequired) + "." + error.message);
    }
  }
  const auto& preferred = args.added_affinity->preferred_during_scheduling_ignored_during_execution;
  for (const std::string& problem : PreferredTerms::Problems(preferred)) {
    problems.push_back(added + "." + std::string(kPreferred) + problem);
  }
  return problems;
}

NodeAffinityArgs ReadNodeAffinityArgs(FieldReader& fields) {
  NodeAffinityArgs args;
  ReadNested(fields, "addedAffinity",
             [&](FieldReader& nested) { args.added_affinity = ReadAffinity(nested); });
  return args;
}

// Few rows are matched one by one: cheaper than building the sets of all matching nodes.
constexpr size_t kFewRows = 8;
// A selector of more spends from the cycle's budget.
constexpr uint64_t kFewItems = 64;

// How much of a selector is held against nodes.
struct SelectorSize {
  uint64_t items = 0;   // requirements, and their values
  uint64_t ranges = 0;  // those that compare each node's number

  void Add(const api::NodeSelectorTerm& term) {
    for (const auto* requirements : {&term.match_expressions, &term.match_fields}) {
      for (const api::NodeSelectorRequirement& requirement : *requirements) {
        items += 1 + requirement.values.size();
        if (requirement.operator_ == "Gt" || requirement.operator_ == "Lt") ++ranges;
      }
    }
  }
  // Held against `nodes` of the snapshot together, 64 in one step where they are sets.
  uint64_t StepsFor(const Snapshot& snapshot, uint64_t nodes) const {
    return items * (1 + snapshot.num_rows() / 64) + ranges * nodes;
  }
};

struct PreFilterState {
  std::shared_ptr<const RequiredNodeAffinity> required;
  SelectorSize size = {};
};

struct PreScoreState {
  std::shared_ptr<const PreferredTerms> preferred;
};

const api::NodeAffinity* AffinityOf(const api::Pod& pod) {
  if (!pod.spec.affinity || !pod.spec.affinity->node_affinity) return nullptr;
  return &*pod.spec.affinity->node_affinity;
}

PreFilterState RequiredOf(const api::Pod& pod) {
  PreFilterState made{
      std::make_shared<const RequiredNodeAffinity>(RequiredNodeAffinity::Make(pod))};
  made.size.items = pod.spec.node_selector.size();
  const api::NodeAffinity* affinity = AffinityOf(pod);
  if (affinity == nullptr) return made;
  if (const auto& selector = affinity->required_during_scheduling_ignored_during_execution) {
    for (const api::NodeSelectorTerm& term : selector->node_selector_terms) made.size.Add(term);
  }
  return made;
}

// Null when the pod prefers nothing.
Result<std::shared_ptr<const PreferredTerms>> PreferredOf(const api::Pod& pod) {
  const api::NodeAffinity* affinity = AffinityOf(pod);
  if (affinity == nullptr ||
      affinity->preferred_during_scheduling_ignored_during_execution.empty()) {
    return nullptr;
  }
  auto terms = PreferredTerms::Make(affinity->preferred_during_scheduling_ignored_during_execution);
  if (!terms) return Fail(terms.error());
  return std::make_shared<const PreferredTerms>(std::move(*terms));
}

// The nodes that a term's metadata.name fields allow, sorted; nullopt when it has none.
std::optional<std::vector<std::string>> NamedNodes(const api::NodeSelectorTerm& term) {
  std::optional<std::vector<std::string>> named;
  for (const api::NodeSelectorRequirement& requirement : term.match_fields) {
    if (requirement.key != "metadata.name" || requirement.operator_ != "In") continue;
    if (!named) {
      named = requirement.values;
    } else {
      std::erase_if(*named, [&](const std::string& name) {
        return std::find(requirement.values.begin(), requirement.values.end(), name) ==
               requirement.values.end();
      });
    }
  }
  return named;
}

// What all terms together allow, sorted and unique; nullopt when some term allows any node.
std::optional<std::vector<std::string>> NamedNodes(const api::NodeSelector& selector) {
  std::vector<std::string> names;
  for (const api::NodeSelectorTerm& term : selector.node_selector_terms) {
    auto of_term = NamedNodes(term);
    if (!of_term) return std::nullopt;
    names.insert(names.end(), of_term->begin(), of_term->end());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// As upstream, an unparsable term is an error only where nothing else decides.
Result<bool> MatchesOrError(const RequiredNodeAffinity& required, const api::Pod& pod,
                            const api::Node& node) {
  if (required.Matches(node)) return true;
  for (const auto& [key, value] : pod.spec.node_selector) {
    const std::string* label = api::Find(node.metadata.labels, key);
    if (label == nullptr || *label != value) return false;
  }
  std::vector<std::string> problems;
  for (const Error& error : required.errors()) problems.push_back(error.message);
  if (auto error = AggregateProblems(problems)) return Fail(std::move(*error));
  return false;
}

bool Counts(const api::PreferredSchedulingTerm& term) {
  return term.weight != 0 &&
         !(term.preference.match_expressions.empty() && term.preference.match_fields.empty());
}

NodeSelectorMatcher MatcherOf(const api::PreferredSchedulingTerm& term) {
  return NodeSelectorMatcher::Make({{term.preference}});
}

}  // namespace

std::vector<std::string> PreferredTerms::Problems(
    std::span<const api::PreferredSchedulingTerm> terms) {
  // The matcher counts terms of its own; what comes after its index is the same.
  constexpr std::string_view kOwnIndex = "nodeSelectorTerms[0]";
  std::vector<std::string> problems;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (!Counts(terms[i])) continue;
    const NodeSelectorMatcher matcher = MatcherOf(terms[i]);
    for (const Error& error : matcher.errors()) {
      problems.push_back("[" + std::to_string(i) + "]" + error.message.substr(kOwnIndex.size()));
    }
  }
  return problems;
}

Result<PreferredTerms> PreferredTerms::Make(std::span<const api::PreferredSchedulingTerm> terms) {
  PreferredTerms result;
  bool failed = false;
  for (const api::PreferredSchedulingTerm& term : terms) {
    if (!Counts(term)) continue;
    result.terms_.push_back({MatcherOf(term), term.weight});
    failed = failed || !result.terms_.back().matcher.errors().empty();
  }
  if (failed) return Fail(*AggregateProblems(Problems(terms)));
  return result;
}

int64_t PreferredTerms::Score(const api::Node& node) const {
  int64_t score = 0;
  for (const Term& term : terms_) {
    if (term.matcher.Matches(node)) score += term.weight;
  }
  return score;
}

void PreferredTerms::AddScores(const Snapshot& snapshot, std::span<const NodeRow> nodes,
                               std::span<int64_t> scores) const {
  NodeSet matching;
  for (const Term& term : terms_) {
    matching.Assign(snapshot.num_rows(), false);
    term.matcher.MatchNodes(snapshot, matching);
    for (size_t i = 0; i < nodes.size(); ++i) {
      scores[i] += matching.Test(nodes[i]) ? term.weight : 0;
    }
  }
}

constexpr ArgsKind<NodeAffinityArgs> kNodeAffinityArgs =
    MakeArgsKind<"NodeAffinity", ReadNodeAffinityArgs, AddedAffinityProblems>();

NodeAffinity::NodeAffinity(const NodeAffinityArgs& args, Handle& handle)
    : reasons_(&handle.reasons()),
      pod_rejection_(reasons_->Make(Code::kUnschedulableAndUnresolvable, kPodReason)),
      added_rejection_(reasons_->Make(Code::kUnschedulableAndUnresolvable, kAddedReason)),
      conflict_(reasons_->Make(Code::kUnschedulableAndUnresolvable, kConflictReason)) {
  if (!args.added_affinity) return;
  if (const auto& required =
          args.added_affinity->required_during_scheduling_ignored_during_execution) {
    added_required_ = NodeSelectorMatcher::Make(*required);
  }
  const auto& preferred = args.added_affinity->preferred_during_scheduling_ignored_during_execution;
  if (!preferred.empty()) {
    if (auto terms = PreferredTerms::Make(preferred)) added_preferred_ = std::move(*terms);
  }
}

PreFilterResult NodeAffinity::PreFilter(CycleState& state, const PodInfo& pod, const Snapshot&) {
  PreFilterState data = RequiredOf(*pod.pod);
  if (data.required->empty() && !added_required_) return {.status = Status::Skip()};
  state.Write(std::move(data));

  const api::NodeAffinity* affinity = AffinityOf(*pod.pod);
  if (affinity == nullptr) return {};
  const auto& selector = affinity->required_during_scheduling_ignored_during_execution;
  if (!selector || selector->node_selector_terms.empty()) return {};
  auto names = NamedNodes(*selector);
  if (!names) return {};
  if (names->empty()) return {.status = conflict_};
  return {.status = {}, .node_names = std::move(names)};
}

Status NodeAffinity::Filter(const CycleState& state, const PodInfo& pod,
                            const NodeView& node) const {
  if (added_required_ && !added_required_->Matches(node.node())) return added_rejection_;
  const auto data = state.ReadOr<PreFilterState>([&] { return RequiredOf(*pod.pod); });
  if (!SpendOnNodes(state, data->size.items)) return OutOfBudget(state);
  return data->required->Matches(node.node()) ? Status::Success() : pod_rejection_;
}

Status NodeAffinity::FilterNodes(const CycleState& state, const PodInfo& pod,
                                 const Snapshot& snapshot, NodeSet& nodes) const {
  const auto data = state.ReadOr<PreFilterState>([&] { return RequiredOf(*pod.pod); });
  const RequiredNodeAffinity& required = *data->required;
  const SelectorSize& size = data->size;
  if (size.items > kFewItems && !state.budget().Spend(size.StepsFor(snapshot, nodes.Count()))) {
    return OutOfBudget(state);
  }
  if (nodes.Count() <= kFewRows) {
    nodes.Filter([&](NodeRow row) {
      const api::Node& node = snapshot.node(row);
      return (!added_required_ || added_required_->Matches(node)) && required.Matches(node);
    });
    return {};
  }
  if (added_required_) {
    NodeSet matching(snapshot.num_rows());
    added_required_->MatchNodes(snapshot, matching);
    nodes &= matching;
  }
  required.FilterNodes(snapshot, nodes);
  return {};
}

Status NodeAffinity::PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                              const NodeSet& feasible) {
  if (const api::NodeAffinity* affinity = AffinityOf(*pod.pod)) {
    SelectorSize size;
    const auto& terms = affinity->preferred_during_scheduling_ignored_during_execution;
    for (const api::PreferredSchedulingTerm& term : terms) size.Add(term.preference);
    // Each term that matches is added to each node.
    const uint64_t nodes = terms.empty() ? 0 : feasible.Count();
    const bool many = size.items > kFewItems;
    if (many && !state.budget().Spend(size.StepsFor(snapshot, nodes) + terms.size() * nodes)) {
      return OutOfBudget(state);
    }
  }
  auto preferred = PreferredOf(*pod.pod);
  if (!preferred) return state.reasons().Error(preferred.error().message);
  if (*preferred == nullptr && !added_preferred_) return Status::Skip();
  state.Write(PreScoreState{std::move(*preferred)});
  return Status::Success();
}

ScoreResult NodeAffinity::Score(const CycleState& state, const PodInfo& pod,
                                const NodeView& node) const {
  int64_t score = added_preferred_ ? added_preferred_->Score(node.node()) : 0;
  if (const auto* data = state.Find<PreScoreState>()) {
    if (data->preferred) score += data->preferred->Score(node.node());
    return {score};
  }
  const auto preferred = PreferredOf(*pod.pod);
  if (!preferred) return {0, state.reasons().Error(preferred.error().message)};
  if (*preferred) score += (*preferred)->Score(node.node());
  return {score};
}

void NodeAffinity::ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                              std::span<const NodeRow> nodes, std::span<int64_t> scores) const {
  std::fill(scores.begin(), scores.end(), 0);
  if (added_preferred_) added_preferred_->AddScores(snapshot, nodes, scores);
  std::shared_ptr<const PreferredTerms> preferred;
  if (const auto* data = state.Find<PreScoreState>()) {
    preferred = data->preferred;
  } else if (auto own = PreferredOf(*pod.pod)) {
    preferred = *own;
  }
  if (preferred) preferred->AddScores(snapshot, nodes, scores);
}

Status NodeAffinity::NormalizeScore(const CycleState&, const PodInfo&, std::span<const NodeRow>,
                                    std::span<int64_t> scores) const {
  DefaultNormalizeScore(Best::kMost, scores);
  return Status::Success();
}

Result<QueueingHint> NodeAffinity::AfterNodeChange(const api::Pod& pod,
                                                   const api::ObjectPtr& old_object,
                                                   const api::ObjectPtr& new_object) const {
  const auto change = AsUpdate<api::Node>(old_object, new_object);
  if (!change) return Fail(change.error());
  if (added_required_ && !added_required_->Matches(*change->new_object)) {
    return QueueingHint::kQueueSkip;
  }
  const RequiredNodeAffinity required = RequiredNodeAffinity::Make(pod);
  const auto matches = MatchesOrError(required, pod, *change->new_object);
  if (!matches) return Fail(matches.error());
  if (!*matches) return QueueingHint::kQueueSkip;
  if (change->old_object == nullptr) return QueueingHint::kQueue;
  const auto matched = MatchesOrError(required, pod, *change->old_object);
  if (!matched) return Fail(matched.error());
  return QueueIf(!*matched);
}

std::vector<ClusterEventWithHint> NodeAffinity::EventsToRegister() const {
  return {{{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel},
           [this](const api::Pod& pod, const api::ObjectPtr& old_object,
                  const api::ObjectPtr& new_object) {
             return AfterNodeChange(pod, old_object, new_object);
           }}};
}

}  // namespace berth::plugins
