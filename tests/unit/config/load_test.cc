// SPDX-License-Identifier: Apache-2.0
#include "src/config/load.h"

#include <gmock/gmock.h>

#include "src/base/suggestion.h"
#include "src/config/extension_points.h"

namespace berth::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const KnownPlugins kDefaults = {
    {{"PrioritySort", 0}, {"NodeName", 0}, {"TaintToleration", 3}, {"DefaultBinder", 0}}};

std::string WithHead(const std::string& body) {
  return "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" + body;
}

Result<SchedulerConfiguration> LoadText(const std::string& text) {
  return Load(text, "s.yaml", kDefaults);
}

SchedulerConfiguration MustLoad(const std::string& body) {
  auto config = LoadText(WithHead(body));
  EXPECT_TRUE(config) << config.error().message;
  return config ? *config : SchedulerConfiguration{};
}

std::string ErrorOf(const std::string& text) {
  const auto config = LoadText(text);
  return config ? "" : config.error().message;
}

TEST(LoadTest, SetsEveryDefault) {
  for (const char* body : {"", "profiles: []\n",
                           "profiles:\nleaderElection: ~\nparallelism: null\n"
                           "clientConnection: {}\n"}) {
    SCOPED_TRACE(body);
    const SchedulerConfiguration config = MustLoad(body);
    EXPECT_EQ(config.parallelism, 16);
    EXPECT_TRUE(config.leader_election.leader_elect);
    EXPECT_EQ(config.leader_election.lease_duration, std::chrono::seconds(15));
    EXPECT_EQ(config.leader_election.renew_deadline, std::chrono::seconds(10));
    EXPECT_EQ(config.leader_election.retry_period, std::chrono::seconds(2));
    EXPECT_EQ(config.leader_election.resource_lock, "leases");
    EXPECT_EQ(config.leader_election.resource_name, "kube-scheduler");
    EXPECT_EQ(config.leader_election.resource_namespace, "kube-system");
    EXPECT_EQ(config.client_connection.kubeconfig, "");
    EXPECT_EQ(config.client_connection.accept_content_types, "");
    EXPECT_EQ(config.client_connection.content_type, "application/vnd.kubernetes.protobuf");
    EXPECT_EQ(config.client_connection.qps, 50);
    EXPECT_EQ(config.client_connection.burst, 100);
    EXPECT_TRUE(config.enable_profiling);
    EXPECT_TRUE(config.enable_contention_profiling);
    EXPECT_EQ(config.percentage_of_nodes_to_score, 0);
    EXPECT_EQ(config.pod_initial_backoff_seconds, 1);
    EXPECT_EQ(config.pod_max_backoff_seconds, 10);
    EXPECT_FALSE(config.delay_cache_until_active);
    ASSERT_EQ(config.profiles.size(), 1u);
    EXPECT_EQ(config.profiles[0].scheduler_name, "default-scheduler");
    EXPECT_EQ(config.profiles[0].percentage_of_nodes_to_score, std::nullopt);
    EXPECT_EQ(config.profiles[0].plugins.multi_point.enabled, kDefaults.defaults);
    EXPECT_THAT(config.profiles[0].plugin_config, IsEmpty());
  }
}

TEST(LoadTest, DefaultConfigurationIsThatOfAnEmptyFile) {
  const SchedulerConfiguration built = DefaultConfiguration(kDefaults);
  const SchedulerConfiguration loaded = MustLoad("");
  ASSERT_EQ(built.profiles.size(), 1u);
  EXPECT_EQ(built.profiles[0].scheduler_name, loaded.profiles[0].scheduler_name);
  EXPECT_EQ(built.profiles[0].plugins, loaded.profiles[0].plugins);
}

