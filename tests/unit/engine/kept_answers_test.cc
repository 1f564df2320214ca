// SPDX-License-Identifier: Apache-2.0
// Which nodes are asked about again after a change: one case for each cell of the table in
// docs/engine.md.
#include "src/engine/kept_answers.h"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

#include "src/cache/cache.h"
#include "tests/support/builders.h"
#include "tests/unit/framework/profile_fixture.h"

namespace berth::engine {
namespace {

using Rows = std::set<NodeRow>;

constexpr NodeRow kChanged = 1;  // where a pod comes or goes, or the node changes
constexpr NodeRow kNamed = 3;    // what the plugin says that a pod on another row changes

// Answers for every node, and notes which it was asked about.
class Asked final : public FilterPlugin,
                    public ScorePlugin,
                    public UpdatablePreFilterPlugin,
                    public UpdatablePreScorePlugin {
 public:
  PreFilterResult PreFilter(CycleState&, const PodInfo&, const Snapshot&) override { return {}; }
  bool UpdatePreFilter(CycleState&, const PodInfo&, const Snapshot&, std::span<const NodeRow>,
                       NodeSet& touched) override {
    touched.Set(kNamed);
    return true;
  }
  Status Filter(const CycleState&, const PodInfo&, const NodeView& node) const override {
    rows.insert(node.row());
    return Status::Success();
  }
  Status PreScore(CycleState&, const PodInfo&, const Snapshot&, const NodeSet&) override {
    return Status::Success();
  }
  bool UpdatePreScore(CycleState&, const PodInfo&, const Snapshot&, std::span<const NodeRow>,
                      const NodeSet&, NodeSet& touched) override {
    touched.Set(kNamed);
    return true;
  }
  ScoreResult Score(const CycleState&, const PodInfo&, const NodeView& node) const override {
    rows.insert(node.row());
    return {};
  }

  mutable Rows rows;
};

struct Case {
  std::string name;
  std::vector<Input> inputs;
  bool updatable = false;  // the plugin says which rows a pod changes
  Rows pod, node, object;  // asked about after a change of each kind
};

std::vector<Case> Cases() {
  const Rows none;
  const Rows that = {kChanged};
  const Rows all = {0, 1, 2, 3};
  return {
      {"kNode", {{Reach::kNode}}, false, none, that, none},
      {"kUsage", {{Reach::kUsage}}, false, that, that, none},
      {"kAllNodes", {{Reach::kAllNodes}}, false, none, all, none},
      {"kAllNodesAndUsage", {{Reach::kAllNodes}, {Reach::kUsage}}, false, that, all, none},
      {"kDomain", {{Reach::kDomain, "zone"}}, false, all, all, none},
      {"kDomainNamed", {{Reach::kDomain, "zone"}}, true, {kNamed}, all, none},
      {"kCluster", {{Reach::kCluster}}, false, all, all, none},
      {"kClusterNamed", {{Reach::kCluster}}, true, {kNamed}, all, none},
      {"kOtherObjects", {{Reach::kOtherObjects}}, false, none, that, all},
      {"kOtherObjectsAndUsage", {{Reach::kOtherObjects}, {Reach::kUsage}}, false, that, that, all},
      {"kOtherObjectsAndCluster",
       {{Reach::kOtherObjects}, {Reach::kCluster}},
       true,
       {kNamed},
       all,
       all},
  };
}

class KeptAnswersTest : public test::ProfileFixture, public testing::WithParamInterface<Case> {
 protected:
  KeptAnswersTest() {
    Make({"A"});
    for (size_t i = 0; i < 4; ++i) cache_.SetNode(Node(i).Ptr());
    pod_ = cache_.MakePodInfo(test::MakePod().Ptr());
    filter_.plugin = &plugin_;
    score_.plugin = &plugin_;
    const InputScope scope = InputScope::Of(Inputs::Of(0, GetParam().inputs));
    filter_step_ = {.name = "Asked",
                    .index = 0,
                    .scope = scope,
                    .pre_filter = &plugin_,
                    .updatable = GetParam().updatable ? &plugin_ : nullptr,
                    .filter = &filter_};
    score_step_ = {.name = "Asked",
                   .index = 0,
                   .scope = scope,
                   .pre_score = &plugin_,
                   .updatable = GetParam().updatable ? &plugin_ : nullptr,
                   .score = &score_,
                   .normalises = false};
  }
  static test::NodeBuilder Node(size_t i) { return test::MakeNode("n" + std::to_string(i)); }

