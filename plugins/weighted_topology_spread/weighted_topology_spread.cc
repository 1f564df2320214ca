// SPDX-License-Identifier: Apache-2.0
#include "plugins/weighted_topology_spread/weighted_topology_spread.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "berth/saturating.h"
#include "plugins/shared/hint_objects.h"

namespace berth::plugins {
namespace {

constexpr uint64_t kStepsOfConstraint = 20;
constexpr uint64_t kBytesOfConstraint = 1024;

struct WeightedPreFilterState {
  std::vector<ValueCounts> hard;

  size_t bytes() const {
    size_t sum = 0;
    for (const ValueCounts& counts : hard) sum += sizeof(counts) + counts.bytes();
    return sum;
  }
};

// Nodes that have the same value for each constraint score alike: they are a group. Copies share
// the content.
class WeightedPreScoreState {
 public:
  WeightedPreScoreState(std::vector<ValueCounts> counts, size_t rows)
      : content_(std::make_shared<Content>()) {
    content_->counts = std::move(counts);
    content_->preferences.resize(content_->counts.size());
    for (size_t i = 0; i < content_->counts.size(); ++i) {
      content_->preferences[i] = content_->counts[i].Preferences();
    }
    MakeGroups(rows);
  }

  int64_t Score(NodeRow row) const {
    int64_t score = 0;
    for (size_t i = 0; i < content_->counts.size(); ++i) {
      score += content_->preferences[i][content_->counts[i].ValueOf(row)];
    }
    return score;
  }

  std::optional<ScoreGroups> Groups() const {
    if (content_->raw.empty()) return std::nullopt;
    return ScoreGroups{content_->group_of, content_->raw};
  }

  // Brings the scores up to date. Returns whether any may differ. Not for copies.
  bool Update() {
    bool differs = false;
    for (size_t i = 0; i < content_->counts.size(); ++i) {
      if (!content_->counts[i].Update()) continue;
      content_->preferences[i] = content_->counts[i].Preferences();
      differs = true;
    }
    if (differs && !content_->raw.empty()) ScoreGroupsByValues();
    return differs;
  }

  size_t bytes() const {
    size_t sum = sizeof(Content) + content_->group_of.capacity() * sizeof(uint16_t) +
                 content_->raw.capacity() * sizeof(int64_t);
    for (const ValueCounts& counts : content_->counts) {
      sum += sizeof(counts) + counts.bytes() + (counts.num_values() + 1) * sizeof(int64_t);
    }
    return sum;
  }

 private:
  struct Content {
    std::vector<ValueCounts> counts;
    std::vector<std::vector<int64_t>> preferences;  // of each constraint
    // A group's number has the values as its digits. No groups where these would be too many.
    std::vector<uint16_t> group_of;  // by row
    std::vector<int64_t> raw;        // by group
  };

  void MakeGroups(size_t rows) {
    size_t groups = 1;
    for (const ValueCounts& counts : content_->counts) {
      groups *= counts.num_values() + 1;
      if (groups > std::numeric_limits<uint16_t>::max()) return;
    }
    content_->group_of.resize(rows);
    for (NodeRow row = 0; row < rows; ++row) {
      size_t number = 0;
      for (const ValueCounts& counts : content_->counts) {
        number = number * (counts.num_values() + 1) + counts.ValueOf(row);
      }
      content_->group_of[row] = static_cast<uint16_t>(number);
    }
    content_->raw.resize(groups);
    ScoreGroupsByValues();
  }

  void ScoreGroupsByValues() {
    for (size_t group = 0; group < content_->raw.size(); ++group) {
      size_t rest = group;
      int64_t score = 0;
      for (size_t i = content_->counts.size(); i > 0; --i) {
        const size_t values = content_->counts[i - 1].num_values() + 1;
        score += content_->preferences[i - 1][rest % values];
        rest /= values;
      }
      content_->raw[group] = score;
    }
  }

