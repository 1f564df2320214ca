// SPDX-License-Identifier: Apache-2.0
#include "src/app/flags/flags.h"

#include <gmock/gmock.h>

#include "src/app/flags/log_flags.h"

namespace berth::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
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
  EXPECT_EQ(flags.gate_versions.emulated, 37);
  EXPECT_EQ(flags.gate_versions.min_compatibility, 36);
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
                                    "--feature-gates=AllAlpha=false,GenericWorkload=false",
                                    "--feature_gates=VolumeLimitScaling=true",
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
  EXPECT_THAT(flags.feature_gates,
              ElementsAre("AllAlpha=false,GenericWorkload=false", "VolumeLimitScaling=true"));
  EXPECT_EQ(flags.gate_versions.min_compatibility, 37);
  EXPECT_EQ(flags.log.verbosity, 3);
  EXPECT_EQ(flags.log.format, base::LogFormat::kJson);
  EXPECT_EQ(flags.seed, 42u);
  EXPECT_THAT(flags.without_effect, ElementsAre("contention-profiling"));
}

TEST(RunFlagsTest, TakesTheCommandLineOfKubeadm) {
  const RunFlags flags = MustParse(
      {"--authentication-kubeconfig=/etc/kubernetes/scheduler.conf",
       "--authorization-kubeconfig=/etc/kubernetes/scheduler.conf", "--bind-address=127.0.0.1",
       "--kubeconfig=/etc/kubernetes/scheduler.conf", "--leader-elect=true"});
  EXPECT_EQ(flags.kubeconfig, "/etc/kubernetes/scheduler.conf");
  EXPECT_EQ(flags.secure_serving.bind_address, "127.0.0.1");
  EXPECT_EQ(flags.authentication.kubeconfig, "/etc/kubernetes/scheduler.conf");
  EXPECT_EQ(flags.authorization.kubeconfig, "/etc/kubernetes/scheduler.conf");
  EXPECT_EQ(flags.leader_elect, true);
}

