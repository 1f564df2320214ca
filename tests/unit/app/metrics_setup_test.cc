// SPDX-License-Identifier: Apache-2.0
#include "src/app/daemon/metrics_setup.h"

#include <gmock/gmock.h>

#include "src/app/version.h"
#include "tests/unit/client/temp_folder.h"

namespace berth::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(MetricsSetupTest, FlagsTellWhatIsHiddenAndWhichLabelsCount) {
  MetricsFlags flags;
  flags.show_hidden_metrics_for_version = "1.36";
  flags.disabled_metrics = {"b", "a", "b"};
  flags.allow_metric_labels = {{"m,l", "x,y"}, {"m,other", ""}};
  const auto options = ReadMetricsFlags(flags);
  ASSERT_TRUE(options);
  EXPECT_TRUE(options->show_hidden);
  EXPECT_THAT(options->disabled, ElementsAre("a", "b"));
  EXPECT_THAT(options->allowed_values, ElementsAre(Pair(Pair("m", "l"), ElementsAre("x", "y")),
                                                   Pair(Pair("m", "other"), ElementsAre(""))));
  EXPECT_FALSE(ReadMetricsFlags({})->show_hidden);
}

TEST(MetricsSetupTest, GatesThatAreOffLeaveTheirMetricsOut) {
  using metrics::Metric;
  const auto off = [](const std::vector<std::string>& gates, bool pod_groups) {
    return MetricsOfGatesOff(*config::FeatureGates::Parse(gates), pod_groups);
  };
  const auto by_default = off({}, false);
  EXPECT_TRUE(by_default.contains(Metric::kWorkloadPreemptionVictims));
  EXPECT_TRUE(by_default.contains(Metric::kGeneratedPlacements));
  EXPECT_FALSE(by_default.contains(Metric::kPreemptionGoroutinesExecution));
  EXPECT_FALSE(off({}, true).contains(Metric::kWorkloadPreemptionVictims));
  EXPECT_TRUE(off({"SchedulerAsyncPreemption=false"}, false)
                  .contains(Metric::kPreemptionGoroutinesExecution));
}

TEST(MetricsSetupTest, AManifestMayHoldItsMapAtTheTopOrUnderItsKey) {
  const test::TempFolder folder;
  for (const char* text : {"\"m,l\": \"x,y\"\n", "allowListMapping:\n  \"m,l\": \"x,y\"\n"}) {
    SCOPED_TRACE(text);
    MetricsFlags flags;
    flags.allow_metric_labels_manifest = folder.Write("labels.yaml", text);
    const auto options = ReadMetricsFlags(flags);
    ASSERT_TRUE(options);
    EXPECT_THAT(options->allowed_values, ElementsAre(Pair(Pair("m", "l"), ElementsAre("x", "y"))));
  }
}

TEST(MetricsSetupTest, WrongAllowListsAreRefusedWithTheirPlace) {
  const test::TempFolder folder;
  const struct {
    const char* manifest;  // nullptr: no such file
    std::map<std::string, std::string> flag;
    const char* want;
  } cases[] = {
      {nullptr, {}, "--allow-metric-labels-manifest: "},
      {"- a\n", {}, "expected a map"},
      {"\"m,l\": 3\n", {}, "line 1: expected a string"},
      {"m: x\n", {}, "\"m\" is no metric,label"},
      {"\"m,l,k\": x\n", {}, "\"m,l,k\" is no metric,label"},
      {"\"m,l\": x\n", {{"m,l", "x"}}, "cannot specify both"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.want);
    MetricsFlags flags;
    flags.allow_metric_labels = c.flag;
    flags.allow_metric_labels_manifest =
        c.manifest == nullptr ? folder.Path("none.yaml") : folder.Write("labels.yaml", c.manifest);
    const auto options = ReadMetricsFlags(flags);
    ASSERT_FALSE(options);
    EXPECT_THAT(options.error().message, HasSubstr(c.want));
  }
}

TEST(MetricsSetupTest, TheBuildNamesTheContractAndEachFeatureGate) {
  metrics::Registry registry;
  const std::string gates[] = {"SchedulerAsyncPreemption=false"};
  DescribeBuild(registry, *config::FeatureGates::Parse(gates), 36);
  const std::string text = registry.Exposition();
  EXPECT_THAT(text, HasSubstr("git_version=\"v1.37.1\",go_version=\"\",major=\"1\",minor=\"37\""));
  EXPECT_THAT(text, HasSubstr("version_info{binary=\"1.37.1\",component=\"kube\",emulation=\"1.37\""
                              ",min_compat=\"1.36\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("berth_build_info{version=\"" + std::string(kVersion) + "\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kubernetes_feature_enabled{name=\"SchedulerAsyncPreemption\","
                              "stage=\"BETA\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("kubernetes_feature_enabled{name=\"CRDValidationRatcheting\","
                              "stage=\"\"} 1\n"));
}

}  // namespace
}  // namespace berth::app
