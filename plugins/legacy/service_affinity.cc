// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/legacy/counted_pods.h"
#include "plugins/legacy/library.h"

namespace berth::legacy {
namespace {

constexpr uint32_t kNoRow = std::numeric_limits<uint32_t>::max();

using WantedLabels = std::vector<std::pair<std::string_view, std::string>>;

// Pods that are alike, and where they are.
struct PreFilterState {
  Counts by_row;
  std::vector<std::pair<uint32_t, int64_t>> imagined = {};  // what is to be added to the counts
  WantedLabels own = {};                                    // of the pod's nodeSelector
  std::vector<std::string_view> missing = {};               // what the service's first pod says
  bool has_service = false;

  size_t bytes() const {
    size_t bytes = by_row.bytes() + imagined.capacity() * sizeof(imagined[0]) +
                   own.capacity() * sizeof(own[0]) + missing.capacity() * sizeof(std::string_view);
    for (const auto& [key, value] : own) bytes += value.capacity();
    return bytes;
  }
};

// One object for all points: a plugin keeps no more than one for a pod.
struct State {
  std::optional<PreFilterState> filter;
  std::optional<CountedPods> counted;

  size_t bytes() const { return (filter ? filter->bytes() : 0) + (counted ? counted->bytes() : 0); }
};

const PreFilterState* FilterStateOf(const CycleState& state) {
  const auto* data = state.Read<State>();
  return data == nullptr || !data->filter ? nullptr : &*data->filter;
}

PreFilterState* FilterStateOf(CycleState& state) {
  return const_cast<PreFilterState*>(FilterStateOf(std::as_const(state)));
}

State& MakeState(CycleState& state) {
  auto* data = state.Mutable<State>();
  return data == nullptr ? state.Write(std::make_unique<State>()) : *data;
}

bool AreAlike(const PodView& pod, const PodView& other) {
  return pod.namespace_() == other.namespace_() &&
         Selector::OfLabels(pod.labels()).Matches(other.labels());
}

// The lowest row with a pod, or kNoRow.
uint32_t FirstRow(const PreFilterState& state, const Snapshot& snapshot) {
  const auto imagined = [&](uint32_t row) {
    int64_t delta = 0;
    for (const auto& [at, by] : state.imagined) delta += at == row ? by : 0;
    return delta;
  };
  uint32_t first = kNoRow;
  const ConstNodeSet nodes = snapshot.nodes();
  const auto consider = [&](uint32_t row, int64_t pods) {
    const bool there = row / 64 < nodes.num_words() && nodes.Test(row);
    if (there && row < first && pods + imagined(row) > 0) first = row;
  };
  state.by_row.ForEach([&](uint32_t row, int64_t pods) {
    consider(row, pods);
    return first == kNoRow;
  });
  for (const auto& [row, by] : state.imagined) consider(row, state.by_row[row]);
  return first;
}

// What a node must carry.
WantedLabels Wanted(const PreFilterState& state, const Snapshot& snapshot) {
  WantedLabels wanted = state.own;
  if (!state.has_service || state.missing.empty()) return wanted;
  const uint32_t first = FirstRow(state, snapshot);
  if (first == kNoRow) return wanted;
  const StringMap labels = snapshot.node(first).labels();
  for (const std::string_view key : state.missing) {
    if (const auto value = labels.Find(key)) wanted.emplace_back(key, *value);
  }
  return wanted;
}

bool Carries(const NodeView& node, const WantedLabels& wanted) {
  const StringMap labels = node.labels();
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const auto& label) { return labels.Find(label.first) == label.second; });
}

void Imagine(CycleState& state, const PodView& pod, const PodView& other, uint32_t row,
             int64_t delta) {
  auto* data = FilterStateOf(state);
  if (data != nullptr && AreAlike(pod, other)) data->imagined.emplace_back(row, delta);
}

QueueingHint AfterPodChange(const PodView& pod, const ObjectView& before, const ObjectView& after) {
  const auto alike = [&](const ObjectView& object) {
    const auto other = object.pod();
    return other && AreAlike(pod, *other);
  };
  return alike(before) || alike(after) ? QueueingHint::kQueue : QueueingHint::kQueueSkip;
}