TEST(LoadTest, ReadsEveryField) {
  const SchedulerConfiguration config = MustLoad(R"(
parallelism: 4
leaderElection:
  leaderElect: false
  leaseDuration: 1m0s
  renewDeadline: 40s
  retryPeriod: 1.5s
  resourceLock: leases
  resourceName: berth
  resourceNamespace: default
clientConnection:
  kubeconfig: /etc/kubernetes/scheduler.conf
  acceptContentTypes: application/json
  contentType: application/json
  qps: -1
  burst: 7
enableProfiling: false
enableContentionProfiling: true
percentageOfNodesToScore: 30
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 20
delayCacheUntilActive: true
profiles:
- schedulerName: a
  percentageOfNodesToScore: 0
  pluginConfig:
  - name: Mine
    args: {depth: 3}
  - name: Bare
- schedulerName: b
)");
  EXPECT_EQ(config.parallelism, 4);
  EXPECT_FALSE(config.leader_election.leader_elect);
  EXPECT_EQ(config.leader_election.lease_duration, std::chrono::minutes(1));
  EXPECT_EQ(config.leader_election.renew_deadline, std::chrono::seconds(40));
  EXPECT_EQ(config.leader_election.retry_period, std::chrono::milliseconds(1500));
  EXPECT_EQ(config.leader_election.resource_name, "berth");
  EXPECT_EQ(config.leader_election.resource_namespace, "default");
  EXPECT_EQ(config.client_connection.kubeconfig, "/etc/kubernetes/scheduler.conf");
  EXPECT_EQ(config.client_connection.accept_content_types, "application/json");
  EXPECT_EQ(config.client_connection.content_type, "application/json");
  EXPECT_EQ(config.client_connection.qps, -1);
  EXPECT_EQ(config.client_connection.burst, 7);
  EXPECT_FALSE(config.enable_profiling);
  EXPECT_TRUE(config.enable_contention_profiling);
  EXPECT_EQ(config.percentage_of_nodes_to_score, 30);
  EXPECT_EQ(config.pod_initial_backoff_seconds, 2);
  EXPECT_EQ(config.pod_max_backoff_seconds, 20);
  EXPECT_TRUE(config.delay_cache_until_active);
  ASSERT_EQ(config.profiles.size(), 2u);
  EXPECT_EQ(config.profiles[0].scheduler_name, "a");
  EXPECT_EQ(config.profiles[0].percentage_of_nodes_to_score, 0);
  ASSERT_EQ(config.profiles[0].plugin_config.size(), 2u);
  EXPECT_EQ(config.profiles[0].plugin_config[0].name, "Mine");
  EXPECT_EQ(config.profiles[0].plugin_config[0].args.ToJson(), R"({"depth":3})");
  EXPECT_TRUE(config.profiles[0].plugin_config[1].args.is_null());
  EXPECT_EQ(config.profiles[1].scheduler_name, "b");
}

TEST(LoadTest, WhatIsAcceptedSaysWhatObjectsAreAnsweredIn) {
  const struct {
    const char* connection;
    bool reads_json;
    bool writes_json;
  } cases[] = {
      {"{}", false, false},
      {"{contentType: application/json}", true, true},
      {"{acceptContentTypes: application/json}", true, false},
      {"{acceptContentTypes: 'application/vnd.kubernetes.protobuf,application/json', contentType: "
       "application/json}",
       false, true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.connection);
    const SchedulerConfiguration config =
        MustLoad(std::string("clientConnection: ") + c.connection + "\n");
    EXPECT_EQ(config.client_connection.reads_json(), c.reads_json);
    EXPECT_EQ(config.client_connection.writes_json(), c.writes_json);
  }
}

TEST(LoadTest, ReadsJson) {
  const auto config = LoadText(
      R"({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
          "parallelism": 2, "profiles": [{"schedulerName": "a"}]})");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->parallelism, 2);
  EXPECT_EQ(config->profiles[0].scheduler_name, "a");
}

