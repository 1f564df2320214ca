// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/config/load.h"

namespace berth::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

SchedulerConfiguration Read(std::string_view text) {
  const KnownPlugins defaults = {{{"PrioritySort", 0}, {"NodeName", 0}, {"TaintToleration", 3}}};
  auto read = Load(std::string(kHead) + std::string(text), "file", defaults);
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return read ? *read : SchedulerConfiguration();
}

TEST(ReloadTest, TheSameConfigurationDoesNotDiffer) {
  constexpr std::string_view kText =
      "profiles: [{schedulerName: a, pluginConfig: [{name: NodeName, args: {x: 1}}]}, "
      "{schedulerName: b}]";
  EXPECT_TRUE(CompareForReload(Read(kText), Read(kText)).none());
  EXPECT_TRUE(CompareForReload(Read(""), Read("profiles: [{}]")).none());
}

TEST(ReloadTest, OfEachFieldItIsKnownWhetherItCanChange) {
  const struct {
    const char* next;
    std::vector<std::string> fixed;
  } cases[] = {
      {"parallelism: 3", {"parallelism"}},
      {"percentageOfNodesToScore: 3", {"percentageOfNodesToScore"}},
      {"podInitialBackoffSeconds: 3", {"podInitialBackoffSeconds"}},
      {"podMaxBackoffSeconds: 33", {"podMaxBackoffSeconds"}},
      {"enableProfiling: false", {"enableContentionProfiling", "enableProfiling"}},
      {"enableContentionProfiling: false", {"enableContentionProfiling"}},
      {"delayCacheUntilActive: true", {"delayCacheUntilActive"}},
      {"leaderElection: {leaderElect: false}", {"leaderElection.leaderElect"}},
      {"leaderElection: {leaseDuration: 16s}", {"leaderElection.leaseDuration"}},
      {"leaderElection: {renewDeadline: 11s}", {"leaderElection.renewDeadline"}},
      {"leaderElection: {retryPeriod: 3s}", {"leaderElection.retryPeriod"}},
      {"leaderElection: {resourceName: a, resourceNamespace: b}",
       {"leaderElection.resourceName", "leaderElection.resourceNamespace"}},
      {"clientConnection: {qps: 1}", {"clientConnection.qps"}},
      {"clientConnection: {burst: 1}", {"clientConnection.burst"}},
      {"clientConnection: {kubeconfig: /x}", {"clientConnection.kubeconfig"}},
      {"clientConnection: {contentType: application/json}", {"clientConnection.contentType"}},
      {"clientConnection: {acceptContentTypes: application/json}",
       {"clientConnection.acceptContentTypes"}},
      {"profiles: [{percentageOfNodesToScore: 3}]", {"profiles[0].percentageOfNodesToScore"}},
      {"profiles: [{schedulerName: default-scheduler}, {schedulerName: b}]", {"profiles[1]"}},
      {"profiles: [{plugins: {queueSort: {enabled: [{name: Other}]}}}]",
       {"profiles[0].plugins.queueSort.enabled"}},
      {"profiles: [{plugins: {score: {disabled: [{name: TaintToleration}]}}}]", {}},
      {"profiles: [{plugins: {filter: {enabled: [{name: Other}]}}}]", {}},
      {"profiles: [{plugins: {multiPoint: {enabled: [{name: TaintToleration, weight: 9}]}}}]", {}},
      {"profiles: [{pluginConfig: [{name: NodeName, args: {x: 1}}]}]", {}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.next);
    const ReloadDifference difference = CompareForReload(Read(""), Read(c.next));
    EXPECT_EQ(difference.fixed, c.fixed);
    EXPECT_EQ(difference.profiles_changed, c.fixed.empty());
    EXPECT_THAT(difference.removed_profiles, IsEmpty());
    EXPECT_FALSE(difference.none());
  }
}

TEST(ReloadTest, ProfilesAreMatchedByTheirNames) {
  const auto running = Read("profiles: [{schedulerName: a}, {schedulerName: b}]");
  EXPECT_TRUE(
      CompareForReload(running, Read("profiles: [{schedulerName: b}, {schedulerName: a}]")).none());
  const ReloadDifference gone = CompareForReload(running, Read("profiles: [{schedulerName: b}]"));
  EXPECT_THAT(gone.removed_profiles, ElementsAre("a"));
  EXPECT_THAT(gone.fixed, IsEmpty());
  const ReloadDifference renamed =
      CompareForReload(running, Read("profiles: [{schedulerName: a}, {schedulerName: c}]"));
  EXPECT_THAT(renamed.removed_profiles, ElementsAre("b"));
  EXPECT_THAT(renamed.fixed, ElementsAre("profiles[1]"));
}

TEST(ReloadTest, EveryDifferenceIsNamed) {
  const ReloadDifference difference =
      CompareForReload(Read(""), Read("parallelism: 2\nprofiles: [{percentageOfNodesToScore: 9, "
                                      "pluginConfig: [{name: NodeName, args: {x: 1}}]}]"));
  EXPECT_THAT(difference.fixed, ElementsAre("parallelism", "profiles[0].percentageOfNodesToScore"));
  EXPECT_TRUE(difference.profiles_changed);
}

}  // namespace
}  // namespace berth::config
