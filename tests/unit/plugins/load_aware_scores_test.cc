// SPDX-License-Identifier: Apache-2.0
// TargetLoadPacking, LoadVariationRiskBalancing and LowRiskOverCommitment: their args, and scores
// worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "plugins/load_variation_risk_balancing/load_variation_risk_balancing.h"
#include "plugins/low_risk_over_commitment/low_risk_over_commitment.h"
#include "plugins/target_load_packing/target_load_packing.h"
#include "src/documents/parse.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

MeasuredResource Average(double percent, double deviation = 0) {
  return {.known = true, .average = percent, .deviation = deviation, .last = percent};
}

// A container with cpu requests and limits; "" names none.
api::Container CpuContainer(std::string_view request, std::string_view limit) {
  api::Container container;
  container.name = "main";
  if (!request.empty()) container.resources.requests = MakeResources({{"cpu", request}});
  if (!limit.empty()) container.resources.limits = MakeResources({{"cpu", limit}});
  return container;
}

class LoadAwareTest : public testing::Test, public PluginFixture {
 public:
  // 4 cores of which 2 are allocatable unless said otherwise.
  static api::Node NodeOf(std::string_view capacity_cpu, ResourceText allocatable) {
    api::Node node = MakeNode("n").Allocatable(allocatable);
    if (!capacity_cpu.empty()) node.status.capacity = MakeResources({{"cpu", capacity_cpu}});
    return node;
  }
  void Measure(MeasuredResource cpu, MeasuredResource memory = {}) {
    handle.measured.nodes["n"] = {"n", cpu, memory};
  }
  template <typename PluginType>
  int64_t ScoreAlone(const PluginType& plugin, const api::Pod& pod, const api::Node& node,
                     const std::vector<api::Pod>& placed = {}) {
    const PlainSnapshot snapshot = Cluster({node}, placed);
    return plugin.Score(CycleState(), *Info(pod), NodeView(snapshot, 0)).score;
  }
};

TEST_F(LoadAwareTest, TargetLoadPackingRisesToTheTargetAndFallsBeyondIt) {
  const TargetLoadPacking plugin({}, handle);
  const api::Node node = NodeOf("4", {{"cpu", "2"}});
  const struct {
    const char* name;
    double percent;
    std::vector<api::Container> containers;
    int64_t want;
  } cases[] = {
      // (400 + 1.5 * 400) of 4000 are 25%: 60 * 25 / 40 + 40 = 77.5
      {"a request counts one and a half times", 10, {CpuContainer("400m", "")}, 78},
      // 35%: 92.5
      {"a limit counts as it is", 10, {CpuContainer("400m", "1")}, 93},
      {"a limit of nothing is one", 10, {CpuContainer("", "0")}, 55},
      {"without either, a core", 10, {CpuContainer("", "")}, 93},
      // 400 + 600 + 1000 are 50%: 40 * 50 / 60 = 33.3
      {"all containers count", 10, {CpuContainer("", "600m"), CpuContainer("", "")}, 33},
      {"at the target", 30, {CpuContainer("", "400m")}, 100},
      {"right above it", 30, {CpuContainer("", "440m")}, 39},  // 41%: 40 * 59 / 60
      {"a full node", 90, {CpuContainer("", "400m")}, 0},
      {"more than a node has", 90, {CpuContainer("", "500m")}, 0},
      {"no load at all", 0, {CpuContainer("0", "")}, 40},
      {"a load below none", -500, {CpuContainer("0", "")}, 0},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Measure(Average(c.percent));
    api::Pod pod = MakePod();
    pod.spec.containers = c.containers;
    EXPECT_EQ(ScoreAlone(plugin, pod, node), c.want);
  }
  // 10% and 400 + 200 of overhead: 25%.
  Measure(Average(10));
  api::Pod pod = MakePod().Container(CpuContainer("", "400m")).Overhead({{"cpu", "200m"}});
  EXPECT_EQ(ScoreAlone(plugin, pod, node), 78);
  // Init containers do not count.
  pod.spec.init_containers.push_back(CpuContainer("", "3"));
  EXPECT_EQ(ScoreAlone(plugin, pod, node), 78);
}

