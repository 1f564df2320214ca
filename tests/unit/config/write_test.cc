// SPDX-License-Identifier: Apache-2.0
#include "src/config/write.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "src/config/load.h"
#include "src/documents/write.h"

namespace berth::config {
namespace {

std::string ReadSample(const char* name) {
  std::ifstream file(std::string("config/") + name);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(file) << name;
  return text.str();
}

const KnownPlugins kDefaults = {{{"PrioritySort", 0}, {"TaintToleration", 3}}};

TEST(ToYamlTest, WhatIsWrittenReadsBackAsTheSame) {
  for (const char* sample : {"default.yaml", "two-profiles.yaml"}) {
    SCOPED_TRACE(sample);
    const auto first = Load(ReadSample(sample), sample, kDefaults);
    ASSERT_TRUE(first) << first.error().message;
    const std::string written = ToYaml(*first);
    // The defaults are in what was written, so merging them again must change nothing.
    const auto second = Load(written, "written.yaml", kDefaults);
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ(ToYaml(*second), written);
    ASSERT_EQ(second->profiles.size(), first->profiles.size());
    for (size_t i = 0; i < first->profiles.size(); ++i) {
      EXPECT_EQ(second->profiles[i].plugins, first->profiles[i].plugins);
    }
  }
}

TEST(ToYamlTest, WritesWhatKubernetesWouldOfArgsAndExtenders) {
  const auto config = Load(R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {qps: 0.1}
profiles:
- plugins: {score: {enabled: [{name: NodeResourcesFit}, {name: Mine}, {name: InterPodAffinity}]}}
  pluginConfig:
  - {name: NodeResourcesFit, args: {ignoredResources: [], scoringStrategy: {resources: [{name: cpu, weight: 1.0}]}}}
  - {name: Absent, args: {a: 1}}
  - {name: Mine, args: {b: [2]}}
  - {name: InterPodAffinity, args: {}}
extenders: [{urlPrefix: u, weight: 0, tlsConfig: {caData: YWJj}, httpTimeout: 90s}]
)",
                           "s.yaml", KnownPlugins{});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->extenders[0].tls_config->ca_data, "abc");
  const ConfigValue value = ToDocument(*config);
  EXPECT_EQ(value.Find("clientConnection")->Find("qps")->ToJson(), "0.1");
  EXPECT_EQ(value.Find("extenders")->ToJson(),
            R"([{"urlPrefix":"u","tlsConfig":{"caData":"YWJj"},"httpTimeout":"1m30s"}])");
  EXPECT_EQ(documents::ToYaml(*value.Find("profiles")->list()->front().Find("pluginConfig")),
            "- args:\n"
            "    apiVersion: kubescheduler.config.k8s.io/v1\n"
            "    ignorePreferredTermsOfExistingPods: false\n"
            "    kind: InterPodAffinityArgs\n"
            "  name: InterPodAffinity\n"
            "- args:\n"
            "    b:\n"
            "    - 2\n"
            "  name: Mine\n"
            "- args:\n"
            "    apiVersion: kubescheduler.config.k8s.io/v1\n"
            "    kind: NodeResourcesFitArgs\n"
            "    scoringStrategy:\n"
            "      resources:\n"
            "      - name: cpu\n"
            "        weight: 1\n"
            "  name: NodeResourcesFit\n");
}

TEST(WriteTest, AllArgsAreShownAsTheyStandWhereThatIsAskedFor) {
  const auto config = Load(R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - {name: Foreign, args: {b: 1}}
  - {name: Bare}
  - {name: InterPodAffinity, args: {hardPodAffinityWeight: 2}}
)",
                           "s.yaml", KnownPlugins{});
  ASSERT_TRUE(config) << config.error().message;
  const ConfigValue value = ToDocument(*config, ShownArgs::kAll);
  EXPECT_EQ(value.Find("profiles")->list()->front().Find("pluginConfig")->ToJson(),
            R"([{"name":"Foreign","args":{"b":1}},{"name":"Bare","args":null},)"
            R"({"name":"InterPodAffinity","args":{"apiVersion":"kubescheduler.config.k8s.io/v1",)"
            R"("kind":"InterPodAffinityArgs","hardPodAffinityWeight":2,)"
            R"("ignorePreferredTermsOfExistingPods":false}}])");
}

TEST(SamplesTest, TheDefaultSampleIsTheDefaults) {
  const auto sample = Load(ReadSample("default.yaml"), "default.yaml", kDefaults);
  ASSERT_TRUE(sample) << sample.error().message;
  SchedulerConfiguration without_args = *sample;
  without_args.profiles[0].plugin_config.clear();
  EXPECT_EQ(ToYaml(without_args), ToYaml(DefaultConfiguration(kDefaults)));
}

TEST(WithoutSecretsTest, KeysAreReplacedAndNothingElse) {
  const auto config = Load(R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- {urlPrefix: a, weight: 1, tlsConfig: {certData: YWJj, keyData: czNjcmV0}}
- {urlPrefix: b, weight: 1, tlsConfig: {keyFile: /etc/key}}
)",
                           "s.yaml", KnownPlugins{});
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_EQ(config->extenders[0].tls_config->key_data, "s3cret");
  const SchedulerConfiguration told = WithoutSecrets(*config);
  EXPECT_EQ(told.extenders[0].tls_config->key_data, "REDACTED");
  SchedulerConfiguration expected = *config;
  expected.extenders[0].tls_config->key_data = "REDACTED";
  EXPECT_EQ(ToDocument(told).ToJson(), ToDocument(expected).ToJson());
  EXPECT_EQ(ToYaml(told).find("czNjcmV0"), std::string::npos);
}

}  // namespace
}  // namespace berth::config
