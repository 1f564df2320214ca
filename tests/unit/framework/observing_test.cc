// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "src/framework/runtime.h"
#include "src/framework/timing.h"
#include "tests/unit/framework/profile_fixture.h"

namespace berth::framework {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Writes down what it hears, as "Point code" of points and "Point Plugin code" of plugins; each
// look at its clock takes a second.
class WritingObserver final : public RuntimeObserver {
 public:
  Time Now() override { return now_ += std::chrono::seconds(1); }
  berth::framework::BusyPlugin SetBusy(berth::framework::BusyPlugin now) override {
    return std::exchange(busy, now);
  }
  void ObserveExtensionPoint(const Profile&, ExtensionPoint point, Code code,
                             Duration took) override {
    EXPECT_GT(took, Duration::zero());
    points.push_back(std::string(ExtensionPointName(point)) + " " + std::string(CodeName(code)));
  }
  bool SamplesPreEnqueue() override { return samples_pre_enqueue; }
  void ObservePlugin(std::string_view plugin, ExtensionPoint point, Code code,
                     Duration took) override {
    EXPECT_EQ(took, std::chrono::seconds(1));
    plugins.push_back(std::string(ExtensionPointName(point)) + " " + std::string(plugin) + " " +
                      std::string(CodeName(code)));
  }
  void CountEvaluations(const Profile&, std::string_view plugin, ExtensionPoint point,
                        uint64_t count) override {
    evaluations.push_back(std::string(ExtensionPointName(point)) + " " + std::string(plugin) + " " +
                          std::to_string(count));
  }

  berth::framework::BusyPlugin busy;
  bool samples_pre_enqueue = false;
  std::vector<std::string> points;
  std::vector<std::string> plugins;
  std::vector<std::string> evaluations;

 private:
  Time now_;
};

class ObservingTest : public test::ProfileFixture {
 protected:
  ObservingTest()
      : snapshot_(handle_.names, {test::MakeNode("n1"), test::MakeNode("n2")}),
        pod_(test::MakePod().Info(handle_.names)) {
    Make({"A", "B"});
  }

  void RunAll() {
    const std::vector<NodeRow> nodes = {0, 1};
    std::vector<int64_t> totals;
    RunPreEnqueue(*profile_, *pod_, "", cycle_.observer);
    RunPreFilter(*profile_, cycle_, *pod_, snapshot_);
    EXPECT_TRUE(RunPreScore(*profile_, cycle_, *pod_, snapshot_, snapshot_.nodes()).ok());
    EXPECT_TRUE(RunScore(*profile_, cycle_, *pod_, snapshot_, nodes, totals, nullptr).ok());
    RunReserve(*profile_, cycle_, *pod_, "n1");
    RunPermit(*profile_, cycle_, *pod_, "n1");
    RunPreBindPreFlight(*profile_, cycle_, *pod_, "n1");
    RunUnreserve(*profile_, cycle_, *pod_, "n1");
  }

  test::PlainSnapshot snapshot_;
  PodInfoPtr pod_;
  WritingObserver observer_;
  Cycle cycle_;
};

TEST_F(ObservingTest, EachExtensionPointIsHeardOfWithItsVerdict) {
  cycle_.observer = &observer_;
  plugin("B").reserve = Make(Code::kUnschedulable, "no");
  RunAll();
  EXPECT_THAT(observer_.points,
              ElementsAre("PreEnqueue Success", "PreFilter Success", "PreScore Success",
                          "Score Success", "Reserve Unschedulable", "Permit Success",
                          "PreBindPreFlight Skip", "Unreserve Success"));
  EXPECT_THAT(observer_.plugins, IsEmpty()) << "only of cycles that are sampled for it";
}

TEST_F(ObservingTest, ASampledCycleHearsOfEachPlugin) {
  cycle_.observer = &observer_;
  cycle_.observe_plugins = true;
  plugin("A").reserve = Make(Code::kError, "no");
  RunReserve(*profile_, cycle_, *pod_, "n1");
  RunPermit(*profile_, cycle_, *pod_, "n1");
  EXPECT_THAT(observer_.plugins,
              ElementsAre("Reserve A Error", "Permit A Success", "Permit B Success"));
}

TEST_F(ObservingTest, PreEnqueueIsASuccessForAGatedPodToo) {
  plugin("B").pre_enqueue = Make(Code::kUnschedulableAndUnresolvable, "gated");
  observer_.samples_pre_enqueue = true;
  EXPECT_EQ(RunPreEnqueue(*profile_, *pod_, "", &observer_).plugin, "B");
  EXPECT_THAT(observer_.points, ElementsAre("PreEnqueue Success"));
  EXPECT_THAT(observer_.plugins,
              ElementsAre("PreEnqueue A Success", "PreEnqueue B UnschedulableAndUnresolvable"));
  EXPECT_EQ(observer_.busy.name, nullptr);
}

TEST_F(ObservingTest, EvaluationsAreCountedByPluginButNotThoseThatWereSkipped) {
  cycle_.observer = &observer_;
  plugin("A").pre_filter.status = Status::Skip();
  plugin("B").pre_score = Status::Skip();
  RunAll();
  EXPECT_THAT(observer_.evaluations, ElementsAre("PreFilter B 1", "PreScore A 1", "Score A 2"));
}

TEST_F(ObservingTest, APluginIsBusyWhileItIsCalledAndTheOneThatCalledItAfterwards) {
  cycle_.observer = &observer_;
  const std::string_view outer = "Outer";
  const std::string_view inner = "Inner";
  {
    PluginTimer first(cycle_, outer, ExtensionPoint::kPostFilter);
    {
      PluginTimer second(cycle_, inner, ExtensionPoint::kPreFilterExtensionAddPod);
      EXPECT_EQ(*observer_.busy.name, "Inner");
    }
    EXPECT_EQ(*observer_.busy.name, "Outer");
    EXPECT_EQ(observer_.busy.point, ExtensionPoint::kPostFilter);
  }
  EXPECT_EQ(observer_.busy.name, nullptr);
}

TEST_F(ObservingTest, WithoutAnObserverNothingIsMeasured) {
  cycle_.observe_plugins = true;
  RunAll();
  EXPECT_THAT(observer_.points, IsEmpty());
}

}  // namespace
}  // namespace berth::framework
