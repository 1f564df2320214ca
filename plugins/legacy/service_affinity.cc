// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/service_affinity.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/legacy/counted_pods.h"
#include "plugins/shared/hint_objects.h"

namespace berth::plugins {
namespace {

using WantedLabels = std::vector<std::pair<std::string, std::string>>;

// Pods that are alike, and where they are.
struct PreFilterState {
  std::shared_ptr<const Counts> by_row;
  std::vector<std::pair<NodeRow, int32_t>> imagined;  // what is to be added to the counts
  WantedLabels own;                                   // of the pod's nodeSelector
  std::vector<std::string_view> missing;              // what the service's first pod says
  bool has_service = false;

  size_t bytes() const { return ShareOf(by_row, by_row ? by_row->bytes() : 0); }
};

struct PreScoreState : CountedPods {};

PodQuery Alike(const api::Pod& pod) {
  return {.all_of = {{.namespaces = {pod.metadata.namespace_},
                      .selector = LabelSelectorMatcher::OfLabels(pod.metadata.labels)}}};
}

// The selector of the first service, in order of name, that selects the pod; nullopt for none.
std::optional<LabelSelectorMatcher> FirstService(const api::Pod& pod, const Listers& listers) {
  std::optional<LabelSelectorMatcher> first;
  listers.ForEachService(pod.metadata.namespace_, [&](const api::Service& service) {
    if (first || service.spec.selector.empty()) return;
    auto selector = LabelSelectorMatcher::OfLabels(service.spec.selector);
    if (selector.Matches(pod.metadata.labels)) first = std::move(selector);
  });
  return first;
}

std::optional<PodQuery> ServicePods(const api::Pod& pod, const Listers& listers) {
  auto selector = FirstService(pod, listers);
  if (!selector) return std::nullopt;
  return PodQuery{
      .all_of = {{.namespaces = {pod.metadata.namespace_}, .selector = std::move(*selector)}},
      .skip_terminating = true};
}

// The lowest row with a pod, or kNoRow.
NodeRow FirstRow(const PreFilterState& state, const Snapshot& snapshot) {
  const auto imagined = [&](NodeRow row) {
    int32_t delta = 0;
    for (const auto& [at, by] : state.imagined) delta += at == row ? by : 0;
    return delta;
  };
  NodeRow first = kNoRow;
  const auto consider = [&](NodeRow row, int32_t pods) {
    if (pods + imagined(row) > 0 && row < first && snapshot.nodes().Test(row)) first = row;
  };
  state.by_row->ForEach([&](NodeRow row, int32_t pods) {
    if (first == kNoRow) consider(row, pods);
  });
  for (const auto& [row, by] : state.imagined) consider(row, state.by_row->Get(row));
  return first;
}

// What a node must carry.
WantedLabels Wanted(const PreFilterState& state, const Snapshot& snapshot) {
  WantedLabels wanted = state.own;
  if (!state.has_service || state.missing.empty()) return wanted;
  const NodeRow first = FirstRow(state, snapshot);
  if (first == kNoRow) return wanted;
  const api::StringMap& labels = snapshot.node(first).metadata.labels;
  for (const std::string_view key : state.missing) {
    if (const std::string* value = api::Find(labels, key)) wanted.emplace_back(key, *value);
  }
  return wanted;
}

bool Carries(const api::Node& node, const WantedLabels& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& label) {
    const std::string* value = api::Find(node.metadata.labels, label.first);
    return value != nullptr && *value == label.second;
  });
}

void Imagine(CycleState& state, const PodInfo& pod, const PodInfo& other, NodeRow row,
             int32_t delta) {
  if (!Alike(*pod.pod).Matches(*other.pod)) return;
  state.Mutable<PreFilterState>().imagined.emplace_back(row, delta);
}

Result<QueueingHint> AfterPodChange(const api::Pod& pod, const api::ObjectPtr& old_object,
                                    const api::ObjectPtr& new_object) {
  const auto change = AsChange<api::Pod>(old_object, new_object);
  if (!change) return Fail(change.error());
  const PodQuery alike = Alike(pod);
  const auto counts = [&](const api::Pod* other) {
    return other != nullptr && alike.Matches(*other);
  };
  return QueueIf(counts(change->old_object) || counts(change->new_object));
}

}  // namespace

ServiceAffinity::ServiceAffinity(const ServiceAffinityArgs& args, Handle& handle)
    : args_(args),
      handle_(&handle),
      rejection_(handle.reasons().Make(Code::kUnschedulable, kReason)) {}

// What any pod alike may stand on decides for all rows.
Inputs ServiceAffinity::DeclaredInputs() const {
  return Inputs::Of(pod_part::kNodeAffinity | pod_part::kNamespace | pod_part::kLabels,
                    {{Reach::kNode}, {Reach::kCluster}, {Reach::kOtherObjects}});
}

