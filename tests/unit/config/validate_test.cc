// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <functional>

#include "src/config/extension_points.h"
#include "src/config/load.h"

namespace berth::config {
namespace {

using Change = std::function<void(SchedulerConfiguration&)>;

constexpr const char* kRemoved =
    "was invalid in version \"v1\" (KubeSchedulerConfiguration is version "
    "\"kubescheduler.config.k8s.io/v1\")";

ConfigValue Args(const std::string& key, int64_t value) {
  return ConfigValue(ConfigValue::Map{{key, ConfigValue(value)}});
}

Profile Named(std::string name) {
  Profile profile;
  profile.scheduler_name = std::move(name);
  return profile;
}

std::string ProblemsAfter(const Change& change) {
  SchedulerConfiguration config = DefaultConfiguration({{{"PrioritySort", 0}}});
  change(config);
  const auto problem = Validate(config);
  return problem ? problem->message : "";
}

TEST(ValidateTest, AcceptsTheDefaults) {
  EXPECT_EQ(ProblemsAfter([](SchedulerConfiguration&) {}), "");
}

TEST(ValidateTest, NamesFieldValueAndRuleInKubeSchedulersWords) {
  const struct {
    const char* name;
    Change change;
    std::string want;
  } cases[] = {
      {"burst", [](auto& c) { c.client_connection.burst = -1; },
       "clientConnection.burst: Invalid value: -1: must be non-negative"},
      {"leaseDuration", [](auto& c) { c.leader_election.lease_duration = Duration::zero(); },
       "[leaderElection.leaseDuration: Invalid value: \"0s\": must be greater than zero, "
       "leaderElection.leaseDuration: Invalid value: \"10s\": must be greater than "
       "`RenewDeadline`]"},
      {"leaseDuration not above renewDeadline",
       [](auto& c) { c.leader_election.lease_duration = std::chrono::seconds(10); },
       "leaderElection.leaseDuration: Invalid value: \"10s\": must be greater than "
       "`RenewDeadline`"},
      {"renewDeadline",
       [](auto& c) { c.leader_election.renew_deadline = -std::chrono::seconds(1); },
       "leaderElection.renewDeadline: Invalid value: \"-1s\": must be greater than zero"},
      {"retryPeriod", [](auto& c) { c.leader_election.retry_period = -std::chrono::minutes(1); },
       "leaderElection.retryPeriod: Invalid value: \"-1m0s\": must be greater than zero"},
      {"resourceLock of another kind",
       [](auto& c) { c.leader_election.resource_lock = "endpoints"; },
       "leaderElection.resourceLock: Invalid value: \"endpoints\": resourceLock value must be "
       "\"leases\""},
      {"resourceLock missing", [](auto& c) { c.leader_election.resource_lock = ""; },
       "[leaderElection.resourceLock: Required value, leaderElection.resourceLock: Invalid value: "
       "\"\": resourceLock value must be \"leases\"]"},
      {"resourceNamespace and resourceName missing",
       [](auto& c) {
         c.leader_election.resource_name = "";
         c.leader_election.resource_namespace = "";
       },
       "[leaderElection.resourceNamespace: Required value, leaderElection.resourceName: Required "
       "value]"},
      {"parallelism", [](auto& c) { c.parallelism = 0; },
       "parallelism: Invalid value: 0: should be an integer value greater than zero"},
      {"no profile", [](auto& c) { c.profiles.clear(); }, "profiles: Required value"},
      {"schedulerName missing", [](auto& c) { c.profiles[0].scheduler_name = ""; },
       "profiles[0].schedulerName: Required value"},
      {"NodeResourcesFitArgs",
       [](auto& c) { c.profiles[0].plugin_config = {{"NodeResourcesFitArgs", Args("a", 1)}}; },
       "profiles[0].pluginConfig[0].args: Invalid value: {\"a\":1}: has to match plugin args"},
      {"schedulerName repeated", [](auto& c) { c.profiles.push_back(c.profiles[0]); },
       "profiles[1].schedulerName: Duplicate value: {}"},
      {"percentageOfNodesToScore of a profile above",
       [](auto& c) { c.profiles[0].percentage_of_nodes_to_score = 101; },
       "profiles[0].percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"},
      {"percentageOfNodesToScore of a profile below",
       [](auto& c) { c.profiles[0].percentage_of_nodes_to_score = -1; },
       "profiles[0].percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100]"},
      {"a removed plugin's args",
       [](auto& c) { c.profiles[0].plugin_config = {{"EBSLimits", {}}}; },
       std::string("profiles[0].pluginConfig[0]: Invalid value: \"EBSLimits\": ") + kRemoved},
      {"args twice", [](auto& c) { c.profiles[0].plugin_config = {{"A", {}}, {"A", {}}}; },
       "profiles[0].pluginConfig[1]: Duplicate value: \"A\""},
      {"two queue sorts",
       [](auto& c) { c.profiles[0].plugins.queue_sort.enabled = {{"A", 0}, {"B", 0}}; },
       "profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort plugin can be "
       "enabled"},
      {"another queue sort in another profile",
       [](auto& c) {
         c.profiles[0].plugins.queue_sort.enabled = {{"A", 0}};
         c.profiles.push_back(Named("b"));
         c.profiles[1].plugins.queue_sort = {{{"B", 3}}, {{"A", 0}}};
       },
       "profiles[1].plugins.queueSort: Invalid value: "
       "{\"Enabled\":[{\"Name\":\"B\",\"Weight\":3}],\"Disabled\":[{\"Name\":\"A\",\"Weight\":0}]}"
       ": must be the same for all profiles"},
      {"no queue sort in another profile",
       [](auto& c) {
         c.profiles[0].plugins.queue_sort.enabled = {{"A", 0}};
         c.profiles.push_back(Named("b"));
       },
       "profiles[1].plugins.queueSort: Invalid value: {\"Enabled\":null,\"Disabled\":null}: must "
       "be "
       "the same for all profiles"},
      {"other args of the queue sort in another profile",
       [](auto& c) {
         c.profiles.push_back(Named("b"));
         for (Profile& profile : c.profiles) profile.plugins.queue_sort.enabled = {{"A", 0}};
         c.profiles[0].plugin_config = {{"A", Args("x", 1)}};
         c.profiles[1].plugin_config = {{"A", Args("x", 2)}};
       },
       "profiles[1].pluginConfig.args: Invalid value: {\"x\":2}: queueSort must be the same for "
       "all "
       "profiles"},
      {"percentageOfNodesToScore", [](auto& c) { c.percentage_of_nodes_to_score = 500; },
       "percentageOfNodesToScore: Invalid value: 500: not in valid range [0-100]"},
      {"podInitialBackoffSeconds", [](auto& c) { c.pod_initial_backoff_seconds = 0; },
       "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0"},
      {"podMaxBackoffSeconds", [](auto& c) { c.pod_initial_backoff_seconds = 11; },
       "podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to "
       "PodInitialBackoffSeconds"},
      {"an extender's scores without a weight",
       [](auto& c) { c.extenders.emplace_back().prioritize_verb = "prioritize"; },
       "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it"},
      {"two extenders that bind",
       [](auto& c) {
         c.extenders.emplace_back().bind_verb = "bind";
         c.extenders.emplace_back().bind_verb = "bind";
       },
       "extenders: Invalid value: \"found 2 extenders implementing bind\": only one extender can "
       "implement bind"},
      {"a managed resource of Kubernetes' own",
       [](auto& c) { c.extenders.emplace_back().managed_resources = {{"kubernetes.io/x", false}}; },
       "extenders[0].managedResources[0].name: Invalid value: \"kubernetes.io/x\": is an invalid "
       "extended resource name"},
      {"a managed resource twice",
       [](auto& c) {
         c.extenders.emplace_back().managed_resources = {{"a.b/c", false}};
         c.extenders.emplace_back().managed_resources = {{"a.b/c", true}};
       },
       "extenders[1].managedResources[0].name: Invalid value: \"a.b/c\": duplicate extender "
       "managed resource name"},
      {"a managed resource with a bad name",
       [](auto& c) { c.extenders.emplace_back().managed_resources = {{"a.b/", false}}; },
       "[extenders[0].managedResources[0].name: Invalid value: \"a.b/\": name part must be "
       "non-empty, extenders[0].managedResources[0].name: Invalid value: \"a.b/\": name part must "
       "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
       "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
       "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')]"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(ProblemsAfter(c.change), c.want);
  }
}

TEST(ValidateTest, AcceptsTheEdgesOfEachRange) {
  const struct {
    const char* name;
    Change change;
  } cases[] = {
      {"burst 0", [](auto& c) { c.client_connection.burst = 0; }},
      {"negative qps", [](auto& c) { c.client_connection.qps = -1; }},
      {"parallelism 1", [](auto& c) { c.parallelism = 1; }},
      {"percentage 0 and 100",
       [](auto& c) {
         c.percentage_of_nodes_to_score = 100;
         c.profiles[0].percentage_of_nodes_to_score = 0;
       }},
      {"equal backoffs", [](auto& c) { c.pod_max_backoff_seconds = 1; }},
      {"the same queue sort and args in two profiles",
       [](auto& c) {
         c.profiles.push_back(Named("b"));
         for (Profile& profile : c.profiles) {
           profile.plugins.queue_sort.enabled = {{"A", 0}};
           profile.plugin_config = {{"A", Args("x", 1)}};
         }
       }},
      {"leader election that is off is not looked at",
       [](auto& c) {
         c.leader_election = {};
         c.leader_election.leader_elect = false;
         c.leader_election.lease_duration = Duration::zero();
         c.leader_election.resource_lock = "endpoints";
         c.leader_election.resource_name = "";
       }},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(ProblemsAfter(c.change), "");
  }
}

TEST(ValidateTest, RefusesRemovedPluginsWhereTheyAreNoFiltersAndKubeSchedulerLooks) {
  for (const char* plugin : {"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"}) {
    for (const ExtensionPoint& point : kExtensionPoints) {
      SCOPED_TRACE(std::string(plugin) + " at " + std::string(point.field));
      const bool forgotten = point.field == "multiPoint" || point.field == "placementGenerate" ||
                             point.field == "placementScore";
      const bool filters = point.field == "preFilter" || point.field == "filter";
      const std::string got = ProblemsAfter([&](SchedulerConfiguration& config) {
        PluginSet& set = config.profiles[0].plugins.*point.set;
        // queueSort may have one plugin only.
        set.enabled = {{plugin, 0}};
      });
      EXPECT_EQ(got, forgotten || filters
                         ? ""
                         : "profiles[0].plugins." + std::string(point.field) +
                               ".enabled[0]: Invalid value: \"" + plugin + "\": " + kRemoved);
    }
  }
}

TEST(ValidateTest, DisablingARemovedPluginIsNoProblem) {
  EXPECT_EQ(ProblemsAfter([](SchedulerConfiguration& config) {
              config.profiles[0].plugins.filter.disabled = {{"EBSLimits", 0}};
            }),
            "");
}

TEST(ValidateTest, ReportsAllProblemsInKubeSchedulersOrder) {
  const std::string got = ProblemsAfter([](SchedulerConfiguration& c) {
    c.parallelism = 0;
    c.percentage_of_nodes_to_score = 101;
    c.pod_initial_backoff_seconds = 0;
    c.pod_max_backoff_seconds = -1;
    c.client_connection.burst = -1;
    c.leader_election.lease_duration = std::chrono::seconds(1);
    c.leader_election.renew_deadline = std::chrono::seconds(1);
    c.leader_election.retry_period = -std::chrono::seconds(1);
    c.leader_election.resource_lock = "endpoints";
    c.profiles[0].scheduler_name = "a";
    c.profiles[0].percentage_of_nodes_to_score = -1;
    c.profiles[0].plugins.score.enabled = {{"EBSLimits", 0}};
    c.profiles[0].plugins.queue_sort.enabled = {{"x", 2}, {"yy", 0}};
    c.profiles[0].plugin_config = {{"a", {}}, {"a", {}}, {"EBSLimits", {}}};
    c.profiles.push_back(Named("a"));
    c.profiles.push_back(Named(""));
    c.profiles[2].percentage_of_nodes_to_score = 5;
    c.profiles[2].plugins.queue_sort.disabled = {{"*", 0}};
    c.extenders.emplace_back().prioritize_verb = "p";
  });
  EXPECT_EQ(
      got,
      "[clientConnection.burst: Invalid value: -1: must be non-negative, "
      "leaderElection.retryPeriod: Invalid value: \"-1s\": must be greater than zero, "
      "leaderElection.leaseDuration: Invalid value: \"1s\": must be greater than `RenewDeadline`, "
      "leaderElection.resourceLock: Invalid value: \"endpoints\": resourceLock value must be "
      "\"leases\", "
      "parallelism: Invalid value: 0: should be an integer value greater than zero, "
      "profiles[0].percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100], "
      "profiles[0].plugins.score.enabled[0]: Invalid value: \"EBSLimits\": was invalid in version "
      "\"v1\" (KubeSchedulerConfiguration is version \"kubescheduler.config.k8s.io/v1\"), "
      "profiles[0].pluginConfig[1]: Duplicate value: \"a\", "
      "profiles[0].pluginConfig[2]: Invalid value: \"EBSLimits\": was invalid in version \"v1\" "
      "(KubeSchedulerConfiguration is version \"kubescheduler.config.k8s.io/v1\"), "
      "profiles[1].schedulerName: Duplicate value: {}, "
      "profiles[2].schedulerName: Required value, "
      "profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort plugin can be "
      "enabled, "
      "profiles[1].plugins.queueSort: Invalid value: {\"Enabled\":null,\"Disabled\":null}: must be "
      "the same for all profiles, "
      "profiles[2].plugins.queueSort: Invalid value: "
      "{\"Enabled\":null,\"Disabled\":[{\"Name\":\"*\",\"Weight\":0}]}: must be the same for all "
      "profiles, "
      "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100], "
      "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0, "
      "podMaxBackoffSeconds: Invalid value: -1: must be greater than or equal to "
      "PodInitialBackoffSeconds, "
      "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it]");
}

}  // namespace
}  // namespace berth::config