TEST(LoadTest, WhatBeginsWithABraceIsJsonAlone) {
  const std::string head =
      R"({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", )";
  const std::string number =
      "s.yaml: json: cannot unmarshal number 2.0 into Go struct field "
      "KubeSchedulerConfiguration.parallelism of type int32";
  const struct {
    std::string text;
    std::string want;
  } cases[] = {
      {head + R"("parallelism": 2.0})", number},
      {head + R"("parallelism": 1, "parallelism": 2, "x": 3})",
       "s.yaml: strict decoding error: duplicate field \"parallelism\", unknown field \"x\""},
      {head + R"("leaderElection": {"leaderElect": true, "leaderElect": true}})",
       "s.yaml: strict decoding error: duplicate field \"leaderElect\""},
      {head + R"("parallelism": 2} x)", "s.yaml: line 1, column "},
      {"{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}",
       "s.yaml: line 1, column 2"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const auto config = Load(c.text, "s.yaml", {});
    ASSERT_FALSE(config);
    EXPECT_THAT(config.error().message, testing::StartsWith(c.want));
  }
  EXPECT_EQ(MustLoad("parallelism: 2.0\n").parallelism, 2) << "in YAML that is a whole number";
}

TEST(LoadTest, ReadsThePluginsOfEachExtensionPoint) {
  for (const ExtensionPoint& point : kExtensionPoints) {
    SCOPED_TRACE(point.field);
    const std::string text = "profiles: [{plugins: {" + std::string(point.field) +
                             ": {enabled: [{name: X, weight: 3}], disabled: [{name: Z}]}}}]\n";
    const auto config = Load(WithHead(text), "s.yaml", {});
    ASSERT_TRUE(config) << config.error().message;
    Plugins want;
    want.*point.set = {{{"X", 3}}, {{"Z", 0}}};
    EXPECT_EQ(config->profiles[0].plugins, want);
  }
}