TEST_F(LoadAwareTest, TargetLoadPackingCountsPodsThatAreNotMeasuredYet) {
  const TargetLoadPacking plugin({}, handle);
  const api::Node node = NodeOf("4", {{"cpu", "4"}});
  Measure(Average(10));
  handle.measured.unmeasured["n"] = {MakePod().Container(CpuContainer("", "400m")).Ptr()};
  // 400 + 400 + 400 of 4000: 30%.
  EXPECT_EQ(ScoreAlone(plugin, MakePod().Container(CpuContainer("", "400m")), node), 85);
}

TEST_F(LoadAwareTest, TargetLoadPackingGivesNothingWhereTheCpuIsNotKnown) {
  const TargetLoadPacking plugin({}, handle);
  const api::Node node = NodeOf("4", {{"cpu", "4"}});
  const api::Pod pod = MakePod().Container(CpuContainer("", "400m"));
  EXPECT_EQ(ScoreAlone(plugin, pod, node), 0);
  Measure({}, Average(10));
  EXPECT_EQ(ScoreAlone(plugin, pod, node), 0);
  // Its deviation alone.
  Measure({.known = true, .average = 0, .deviation = 3, .last = std::nullopt});
  EXPECT_EQ(ScoreAlone(plugin, pod, node), 0);
  // A node that has no cpu counts as one without load.
  Measure(Average(10));
  EXPECT_EQ(ScoreAlone(plugin, pod, NodeOf("", {{"cpu", "4"}})), 40);
  Measure(Average(std::nan("")));
  EXPECT_EQ(ScoreAlone(plugin, pod, node), 0);
}

TEST_F(LoadAwareTest, TargetLoadPackingGoesByItsArgs) {
  TargetLoadPackingArgs args;
  args.default_milli_cpu = 200;
  args.requests_multiplier = 3;
  args.target_utilization = 80;
  const TargetLoadPacking plugin(args, handle);
  const api::Node node = NodeOf("4", {{"cpu", "4"}});
  Measure(Average(25));
  // 1000 + 200 + 3 * 200 are 45%: 20 * 45 / 80 + 80 = 91.25
  EXPECT_EQ(
      ScoreAlone(plugin,
                 MakePod().Container(CpuContainer("", "")).Container(CpuContainer("200m", "")),
                 node),
      91);
}

TEST_F(LoadAwareTest, LoadVariationRiskBalancingTakesTheWorseOfCpuAndMemory) {
  const api::Node node = NodeOf("", {{"cpu", "4"}, {"memory", "8Gi"}});
  const api::Pod pod = MakePod().Req({{"cpu", "1"}});
  const auto score = [&](LoadVariationRiskBalancingArgs args, const api::Pod& of) {
    return ScoreAlone(LoadVariationRiskBalancing(args, handle), of, node);
  };
  EXPECT_EQ(score({}, pod), 0) << "nothing is known";
  // cpu: (1000 + 1000) of 4000, and 0.1: 70. Memory: a half: 75.
  Measure(Average(25, 10), Average(50));
  EXPECT_EQ(score({}, pod), 70);
  EXPECT_EQ(score({.source = {}, .margin = 3, .sensitivity = 1}, pod), 60);
  EXPECT_EQ(score({.source = {}, .margin = 1, .sensitivity = 2}, pod), 59);  // 0.5 and 0.316
  EXPECT_EQ(score({.source = {}, .margin = 1, .sensitivity = 0}, pod), 75);
  EXPECT_EQ(score({.source = {}, .margin = 20, .sensitivity = 1}, pod), 25);
  // The largest init container counts, a sidecar, too, and the overhead on top: 0.9 and 0.8.
  EXPECT_EQ(
      score({}, MakePod().Req({{"cpu", "1"}}).InitReq({{"cpu", "2"}}).Overhead({{"cpu", "600m"}})),
      50);
  EXPECT_EQ(score({}, MakePod().Req({{"cpu", "1"}}).SidecarReq({{"cpu", "2200m"}})), 55);
  // 2Gi of 8 and a half: 0.75
  EXPECT_EQ(score({}, MakePod().Req({{"memory", "2Gi"}})), 63);
  // What is known alone counts.
  Measure({}, Average(50));
  EXPECT_EQ(score({}, pod), 75);
  Measure(Average(25, 10));
  EXPECT_EQ(score({}, pod), 70);
  Measure({});
  EXPECT_EQ(score({}, pod), 0);
  // More than there is.
  Measure(Average(150, 10));
  EXPECT_EQ(score({}, pod), 45);
  EXPECT_EQ(ScoreAlone(LoadVariationRiskBalancing({}, handle), pod, NodeOf("", {})), 0);
}

