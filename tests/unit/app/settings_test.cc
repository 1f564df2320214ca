// SPDX-License-Identifier: Apache-2.0
#include "src/app/daemon/settings.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace berth::app {
namespace {

const InTreePlugins kPlugins = {
    {},
    {},
    {{{"PrioritySort", 0}, ""}, {{"DefaultBinder", 0}, ""}, {{"Gang", 2}, "GenericWorkload"}}};

class SettingsTest : public testing::Test {
 protected:
  SettingsTest()
      : path_(std::filesystem::temp_directory_path() /
              ("berth-settings-test-" + std::to_string(getpid()) + ".yaml")) {}
  ~SettingsTest() override { std::filesystem::remove(path_); }

  // A configuration file with these lines after apiVersion and kind.
  std::string File(const std::string& body) {
    std::ofstream(path_) << "apiVersion: kubescheduler.config.k8s.io/v1\n"
                            "kind: KubeSchedulerConfiguration\n"
                         << body;
    return path_;
  }

  std::filesystem::path path_;
};

TEST_F(SettingsTest, WithoutAFileTheFlagsLieOverTheDefaults) {
  RunFlags flags;
  flags.kubeconfig = "k";
  flags.kube_api_content_type = "application/json";
  flags.kube_api_qps = 7;
  flags.kube_api_burst = 8;
  flags.profiling = false;
  flags.contention_profiling = false;
  flags.leader_elect = false;
  flags.feature_gates = {"PodLevelResources=true"};
  const auto settings = ResolveSettings(flags, kPlugins);
  ASSERT_TRUE(settings) << settings.error().message;
  const config::SchedulerConfiguration& got = settings->configuration;
  EXPECT_EQ(got.client_connection.kubeconfig, "k");
  EXPECT_EQ(got.client_connection.content_type, "application/json");
  EXPECT_EQ(got.client_connection.qps, 7);
  EXPECT_EQ(got.client_connection.burst, 8);
  EXPECT_FALSE(got.enable_profiling);
  EXPECT_FALSE(got.enable_contention_profiling);
  EXPECT_FALSE(got.leader_election.leader_elect);
  ASSERT_EQ(got.profiles.size(), 1u);
  EXPECT_THAT(got.profiles[0].plugins.multi_point.enabled,
              testing::ElementsAre(config::PluginRef{"PrioritySort", 0},
                                   config::PluginRef{"DefaultBinder", 0}));
}

TEST_F(SettingsTest, AFeatureGateAddsItsPluginsToTheDefaults) {
  RunFlags flags;
  flags.feature_gates = {"GenericWorkload=true"};
  const auto settings = ResolveSettings(flags, kPlugins);
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->configuration.profiles[0].plugins.multi_point.enabled.back(),
            (config::PluginRef{"Gang", 2}));
}

TEST_F(SettingsTest, PluginsOfOlderReleasesAreAmongTheWarnings) {
  RunFlags flags;
  flags.config =
      File("profiles: [{plugins: {score: {enabled: [{name: NodeResourcesMostAllocated}]}}}]\n");
  const auto settings = ResolveSettings(flags, kPlugins);
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_THAT(settings->warnings(),
              testing::ElementsAre(testing::HasSubstr("\"NodeResourcesMostAllocated\" is of older "
                                                      "releases; write in its place ")));
}

TEST_F(SettingsTest, WithAFileTheDeprecatedFlagsAreIgnored) {
  RunFlags flags;
  flags.config = File("clientConnection: {kubeconfig: f, qps: 3}\n");
  flags.kubeconfig = "k";
  flags.kube_api_qps = 7;
  flags.kube_api_burst = 8;
  flags.profiling = false;
  const auto settings = ResolveSettings(flags, kPlugins);
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->configuration.client_connection.kubeconfig, "f");
  EXPECT_EQ(settings->configuration.client_connection.qps, 3);
  EXPECT_EQ(settings->configuration.client_connection.burst, 100);
  EXPECT_TRUE(settings->configuration.enable_profiling);
}

TEST_F(SettingsTest, LeaderElectionFlagsOverrideTheFile) {
  RunFlags flags;
  flags.config = File(
      "leaderElection: {leaderElect: false, leaseDuration: 60s, resourceName: f, "
      "resourceNamespace: f}\n");
  flags.leader_elect = true;
  flags.leader_elect_lease_duration = std::chrono::seconds(30);
  flags.leader_elect_renew_deadline = std::chrono::seconds(20);
  flags.leader_elect_retry_period = std::chrono::seconds(4);
  flags.leader_elect_resource_name = "n";
  const auto settings = ResolveSettings(flags, kPlugins);
  ASSERT_TRUE(settings) << settings.error().message;
  const config::LeaderElection& got = settings->configuration.leader_election;
  EXPECT_TRUE(got.leader_elect);
  EXPECT_EQ(got.lease_duration, std::chrono::seconds(30));
  EXPECT_EQ(got.renew_deadline, std::chrono::seconds(20));
  EXPECT_EQ(got.retry_period, std::chrono::seconds(4));
  EXPECT_EQ(got.resource_name, "n");
  EXPECT_EQ(got.resource_namespace, "f");
}

TEST_F(SettingsTest, WhatFlagsAndFileMakeTogetherIsValidated) {
  RunFlags flags;
  flags.config = File("leaderElection: {leaseDuration: 12s}\n");
  flags.leader_elect_renew_deadline = std::chrono::seconds(12);
  flags.leader_elect_resource_name = "";
  const auto settings = ResolveSettings(flags, kPlugins);
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().message,
            flags.config +
                ": [leaderElection.leaseDuration: Invalid value: \"12s\": must be greater than "
                "`RenewDeadline`, leaderElection.resourceName: Required value]");
}

