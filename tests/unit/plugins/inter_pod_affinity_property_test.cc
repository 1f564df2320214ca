// SPDX-License-Identifier: Apache-2.0
// InterPodAffinity reads counts that the cluster keeps; here it is compared with kube-scheduler's
// formulas worked out from scratch, pod by pod, on random clusters.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "tests/support/random_cluster.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

constexpr std::string_view kSkip = "skip";

using Terms = std::vector<api::PodAffinityTerm>;
using WeightedTerms = std::vector<api::WeightedPodAffinityTerm>;
// Topology key and value to what counts there.
using Pairs = std::map<std::pair<std::string, std::string>, int64_t>;

bool Selects(const std::optional<api::LabelSelector>& selector, const api::StringMap& labels) {
  if (!selector) return false;
  for (const auto& [key, value] : selector->match_labels) {
    const std::string* label = api::Find(labels, key);
    if (label == nullptr || *label != value) return false;
  }
  for (const auto& [key, op, values] : selector->match_expressions) {
    const std::string* label = api::Find(labels, key);
    const bool listed =
        label != nullptr && std::find(values.begin(), values.end(), *label) != values.end();
    const bool holds = op == "In"       ? listed
                       : op == "NotIn"  ? !listed
                       : op == "Exists" ? label != nullptr
                                        : label == nullptr;
    if (!holds) return false;
  }
  return true;
}

const api::PodAffinity& SideOf(const api::Pod& pod,
                               std::optional<api::PodAffinity> api::Affinity::* side) {
  static const api::PodAffinity kNone;
  if (!pod.spec.affinity || !((*pod.spec.affinity).*side)) return kNone;
  return *((*pod.spec.affinity).*side);
}
const Terms& Required(const api::Pod& pod) {
  return SideOf(pod, &api::Affinity::pod_affinity)
      .required_during_scheduling_ignored_during_execution;
}
const Terms& RequiredAnti(const api::Pod& pod) {
  return SideOf(pod, &api::Affinity::pod_anti_affinity)
      .required_during_scheduling_ignored_during_execution;
}
const WeightedTerms& Preferred(const api::Pod& pod) {
  return SideOf(pod, &api::Affinity::pod_affinity)
      .preferred_during_scheduling_ignored_during_execution;
}
const WeightedTerms& PreferredAnti(const api::Pod& pod) {
  return SideOf(pod, &api::Affinity::pod_anti_affinity)
      .preferred_during_scheduling_ignored_during_execution;
}

// The plugin from scratch: one incoming pod and a cluster, some rows under an overlay.
class Plain {
 public:
  Plain(const api::Pod& pod, const Snapshot& snapshot, const Listers& listers,
        const std::map<NodeRow, Overlay>& overlays = {})
      : pod_(pod), snapshot_(snapshot), listers_(listers), overlays_(overlays) {}

  void PreFilter() {
    ForEachPod([&](const api::Node& node, const api::Pod& placed) {
      for (const api::PodAffinityTerm& term : RequiredAnti(placed)) {
        if (PlacedMeansPod(placed, term)) Count(existing_, node, term.topology_key, 1);
      }
      if (!Required(pod_).empty() && MeansAll(placed)) {
        for (const api::PodAffinityTerm& term : Required(pod_)) {
          Count(affinity_, node, term.topology_key, 1);
        }
      }
      for (const api::PodAffinityTerm& term : RequiredAnti(pod_)) {
        if (PodMeans(term, placed)) Count(anti_, node, term.topology_key, 1);
      }
    });
  }
  bool SkipsFilter() const {
    return existing_.empty() && Required(pod_).empty() && RequiredAnti(pod_).empty();
  }
  std::string_view Filter(const api::Node& node) const {
    bool near_all = true;
    for (const api::PodAffinityTerm& term : Required(pod_)) {
      if (!Has(node, term.topology_key)) return InterPodAffinity::kAffinityReason;
      if (Of(affinity_, node, term.topology_key) <= 0) near_all = false;
    }
    if (!near_all && (!affinity_.empty() || !MeansAll(pod_))) {
      return InterPodAffinity::kAffinityReason;
    }
    for (const api::PodAffinityTerm& term : RequiredAnti(pod_)) {
      if (Of(anti_, node, term.topology_key) > 0) return InterPodAffinity::kAntiAffinityReason;
    }
    for (const auto& [key, value] : node.metadata.labels) {
      if (Of(existing_, node, key) > 0) return InterPodAffinity::kPlacedPodsReason;
    }
    return "";
  }