TEST(RunFlagsTest, ReadsTheFlagsOfTheEndpoints) {
  const RunFlags flags = MustParse({"--bind-address=::1",
                                    "--secure-port=0",
                                    "--cert-dir=d",
                                    "--tls-cert-file=c",
                                    "--tls-private-key-file=k",
                                    "--tls-sni-cert-key=a,b",
                                    "--tls-sni-cert-key=c,d: *.x.y, z",
                                    "--tls-min-version=VersionTLS13",
                                    "--tls-cipher-suites=A,B",
                                    "--tls-cipher-suites=C",
                                    "--tls-curve-preferences=23,29",
                                    "--http2-max-streams-per-connection=7",
                                    "--disable-http2-serving",
                                    "--permit-port-sharing",
                                    "--permit-address-sharing",
                                    "--authentication-skip-lookup",
                                    "--authentication-tolerate-lookup-failure=false",
                                    "--authentication-token-webhook-cache-ttl=1s",
                                    "--client-ca-file=ca",
                                    "--requestheader-client-ca-file=rca",
                                    "--requestheader-allowed-names=n,m",
                                    "--requestheader-username-headers=u",
                                    "--requestheader-group-headers=g",
                                    "--requestheader-uid-headers=x-remote-uid",
                                    "--requestheader-extra-headers-prefix=e",
                                    "--authorization-always-allow-paths=/a,/b/*",
                                    "--authorization-webhook-cache-authorized-ttl=2s",
                                    "--authorization-webhook-cache-unauthorized-ttl=3s",
                                    "--show-hidden-metrics-for-version=1.36",
                                    "--disabled-metrics=a,b",
                                    "--allow-metric-labels=\"m,l=v\"",
                                    "--allow-metric-labels=\"m,k=v,w\",\"n,k=x\"",
                                    "--allow-metric-labels-manifest=f"});
  const SecureServingFlags& serving = flags.secure_serving;
  EXPECT_EQ(serving.bind_address, "::1");
  EXPECT_EQ(serving.secure_port, 0);
  EXPECT_EQ(serving.cert_dir, "d");
  EXPECT_EQ(serving.tls_cert_file, "c");
  EXPECT_EQ(serving.tls_private_key_file, "k");
  ASSERT_EQ(serving.tls_sni_cert_key.size(), 2u);
  EXPECT_EQ(serving.tls_sni_cert_key[0].cert_file, "a");
  EXPECT_EQ(serving.tls_sni_cert_key[0].key_file, "b");
  EXPECT_THAT(serving.tls_sni_cert_key[0].names, IsEmpty());
  EXPECT_EQ(serving.tls_sni_cert_key[1].cert_file, "c");
  EXPECT_THAT(serving.tls_sni_cert_key[1].names, ElementsAre("*.x.y", "z"));
  EXPECT_EQ(serving.tls_min_version, "VersionTLS13");
  EXPECT_THAT(serving.tls_cipher_suites, ElementsAre("A", "B", "C"));
  EXPECT_THAT(serving.tls_curve_preferences, ElementsAre(23, 29));
  EXPECT_EQ(serving.http2_max_streams_per_connection, 7);
  EXPECT_TRUE(serving.disable_http2_serving);
  EXPECT_TRUE(serving.permit_port_sharing);
  EXPECT_TRUE(serving.permit_address_sharing);
  const AuthenticationFlags& authentication = flags.authentication;
  EXPECT_TRUE(authentication.skip_lookup);
  EXPECT_FALSE(authentication.tolerate_lookup_failure);
  EXPECT_EQ(authentication.token_webhook_cache_ttl, std::chrono::seconds(1));
  EXPECT_EQ(authentication.client_ca_file, "ca");
  EXPECT_EQ(authentication.requestheader_client_ca_file, "rca");
  EXPECT_THAT(authentication.requestheader_allowed_names, ElementsAre("n", "m"));
  EXPECT_THAT(authentication.requestheader_username_headers, ElementsAre("u"));
  EXPECT_THAT(authentication.requestheader_group_headers, ElementsAre("g"));
  EXPECT_THAT(authentication.requestheader_uid_headers, ElementsAre("x-remote-uid"));
  EXPECT_THAT(authentication.requestheader_extra_headers_prefix, ElementsAre("e"));
  EXPECT_THAT(flags.authorization.always_allow_paths, ElementsAre("/a", "/b/*"));
  EXPECT_EQ(flags.authorization.webhook_cache_authorized_ttl, std::chrono::seconds(2));
  EXPECT_EQ(flags.authorization.webhook_cache_unauthorized_ttl, std::chrono::seconds(3));
  EXPECT_EQ(flags.metrics.show_hidden_metrics_for_version, "1.36");
  EXPECT_THAT(flags.metrics.disabled_metrics, ElementsAre("a", "b"));
  EXPECT_THAT(flags.metrics.allow_metric_labels,
              ElementsAre(Pair("m,k", "v,w"), Pair("m,l", "v"), Pair("n,k", "x")));
  EXPECT_EQ(flags.metrics.allow_metric_labels_manifest, "f");
}

TEST(RunFlagsTest, WholeNumbersAreOfAnyBaseOfGos) {
  const SecureServingFlags serving =
      MustParse({"--secure-port=0x2710", "--http2-max-streams-per-connection=0b11",
                 "--tls-curve-preferences=0o27,+2_9,035"})
          .secure_serving;
  EXPECT_EQ(serving.secure_port, 10000);
  EXPECT_EQ(serving.http2_max_streams_per_connection, 3);
  EXPECT_THAT(serving.tls_curve_preferences, ElementsAre(23, 29, 29));
  EXPECT_EQ(MustParse({"--kube-api-burst=-0x1_0"}).kube_api_burst, -16);
  EXPECT_EQ(MustParse({"--secure-port=0"}).secure_serving.secure_port, 0);
  for (const char* bad : {"", "+", "-", "0x", "_1", "1_", "1__0", "0_", "08", "0b2", "1.0", "+-1",
                          "--1", "0x-1", "1_0x"}) {
    SCOPED_TRACE(bad);
    EXPECT_THAT(
        ErrorOf({std::string("--secure-port=") + bad}).message,
        HasSubstr("strconv.ParseInt: parsing \"" + std::string(bad) + "\": invalid syntax"));
  }
  EXPECT_THAT(ErrorOf({"--kube-api-burst=0xffffffff"}).message, HasSubstr("value out of range"));
}