TEST_F(LoadAwareTest, LowRiskOverCommitmentWeighsLimitsAndLoad) {
  const api::Node node = NodeOf("", {{"cpu", "4"}, {"memory", "8Gi"}});
  const auto score = [&](LowRiskOverCommitmentArgs args, const api::Pod& pod,
                         const std::vector<api::Pod>& placed) {
    return ScoreAlone(LowRiskOverCommitment(args, handle), pod, node, placed);
  };
  const api::Pod pod = MakePod().Container(CpuContainer("1", "2"));
  const std::vector<api::Pod> placed = {
      MakePod().Name("placed").OnNode("n").Container(CpuContainer("1", "3"))};
  EXPECT_EQ(score({}, pod, placed), 0) << "nothing is known";
  // An empty node can be used though no pod requests anything.
  Measure(Average(50));
  EXPECT_EQ(score({}, pod, {}), 100);
  // Limits of 5 cores, of which 3 are beyond the requests and 1 beyond the node: a third. The load
  // is always above the one core that is requested.
  EXPECT_EQ(score({}, pod, placed), 33);
  EXPECT_EQ(score({.source = {}, .cpu_limit_weight = 1}, pod, placed), 67);
  EXPECT_EQ(score({.source = {}, .cpu_limit_weight = 0}, pod, placed), 0);
  // Smoothed over 5 windows, 10% is a deviation of 0.2236: a beta distribution of 2 and 2. It lies
  // below 1/4 in 0.15625 and below 3/4, the limit, in 0.84375.
  Measure(Average(50, 10));
  EXPECT_EQ(score({}, pod, placed), 43);
  // Over 20 windows 0.4472: 0.125 and 0.125, of which 0.4417 lie below 1/4 and 0.5583 below 3/4.
  EXPECT_EQ(score({.source = {}, .smoothing_window_size = 20}, pod, placed), 73);
  // The load lies below what is requested.
  Measure(Average(20));
  EXPECT_EQ(score({}, pod, placed), 83);
  // Memory counts likewise; the worse of the two does.
  Measure(Average(20), Average(90));
  EXPECT_EQ(score({}, pod, {MakePod().Name("placed").OnNode("n").Req({{"memory", "4Gi"}})}), 50);
  // A pod that asks for nothing is not scored.
  EXPECT_EQ(score({}, MakePod().Container(CpuContainer("", "")), placed), 0);
  LowRiskOverCommitment plugin({}, handle);
  const PlainSnapshot snapshot = Cluster({node});
  EXPECT_TRUE(plugin
                  .PreScore(state, *Info(MakePod().Container(CpuContainer("", ""))), snapshot,
                            snapshot.nodes())
                  .skip());
}

TEST(LoadDistributionTest, IsTheBetaDistributionOfMeanAndDeviation) {
  const LoadDistribution uniform(0.5, std::sqrt(1.0 / 12));
  for (const double x : {0.001, 0.3, 0.5, 0.77, 0.999}) EXPECT_NEAR(uniform.AtMost(x), x, 1e-12);
  // 1 and 3: 1 - (1 - x)^3
  const LoadDistribution skewed(0.25, std::sqrt(0.0375));
  for (const double x : {0.01, 0.2, 0.6}) {
    EXPECT_NEAR(skewed.AtMost(x), 1 - std::pow(1 - x, 3), 1e-12);
  }
  EXPECT_EQ(skewed.AtMost(0), 0);
  EXPECT_EQ(skewed.AtMost(-1), 0);
  EXPECT_EQ(skewed.AtMost(1), 1);
}