  void PreScore(const InterPodAffinityArgs& args) {
    const bool prefers = !Preferred(pod_).empty() || !PreferredAnti(pod_).empty();
    if (args.ignore_preferred_terms_of_existing_pods && !prefers) return;
    ForEachPod([&](const api::Node& node, const api::Pod& placed) {
      const auto both = [&](const WeightedTerms& own, const WeightedTerms& of_placed, int sign) {
        for (const auto& [weight, term] : own) {
          if (PodMeans(term, placed)) Count(scores_, node, term.topology_key, sign * weight);
        }
        for (const auto& [weight, term] : of_placed) {
          if (PlacedMeansPod(placed, term)) Count(scores_, node, term.topology_key, sign * weight);
        }
      };
      both(Preferred(pod_), Preferred(placed), 1);
      both(PreferredAnti(pod_), PreferredAnti(placed), -1);
      if (args.hard_pod_affinity_weight == 0) return;
      for (const api::PodAffinityTerm& term : Required(placed)) {
        if (!PlacedMeansPod(placed, term)) continue;
        Count(scores_, node, term.topology_key, args.hard_pod_affinity_weight);
      }
    });
  }
  bool SkipsScore() const { return scores_.empty(); }
  int64_t Score(const api::Node& node) const {
    int64_t score = 0;
    for (const auto& [key, value] : node.metadata.labels) score += Of(scores_, node, key);
    return score;
  }

 private:
  template <typename Visit>
  void ForEachPod(Visit visit) const {
    for (NodeRow row = 0; row < snapshot_.num_rows(); ++row) {
      const auto overlay = overlays_.find(row);
      const NodeView view(snapshot_, row, overlay == overlays_.end() ? nullptr : &overlay->second);
      view.ForEachPod([&](const PodInfo& placed) { visit(view.node(), *placed.pod); });
    }
  }

  static bool Has(const api::Node& node, const std::string& key) {
    return api::Find(node.metadata.labels, key) != nullptr;
  }
  static void Count(Pairs& pairs, const api::Node& node, const std::string& key, int64_t amount) {
    if (Has(node, key)) pairs[{key, *api::Find(node.metadata.labels, key)}] += amount;
  }
  static int64_t Of(const Pairs& pairs, const api::Node& node, const std::string& key) {
    if (!Has(node, key)) return 0;
    const auto found = pairs.find({key, *api::Find(node.metadata.labels, key)});
    return found == pairs.end() ? 0 : found->second;
  }

  static bool NamesNamespace(const api::PodAffinityTerm& term, const api::Pod& owner,
                             const std::string& name) {
    if (term.namespaces.empty() && !term.namespace_selector) {
      return name == owner.metadata.namespace_;
    }
    return std::find(term.namespaces.begin(), term.namespaces.end(), name) != term.namespaces.end();
  }
  bool PodMeans(const api::PodAffinityTerm& term, const api::Pod& other) const {
    const std::string& name = other.metadata.namespace_;
    bool in_namespace = NamesNamespace(term, pod_, name);
    if (term.namespace_selector) {
      const api::Namespace* known = listers_.Find<api::Namespace>(name);
      in_namespace = in_namespace || *term.namespace_selector == api::LabelSelector() ||
                     (known != nullptr && Selects(term.namespace_selector, known->metadata.labels));
    }
    return in_namespace && Selects(term.label_selector, other.metadata.labels);
  }
  bool MeansAll(const api::Pod& other) const {
    return std::all_of(Required(pod_).begin(), Required(pod_).end(),
                       [&](const api::PodAffinityTerm& term) { return PodMeans(term, other); });
  }
  bool PlacedMeansPod(const api::Pod& placed, const api::PodAffinityTerm& term) const {
    const api::Namespace* known = listers_.Find<api::Namespace>(pod_.metadata.namespace_);
    return (NamesNamespace(term, placed, pod_.metadata.namespace_) ||
            Selects(term.namespace_selector,
                    known == nullptr ? api::StringMap() : known->metadata.labels)) &&
           Selects(term.label_selector, pod_.metadata.labels);
  }