TEST(RunFlagsTest, APluginFolderThatStandsTwiceCountsOnce) {
  EXPECT_THAT(MustParse({"--plugin-dir=a", "--plugin-dir=b", "--plugin-dir=a"}).plugin_dirs,
              testing::ElementsAre("a", "b"));
}

TEST(RunFlagsTest, EmptyArgumentsAreNone) {
  MustParse({"", "--seed=1", ""});
  EXPECT_EQ(ErrorOf({"", "x"}).message,
            "\"berth run\" does not take any arguments, got [\"\" \"x\"]");
}

TEST(RunFlagsTest, WhereALogIsMistakesAreLogged) {
  const auto form_of = [](const std::vector<std::string>& arguments) {
    return ErrorOf(arguments).form;
  };
  EXPECT_EQ(form_of({"--foo"}), FlagError::Form::kError);
  EXPECT_EQ(form_of({"--logging-format=xml"}), FlagError::Form::kPlain);
  EXPECT_EQ(form_of({"--emulated-version=x"}), FlagError::Form::kLogged);
  const FlagError port = ErrorOf({"--secure-port=70000", "--logging-format=json"});
  EXPECT_EQ(port.form, FlagError::Form::kLogged);
  EXPECT_EQ(port.log.format, base::LogFormat::kJson);
  EXPECT_THAT(port.causes, ElementsAre(port.message));
}

TEST(RunFlagsTest, HeadersWithoutThoseOfTheApiServerAreWarnedOf) {
  EXPECT_THAT(ServingFlagWarnings(MustParse({})), IsEmpty());
  EXPECT_THAT(ServingFlagWarnings(MustParse({"--requestheader-username-headers=a,b",
                                             "--requestheader-group-headers=X-Remote-GROUP,c"})),
              ElementsAre(StartsWith("--requestheader-username-headers is without X-Remote-User")));
}

TEST(RunFlagsTest, ReadsTheFlagsOfTheLog) {
  const RunFlags flags =
      MustParse({"--vmodule=bind*=4", "--vmodule=a/b=2,", "--log-text-split-stream",
                 "--feature-gates=LoggingAlphaOptions=true", "--v=1"});
  ASSERT_EQ(flags.log.vmodule.size(), 2u);
  EXPECT_EQ(flags.log.vmodule[0].pattern, "bind*");
  EXPECT_EQ(flags.log.vmodule[0].verbosity, 4);
  EXPECT_EQ(flags.log.vmodule[1].pattern, "a/b");
  EXPECT_TRUE(flags.log.split_stream);
  EXPECT_EQ(flags.values.at("vmodule"), "bind*=4,a/b=2");
}

