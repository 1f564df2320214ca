// SPDX-License-Identifier: Apache-2.0
// What a kept class tells score plugins when a filter that is asked about each pod takes nodes out.
#include "src/engine/kept_class.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "src/cache/cache.h"
#include "src/engine/engine.h"
#include "tests/support/builders.h"
#include "tests/unit/engine/own_nodes_plugin.h"
#include "tests/unit/framework/profile_fixture.h"

namespace berth::engine {
namespace {

constexpr size_t kNodes = 6;

// Scores by all feasible nodes, as far as it was told of them.
class CountsFeasible final : public UpdatablePreScorePlugin, public ScorePlugin {
 public:
  static constexpr std::string_view kName = "CountsFeasible";

  explicit CountsFeasible(size_t& told) : told_(told) {}
  Inputs DeclaredInputs() const { return Inputs::Of(0, {{Reach::kCluster}}); }

  Status PreScore(CycleState&, const PodInfo&, const Snapshot&, const NodeSet& feasible) override {
    told_ = feasible.Count();
    return Status::Success();
  }
  bool UpdatePreScore(CycleState&, const PodInfo&, const Snapshot&, std::span<const NodeRow>,
                      const NodeSet& feasible, NodeSet&) override {
    told_ = feasible.Count();
    return true;
  }
  ScoreResult Score(const CycleState&, const PodInfo&, const NodeView&) const override {
    return {};
  }

 private:
  size_t& told_;
};

// Rejects pods with an annotation of its name, before OwnNodes is asked at PreFilter.
class RejectsFirst final : public PreFilterPlugin {
 public:
  static constexpr std::string_view kName = "RejectsFirst";

  Inputs DeclaredInputs() const { return Inputs::EachPod(); }

  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod, const Snapshot&) override {
    if (api::Find(pod.pod->metadata.annotations, kName) == nullptr) {
      return {.status = Status::Skip()};
    }
    return {.status = state.reasons().Make(Code::kUnschedulableAndUnresolvable, "not this pod")};
  }
};

// Rejects the nodes on which OwnNodes fails, after it.
class RejectsLater final : public FilterPlugin {
 public:
  static constexpr std::string_view kName = "RejectsLater";

  Inputs DeclaredInputs() const { return Inputs::Of(0, {{Reach::kNode}}); }

  Status Filter(const CycleState& state, const PodInfo&, const NodeView& node) const override {
    return node.row() % 4 == 3 ? state.reasons().Make(Code::kUnschedulable, "not this node")
                               : Status::Success();
  }
};

class KeptClassTest : public test::ProfileFixture {
 protected:
  KeptClassTest() {
    more_plugins_ = {
        {test::OwnNodes::kName,
         [](const ConfigValue&, Handle&) -> Result<Plugin> {
           return MakePlugin<test::OwnNodes>();
         }},
        {RejectsFirst::kName,
         [](const ConfigValue&, Handle&) -> Result<Plugin> { return MakePlugin<RejectsFirst>(); }},
        {RejectsLater::kName,
         [](const ConfigValue&, Handle&) -> Result<Plugin> { return MakePlugin<RejectsLater>(); }},
        {CountsFeasible::kName, [this](const ConfigValue&, Handle&) -> Result<Plugin> {
           return MakePlugin<CountsFeasible>(told_);
         }}};
    profile_ = MakeProfile({RejectsFirst::kName, test::OwnNodes::kName, CountsFeasible::kName});
    for (size_t i = 0; i < kNodes; ++i) {
      cache_.SetNode(test::MakeNode("node-" + std::to_string(i)).Ptr());
    }
    cache_.SetSignatureParts(profile_->signature_parts());
  }

  // With these plugins, in their order.
  std::unique_ptr<framework::Profile> MakeProfile(std::initializer_list<std::string_view> names) {
    config::Plugins plugins;
    plugins.multi_point.enabled = {{"Sort"}};
    for (const std::string_view name : names)
      plugins.multi_point.enabled.push_back({std::string(name)});
    plugins.bind.enabled = {{"A"}};
    auto made = TryMake(plugins);
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }

  // Decides a pod whose annotation asks for this ("": it has none).
  Decision Decide(std::string_view asks) {
    test::PodBuilder pod = test::MakePod();
    if (!asks.empty()) pod.Annotation(test::OwnNodes::kName, asks);
    framework::Cycle cycle;
    return Decide(pod, cycle);
  }
  Decision Decide(const test::PodBuilder& pod, framework::Cycle& cycle) {
    return engine_.Schedule(*profile_, cycle, *cache_.MakePodInfo(pod.Ptr()),
                            {cache_, nominations_}, 0);
  }

  size_t told_ = 0;
  cache::Cache cache_;
  cache::Nominator nominations_;
  Engine engine_{Random(1), cache_, 1u << 20};
};

TEST_F(KeptClassTest, ScoresHearWhichNodesThePodsOwnFilterLeft) {
  Decide("");
  Decide("");
  struct Case {
    std::string asks;
    size_t feasible;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"", kNodes}, {"2", kNodes / 2}, {"2", kNodes / 2}, {"", kNodes}, {"3", 4}, {"2", 3}}) {
    const Decision decision = Decide(c.asks);
    EXPECT_TRUE(decision.kept);
    EXPECT_EQ(decision.feasible_nodes, c.feasible) << c.asks;
    EXPECT_EQ(told_, c.feasible) << c.asks;
  }
}

TEST_F(KeptClassTest, APodThatItsOwnFilterRejectsLeavesTheClassKept) {
  Decide("");
  Decide("");
  for (const std::string_view asks :
       {test::OwnNodes::kNone, test::OwnNodes::kRejected, test::OwnNodes::kNamed,
        test::OwnNodes::kScored, test::OwnNodes::kFails}) {
    EXPECT_FALSE(Decide(asks).kept) << asks;
    EXPECT_TRUE(Decide("").kept) << asks;
  }
}

TEST_F(KeptClassTest, AFilterThatFailsOnANodeFailsTheDecision) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Decide("").kind, Decision::Kind::kScheduled);
    EXPECT_EQ(Decide(test::OwnNodes::kFails).kind, Decision::Kind::kError);
  }
}

// kube-scheduler asks the filters node by node: one that fails ends the cycle, whatever those after
// it would have said.
TEST_F(KeptClassTest, AFilterFailsOnANodeThatALaterOneRejects) {
  profile_ = MakeProfile({test::OwnNodes::kName, RejectsLater::kName});
  cache_.SetSignatureParts(profile_->signature_parts());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Decide("").kind, Decision::Kind::kScheduled);
    EXPECT_EQ(Decide(test::OwnNodes::kFails).kind, Decision::Kind::kError);
    EXPECT_EQ(Decide("2").feasible_nodes, 2);
  }
}

TEST_F(KeptClassTest, AFilterIsNotAskedOfANodeThatAnEarlierOneRejects) {
  profile_ = MakeProfile({RejectsLater::kName, test::OwnNodes::kName});
  cache_.SetSignatureParts(profile_->signature_parts());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Decide("").kind, Decision::Kind::kScheduled);
    EXPECT_EQ(Decide(test::OwnNodes::kFails).kind, Decision::Kind::kScheduled);
  }
}

// PostFilter tells by its plugin's state whether its PreFilter was asked.
TEST_F(KeptClassTest, NothingIsLeftInACycleOfPluginsThatItsEvaluationDidNotAsk) {
  Decide("");
  Decide("");
  framework::Cycle cycle;
  const Decision decision = Decide(
      test::MakePod().Annotation(test::OwnNodes::kName, "2").Annotation(RejectsFirst::kName, ""),
      cycle);
  EXPECT_EQ(decision.kind, Decision::Kind::kUnfit);
  EXPECT_EQ(cycle.state.Find<test::OwnNodes::State>(), nullptr);
}

}  // namespace
}  // namespace berth::engine