// Keeps the pods of a Service on nodes with the same values of some labels, and spreads them over
// the values of others. Kubernetes had it up to 1.22; pod affinity and topology spread constraints
// say the same.
//
// Which value a service has, the node of its first pod says: of pods with all labels of the new
// one, in its namespace, that on the lowest row. What the pod's nodeSelector says about a label
// wins.
//
// Thread safety: Filter, Score and their column forms may run concurrently; the rest on the
// scheduling thread.
class ServiceAffinity final : public PreFilterPlugin,
                              public PreFilterExtensions,
                              public ColumnFilterPlugin,
                              public PreScorePlugin,
                              public ColumnScorePlugin,
                              public NormalizeScorePlugin,
                              public EnqueueExtensions {
 public:
  static constexpr std::string_view kReason = "node(s) didn't match service affinity";
  static constexpr const char* kFilterWithoutPreFilter =
      "error reading \"PreFilterServiceAffinity\" from cycleState: not found";

  // `args` are valid.
  ServiceAffinity(const ConfigValue& args, Handle handle) : handle_(handle) {
    FieldReader fields(args);
    fields.Read("affinityLabels", affinity_labels_);
    fields.Read("antiAffinityLabelsPreference", anti_affinity_labels_preference_);
  }

  // Skips every pod where the args name no affinityLabels.
  PreFilterResult PreFilter(CycleState& state, const PodView& pod,
                            const Snapshot& snapshot) override {
    if (affinity_labels_.empty()) return {Status::Skip()};
    PreFilterState data{
        .by_row = Counts::Of(snapshot, pod.namespace_(), Selector::OfLabels(pod.labels()),
                             /*skip_terminating=*/false),
        .has_service = FirstService(pod).has_value()};
    const StringMap node_selector = pod.node_selector();
    for (const std::string& key : affinity_labels_) {
      if (const auto value = node_selector.Find(key)) {
        data.own.emplace_back(key, *value);
      } else {
        data.missing.push_back(key);
      }
    }
    MakeState(state).filter = std::move(data);
    return {};
  }
  Status AddPod(CycleState& state, const PodView& pod, const PodView& added,
                const NodeView& node) override {
    Imagine(state, pod, added, node.row(), 1);
    return Status::Success();
  }
  Status RemovePod(CycleState& state, const PodView& pod, const PodView& removed,
                   const NodeView& node) override {
    Imagine(state, pod, removed, node.row(), -1);
    return Status::Success();
  }
  void Detach(CycleState& state) override {
    if (auto* data = FilterStateOf(state)) data->by_row = data->by_row.Copy();
  }
  Status Filter(const CycleState& state, const PodView&, const NodeView& node) const override {
    const auto* data = FilterStateOf(state);
    if (data == nullptr) return Status::Error(kFilterWithoutPreFilter);
    if (Carries(node, Wanted(*data, node.snapshot()))) return Status::Success();
    return Status::Unschedulable(std::string(kReason));
  }
  void FilterNodes(const CycleState& state, const PodView&, const Snapshot& snapshot,
                   NodeSet& nodes) const override {
    const auto* data = FilterStateOf(state);
    const WantedLabels wanted = data == nullptr ? WantedLabels() : Wanted(*data, snapshot);
    if (data != nullptr && wanted.empty()) return;
    nodes.ForEach([&](uint32_t row) {
      if (data == nullptr || !Carries(snapshot.node(row), wanted)) nodes.Clear(row);
    });
  }

  Status PreScore(CycleState& state, const PodView& pod, const Snapshot& snapshot,
                  const ConstNodeSet&) override {
    MakeState(state).counted = CountPods(pod, snapshot, FirstService(pod));
    return Status::Success();
  }
  // How many pods of the pod's first service, in its namespace and not being deleted, are on the
  // node.
  ScoreResult Score(const CycleState& state, const PodView& pod,
                    const NodeView& node) const override {
    int64_t score = 0;
    const uint32_t row = node.row();
    ScoreNodes(state, pod, node.snapshot(), &row, &score, 1);
    return {score};
  }
  void ScoreNodes(const CycleState& state, const PodView& pod, const Snapshot& snapshot,
                  const uint32_t* rows, int64_t* scores, size_t n) const override {
    const auto* data = state.Read<State>();
    if (data != nullptr && data->counted) {
      ScoreCounted(*data->counted, rows, scores, n);
      return;
    }
    const auto service = FirstService(pod);
    for (size_t i = 0; i < n; ++i) scores[i] = ScoreUncounted(service, pod, snapshot.node(rows[i]));
  }
  // For each of antiAffinityLabelsPreference the share of the service's pods that are not on nodes
  // with the node's value of it, 0 for nodes without it; the mean of these, from 0 to 100.
  Status NormalizeScore(const CycleState&, const PodView&, const Snapshot& snapshot,
                        const uint32_t* rows, int64_t* scores, size_t n) const override {
    const std::vector<std::string>& keys = anti_affinity_labels_preference_;
    int64_t pods = 0;
    for (size_t i = 0; i < n; ++i) pods += scores[i];
    std::vector<double> means(n, 0.0);
    for (const std::string& key : keys) {
      std::map<std::string_view, int64_t> by_value;
      std::vector<const int64_t*> counts(n, nullptr);
      for (size_t i = 0; i < n; ++i) {
        const auto value = snapshot.node(rows[i]).labels().Find(key);
        if (!value) continue;
        int64_t& count = by_value[*value];
        count += scores[i];
        counts[i] = &count;
      }
      for (size_t i = 0; i < n; ++i) {
        if (counts[i] == nullptr) continue;
        const double share =
            pods > 0
                ? kMaxScore * (static_cast<double>(pods - *counts[i]) / static_cast<double>(pods))
                : kMaxScore;
        means[i] += share / static_cast<double>(keys.size());
      }
    }
    for (size_t i = 0; i < n; ++i) scores[i] = static_cast<int64_t>(means[i]);
    return Status::Success();
  }

  // Queues the pod when a pod alike comes, goes or changes its labels, when a node comes, and when
  // one changes its labels. A change of services is no event: it counts at the next attempt.
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    if (affinity_labels_.empty()) return {};
    return {
        {BERTH_KIND_ASSIGNED_POD,
         BERTH_ACTION_ADD | BERTH_ACTION_DELETE | BERTH_ACTION_UPDATE_POD_LABEL, AfterPodChange},
        {BERTH_KIND_NODE, BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_LABEL}};
  }

 private:
  // The selector of the first service, in order of name, that selects the pod; nullopt for none.
  std::optional<Selector> FirstService(const PodView& pod) const {
    std::optional<Selector> first;
    const StringMap labels = pod.labels();
    handle_.ForEachObject(BERTH_KIND_SERVICE, pod.namespace_(), [&](const ObjectView& service) {
      if (first || service.selector().size() == 0) return;
      Selector selector = Selector::OfLabels(service.selector());
      if (selector.Matches(labels)) first = std::move(selector);
    });
    return first;
  }

  // Keys of node labels: pods of a service stay on nodes with the same values of these,
  std::vector<std::string> affinity_labels_;
  // and are spread over the values of each of these.
  std::vector<std::string> anti_affinity_labels_preference_;
  Handle handle_;
};

}  // namespace

// What any pod alike may stand on decides for all rows.
berth_plugin ServiceAffinityPlugin() {
  return Define<ServiceAffinity>(
      "ServiceAffinity",
      {.declares_inputs = true,
       .pod_parts =
           BERTH_READS_POD_NODE_AFFINITY | BERTH_READS_POD_NAMESPACE | BERTH_READS_POD_LABELS,
       .reach = BERTH_REACH_NODE | BERTH_REACH_CLUSTER | BERTH_REACH_OTHER_OBJECTS,
       .filter_without_pre_filter = ServiceAffinity::kFilterWithoutPreFilter});
}

}  // namespace berth::legacy