TEST(LoadTest, ZeroValuesThatGoCannotTellFromAbsentOnesMeanTheDefault) {
  const SchedulerConfiguration config = MustLoad(R"(
leaderElection: {leaseDuration: 0s, renewDeadline: "0", retryPeriod: 0s, resourceLock: "",
                 resourceName: "", resourceNamespace: ""}
clientConnection: {contentType: "", qps: 0, burst: 0}
)");
  EXPECT_EQ(config.leader_election.lease_duration, std::chrono::seconds(15));
  EXPECT_EQ(config.leader_election.renew_deadline, std::chrono::seconds(10));
  EXPECT_EQ(config.leader_election.retry_period, std::chrono::seconds(2));
  EXPECT_EQ(config.leader_election.resource_lock, "leases");
  EXPECT_EQ(config.leader_election.resource_name, "kube-scheduler");
  EXPECT_EQ(config.leader_election.resource_namespace, "kube-system");
  EXPECT_EQ(config.client_connection.content_type, "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(config.client_connection.qps, 50);
  EXPECT_EQ(config.client_connection.burst, 100);
}

TEST(LoadTest, ContentionProfilingFollowsProfilingUnlessSet) {
  EXPECT_FALSE(MustLoad("enableProfiling: false\n").enable_contention_profiling);
  EXPECT_FALSE(MustLoad("enableContentionProfiling: false\n").enable_contention_profiling);
  EXPECT_TRUE(MustLoad("enableContentionProfiling: false\n").enable_profiling);
}

TEST(LoadTest, OnlyASingleProfileMayLeaveItsNameOut) {
  const struct {
    const char* body;
    std::string want;
  } cases[] = {
      {"profiles: [{}]", ""},
      {"profiles: [null]", ""},
      {"profiles: [{schedulerName: null}]", ""},
      {"profiles: [{schedulerName: ''}]", "s.yaml: profiles[0].schedulerName: Required value"},
      {"profiles: [{schedulerName: a}, {}]", "s.yaml: profiles[1].schedulerName: Required value"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.body);
    EXPECT_EQ(ErrorOf(WithHead(c.body)), c.want);
  }
}

TEST(LoadTest, MergesTheDefaultPluginsIntoEachProfile) {
  const SchedulerConfiguration config = MustLoad(R"(
profiles:
- schedulerName: a
  plugins: {multiPoint: {enabled: [{name: TaintToleration}], disabled: [{name: NodeName}]}}
- schedulerName: b
  plugins: {score: {disabled: [{name: "*"}], enabled: [{name: TaintToleration, weight: 9}]}}
)");
  EXPECT_THAT(config.profiles[0].plugins.multi_point.enabled,
              ElementsAre(PluginRef{"PrioritySort", 0}, PluginRef{"TaintToleration", 0},
                          PluginRef{"DefaultBinder", 0}));
  EXPECT_EQ(config.profiles[1].plugins.multi_point.enabled, kDefaults.defaults);
  EXPECT_THAT(config.profiles[1].plugins.score.enabled,
              ElementsAre(PluginRef{"TaintToleration", 9}));
  EXPECT_THAT(config.profiles[1].plugins.score.disabled, ElementsAre(PluginRef{"*", 0}));
}

TEST(LoadTest, RefusesAnotherKindOrVersionAndSaysWhatToChange) {
  const struct {
    const char* text;
    std::string want;
  } cases[] = {
      {"", "s.yaml: must be a map with apiVersion and kind, not null"},
      {"- a\n", "s.yaml: must be a map with apiVersion and kind, not a list"},
      {"apiVersion: kubescheduler.config.k8s.io/v1\n",
       "s.yaml: Object 'Kind' is missing: must be kind: KubeSchedulerConfiguration"},
      {"kind: KubeSchedulerConfiguration\n",
       "s.yaml: Object 'apiVersion' is missing: must be apiVersion: "
       "kubescheduler.config.k8s.io/v1"},
      {"apiVersion: kubescheduler.config.k8s.io/v1\nkind: NodeAffinityArgs\n",
       "s.yaml: couldn't decode as KubeSchedulerConfiguration, got kubescheduler.config.k8s.io/v1, "
       "Kind=NodeAffinityArgs"},
      {"apiVersion: v1\nkind: Policy\n",
       "s.yaml: no kind \"Policy\" is registered for version \"v1\": must be apiVersion: "
       "kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration"},
      {"apiVersion: kubescheduler.config.k8s.io/v2\nkind: KubeSchedulerConfiguration\n",
       "s.yaml: no kind \"KubeSchedulerConfiguration\" is registered for version "
       "\"kubescheduler.config.k8s.io/v2\": must be apiVersion: kubescheduler.config.k8s.io/v1, "
       "kind: KubeSchedulerConfiguration"},
      {"apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n",
       "s.yaml: no kind \"KubeSchedulerConfiguration\" is registered for version "
       "\"kubescheduler.config.k8s.io/v1beta3\": set apiVersion: kubescheduler.config.k8s.io/v1; "
       "replace the plugin SelectorSpread by PodTopologySpread"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(ErrorOf(c.text), c.want);
  }
}

TEST(LoadTest, TheHintGrowsWithTheAgeOfTheVersion) {
  const auto error_of = [](const std::string& version) {
    return ErrorOf("apiVersion: kubescheduler.config.k8s.io/" + version +
                   "\nkind: KubeSchedulerConfiguration\n");
  };
  EXPECT_THAT(error_of("v1beta2"), HasSubstr("default weights of InterPodAffinity"));
  EXPECT_THAT(error_of("v1beta2"), testing::Not(HasSubstr("NodeLabel")));
  EXPECT_THAT(error_of("v1beta1"), HasSubstr("NodeLabel by NodeAffinity"));
  EXPECT_THAT(error_of("v1alpha1"), HasSubstr("NodeLabel by NodeAffinity"));
}

TEST(LoadTest, RefusesUnknownFieldsWithTheirPath) {
  const struct {
    const char* body;
    const char* path;
  } cases[] = {
      {"foo: 1", "foo"},
      {"Parallelism: 3", "Parallelism"},
      {"clientConnection: {QPS: 3}", "clientConnection.QPS"},
      {"leaderElection: {x: 1}", "leaderElection.x"},
      {"profiles: [{zed: 1}]", "profiles[0].zed"},
      {"profiles: [{SchedulerName: x}]", "profiles[0].SchedulerName"},
      {"profiles: [{plugins: {filterr: {}}}]", "profiles[0].plugins.filterr"},
      {"profiles: [{plugins: {filter: {enable: []}}}]", "profiles[0].plugins.filter.enable"},
      {"profiles: [{schedulerName: a}, {plugins: {score: {enabled: [{name: a, wieght: 3}]}}}]",
       "profiles[1].plugins.score.enabled[0].wieght"},
      {"profiles: [{pluginConfig: [{name: a, arg: {}}]}]", "profiles[0].pluginConfig[0].arg"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.body);
    EXPECT_EQ(ErrorOf(WithHead(c.body)),
              "s.yaml: strict decoding error: unknown field \"" + std::string(c.path) + "\"");
  }
}

TEST(LoadTest, SuggestsFieldsWhereAskedTo) {
  KnownPlugins known = kDefaults;
  known.hint = base::SuggestedField;
  const struct {
    const char* body;
    const char* want;
  } cases[] = {
      {"profilez: []", R"(unknown field "profilez"; did you mean "profiles"?)"},
      {"nothingLikeIt: 1", R"(unknown field "nothingLikeIt")"},
      {"leaderElection: {leaderelect: true}\nprofiles: [{plugins: {scores: {}}}]",
       R"(unknown field "leaderElection.leaderelect"; did you mean "leaderElect"?, )"
       R"(unknown field "profiles[0].plugins.scores"; did you mean "score"?)"},
      {"profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinty: {}}}]}]",
       R"(decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for plugin )"
       R"(NodeAffinity: strict decoding error: unknown field "addedAffinty"; did you mean )"
       R"("addedAffinity"?)"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.body);
    EXPECT_EQ(Load(WithHead(c.body), "s.yaml", known).error().message,
              std::string("s.yaml: strict decoding error: ") + c.want);
  }
}

TEST(LoadTest, ReportsAllUnknownFieldsTogether) {
  const std::string error = ErrorOf(WithHead("foo: 1\nbar: 2\nleaderElection: {x: 1}\n"));
  EXPECT_THAT(error, StartsWith("s.yaml: strict decoding error: "));
  for (const char* field : {"\"foo\"", "\"bar\"", "\"leaderElection.x\""}) {
    EXPECT_THAT(error, HasSubstr("unknown field " + std::string(field)));
  }
}

TEST(LoadTest, RefusesValuesOfTheWrongTypeInGosWords) {
  const struct {
    const char* body;
    const char* want;
  } cases[] = {
      {"parallelism: hello",
       "json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.parallelism "
       "of type int32"},
      {"parallelism: 1.5",
       "json: cannot unmarshal number 1.5 into Go struct field "
       "KubeSchedulerConfiguration.parallelism of type int32"},
      {"parallelism: 99999999999",
       "json: cannot unmarshal number 99999999999 into Go struct field "
       "KubeSchedulerConfiguration.parallelism of type int32"},
      {"leaderElection: {leaseDuration: abc}", "time: invalid duration \"abc\""},
      {"profiles: [3]",
       "json: cannot unmarshal number into Go struct field KubeSchedulerConfiguration.profiles of "
       "type v1.KubeSchedulerProfile"},
      {"profiles: [{plugins: {filter: {enabled: [{name: 3}]}}}]",
       "json: cannot unmarshal number into Go struct field "
       "Plugin.profiles.plugins.filter.enabled.name of type string"},
      {"enableProfiling: [a]",
       "json: cannot unmarshal array into Go struct field "
       "KubeSchedulerConfiguration.DebuggingConfiguration.enableProfiling of type bool"},
      {"extenders: [{tlsConfig: {caData: '?'}}]", "illegal base64 data at input byte 0"},
      // Nothing else is reported with it, and by name the first is parallelism.
      {"podMaxBackoffSeconds: x\nfoo: 1\nparallelism: {}",
       "json: cannot unmarshal object into Go struct field KubeSchedulerConfiguration.parallelism "
       "of type int32"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.body);
    EXPECT_EQ(ErrorOf(WithHead(c.body)), "s.yaml: " + std::string(c.want));
  }
}

TEST(LoadTest, NamesTheLineOfARepeatedFieldAndOfASyntaxError) {
  EXPECT_EQ(ErrorOf(WithHead("parallelism: 1\nparallelism: 2\n")),
            "s.yaml:4: strict decoding error: yaml: unmarshal errors:\n  line 4: key "
            "\"parallelism\" already set in map");
  EXPECT_THAT(ErrorOf(WithHead("parallelism: 1\n  foo: [1\n")),
              testing::AllOf(StartsWith("s.yaml:4: "), HasSubstr("yaml")));
}

TEST(LoadTest, OfSeveralDocumentsTheFirstCounts) {
  EXPECT_EQ(MustLoad("parallelism: 2\n---\nfoo: bar\n").parallelism, 2);
  // Nothing looks at the others.
  for (const char* rest :
       {"---\nfoo: [1,\n", "---\na: b: c\n", "---\n@bad\n", "--- @bad\n", "...\n@bad\n",
        "---\nkey: 1\nkey: 1\n", "---\n\tx: 1\n", "...\n%YAML 9\n---\na\n"}) {
    EXPECT_EQ(MustLoad("parallelism: 2\n" + std::string(rest)).parallelism, 2) << rest;
  }
}

TEST(LoadTest, ValidatesWhatWasRead) {
  EXPECT_EQ(ErrorOf(WithHead("parallelism: 0\n")),
            "s.yaml: parallelism: Invalid value: 0: should be an integer value greater than zero");
  EXPECT_EQ(ErrorOf(WithHead("extenders: [{urlPrefix: http://x}]\n")), "");
}

TEST(DecodeTest, LeavesValidationToTheCaller) {
  const auto config = Decode(WithHead("parallelism: 0\n"), "s.yaml", kDefaults);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->parallelism, 0);
}

std::string WithArgs(const std::string& plugin, const std::string& args) {
  return WithHead("profiles: [{pluginConfig: [{name: " + plugin + ", args: " + args + "}]}]\n");
}

TEST(PluginArgsTest, ApiVersionAndKindMayBeThereAndAreTakenOut) {
  for (const char* args :
       {"{hardPodAffinityWeight: 2}", "{kind: InterPodAffinityArgs, hardPodAffinityWeight: 2}",
        "{apiVersion: kubescheduler.config.k8s.io/v1, hardPodAffinityWeight: 2}",
        "{apiVersion: kubescheduler.config.k8s.io/v1, kind: InterPodAffinityArgs, "
        "hardPodAffinityWeight: 2}"}) {
    SCOPED_TRACE(args);
    const auto config = LoadText(WithArgs("InterPodAffinity", args));
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->profiles[0].plugin_config[0].args.ToJson(), R"({"hardPodAffinityWeight":2})");
  }
}

