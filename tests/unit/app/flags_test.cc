// SPDX-License-Identifier: Apache-2.0
#include "src/app/flags.h"

#include <gmock/gmock.h>

#include "src/app/flags_without_effect.h"

namespace berth::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

RunFlags MustParse(const std::vector<std::string>& arguments) {
  auto flags = ParseRunFlags(arguments, "berth run");
  EXPECT_TRUE(flags) << flags.error().message;
  return flags ? *flags : RunFlags{};
}

FlagError ErrorOf(const std::vector<std::string>& arguments) {
  const auto flags = ParseRunFlags(arguments, "berth run");
  return flags ? FlagError{} : flags.error();
}

TEST(RunFlagsTest, NothingGivenLeavesEverythingToTheDefaults) {
  const RunFlags flags = MustParse({});
  EXPECT_EQ(flags.config, "");
  EXPECT_EQ(flags.kubeconfig, std::nullopt);
  EXPECT_EQ(flags.leader_elect, std::nullopt);
  EXPECT_EQ(flags.seed, std::nullopt);
  EXPECT_EQ(flags.pod_max_in_unschedulable_pods_duration, std::chrono::minutes(5));
  EXPECT_EQ(flags.min_compatibility_minor, 36);
  EXPECT_EQ(flags.log.verbosity, 0);
  EXPECT_EQ(flags.log.format, base::LogFormat::kText);
  EXPECT_THAT(flags.without_effect, IsEmpty());
  EXPECT_EQ(flags.print_and_exit, "");
}

TEST(RunFlagsTest, ReadsTheFlagsThatHaveAnEffect) {
  const RunFlags flags = MustParse({"--config=c.yaml",
                                    "--write-config-to=w.yaml",
                                    "--master=https://h:1",
                                    "--kubeconfig=k",
                                    "--kube-api-content-type=application/json",
                                    "--kube-api-qps=7.5",
                                    "--kube-api-burst=9",
                                    "--profiling=false",
                                    "--contention-profiling",
                                    "--leader-elect=false",
                                    "--leader-elect-lease-duration=1m",
                                    "--leader-elect-renew-deadline=40s",
                                    "--leader-elect-retry-period=3s",
                                    "--leader-elect-resource-lock=leases",
                                    "--leader-elect-resource-name=n",
                                    "--leader-elect-resource-namespace=ns",
                                    "--pod-max-in-unschedulable-pods-duration=1m",
                                    "--feature-gates=A=true,B=false",
                                    "--feature_gates=C=true",
                                    "--min-compatibility-version=kube=1.37",
                                    "--emulated-version=1.37",
                                    "-v=3",
                                    "--logging-format=json",
                                    "--seed=42"});
  EXPECT_EQ(flags.config, "c.yaml");
  EXPECT_EQ(flags.write_config_to, "w.yaml");
  EXPECT_EQ(flags.master, "https://h:1");
  EXPECT_EQ(flags.kubeconfig, "k");
  EXPECT_EQ(flags.kube_api_content_type, "application/json");
  EXPECT_EQ(flags.kube_api_qps, 7.5);
  EXPECT_EQ(flags.kube_api_burst, 9);
  EXPECT_EQ(flags.profiling, false);
  EXPECT_EQ(flags.contention_profiling, true);
  EXPECT_EQ(flags.leader_elect, false);
  EXPECT_EQ(flags.leader_elect_lease_duration, std::chrono::minutes(1));
  EXPECT_EQ(flags.leader_elect_renew_deadline, std::chrono::seconds(40));
  EXPECT_EQ(flags.leader_elect_retry_period, std::chrono::seconds(3));
  EXPECT_EQ(flags.leader_elect_resource_lock, "leases");
  EXPECT_EQ(flags.leader_elect_resource_name, "n");
  EXPECT_EQ(flags.leader_elect_resource_namespace, "ns");
  EXPECT_EQ(flags.pod_max_in_unschedulable_pods_duration, std::chrono::minutes(1));
  EXPECT_THAT(flags.feature_gates, ElementsAre("A=true,B=false", "C=true"));
  EXPECT_EQ(flags.min_compatibility_minor, 37);
  EXPECT_EQ(flags.log.verbosity, 3);
  EXPECT_EQ(flags.log.format, base::LogFormat::kJson);
  EXPECT_EQ(flags.seed, 42u);
  EXPECT_THAT(flags.without_effect, ElementsAre("profiling", "contention-profiling"));
}