  std::shared_ptr<Content> content_;
};

// What it takes to hold the constraints against all nodes. False: that is more than is left.
bool SpendOnConstraints(std::span<const std::shared_ptr<const WeightedConstraint>> constraints,
                        const api::Pod& pod, const Snapshot& snapshot, CycleBudget& budget) {
  const uint64_t rows = snapshot.num_rows();
  for (const auto& constraint : constraints) {
    uint64_t steps = kStepsOfConstraint + rows + constraint->values.size();
    if (!constraint->ordered()) {
      steps += snapshot.StepsToCountPods(ValueCounts::QueryOf(*constraint, pod));
    }
    if (!budget.Spend(steps, kBytesOfConstraint + rows * sizeof(uint16_t))) return false;
  }
  return true;
}

std::vector<ValueCounts> CountValues(
    std::span<const std::shared_ptr<const WeightedConstraint>> constraints, const api::Pod& pod,
    const Snapshot& snapshot) {
  std::vector<ValueCounts> counts;
  counts.reserve(constraints.size());
  for (const auto& constraint : constraints) counts.emplace_back(constraint, pod, snapshot);
  return counts;
}

bool HasAValueOf(const WeightedConstraint& constraint, const api::Node* node) {
  if (node == nullptr) return false;
  const std::string* value = api::Find(node->metadata.labels, constraint.topology_key);
  return value != nullptr &&
         std::ranges::find(constraint.values, *value) != constraint.values.end();
}

}  // namespace

WeightedTopologySpread::WeightedTopologySpread(const WeightedTopologySpreadArgs& args,
                                               Handle& handle)
    : share_rejection_(handle.reasons().Make(Code::kUnschedulable, kShareReason)),
      value_rejection_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable, kValueReason)) {
  for (const WeightedConstraint& constraint : args.constraints) {
    constraints_.push_back(std::make_shared<const WeightedConstraint>(constraint));
  }
}

Inputs WeightedTopologySpread::DeclaredInputs() const {
  if (constraints_.empty()) return Inputs::Of(0, {{Reach::kNode}});
  Inputs inputs = Inputs::Of(pod_part::kTestedLabels | pod_part::kNamespace,
                             {{Reach::kNode}, {Reach::kCluster}});
  for (const auto& constraint : constraints_) {
    for (const LabelSelectorMatcher::Requirement& one : constraint->selector.requirements()) {
      inputs.label_keys.push_back(one.key);
    }
    for (const std::string& key : constraint->match_label_keys) inputs.label_keys.push_back(key);
  }
  return inputs;
}

WeightedTopologySpread::Constraints WeightedTopologySpread::HoldingFor(const api::Pod& pod,
                                                                       Which which) const {
  Constraints holding;
  for (const auto& constraint : constraints_) {
    const std::vector<std::string>& namespaces = constraint->namespaces;
    const bool holds =
        (which == Which::kAll || constraint->do_not_schedule) &&
        (namespaces.empty() || std::ranges::binary_search(namespaces, pod.metadata.namespace_)) &&
        constraint->selector.Matches(pod.metadata.labels);
    if (holds) holding.push_back(constraint);
  }
  return holding;
}

PreFilterResult WeightedTopologySpread::PreFilter(CycleState& state, const PodInfo& pod,
                                                  const Snapshot& snapshot) {
  const Constraints hard = HoldingFor(*pod.pod, Which::kDoNotSchedule);
  if (hard.empty()) return {.status = Status::Skip()};
  if (!SpendOnConstraints(hard, *pod.pod, snapshot, state.budget())) {
    return {.status = state.reasons().Error(state.budget().Message())};
  }
  state.Write(WeightedPreFilterState{CountValues(hard, *pod.pod, snapshot)});
  return {};
}