TEST(RunFlagsTest, NamesTheFlagsWithoutEffectThatWereGivenOnce) {
  for (std::string_view flag : FlagsWithoutEffect()) {
    SCOPED_TRACE(flag);
    const std::string usage = ErrorOf({"--unknown"}).usage;
    EXPECT_THAT(usage, HasSubstr("--" + std::string(flag)));
  }
  const std::string period = "--log-flush-frequency=7s";
  EXPECT_THAT(MustParse({period, period}).without_effect, ElementsAre("log-flush-frequency"));
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
      {{"--=x"}, "bad flag syntax: --=x"},
      {{"---x"}, "bad flag syntax: ---x"},
      {{"--feature-gates=Foo=true", "--secure-port=70000", "--version"},
       "--feature-gates: unrecognized feature gate: Foo"},
      {{"--logging-format=json", "--feature-gates=LoggingBetaOptions=false"},
       "format: Forbidden: Log format json is disabled, see LoggingBetaOptions feature"},
      {{"--requestheader-uid-headers=x", "--feature-gates=RemoteRequestHeaderUID=false"},
       "--requestheader-uid-headers requires the \"RemoteRequestHeaderUID\" feature to be enabled"},
      {{"--logging-format=xml"}, "format: Invalid value: \"xml\": Unsupported log format"},
      {{"--logging-format=json", "--vmodule=a=1"},
       "vmodule: Forbidden: Only supported for text log format"},
      {{"--log-flush-frequency=0s"},
       "flushFrequency: Invalid value: \"0s\": Must be greater than zero"},
      {{"--log-json-info-buffer-size=1k"},
       "options.json.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled"},
      {{"--vmodule=a"},
       "invalid argument \"a\" for \"--vmodule\" flag: \"a\" does not have the pattern=N format"},
      {{"--vmodule=a=x"},
       "invalid argument \"a=x\" for \"--vmodule\" flag: parsing verbosity in \"a=x\": "
       "strconv.ParseUint: parsing \"x\": invalid syntax"},
      {{"--vmodule=a=+3"},
       "invalid argument \"a=+3\" for \"--vmodule\" flag: parsing verbosity in \"a=+3\": "
       "strconv.ParseUint: parsing \"+3\": invalid syntax"},
      {{"--secure-port=99999999999"},
       "--secure-port 99999999999 must be between 1 and 65535, inclusive. It cannot be turned off "
       "with 0"},
      {{"--authorization-always-allow-paths=/a*b"}, "only trailing * allowed in \"a*b\""},
      {{"--secure-port=99999"},
       "--secure-port 99999 must be between 1 and 65535, inclusive. It cannot be turned off with "
       "0"},
      {{"--secure-port=-1", "--requestheader-uid-headers=x"},
       "[--secure-port -1 must be between 0 and 65535, inclusive. 0 for turning off secure port, "
       "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - "
       "API aggregation will not work]"},
      {{"--requestheader-username-headers=a, "},
       "empty value in \"requestheader-username-headers\""},
      {{"--bind-address=x"},
       "invalid argument \"x\" for \"--bind-address\" flag: failed to parse IP: \"x\""},
      {{"--tls-sni-cert-key=x"},
       "invalid argument \"x\" for \"--tls-sni-cert-key\" flag: expected comma separated "
       "certificate and key file paths"},
      {{"--tls-sni-cert-key=x,y:"},
       "invalid argument \"x,y:\" for \"--tls-sni-cert-key\" flag: empty names list is not "
       "allowed"},
      {{"--tls-curve-preferences=x"},
       "invalid argument \"x\" for \"--tls-curve-preferences\" flag: strconv.ParseInt: parsing "
       "\"x\": invalid syntax"},
      {{"--disabled-metrics=\"a"},
       "invalid argument \"\\\"a\" for \"--disabled-metrics\" flag: parse error on line 1, column "
       "3: "
       "extraneous or missing \" in quoted-field"},
      {{"--disabled-metrics=x,\"a\"b"},
       "invalid argument \"x,\\\"a\\\"b\" for \"--disabled-metrics\" flag: parse error on line 1, "
       "column 5: extraneous or missing \" in quoted-field"},
      {{"--disabled-metrics=a\"b"},
       "invalid argument \"a\\\"b\" for \"--disabled-metrics\" flag: parse error on line 1, column "
       "2: bare \" in non-quoted-field"},
      {{"-hv"}, "flag needs an argument: 'v' in -v"},
      {{"--bind-address= "},
       "invalid argument \" \" for \"--bind-address\" flag: failed to parse IP: \" \""},
      {{"--secure-port=-1", "--authorization-always-allow-paths=/a*b"},
       "--secure-port -1 must be between 0 and 65535, inclusive. 0 for turning off secure port"},
      {{"--allow-metric-labels=x"},
       "invalid argument \"x\" for \"--allow-metric-labels\" flag: x must be formatted as "
       "key=value"},
      {{"--disabled-metrics=a,a-b,c d"},
       "metrics.disabledMetrics: Invalid value: [\"a\",\"a-b\",\"c d\"]: must be fully qualified "
       "metric names matching \"^[a-zA-Z_:][a-zA-Z0-9_:]*$\", got \"a-b\""},
      {{"--allow-metric-labels=a,b,c=x"},
       "metrics.allowListMapping: Invalid value: {\"a,b,c\":\"x\"}: must have keys with format "
       "`metricName,labelName` where metricName matches \"[a-zA-Z_:][a-zA-Z0-9_:]*\" and labelName "
       "matches \"[a-zA-Z_][a-zA-Z0-9_]*\""},
      {{"--show-hidden-metrics-for-version=1.35"},
       "metrics.showHiddenMetricsForVersion: Invalid value: \"1.35\": must be omitted or have the "
       "value '1.36'; only the previous minor version is allowed"},
      {{"--v=x"},
       "invalid argument \"x\" for \"-v, --v\" flag: strconv.ParseUint: parsing \"x\": invalid "
       "syntax"},
      {{"--emulated-version=1.33"},
       "[emulation version 1.33 is not between [1.34, 1.37.0], minCompatibilityVersion version "
       "1.34 "
       "is not between [1.34, 1.33]]"},
      {{"--emulated-version=1.38", "--min-compatibility-version=1.37"},
       "emulation version 1.38 is not between [1.34, 1.37.0]"},
      {{"--emulated-version=1.36", "--min-compatibility-version=1.37"},
       "minCompatibilityVersion version 1.37 is not between [1.34, 1.36]"},
      {{"--min-compatibility-version=1.38"},
       "minCompatibilityVersion version 1.38 is not between [1.34, 1.37]"},
      {{"--min-compatibility-version=x"}, "could not parse \"x\" as version"},
      {{"--emulated-version=etcd=1.37"}, "component not registered: etcd"},
      {{"--emulated-version=1.36.1"}, "patch version not allowed, got: kube=1.36.1"},
      {{"--emulated-version=1.36.x"}, "could not parse \"1.36.x\" as version"},
      {{"--version=v1.36.0"},
       "invalid argument \"v1.36.0\" for \"--version\" flag: version \"v1.36.0\" must match "
       "major/minor/patch of default version \"v1.37.1\""},
      {{"--permit-port-sharing=x"},
       "invalid argument \"x\" for \"--permit-port-sharing\" flag: strconv.ParseBool: parsing "
       "\"x\": invalid syntax"},
      {{"--shadow-report=out.json"}, "--shadow-report is of no use without --shadow"},
      {{"--shadow", "--record=folder"}, "--shadow and --record exclude each other: a replay binds"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.want);
    EXPECT_EQ(ErrorOf(c.arguments).message, c.want);
  }
}