TEST(PluginArgsTest, RefusesArgsOfAnotherTypeInKubeSchedulersWords) {
  const std::string where = "s.yaml: decoding .profiles[0].pluginConfig[0]: ";
  const struct {
    const char* args;
    std::string want;
  } cases[] = {
      {"{apiVersion: v1, kind: NodeAffinityArgs}",
       "decoding args for plugin NodeAffinity: no kind \"NodeAffinityArgs\" is registered for "
       "version \"v1\""},
      {"{kind: Foo}",
       "decoding args for plugin NodeAffinity: no kind \"Foo\" is registered for version "
       "\"kubescheduler.config.k8s.io/v1\""},
      {"{kind: InterPodAffinityArgs}",
       "args for plugin NodeAffinity were not of type "
       "NodeAffinityArgs.kubescheduler.config.k8s.io, "
       "got InterPodAffinityArgs.kubescheduler.config.k8s.io"},
      {"3", "decoding args for plugin NodeAffinity: must be a map, not a number"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.args);
    EXPECT_EQ(ErrorOf(WithArgs("NodeAffinity", c.args)), where + c.want);
  }
}

TEST(PluginArgsTest, UnknownFieldsOfArgsComeAfterThoseOfTheConfiguration) {
  EXPECT_EQ(
      ErrorOf(WithHead("profiles: [{foo: 1, pluginConfig: [{name: NodeAffinity, args: {b: 1, a: "
                       "2}}, {name: Mine, args: {c: 3}}]}]\n")),
      "s.yaml: strict decoding error: unknown field \"profiles[0].foo\", decoding "
      ".profiles[0].pluginConfig[0]: strict decoding error: decoding args for plugin NodeAffinity: "
      "strict decoding error: unknown field \"a\", unknown field \"b\"");
}