TEST(LoadDistributionTest, IsContinuousWhereItTurnsToTheNormalDistribution) {
  const double mean = 0.2;
  const auto deviation = [mean](double size) { return std::sqrt(mean * (1 - mean) / (size + 1)); };
  const LoadDistribution below(mean, deviation(99'999));
  const LoadDistribution above(mean, deviation(100'001));
  for (const double z : {-3.0, -1.0, -0.1, 0.0, 0.5, 2.0}) {
    const double x = mean + z * deviation(1e5);
    EXPECT_NEAR(below.AtMost(x), above.AtMost(x), 3e-5) << z;
  }
}

// More answers than are remembered, asked for again in another order: the same to the last bit.
TEST(LoadDistributionTest, WhatIsRememberedChangesNoAnswer) {
  constexpr int kMany = 3000;
  const auto answer = [](int i) {
    const LoadDistribution load(0.05 + 0.1 * (i % 9), 0.02 + 0.03 * (i / 9 % 5));
    return load.AtMost((i % 601 + 1) / 602.0);
  };
  std::vector<double> first;
  for (int i = 0; i < kMany; ++i) {
    first.push_back(answer(i));
    if (i > 0) {
      EXPECT_EQ(answer(i - 1), first[static_cast<size_t>(i) - 1]) << i;
    }
  }
  EXPECT_GT(first.front(), 0);
  for (int i = kMany - 1; i >= 0; --i) EXPECT_EQ(answer(i), first[static_cast<size_t>(i)]) << i;
}

TEST(LoadDistributionTest, ALoadThatDoesNotVaryIsItsMean) {
  const LoadDistribution fixed(0.5, 0);
  EXPECT_FALSE(fixed.varies());
  EXPECT_EQ(fixed.AtMost(0.49), 0);
  EXPECT_EQ(fixed.AtMost(0.5), 1);
  EXPECT_FALSE(LoadDistribution(1, 0.3).varies());
  EXPECT_FALSE(LoadDistribution(0, 0.3).varies());
  EXPECT_EQ(LoadDistribution(0, 0.3).AtMost(0), 1);
  // No load of that mean varies more.
  EXPECT_TRUE(LoadDistribution(0.5, 3).varies());
  EXPECT_NEAR(LoadDistribution(0.5, 3).AtMost(0.5), 0.5, 1e-9);
}

ConfigValue Json(const std::string& json) { return *documents::ParseJson(json, ""); }

TEST(LoadAwareArgsTest, HaveSchedulerPluginsDefaults) {
  EXPECT_EQ(kTargetLoadPackingArgs.with_defaults(ConfigValue(), {}).ToJson(),
            R"({"metricProvider":{"type":"KubernetesMetricsServer"},)"
            R"("defaultRequests":{"cpu":"1"},"defaultRequestsMultiplier":"1.5",)"
            R"("targetUtilization":40})");
  EXPECT_EQ(kLoadVariationRiskBalancingArgs
                .with_defaults(
                    Json(R"({"metricProvider":{"type":"Prometheus"},"safeVarianceMargin":-1})"), {})
                .ToJson(),
            R"({"metricProvider":{"type":"Prometheus","insecureSkipVerify":true},)"
            R"("safeVarianceMargin":1,"safeVarianceSensitivity":1})");
  EXPECT_EQ(
      kLowRiskOverCommitmentArgs
          .with_defaults(Json(R"({"watcherAddress":"http://watcher:2020","smoothingWindowSize":0,
                         "riskLimitWeights":{"cpu":0.3,"memory":2}})"),
                         {})
          .ToJson(),
      R"({"watcherAddress":"http://watcher:2020","metricProvider":{},)"
      R"("smoothingWindowSize":5,"riskLimitWeights":{"cpu":0.3,"memory":0.5}})");
}

TEST(LoadAwareArgsTest, AreReadAsSchedulerPluginsReadsThem) {
  const auto packing = kTargetLoadPackingArgs.parse(
      Json(R"({"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"TargetLoadPackingArgs",
               "metricProvider":{"type":"Prometheus","address":"https://prometheus:9090/",
                                 "token":"secret","insecureSkipVerify":false},
               "defaultRequests":{"cpu":"500m","memory":"1Gi"},"defaultRequestsMultiplier":"2",
               "targetUtilization":70})"));
  ASSERT_TRUE(packing) << packing.error().message;
  EXPECT_EQ(packing->source.type, NodeMetricsSource::Type::kPrometheus);
  EXPECT_EQ(packing->source.address, "https://prometheus:9090");
  EXPECT_EQ(packing->source.token, "secret");
  EXPECT_FALSE(packing->source.insecure_skip_verify);
  EXPECT_EQ(packing->source.Name(), "Prometheus https://prometheus:9090");
  EXPECT_EQ(packing->default_milli_cpu, 500);
  EXPECT_EQ(packing->requests_multiplier, 2);
  EXPECT_EQ(packing->target_utilization, 70);

  const auto balancing = kLoadVariationRiskBalancingArgs.parse(
      Json(R"({"metricProvider":{"type":"SignalFx"},"watcherAddress":"http://watcher:2020",
               "safeVarianceMargin":2.5,"safeVarianceSensitivity":2})"));
  ASSERT_TRUE(balancing) << balancing.error().message;
  EXPECT_EQ(balancing->source.Name(), "load-watcher http://watcher:2020");
  EXPECT_EQ(balancing->margin, 2.5);
  EXPECT_EQ(balancing->sensitivity, 2);

  const auto commitment = kLowRiskOverCommitmentArgs.parse(
      Json(R"({"smoothingWindowSize":3,"riskLimitWeights":{"cpu":1,"memory":-1}})"));
  ASSERT_TRUE(commitment) << commitment.error().message;
  EXPECT_EQ(commitment->source.Name(), "KubernetesMetricsServer");
  EXPECT_EQ(commitment->smoothing_window_size, 3);
  EXPECT_EQ(commitment->cpu_limit_weight, 1);
  EXPECT_EQ(commitment->memory_limit_weight, 0.5);

  const auto prometheus =
      kLowRiskOverCommitmentArgs.parse(Json(R"({"metricProvider":{"type":"Prometheus"}})"));
  ASSERT_TRUE(prometheus);
  EXPECT_EQ(prometheus->source.address, "http://prometheus-k8s:9090");
  EXPECT_TRUE(prometheus->source.insecure_skip_verify);
  // Nothing is asked for that is not cpu.
  EXPECT_EQ(kTargetLoadPackingArgs.parse(Json(R"({"defaultRequests":{}})"))->default_milli_cpu, 0);
}

TEST(LoadAwareArgsTest, ProblemsNameTheField) {
  const auto problems = [](const std::string& json) {
    return kTargetLoadPackingArgs.problems(Json(json), "profiles[0].args", {});
  };
  EXPECT_THAT(problems("{}"), IsEmpty());
  EXPECT_THAT(problems(R"({"metricProvider":{"type":"SignalFx","token":"t"}})"),
              ElementsAre(HasSubstr(
                  "profiles[0].args.metricProvider.type: Invalid value: \"SignalFx\": Berth does "
                  "not read SignalFx")));
  EXPECT_THAT(problems(R"({"metricProvider":{"type":"Datadog"}})"),
              ElementsAre("profiles[0].args.metricProvider.type: Unsupported value: \"Datadog\": "
                          "supported values: \"KubernetesMetricsServer\", \"Prometheus\""));
  EXPECT_THAT(problems(R"({"watcherAddress":""})"),
              ElementsAre(HasSubstr("metricProvider.type: Unsupported value: \"\"")));
  EXPECT_THAT(problems(R"({"watcherAddress":"watcher:2020"})"),
              ElementsAre("profiles[0].args.watcherAddress: Invalid value: \"watcher:2020\": must "
                          "begin with http:// or https://"));
  const auto with_user =
      problems(R"({"metricProvider":{"type":"Prometheus","address":"http://me:pw@prom"}})");
  EXPECT_THAT(with_user, ElementsAre(HasSubstr("metricProvider.address: Invalid value")));
  EXPECT_THAT(with_user.front(), testing::Not(HasSubstr("pw")));
  EXPECT_THAT(problems(R"({"defaultRequestsMultiplier":"much"})"),
              ElementsAre(HasSubstr("defaultRequestsMultiplier: Invalid value: \"much\"")));
  EXPECT_THAT(problems(R"({"defaultRequestsMultiplier":"-1"})"), testing::SizeIs(1));
  EXPECT_THAT(problems(R"({"defaultRequestsMultiplier":"inf"})"), testing::SizeIs(1));
  EXPECT_THAT(problems(R"({"targetUtilization":101})"),
              ElementsAre(HasSubstr("targetUtilization: Invalid value: 101")));
  EXPECT_THAT(problems(R"({"defaultRequests":{"cpu":"lots"}})"),
              ElementsAre(HasSubstr("defaultRequests.cpu: Invalid value")));
  EXPECT_THAT(problems(R"({"targetLoad":1})"), testing::SizeIs(1));
  EXPECT_THAT(
      kLowRiskOverCommitmentArgs.problems(Json(R"({"riskLimitWeights":{"cpu":"x"}})"), "a", {}),
      ElementsAre(HasSubstr("a.riskLimitWeights.cpu: Invalid value")));
}

}  // namespace
}  // namespace berth::plugins