TEST(RunFlagsTest, FlagsThatAreNotGivenStandAtWhatKubeSchedulersDo) {
  const std::map<std::string, std::string> values = MustParse({}).values;
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"allow-metric-labels", "[]"},
                                          {"log-json-info-buffer-size", "0"},
                                          {"log-text-info-buffer-size", "0"},
                                          {"tls-curve-preferences", "[]"},
                                          {"tls-sni-cert-key", "[]"},
                                          {"version", "false"}}) {
    EXPECT_EQ(values.at(name), value) << name;
  }
}

TEST(RunFlagsTest, ACertificateOfItsOwnStandsAtItsFile) {
  const auto file_of = [](const std::vector<std::string>& arguments) {
    const auto values = ServedValues(MustParse(arguments));
    return values.at("tls-cert-file") + " " + values.at("tls-private-key-file");
  };
  EXPECT_EQ(file_of({}), " ");
  EXPECT_EQ(file_of({"--cert-dir=/x/"}), "/x/kube-scheduler.crt /x/kube-scheduler.key");
  EXPECT_EQ(file_of({"--cert-dir=/x", "--secure-port=0"}), " ");
  EXPECT_EQ(file_of({"--cert-dir=/x", "--tls-cert-file=/a", "--tls-private-key-file=/b"}), "/a /b");
}