PreFilterResult ServiceAffinity::PreFilter(CycleState& state, const PodInfo& pod,
                                           const Snapshot& snapshot) {
  if (args_.affinity_labels.empty()) return {.status = Status::Skip()};
  PreFilterState data;
  for (const std::string& key : args_.affinity_labels) {
    if (const std::string* value = api::Find(pod.pod->spec.node_selector, key)) {
      data.own.emplace_back(key, *value);
    } else {
      data.missing.push_back(key);
    }
  }
  data.has_service = FirstService(*pod.pod, handle_->listers()).has_value();
  std::shared_ptr<const PodCounts> counts = snapshot.CountPods(Alike(*pod.pod));
  const Counts& by_row = counts->by_row();
  data.by_row = std::shared_ptr<const Counts>(std::move(counts), &by_row);
  state.Write(std::move(data));
  return {};
}

Status ServiceAffinity::AddPod(CycleState& state, const PodInfo& pod, const PodInfo& added,
                               const NodeView& node) {
  Imagine(state, pod, added, node.row(), 1);
  return Status::Success();
}

Status ServiceAffinity::RemovePod(CycleState& state, const PodInfo& pod, const PodInfo& removed,
                                  const NodeView& node) {
  Imagine(state, pod, removed, node.row(), -1);
  return Status::Success();
}

void ServiceAffinity::Detach(CycleState& state) {
  auto& data = state.Mutable<PreFilterState>();
  data.by_row = std::make_shared<const Counts>(*data.by_row);
}

Status ServiceAffinity::Filter(const CycleState& state, const PodInfo&,
                               const NodeView& node) const {
  const WantedLabels wanted = Wanted(state.Read<PreFilterState>(), node.snapshot());
  return Carries(node.node(), wanted) ? Status::Success() : rejection_;
}

Status ServiceAffinity::FilterNodes(const CycleState& state, const PodInfo&,
                                    const Snapshot& snapshot, NodeSet& nodes) const {
  const WantedLabels wanted = Wanted(state.Read<PreFilterState>(), snapshot);
  if (wanted.empty()) return {};
  nodes.Filter([&](NodeRow row) { return Carries(snapshot.node(row), wanted); });
  return {};
}

Status ServiceAffinity::PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                                 const NodeSet&) {
  PreScoreState data;
  if (const auto query = ServicePods(*pod.pod, handle_->listers())) {
    data.counts = snapshot.CountPods(*query);
  }
  state.Write(std::move(data));
  return Status::Success();
}

ScoreResult ServiceAffinity::Score(const CycleState& state, const PodInfo& pod,
                                   const NodeView& node) const {
  int64_t score = 0;
  const NodeRow row = node.row();
  ScoreNodes(state, pod, node.snapshot(), {&row, 1}, {&score, 1});
  return {score};
}

void ServiceAffinity::ScoreNodes(const CycleState& state, const PodInfo& pod,
                                 const Snapshot& snapshot, std::span<const NodeRow> nodes,
                                 std::span<int64_t> scores) const {
  if (const auto* counted = state.Find<PreScoreState>()) {
    ScoreCounted(*counted, nodes, scores);
  } else {
    ScoreUncounted(ServicePods(*pod.pod, handle_->listers()), snapshot, nodes, scores);
  }
}

Status ServiceAffinity::NormalizeScore(const CycleState&, const PodInfo&,
                                       std::span<const NodeRow> nodes,
                                       std::span<int64_t> scores) const {
  constexpr auto kMax = static_cast<double>(kMaxNodeScore);
  const Snapshot& snapshot = handle_->snapshot();
  const std::vector<std::string>& keys = args_.anti_affinity_labels_preference;
  int64_t pods = 0;
  for (const int64_t score : scores) pods += score;
  std::vector<double> means(nodes.size(), 0.0);
  for (const std::string& key : keys) {
    std::map<std::string_view, int64_t> by_value;
    std::vector<const int64_t*> counts(nodes.size(), nullptr);
    for (size_t i = 0; i < nodes.size(); ++i) {
      const std::string* value = api::Find(snapshot.node(nodes[i]).metadata.labels, key);
      if (value == nullptr) continue;
      int64_t& count = by_value[*value];
      count += scores[i];
      counts[i] = &count;
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (counts[i] == nullptr) continue;
      const double score =
          pods > 0 ? kMax * (static_cast<double>(pods - *counts[i]) / static_cast<double>(pods))
                   : kMax;
      means[i] += score / static_cast<double>(keys.size());
    }
  }
  for (size_t i = 0; i < nodes.size(); ++i) scores[i] = static_cast<int64_t>(means[i]);
  return Status::Success();
}

std::vector<ClusterEventWithHint> ServiceAffinity::EventsToRegister() const {
  if (args_.affinity_labels.empty()) return {};
  return {
      {{EventResource::kAssignedPod, action::kAdd | action::kDelete | action::kUpdatePodLabel},
       AfterPodChange},
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel}, nullptr},
  };
}

}  // namespace berth::plugins
