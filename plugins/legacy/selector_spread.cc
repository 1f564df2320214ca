// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/legacy/counted_pods.h"
#include "plugins/legacy/library.h"

namespace berth::legacy {
namespace {

constexpr double kZoneWeighting = 2.0 / 3.0;

// Region and zone; both empty: the node is in none. The beta labels win, as in the order of nodes.
using Zone = std::pair<std::string_view, std::string_view>;

std::string_view LabelOf(const StringMap& labels, std::string_view beta, std::string_view key) {
  const auto value = labels.Find(beta);
  return value ? *value : labels.Get(key);
}

Zone ZoneOf(const NodeView& node) {
  const StringMap labels = node.labels();
  return {
      LabelOf(labels, "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
      LabelOf(labels, "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")};
}

// The order of these operations decides the last bit.
double FewerIsBetter(int64_t count, int64_t most) {
  if (most <= 0) return kMaxScore;
  return kMaxScore * (static_cast<double>(most - count) / static_cast<double>(most));
}

// Spreads the pods of a Service, ReplicationController, ReplicaSet or StatefulSet over nodes and
// zones. Kubernetes had it up to 1.24; PodTopologySpread's default constraints say the same.
//
// Thread safety: Score and ScoreNodes may run concurrently; the rest on the scheduling thread.
class SelectorSpread final : public PreScorePlugin,
                             public ColumnScorePlugin,
                             public NormalizeScorePlugin {
 public:
  SelectorSpread(const ConfigValue&, Handle handle) : handle_(handle) {}

  // Skips pods with topology spread constraints of their own.
  Status PreScore(CycleState& state, const PodView& pod, const Snapshot& snapshot,
                  const ConstNodeSet&) override {
    if (pod.num_topology_spread_constraints() > 0) return Status::Skip();
    state.Write(std::make_unique<CountedPods>(CountPods(pod, snapshot, handle_.SelectorOf(pod))));
    return Status::Success();
  }
  // How many pods of the same kind, in the pod's namespace and not being deleted, are on the node.
  ScoreResult Score(const CycleState& state, const PodView& pod,
                    const NodeView& node) const override {
    if (const auto* counted = state.Read<CountedPods>()) {
      return {counted->counts ? (*counted->counts)[node.row()] : 0};
    }
    if (pod.num_topology_spread_constraints() > 0) return {};
    return {ScoreUncounted(handle_.SelectorOf(pod), pod, node)};
  }
  void ScoreNodes(const CycleState& state, const PodView& pod, const Snapshot& snapshot,
                  const uint32_t* rows, int64_t* scores, size_t n) const override {
    if (const auto* counted = state.Read<CountedPods>()) {
      ScoreCounted(*counted, rows, scores, n);
      return;
    }
    std::optional<Selector> selector;
    if (pod.num_topology_spread_constraints() == 0) selector = handle_.SelectorOf(pod);
    for (size_t i = 0; i < n; ++i) {
      scores[i] = ScoreUncounted(selector, pod, snapshot.node(rows[i]));
    }
  }
  // 100 for the nodes with the fewest of these pods, 0 for those with the most. Where any node is
  // in a zone, the zone's pods among the nodes make two thirds of the score of nodes in zones.
  Status NormalizeScore(const CycleState&, const PodView& pod, const Snapshot& snapshot,
                        const uint32_t* rows, int64_t* scores, size_t n) const override {
    if (pod.num_topology_spread_constraints() > 0) return Status::Success();
    std::map<Zone, int64_t> by_zone;
    std::vector<const int64_t*> zone_counts(n, nullptr);
    int64_t most_on_node = 0;
    for (size_t i = 0; i < n; ++i) {
      most_on_node = std::max(most_on_node, scores[i]);
      const Zone zone = ZoneOf(snapshot.node(rows[i]));
      if (zone == Zone()) continue;
      int64_t& count = by_zone[zone];
      count += scores[i];
      zone_counts[i] = &count;
    }
    int64_t most_in_zone = 0;
    for (const auto& [zone, count] : by_zone) most_in_zone = std::max(most_in_zone, count);
    for (size_t i = 0; i < n; ++i) {
      double score = FewerIsBetter(scores[i], most_on_node);
      if (zone_counts[i] != nullptr) {
        const double zone_score = FewerIsBetter(*zone_counts[i], most_in_zone);
        score = (score * (1.0 - kZoneWeighting)) + (kZoneWeighting * zone_score);
      }
      scores[i] = static_cast<int64_t>(score);
    }
    return Status::Success();
  }

 private:
  Handle handle_;
};

}  // namespace

berth_plugin SelectorSpreadPlugin() {
  return Define<SelectorSpread>(
      "SelectorSpread", {.declares_inputs = true,
                         .pod_parts = BERTH_READS_POD_TOPOLOGY_SPREAD | BERTH_READS_POD_NAMESPACE |
                                      BERTH_READS_POD_SELECTED_LABELS | BERTH_READS_POD_OWNER,
                         .reach = BERTH_REACH_USAGE | BERTH_REACH_OTHER_OBJECTS});
}

}  // namespace berth::legacy