  const api::Pod& pod_;
  const Snapshot& snapshot_;
  const Listers& listers_;
  const std::map<NodeRow, Overlay> overlays_;
  Pairs existing_;
  Pairs affinity_;
  Pairs anti_;
  Pairs scores_;
};

std::vector<int64_t> Normalised(const std::vector<int64_t>& raw) {
  int64_t min = std::numeric_limits<int64_t>::max();
  int64_t max = std::numeric_limits<int64_t>::min();
  for (const int64_t score : raw) {
    min = std::min(min, score);
    max = std::max(max, score);
  }
  std::vector<int64_t> normalised;
  for (const int64_t score : raw) {
    double scaled = 0;
    if (max > min) {
      scaled = 100.0 * (static_cast<double>(score - min) / static_cast<double>(max - min));
    }
    normalised.push_back(static_cast<int64_t>(scaled));
  }
  return normalised;
}

class InterPodAffinityPropertyTest : public testing::Test, public PluginFixture {
 public:
  void PutNamespaces() {
    for (const char* name : {"default", "dev", "prod"}) {
      handle.plain_listers.Remove<api::Namespace>("", name);
    }
    for (api::Namespace& known : RandomNamespaces(random)) {
      handle.plain_listers.Set(std::move(known));
    }
  }

  InterPodAffinityArgs RandomArgs() {
    return {.hard_pod_affinity_weight = static_cast<int32_t>(random.Below(4)),
            .ignore_preferred_terms_of_existing_pods = random.Below(3) == 0};
  }

  void CompareVerdicts(const InterPodAffinity& plugin, const CycleState& cycle, const PodInfo& pod,
                       const PlainSnapshot& snapshot, const Plain& plain) {
    NodeSet passing = snapshot.nodes();
    for (NodeRow row = 0; row < snapshot.num_rows(); ++row) {
      const Status got = plugin.Filter(cycle, pod, NodeView(snapshot, row));
      const std::string_view want = plain.Filter(snapshot.node(row));
      ASSERT_EQ(got.message(), want) << "row " << row;
      const Code rejection = want == InterPodAffinity::kAffinityReason
                                 ? Code::kUnschedulableAndUnresolvable
                                 : Code::kUnschedulable;
      EXPECT_EQ(got.code(), want.empty() ? Code::kSuccess : rejection);
      passing.Put(row, want.empty());
      ++seen[std::string(want)];
    }
    NodeSet by_column = snapshot.nodes();
    EXPECT_TRUE(plugin.FilterNodes(cycle, pod, snapshot, by_column).ok());
    EXPECT_EQ(by_column, passing);
  }

  // Imagines some pods on nodes and some away, in one copy of the state.
  void CompareOverlays(InterPodAffinity& plugin, const CycleState& original, const PodInfo& pod,
                       const PlainSnapshot& snapshot) {
    CycleState imagined = original.Clone();
    std::map<NodeRow, Overlay> overlays;
    std::vector<PodInfoPtr> added;
    for (size_t i = 0; i < 4; ++i) {
      const auto row = static_cast<NodeRow>(random.Below(snapshot.num_rows()));
      const auto placed = snapshot.pods(row);
      const NodeView view = NodeView(snapshot, row);
      if (placed.empty() || random.Below(2) == 0) {
        added.push_back(Info(RandomPod(random, 500 + i, snapshot.num_rows())));
        overlays[row].AddPod(*added.back());
        EXPECT_TRUE(plugin.AddPod(imagined, pod, *added.back(), view).ok());
        continue;
      }
      const PodInfo* removed = placed[random.Below(placed.size())];
      const auto gone = overlays[row].removed();
      if (std::find(gone.begin(), gone.end(), removed) != gone.end()) continue;
      overlays[row].RemovePod(*removed);
      EXPECT_TRUE(plugin.RemovePod(imagined, pod, *removed, view).ok());
    }
    Plain plain(*pod.pod, snapshot, handle.plain_listers, overlays);
    plain.PreFilter();
    CompareVerdicts(plugin, imagined, pod, snapshot, plain);
  }