TEST_F(SettingsTest, AFlagMayMakeAWrongFileRight) {
  RunFlags flags;
  flags.config = File("leaderElection: {resourceLock: endpoints}\n");
  EXPECT_FALSE(ResolveSettings(flags, kPlugins));
  flags.leader_elect_resource_lock = "leases";
  EXPECT_TRUE(ResolveSettings(flags, kPlugins));
}

TEST_F(SettingsTest, FlagsWithoutAFileAreValidatedToo) {
  RunFlags flags;
  flags.kube_api_burst = -1;
  const auto settings = ResolveSettings(flags, kPlugins);
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().message,
            "clientConnection.burst: Invalid value: -1: must be non-negative");
}

TEST_F(SettingsTest, NamesTheFileOrTheFlagThatIsWrong) {
  RunFlags missing;
  missing.config = path_ / "nowhere";
  EXPECT_EQ(ResolveSettings(missing, kPlugins).error().message,
            "open " + missing.config + ": no such file or directory");

  RunFlags folder;
  folder.config = std::filesystem::temp_directory_path();
  EXPECT_EQ(ResolveSettings(folder, kPlugins).error().message,
            "read " + folder.config + ": is a directory");

  RunFlags unknown;
  unknown.config = File("foo: 1\n");
  EXPECT_EQ(ResolveSettings(unknown, kPlugins).error().message,
            unknown.config + ": strict decoding error: unknown field \"foo\"");

  // The words of `berth run` are kube-scheduler's; other commands add what was perhaps meant.
  RunFlags misspelt;
  misspelt.config = File("profilez: []\n");
  const std::string upstreams =
      misspelt.config + ": strict decoding error: unknown field \"profilez\"";
  EXPECT_EQ(ResolveSettings(misspelt, kPlugins, Words::kUpstreams).error().message, upstreams);
  EXPECT_EQ(ResolveSettings(misspelt, kPlugins).error().message,
            upstreams + "; did you mean \"profiles\"?");

  RunFlags gate;
  gate.feature_gates = {"Foo=true"};
  EXPECT_EQ(ResolveSettings(gate, kPlugins).error().message,
            "--feature-gates: unrecognized feature gate: Foo");
}

TEST_F(SettingsTest, WhatValidationRefusesIsAlsoToBeHadOneByOne) {
  RunFlags flags;
  flags.config = File("parallelism: -1\npodInitialBackoffSeconds: -3\n");
  Causes causes;
  const auto settings = ResolveSettings(flags, kPlugins, Words::kUpstreams, &causes);
  ASSERT_FALSE(settings);
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_EQ(settings.error().message, flags.config + ": [" + causes[0] + ", " + causes[1] + "]");
  EXPECT_EQ(causes[0],
            "parallelism: Invalid value: -1: should be an integer value greater than zero");
  flags.config = File("foo: 1\n");
  causes.clear();
  EXPECT_FALSE(ResolveSettings(flags, kPlugins, Words::kUpstreams, &causes));
  EXPECT_TRUE(causes.empty()) << "it has none";
}

TEST_F(SettingsTest, MisspeltArgsOfBerthsOwnPluginsAreSuggestedAtEachLevel) {
  const InTreePlugins plugins = FindInTreePlugins();
  const struct {
    const char* plugin;
    const char* args;
    const char* path;
    const char* meant;
  } cases[] = {
      {"Relocation", "{maxMovesPerHours: 1}", "maxMovesPerHours", "maxMovesPerHour"},
      {"FragmentationAware", "{mix: [{wieght: 1}]}", "mix[0].wieght", "weight"},
      {"WeightedTopologySpread", "{constraint: []}", "constraint", "constraints"},
      {"NodeResourceTopologyMatch", "{scoringStrategy: {type: LeastAllocated, resorces: []}}",
       "scoringStrategy.resorces", "resources"},
      {"Coscheduling", "{permitWaitingTimeSecond: 1}", "permitWaitingTimeSecond",
       "permitWaitingTimeSeconds"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.plugin);
    RunFlags flags;
    flags.config = File("profiles: [{pluginConfig: [{name: " + std::string(c.plugin) +
                        ", args: " + c.args + "}]}]\n");
    const auto upstreams = ResolveSettings(flags, plugins, Words::kUpstreams);
    ASSERT_FALSE(upstreams);
    EXPECT_THAT(upstreams.error().message,
                testing::EndsWith("decoding args for plugin " + std::string(c.plugin) +
                                  ": strict decoding error: unknown field \"" + c.path + "\""));
    EXPECT_EQ(ResolveSettings(flags, plugins).error().message,
              upstreams.error().message + "; did you mean \"" + c.meant + "\"?");
  }
}

TEST(MaxPdVolumesTest, IsANumberAboveNought) {
  EXPECT_EQ(ParseMaxPdVolumes(nullptr).value_or(-1), 0);
  EXPECT_EQ(ParseMaxPdVolumes("").value_or(-1), 0);
  EXPECT_EQ(ParseMaxPdVolumes("12").value_or(-1), 12);
  EXPECT_EQ(ParseMaxPdVolumes("+7").value_or(-1), 7);
  for (const char* text : {"0", "-1", "x", "1x", " 1", "+", "1.5", "99999999999"}) {
    SCOPED_TRACE(text);
    const auto volumes = ParseMaxPdVolumes(text);
    ASSERT_FALSE(volumes);
    EXPECT_EQ(volumes.error().message, "\"" + std::string(text) + "\" is no number above 0");
  }
}

}  // namespace
}  // namespace berth::app