// Which constraints hold for a pod does not depend on other pods: one without any stays so.
bool WeightedTopologySpread::UpdatePreFilter(CycleState& state, const PodInfo&, const Snapshot&,
                                             std::span<const NodeRow>, NodeSet& touched) {
  auto* data = state.Find<WeightedPreFilterState>();
  if (data == nullptr) return true;
  std::vector<uint8_t> exceeded;  // by value, and for nodes that have none
  for (ValueCounts& counts : data->hard) {
    if (counts.constraint().ordered()) continue;
    const size_t values = counts.num_values();
    exceeded.assign(values + 1, 0);
    for (size_t i = 0; i < values; ++i) exceeded[i] = counts.Exceeds(i);
    if (!counts.Update()) continue;
    bool differs = false;
    for (size_t i = 0; i < values; ++i) {
      exceeded[i] = (exceeded[i] != 0) != counts.Exceeds(i);
      differs = differs || exceeded[i] != 0;
    }
    if (!differs) continue;
    counts.nodes().ForEach([&](NodeRow row) {
      if (exceeded[counts.ValueOf(row)] != 0) touched.Set(row);
    });
  }
  return true;
}

Status WeightedTopologySpread::AddPod(CycleState& state, const PodInfo&, const PodInfo& added,
                                      const NodeView& node) {
  for (ValueCounts& counts : state.Mutable<WeightedPreFilterState>().hard) {
    counts.Count(*added.pod, node.row(), 1);
  }
  return Status::Success();
}

Status WeightedTopologySpread::RemovePod(CycleState& state, const PodInfo&, const PodInfo& removed,
                                         const NodeView& node) {
  for (ValueCounts& counts : state.Mutable<WeightedPreFilterState>().hard) {
    counts.Count(*removed.pod, node.row(), -1);
  }
  return Status::Success();
}

Status WeightedTopologySpread::Filter(const CycleState& state, const PodInfo&,
                                      const NodeView& node) const {
  for (const ValueCounts& counts : state.Read<WeightedPreFilterState>().hard) {
    const size_t value = counts.ValueOf(node.row());
    if (value == counts.num_values()) return value_rejection_;
    if (!counts.constraint().ordered() && counts.Exceeds(value)) return share_rejection_;
  }
  return Status::Success();
}

Status WeightedTopologySpread::FilterNodes(const CycleState& state, const PodInfo&, const Snapshot&,
                                           NodeSet& nodes) const {
  std::vector<uint8_t> fine;  // by value
  for (const ValueCounts& counts : state.Read<WeightedPreFilterState>().hard) {
    fine.assign(counts.num_values() + 1, 0);
    for (size_t i = 0; i < counts.num_values(); ++i) {
      fine[i] = counts.constraint().ordered() || !counts.Exceeds(i);
    }
    nodes.Filter([&](NodeRow row) { return fine[counts.ValueOf(row)] != 0; });
  }
  return {};
}

Status WeightedTopologySpread::PreScore(CycleState& state, const PodInfo& pod,
                                        const Snapshot& snapshot, const NodeSet&) {
  const Constraints holding = HoldingFor(*pod.pod, Which::kAll);
  if (holding.empty()) return Status::Skip();
  if (!SpendOnConstraints(holding, *pod.pod, snapshot, state.budget())) {
    return state.reasons().Error(state.budget().Message());
  }
  state.Write(WeightedPreScoreState(CountValues(holding, *pod.pod, snapshot), snapshot.num_rows()));
  return Status::Success();
}

bool WeightedTopologySpread::UpdatePreScore(CycleState& state, const PodInfo&, const Snapshot&,
                                            std::span<const NodeRow>, const NodeSet&,
                                            NodeSet& touched) {
  auto* data = state.Find<WeightedPreScoreState>();  // nullptr: PreScore said Skip
  if (data == nullptr || !data->Update()) return true;
  // No node changes its group: its values are its own.
  if (!data->Groups()) touched.Assign(touched.size(), true);
  return true;
}

std::optional<ScoreGroups> WeightedTopologySpread::Groups(const CycleState& state) const {
  const auto* data = state.Find<WeightedPreScoreState>();
  return data == nullptr ? std::nullopt : data->Groups();
}