  void CompareFilter(InterPodAffinity& plugin, const PodInfo& pod, const PlainSnapshot& snapshot) {
    Plain plain(*pod.pod, snapshot, handle.plain_listers);
    plain.PreFilter();
    CycleState cycle;
    const Status status = plugin.PreFilter(cycle, pod, snapshot).status;
    ASSERT_EQ(status.skip(), plain.SkipsFilter());
    if (status.skip()) {
      ++seen[std::string(kSkip)];
      return;
    }
    ASSERT_TRUE(status.ok()) << status.message();
    CompareVerdicts(plugin, cycle, pod, snapshot, plain);
    CompareOverlays(plugin, cycle, pod, snapshot);
    CompareVerdicts(plugin, cycle, pod, snapshot, plain);
  }

  void CompareScores(InterPodAffinity& plugin, const InterPodAffinityArgs& args, const PodInfo& pod,
                     const PlainSnapshot& snapshot) {
    Plain plain(*pod.pod, snapshot, handle.plain_listers);
    plain.PreScore(args);
    CycleState cycle;
    std::vector<NodeRow> rows;
    for (NodeRow row = 0; row < snapshot.num_rows(); ++row) {
      if (random.Below(4) != 0) rows.push_back(row);
    }
    const Status status = plugin.PreScore(cycle, pod, snapshot, snapshot.nodes());
    ASSERT_EQ(status.skip(), plain.SkipsScore());
    if (status.skip()) return;
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<int64_t> want;
    for (const NodeRow row : rows) {
      want.push_back(plain.Score(snapshot.node(row)));
      EXPECT_EQ(plugin.Score(cycle, pod, NodeView(snapshot, row)).score, want.back());
      ++seen[want.back() < 0 ? "negative" : want.back() > 0 ? "positive" : "zero"];
    }
    std::vector<int64_t> got(rows.size(), -12345);
    plugin.ScoreNodes(cycle, pod, snapshot, rows, got);
    EXPECT_EQ(got, want);
    EXPECT_TRUE(plugin.NormalizeScore(cycle, pod, rows, got).ok());
    EXPECT_EQ(got, Normalised(want));
  }

  Random random{7};
  std::map<std::string, size_t> seen;
};

TEST_F(InterPodAffinityPropertyTest, ItAgreesWithTheFormulasWorkedOutPodByPod) {
  for (int round = 0; round < 150 && !HasFailure(); ++round) {
    PutNamespaces();
    const size_t count = 1 + random.Below(24);
    const size_t num_placed = random.Below(round % 3 == 0 ? 4 : 3 * count);
    const PlainSnapshot snapshot =
        Cluster(RandomNodes(random, count), RandomPlacedPods(random, num_placed, count));
    const InterPodAffinityArgs args = RandomArgs();
    InterPodAffinity plugin(args, handle);
    for (size_t i = 0; i < 8; ++i) {
      SCOPED_TRACE("round " + std::to_string(round) + ", pod " + std::to_string(i));
      const PodInfoPtr pod = Info(RandomPod(random, i, count));
      CompareFilter(plugin, *pod, snapshot);
      CompareScores(plugin, args, *pod, snapshot);
    }
  }
  for (const std::string_view what :
       {std::string_view(), InterPodAffinity::kAffinityReason,
        InterPodAffinity::kAntiAffinityReason, InterPodAffinity::kPlacedPodsReason, kSkip,
        std::string_view("negative"), std::string_view("positive"), std::string_view("zero")}) {
    EXPECT_GT(seen[std::string(what)], 100u) << what;
  }
}

}  // namespace
}  // namespace berth::plugins