ConfigValue WithSize(const ConfigValue& args, const ArgsFeatures& features) {
  if (args.Find("size") != nullptr) return args;
  return ConfigValue(
      ConfigValue::Map{{"size", ConfigValue(int64_t{features.storage_capacity_scoring ? 1 : 2})}});
}

std::vector<std::string> SizeProblems(const ConfigValue& args, const std::string& path,
                                      const ArgsCheck&) {
  if (*args.Find("size")->integer() < 5) return {};
  return {path + ".size: too large", path + ".size: really"};
}

TEST(PluginArgsTest, WhatIsKnownOfAPluginsArgsDefaultsAndChecksThem) {
  KnownPlugins known{{{"Sized", 0}, {"Plain", 0}}};
  known.args["Sized"] = {"Sized", WithSize, SizeProblems};
  known.features.storage_capacity_scoring = false;
  const auto load = [&known](const std::string& body) {
    return Load(WithHead(body), "s.yaml", known);
  };
  const auto defaulted = load("");
  ASSERT_TRUE(defaulted) << defaulted.error().message;
  ASSERT_EQ(defaulted->profiles[0].plugin_config.size(), 1u);
  EXPECT_EQ(defaulted->profiles[0].plugin_config[0].name, "Sized");
  EXPECT_EQ(defaulted->profiles[0].plugin_config[0].args.ToJson(), R"({"size":2})");
  const auto disabled = load("profiles: [{plugins: {multiPoint: {disabled: [{name: Sized}]}}}]");
  ASSERT_TRUE(disabled);
  EXPECT_THAT(disabled->profiles[0].plugin_config, IsEmpty());
  const auto given = load("profiles: [{pluginConfig: [{name: Sized, args: {size: 3}}]}]");
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_EQ(given->profiles[0].plugin_config[0].args.ToJson(), R"({"size":3})");
  const auto wrong = load(
      "parallelism: 0\nprofiles: [{pluginConfig: [{name: Plain}, {name: Sized, args: {size: "
      "7}}]}]");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message,
            "s.yaml: [parallelism: Invalid value: 0: should be an integer value greater than zero, "
            "profiles[0].pluginConfig[1].args.size: too large, "
            "profiles[0].pluginConfig[1].args.size: really]");
}

TEST(PluginArgsTest, TheArgsOfOtherPluginsAreLeftAsWritten) {
  const auto config = LoadText(WithArgs("Mine", "{apiVersion: x, kind: k, a: [1]}"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->profiles[0].plugin_config[0].args.ToJson(),
            R"({"apiVersion":"x","kind":"k","a":[1]})");
}

}  // namespace
}  // namespace berth::config