TEST(RunFlagsTest, TakesTheCommandLineOfKubeadm) {
  const RunFlags flags = MustParse(
      {"--authentication-kubeconfig=/etc/kubernetes/scheduler.conf",
       "--authorization-kubeconfig=/etc/kubernetes/scheduler.conf", "--bind-address=127.0.0.1",
       "--kubeconfig=/etc/kubernetes/scheduler.conf", "--leader-elect=true"});
  EXPECT_EQ(flags.kubeconfig, "/etc/kubernetes/scheduler.conf");
  EXPECT_THAT(flags.without_effect,
              ElementsAre("bind-address", "authentication-kubeconfig", "authorization-kubeconfig"));
}

TEST(RunFlagsTest, AcceptsEveryFlagWithoutEffectAndNamesItOnce) {
  for (const FlagWithoutEffect& flag : FlagsWithoutEffect()) {
    SCOPED_TRACE(flag.name);
    const std::string name(flag.name);
    std::string value = "1";
    if (flag.kind == "duration") value = "1s";
    if (flag.kind.empty()) value = "true";
    const std::string argument = "--" + name + "=" + value;
    EXPECT_THAT(MustParse({argument, argument}).without_effect, ElementsAre(name));
  }
}

TEST(RunFlagsTest, AFlagErrorComesWithTheUsage) {
  const FlagError error = ErrorOf({"--foo"});
  EXPECT_EQ(error.message, "unknown flag: --foo");
  EXPECT_THAT(error.usage, HasSubstr("--kubeconfig"));
}

TEST(RunFlagsTest, RefusesBadValues) {
  const struct {
    std::vector<std::string> arguments;
    const char* want;
  } cases[] = {
      {{"foo", "bar"}, "\"berth run\" does not take any arguments, got [\"foo\" \"bar\"]"},
      {{"--logging-format=xml"},
       "invalid argument \"xml\" for \"--logging-format\" flag: Unsupported log format"},
      {{"--secure-port=99999"},
       "invalid argument \"99999\" for \"--secure-port\" flag: must be between 0 and 65535, "
       "inclusive. 0 for turning off secure port"},
      {{"--v=x"},
       "invalid argument \"x\" for \"-v, --v\" flag: strconv.ParseUint: parsing \"x\": invalid "
       "syntax"},
      {{"--emulated-version=1.36"},
       "invalid argument \"1.36\" for \"--emulated-version\" flag: only 1.37 can be emulated"},
      {{"--min-compatibility-version=1.38"},
       "invalid argument \"1.38\" for \"--min-compatibility-version\" flag: must be 1.34 to 1.37"},
      {{"--min-compatibility-version=x"},
       "invalid argument \"x\" for \"--min-compatibility-version\" flag: must be "
       "[kube=]1.<minor>"},
      {{"--permit-port-sharing=x"},
       "invalid argument \"x\" for \"--permit-port-sharing\" flag: strconv.ParseBool: parsing "
       "\"x\": invalid syntax"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.want);
    EXPECT_EQ(ErrorOf(c.arguments).message, c.want);
  }
}

TEST(RunFlagsTest, PrintsHelpOrVersionInsteadOfRunning) {
  for (const char* flag : {"-h", "--help", "--help=true"}) {
    EXPECT_THAT(MustParse({flag}).print_and_exit, HasSubstr("--feature-gates"));
  }
  for (const char* flag : {"--version", "--version=true"}) {
    EXPECT_THAT(MustParse({flag}).print_and_exit, StartsWith("Kubernetes v1.37.1"));
  }
  EXPECT_THAT(MustParse({"--version=raw"}).print_and_exit, StartsWith("version.Info{"));
  EXPECT_EQ(MustParse({"--version=false"}).print_and_exit, "");
  EXPECT_NE(ErrorOf({"--version=x"}).message, "");
}

}  // namespace
}  // namespace berth::app