TEST(RunFlagsTest, WhatIsCompatibleFollowsTheEmulatedVersion) {
  const RunFlags older = MustParse({"--emulated-version=kube=1.35"});
  EXPECT_EQ(older.gate_versions.emulated, 35);
  EXPECT_EQ(older.gate_versions.min_compatibility, 34);
  EXPECT_EQ(MustParse({"--emulated-version=v1.36.0"}).gate_versions.emulated, 36);
  EXPECT_EQ(MustParse({"--emulated-version=1.34"}).gate_versions.min_compatibility, 34);
  EXPECT_EQ(MustParse({"--emulated-version=1.36", "--min-compatibility-version=1.36"})
                .gate_versions.min_compatibility,
            36);
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

TEST(RunFlagsTest, AVersionToTellHasOurNumbers) {
  for (const char* version :
       {"v1.37.1", "v1.37.1-gke.100", "v1.37.1+a-b.0c", "v1.37.1-rc.1+x", "v1.37.1-0"}) {
    SCOPED_TRACE(version);
    const std::string flag = std::string("--version=") + version;
    EXPECT_EQ(MustParse({flag}).print_and_exit, "");
    EXPECT_EQ(MustParse({flag}).values.at("version"), version);
    EXPECT_THAT(MustParse({flag, "--version"}).print_and_exit,
                StartsWith("Kubernetes " + std::string(version) + " (Berth "));
  }
  const std::pair<const char*, const char*> wrong[] = {
      {"v", "could not parse \"v\" as version"},
      {"version", "could not parse \"version\" as version"},
      {"v1.37", "illegal version string \"v1.37\""},
      {"v1..37.1", "illegal version string \"v1..37.1\""},
      {"v1.37.1.2", "illegal version string \"v1.37.1.2\""},
      {"v1.37.01", "illegal zero-prefixed version component \"01\" in \"v1.37.01\""},
      {"v1.37.1-01", "illegal zero-prefixed version component \"01\" in \"v1.37.1-01\""},
      {"v1.37.1-", "could not parse pre-release/metadata (-) in version \"v1.37.1-\""},
      {"v1.37.1-a_b", "could not parse pre-release/metadata (-a_b) in version \"v1.37.1-a_b\""},
      {"v1.37.1foo", "could not parse pre-release/metadata (foo) in version \"v1.37.1foo\""},
      {"v1.37.2-x",
       "version \"v1.37.2-x\" must match major/minor/patch of default version \"v1.37.1\""},
  };
  for (const auto& [version, why] : wrong) {
    EXPECT_EQ(ErrorOf({std::string("--version=") + version}).message,
              "invalid argument \"" + std::string(version) + "\" for \"--version\" flag: " + why);
  }
}

// As kube-scheduler 1.37.1 shows them.
TEST(RunFlagsTest, ValuesAreShownAsThereOnFlagz) {
  const std::map<std::string, std::string> defaults = MustParse({}).values;
  EXPECT_EQ(defaults.at("allow-metric-labels"), "[]");
  EXPECT_EQ(defaults.at("tls-curve-preferences"), "[]");
  EXPECT_EQ(defaults.at("tls-sni-cert-key"), "[]");
  EXPECT_EQ(defaults.at("log-json-info-buffer-size"), "0");
  EXPECT_EQ(defaults.at("log-text-info-buffer-size"), "0");
  EXPECT_EQ(defaults.at("feature-gates"), "");
  EXPECT_EQ(defaults.at("version"), "false");
  const std::map<std::string, std::string> given =
      MustParse({"--feature-gates= GenericWorkload = true ,,DRADeviceTaints=true",
                 "--feature-gates=LoggingAlphaOptions=true", "--allow-metric-labels=a,b=c,d",
                 "--allow-metric-labels=\"e,f=g\"", "--tls-curve-preferences=23,0x18",
                 "--tls-curve-preferences=29", "--tls-sni-cert-key=a, b: x, y",
                 "--tls-sni-cert-key=c,d", "--log-json-info-buffer-size=1024Ki",
                 "--log-text-info-buffer-size=1500m", "--bind-address=::0:1", "--bind-address="})
          .values;
  EXPECT_EQ(given.at("feature-gates"),
            ":GenericWorkload = true,:DRADeviceTaints=true,:LoggingAlphaOptions=true");
  EXPECT_EQ(given.at("allow-metric-labels"), "[\"a,b=c,d\",\"e,f=g\"]");
  EXPECT_EQ(given.at("tls-curve-preferences"), "[23,24,29]");
  EXPECT_EQ(given.at("tls-sni-cert-key"), "[a,b:x,y;c,d]");
  EXPECT_EQ(given.at("log-json-info-buffer-size"), "1Mi");
  EXPECT_EQ(given.at("log-text-info-buffer-size"), "1500m");
  EXPECT_EQ(given.at("bind-address"), "::1");
  EXPECT_EQ(MustParse({"--feature-gates=kube:GenericWorkload=true",
                       "--feature-gates=kube:AllAlpha=false"})
                .values.at("feature-gates"),
            "kube:GenericWorkload=true,kube:AllAlpha=false");
  EXPECT_EQ(MustParse({"--bind-address= ::ffff:1.2.3.4 "}).values.at("bind-address"), "1.2.3.4");
}

TEST(RunFlagsTest, PathsThatAreAlwaysAllowedMatterWhereSomethingIsServed) {
  MustParse({"--secure-port=0", "--authorization-always-allow-paths=/a*b"});
}

}  // namespace
}  // namespace berth::app
