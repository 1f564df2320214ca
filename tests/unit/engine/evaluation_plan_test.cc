// SPDX-License-Identifier: Apache-2.0
#include "src/engine/evaluation_plan.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/engine/own_nodes_plugin.h"
#include "tests/unit/framework/profile_fixture.h"

namespace berth::engine {
namespace {

TEST(SpanTest, SaysWhichChangesMatterForWhichNodes) {
  struct Case {
    std::vector<Input> inputs;
    bool usage, all_nodes, all_usage, other_objects, local;
  };
  const Case cases[] = {
      {{{Reach::kNode}}, false, false, false, false, true},
      {{{Reach::kNode}, {Reach::kUsage}}, true, false, false, false, true},
      {{{Reach::kAllNodes}}, false, true, false, false, false},
      {{{Reach::kDomain, "zone"}}, true, true, true, false, false},
      {{{Reach::kNode}, {Reach::kCluster}}, true, true, true, false, false},
      {{{Reach::kOtherObjects}}, false, false, false, true, false},
  };
  for (const Case& c : cases) {
    const InputScope scope = InputScope::Of(Inputs::Of(pod_part::kRequests, c.inputs));
    EXPECT_EQ(scope.pod, pod_part::kRequests);
    EXPECT_EQ(scope.usage, c.usage);
    EXPECT_EQ(scope.all_nodes, c.all_nodes);
    EXPECT_EQ(scope.all_usage, c.all_usage);
    EXPECT_EQ(scope.other_objects, c.other_objects);
    EXPECT_EQ(scope.local(), c.local);
  }
}

class EvaluationPlanTest : public test::ProfileFixture {};

// Keeps so many bytes, wherever it takes part.
class Hoards final : public FilterPlugin, public ScorePlugin, public MemoryPlugin {
 public:
  static constexpr std::string_view kName = "Hoards";

  Inputs DeclaredInputs() const { return Inputs::Of(0, {{Reach::kNode}}); }
  Status Filter(const CycleState&, const PodInfo&, const NodeView&) const override {
    return Status::Success();
  }
  ScoreResult Score(const CycleState&, const PodInfo&, const NodeView&) const override {
    return {};
  }
  size_t kept_bytes() const override { return 1000; }
};

TEST_F(EvaluationPlanTest, CountsWhatAPluginKeepsOnceWhereverItTakesPart) {
  more_plugins_.push_back({Hoards::kName, [](const ConfigValue&, Handle&) {
                             return Result<Plugin>(MakePlugin<Hoards>());
                           }});
  const std::string name(Hoards::kName);
  for (const auto& [filters, scores] :
       {std::pair(true, true), std::pair(true, false), std::pair(false, true)}) {
    config::Plugins plugins;
    plugins.multi_point.enabled = {{"Sort"}};
    plugins.bind.enabled = {{"A"}};
    if (filters) plugins.filter.enabled = {{name}};
    if (scores) plugins.score.enabled = {{name}};
    const auto profile = TryMake(plugins);
    ASSERT_TRUE(profile) << profile.error().message;
    EXPECT_EQ(EvaluationPlan(**profile).PluginBytes(), 1000u) << filters << scores;
  }
}

TEST_F(EvaluationPlanTest, KeepsNothingOfPluginsThatDeclareNothing) {
  Make({"A"});
  const EvaluationPlan plan(*profile_);
  EXPECT_FALSE(plan.keepable());
  ASSERT_EQ(plan.filters().size(), 1U);
  EXPECT_NE(plan.filters().front().pre_filter, nullptr);
  EXPECT_NE(plan.filters().front().filter, nullptr);
  EXPECT_EQ(plan.filters().front().updatable, nullptr);
}

TEST_F(EvaluationPlanTest, KeepsTheOthersBesideAPluginThatIsAskedAboutEachPod) {
  // It works at Reserve, too, and finds there what it left in the pod's own state.
  more_plugins_.push_back({test::OwnNodes::kName, [](const ConfigValue&, Handle&) {
                             return Result<Plugin>(MakePlugin<test::OwnNodes>());
                           }});
  config::Plugins plugins;
  plugins.multi_point.enabled = {{"Sort"}, {std::string(test::OwnNodes::kName)}};
  plugins.bind.enabled = {{"A"}};
  const auto profile = TryMake(plugins);
  ASSERT_TRUE(profile) << profile.error().message;
  const EvaluationPlan plan(**profile);
  EXPECT_TRUE(plan.keepable());
  EXPECT_TRUE(plan.keeps_refusals());
  ASSERT_EQ(plan.filters().size(), 1U);
  EXPECT_TRUE(plan.filters().front().each_pod);
}

// Leaves at PreFilter what it needs at Reserve.
class Prepares final : public PreFilterPlugin, public FilterPlugin, public ReservePlugin {
 public:
  static constexpr std::string_view kName = "Prepares";

  Inputs DeclaredInputs() const { return Inputs::Of(pod_part::kRequests, {{Reach::kNode}}); }
  PreFilterResult PreFilter(CycleState&, const PodInfo&, const Snapshot&) override { return {}; }
  Status Filter(const CycleState&, const PodInfo&, const NodeView&) const override {
    return Status::Success();
  }
  Status Reserve(CycleState&, const PodInfo&, std::string_view) override {
    return Status::Success();
  }
  void Unreserve(CycleState&, const PodInfo&, std::string_view) override {}
};

// Else enabling a plugin such as Coscheduling would have every pod evaluated by itself.
TEST_F(EvaluationPlanTest, AsksAPluginAboutEachPodThatOnlyPreparesForLater) {
  more_plugins_.push_back({Prepares::kName, [](const ConfigValue&, Handle&) {
                             return Result<Plugin>(MakePlugin<Prepares>());
                           }});
  const std::string name(Prepares::kName);
  for (const auto& [filters, reserves] : {std::pair(false, true), std::pair(false, false),
                                          std::pair(true, false), std::pair(true, true)}) {
    SCOPED_TRACE(std::to_string(filters) + std::to_string(reserves));
    config::Plugins plugins;
    plugins.multi_point.enabled = {{"Sort"}};
    plugins.bind.enabled = {{"A"}};
    plugins.pre_filter.enabled = {{name}};
    if (filters) plugins.filter.enabled = {{name}};
    if (reserves) plugins.reserve.enabled = {{name}};
    const auto profile = TryMake(plugins);
    ASSERT_TRUE(profile) << profile.error().message;
    const EvaluationPlan plan(**profile);
    EXPECT_EQ(plan.keepable(), !(filters && reserves));
    ASSERT_EQ(plan.filters().size(), 1U);
    EXPECT_EQ(plan.filters().front().each_pod, !filters && reserves);
  }
}

}  // namespace
}  // namespace berth::engine