ScoreResult WeightedTopologySpread::Score(const CycleState& state, const PodInfo&,
                                          const NodeView& node) const {
  return {state.Read<WeightedPreScoreState>().Score(node.row())};
}

void WeightedTopologySpread::ScoreNodes(const CycleState& state, const PodInfo&, const Snapshot&,
                                        std::span<const NodeRow> nodes,
                                        std::span<int64_t> scores) const {
  const auto& data = state.Read<WeightedPreScoreState>();
  const auto groups = data.Groups();
  for (size_t i = 0; i < nodes.size(); ++i) {
    scores[i] = groups ? groups->raw[groups->group_of[nodes[i]]] : data.Score(nodes[i]);
  }
}

Status WeightedTopologySpread::NormalizeScore(const CycleState&, const PodInfo&,
                                              std::span<const NodeRow>,
                                              std::span<int64_t> scores) const {
  if (scores.empty()) return Status::Success();
  const auto [worst, best] = std::ranges::minmax(scores);
  for (int64_t& score : scores) {
    score = best == worst ? kMaxNodeScore : ShareOf(score - worst, kMaxNodeScore, best - worst);
  }
  return Status::Success();
}

Result<QueueingHint> WeightedTopologySpread::AfterAssignedPodChange(
    const api::Pod& pod, const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) const {
  const auto change = AsChange<api::Pod>(old_object, new_object);
  if (!change) return Fail(change.error());
  for (const auto& constraint : HoldingFor(pod, Which::kDoNotSchedule)) {
    if (constraint->ordered()) continue;
    const PodQuery query = ValueCounts::QueryOf(*constraint, pod);
    const auto counts = [&](const api::Pod* other) {
      // Not the query itself: a pod that goes was being deleted.
      return other != nullptr && query.all_of.front().Matches(*other);
    };
    const bool both = change->old_object != nullptr && change->new_object != nullptr;
    const bool helps = both ? counts(change->old_object) != counts(change->new_object)
                            : counts(change->old_object) || counts(change->new_object);
    if (helps) return QueueingHint::kQueue;
  }
  return QueueingHint::kQueueSkip;
}

// A node that goes takes its pods out of the counts.
Result<QueueingHint> WeightedTopologySpread::AfterNodeChange(
    const api::Pod& pod, const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) const {
  const auto change = AsChange<api::Node>(old_object, new_object);
  if (!change) return Fail(change.error());
  const api::Node* before = change->old_object;
  const api::Node* after = change->new_object;
  for (const auto& constraint : HoldingFor(pod, Which::kDoNotSchedule)) {
    const auto value = [&](const api::Node& node) {
      return api::Find(node.metadata.labels, constraint->topology_key);
    };
    const bool has = HasAValueOf(*constraint, before) || HasAValueOf(*constraint, after);
    if (!has) continue;
    if (before == nullptr || after == nullptr) return QueueingHint::kQueue;
    const std::string* was = value(*before);
    const std::string* is = value(*after);
    if (was == nullptr || is == nullptr || *was != *is) return QueueingHint::kQueue;
  }
  return QueueingHint::kQueueSkip;
}

std::vector<ClusterEventWithHint> WeightedTopologySpread::EventsToRegister() const {
  return {
      {{EventResource::kAssignedPod, action::kAdd | action::kUpdatePodLabel | action::kDelete},
       [this](const api::Pod& pod, const api::ObjectPtr& old_object,
              const api::ObjectPtr& new_object) {
         return AfterAssignedPodChange(pod, old_object, new_object);
       }},
      {{EventResource::kTargetPod, action::kUpdatePodLabel}, nullptr},
      {{EventResource::kNode, action::kAdd | action::kDelete | action::kUpdateNodeLabel},
       [this](const api::Pod& pod, const api::ObjectPtr& old_object,
              const api::ObjectPtr& new_object) {
         return AfterNodeChange(pod, old_object, new_object);
       }},
  };
}

}  // namespace berth::plugins