  // The rows that are asked about when the answers are made those of now.
  Rows Refresh(KeptVerdicts& kept) {
    TouchedRows touched;
    touched.Resize(cache_.num_rows());
    plugin_.rows.clear();
    EXPECT_TRUE(kept.Refresh(Input(), touched));
    return plugin_.rows;
  }
  Rows Refresh(KeptScores& kept) {
    TouchedRows touched;
    touched.Resize(cache_.num_rows());
    plugin_.rows.clear();
    EXPECT_TRUE(kept.Refresh(Input(), cache_.nodes(), feasible_changed_, touched));
    return plugin_.rows;
  }

  template <typename Kept>
  void RunCase(Kept& kept) {
    const Case& expected = GetParam();
    EXPECT_EQ(Refresh(kept), (Rows{0, 1, 2, 3})) << "at first";
    EXPECT_EQ(Refresh(kept), Rows{}) << "nothing changed";
    const PodInfoPtr placed = cache_.MakePodInfo(test::MakePod().Name("other").OnNode("n1").Ptr());
    ASSERT_TRUE(cache_.AddPod(placed));
    EXPECT_EQ(Refresh(kept), expected.pod) << "a pod came";
    ASSERT_TRUE(cache_.AddPod(
        cache_.MakePodInfo(test::MakePod().Name("other").OnNode("n1").DeletedAt(Time()).Ptr())));
    EXPECT_EQ(Refresh(kept), expected.pod) << "a pod is ending";
    cache_.RemovePod(placed->pod->metadata.uid);
    EXPECT_EQ(Refresh(kept), expected.pod) << "a pod went";
    cache_.SetNode(Node(kChanged).Label("a", "b").Ptr());
    EXPECT_EQ(Refresh(kept), expected.node) << "a node changed";
    cache_.CloseNode("n1", "default/unread");
    EXPECT_EQ(Refresh(kept), expected.node) << "a node was closed";
    ++objects_generation_;
    EXPECT_EQ(Refresh(kept), expected.object) << "another object changed";
  }

  DecisionInput Input() { return {*profile_, cycle_, *pod_, changes_, room_, objects_generation_}; }

  cache::Cache cache_;
  Changes changes_{cache_};
  RefreshRoom room_;
  framework::Cycle cycle_;
  PodInfoPtr pod_;
  Asked plugin_;
  framework::FilterEntry filter_;
  framework::ScoreEntry score_;
  FilterStep filter_step_;
  ScoreStep score_step_;
  uint64_t objects_generation_ = 1;
  bool feasible_changed_ = false;
  size_t bytes_ = 0;
};

TEST_P(KeptAnswersTest, VerdictsAreAskedForWithinReachOfAChange) {
  KeptVerdicts kept(filter_step_, bytes_);
  RunCase(kept);
}

TEST_P(KeptAnswersTest, ScoresAreAskedForWithinReachOfAChange) {
  KeptScores kept(score_step_, bytes_);
  RunCase(kept);
  // As after a pod that came, for plugins that reach beyond the node.
  feasible_changed_ = true;
  EXPECT_EQ(Refresh(kept), score_step_.scope.all_usage ? GetParam().pod : Rows{});
}

INSTANTIATE_TEST_SUITE_P(Reaches, KeptAnswersTest, testing::ValuesIn(Cases()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace berth::engine
