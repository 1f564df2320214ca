// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/ascii.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "berth/field_errors.h"
#include "berth/result.h"
#include "berth/time.h"
#include "src/app/commands/commands.h"
#include "src/app/commands/output.h"
#include "src/app/commands/replay.h"
#include "src/app/daemon/config_reloader.h"
#include "src/app/daemon/daemon.h"
#include "src/app/daemon/metrics_setup.h"
#include "src/app/daemon/settings.h"
#include "src/app/daemon/signals.h"
#include "src/app/endpoints/debug_questions.h"
#include "src/app/endpoints/endpoints.h"
#include "src/app/flags/flags.h"
#include "src/app/flags/log_flags.h"
#include "src/app/version.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/base/logging.h"
#include "src/client/curl_client.h"
#include "src/config/write.h"
#include "src/metrics/registry.h"
#include "src/serving/server.h"
#include "src/shadow/summary.h"

namespace berth::app {
namespace {

// The HTTPS server as the flags describe it, with clients of its own for the questions that it asks
// the API server, so that those wait neither for the scheduler's nor hold them up.
//
// Thread safety: one owner.
class SecureServing {
 public:
  // Binds the socket. nullptr where --secure-port is 0. `clock` and `registry`, where callers and
  // questions are counted, outlive the server. Errors: a kubeconfig or a certificate that cannot be
  // used, an address that is taken.
  static Result<std::unique_ptr<SecureServing>> Make(const RunFlags& flags, const Clock& clock,
                                                     uint64_t seed, metrics::Registry& registry,
                                                     std::shared_ptr<const serving::Router> router);
  // After the scheduling thread has ended: it may hold questions that the server waits for.
  ~SecureServing();
  SecureServing(const SecureServing&) = delete;
  SecureServing& operator=(const SecureServing&) = delete;

  // Errors: what must be looked up in the cluster could not be.
  Result<void> Start() { return server_->Start(); }
  void Stop(Duration grace) { server_->Stop(grace); }
  int port() const { return server_->port(); }

 private:
  explicit SecureServing(metrics::Registry& registry)
      : request_metrics_(registry), access_metrics_(registry) {}

  RequestMetrics request_metrics_;
  AccessMetrics access_metrics_;
  std::unique_ptr<client::CurlClient> authentication_;  // nullptr: none
  std::unique_ptr<client::CurlClient> authorization_;   // nullptr: none, or the other
  std::unique_ptr<serving::Server> server_;
};

// Header names are compared in lower case.
std::vector<std::string> Lower(std::vector<std::string> names) {
  for (std::string& name : names) absl::AsciiStrToLower(&name);
  return names;
}

serving::ServerOptions OptionsOf(const RunFlags& flags) {
  const SecureServingFlags& secure = flags.secure_serving;
  serving::ServerOptions options;
  options.listen.address = secure.bind_address.empty() ? "0.0.0.0" : secure.bind_address;
  options.listen.port = static_cast<int>(secure.secure_port);
  options.listen.share_port = secure.permit_port_sharing;
  options.limits.body_bytes_of = {{std::string(kSimulatePath), kMostQuestionBytes}};
  options.limits.answer_of = {{std::string(kProfilePath),
                               options.limits.answer + std::chrono::seconds(kMostProfileSeconds)}};
  options.tls.certificate_file = secure.tls_cert_file;
  options.tls.key_file = secure.tls_private_key_file;
  options.tls.own_certificate_folder = secure.cert_dir;
  options.tls.own_address = options.listen.address;
  for (const SniCertificate& sni : secure.tls_sni_cert_key) {
    options.tls.sni.push_back({sni.cert_file, sni.key_file, sni.names});
  }
  options.tls.min_version = secure.tls_min_version;
  options.tls.cipher_suites = secure.tls_cipher_suites;
  options.tls.curves = secure.tls_curve_preferences;

  const AuthenticationFlags& who = flags.authentication;
  options.authentication.client_ca_file = who.client_ca_file;
  options.authentication.request_header_client_ca_file = who.requestheader_client_ca_file;
  options.authentication.request_header = {
      Lower(who.requestheader_username_headers), Lower(who.requestheader_uid_headers),
      Lower(who.requestheader_group_headers), Lower(who.requestheader_extra_headers_prefix),
      who.requestheader_allowed_names};
  options.authentication.skip_lookup = who.skip_lookup;
  options.authentication.token_cache_ttl = who.token_webhook_cache_ttl;
  options.lookup_must_succeed = !who.tolerate_lookup_failure;

  options.always_allow_paths = flags.authorization.always_allow_paths;
  options.allowed_ttl = flags.authorization.webhook_cache_authorized_ttl;
  options.denied_ttl = flags.authorization.webhook_cache_unauthorized_ttl;
  options.about_object = PodAskedAbout;
  return options;
}

// A client for the server that the flag names or, without it, for that of the pod that we run in;
// nullptr outside one. Errors: the kubeconfig cannot be used.
Result<std::unique_ptr<client::CurlClient>> MakeClient(const std::string& flag,
                                                       const std::string& kubeconfig, uint64_t seed,
                                                       client::RequestObserver& observer,
                                                       const Clock& clock) {
  const auto server =
      kubeconfig.empty() ? client::InClusterConfig() : client::FindServer(kubeconfig, "");
  if (!server && kubeconfig.empty()) {
    base::LogWarning("No API server can be asked about the callers of the HTTPS endpoints",
                     {{"flag", "--" + flag}, {"reason", "it is not given"}});
    return nullptr;
  }
  if (!server) return Fail(server.error().Within("--" + flag));
  client::ClientOptions options;
  options.server = *server;
  options.qps = 200;
  options.burst = 400;
  options.user_agent = client::UserAgent(kVersion, kKubernetesVersion, "scheduler");
  options.seed = seed;
  options.observer = &observer;
  return client::CurlClient::Make(std::move(options), clock);
}

Result<std::unique_ptr<SecureServing>> SecureServing::Make(
    const RunFlags& flags, const Clock& clock, uint64_t seed, metrics::Registry& registry,
    std::shared_ptr<const serving::Router> router) {
  if (flags.secure_serving.secure_port == 0) return nullptr;
  std::unique_ptr<SecureServing> made(new SecureServing(registry));
  auto client = MakeClient("authentication-kubeconfig", flags.authentication.kubeconfig, seed,
                           made->request_metrics_, clock);
  if (!client) return Fail(client.error());
  made->authentication_ = std::move(*client);
  serving::AccessApis apis{made->authentication_.get(), made->authentication_.get()};
  if (flags.authorization.kubeconfig != flags.authentication.kubeconfig) {
    client = MakeClient("authorization-kubeconfig", flags.authorization.kubeconfig, seed,
                        made->request_metrics_, clock);
    if (!client) return Fail(client.error());
    made->authorization_ = std::move(*client);
    apis.authorization = made->authorization_.get();
  }
  serving::ServerOptions options = OptionsOf(flags);
  options.observer = &made->access_metrics_;
  auto server = serving::Server::Make(std::move(options), apis, clock, std::move(router));
  if (!server) return Fail(server.error());
  made->server_ = std::move(*server);
  return made;
}

// What is wrong with the flags of the endpoints, for a process that ends before it serves them.
Result<void> CheckServing(const RunFlags& flags, const Clock& clock) {
  if (flags.secure_serving.secure_port == 0) return {};
  const std::pair<const char*, const std::string&> kubeconfigs[] = {
      {"--authentication-kubeconfig", flags.authentication.kubeconfig},
      {"--authorization-kubeconfig", flags.authorization.kubeconfig}};
  for (const auto& [flag, kubeconfig] : kubeconfigs) {
    if (kubeconfig.empty()) continue;
    if (const auto server = client::FindServer(kubeconfig, ""); !server) {
      return Fail(server.error().Within(flag));
    }
  }
  return serving::Server::Check(OptionsOf(flags), clock);
}

SecureServing::~SecureServing() {
  // Their last answers go to the server's thread.
  if (authentication_ != nullptr) authentication_->Close();
  if (authorization_ != nullptr) authorization_->Close();
  server_.reset();
}

// Less than the 30 s that a pod is given to end.
constexpr Duration kDrainPatience = std::chrono::seconds(20);
// For answers under way, as kube-scheduler's.
constexpr Duration kServingGrace = std::chrono::seconds(5);

int FailToStart(std::string_view message, std::string_view usage = "") {
  const auto print = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
  };
  if (!usage.empty()) {
    print(usage);
    print("\n");
  }
  print("Error: ");
  print(message);
  print("\n");
  return 1;
}

// Once the log is set up, it is what tells, as kube-scheduler's does.
int CommandFailed(const Error& error, Causes causes = {}) {
  base::LogError("command failed", {{"err", error.message, std::move(causes)}});
  base::FlushLogs();
  return 1;
}

// Tells it as kube-scheduler would, which may not have set up its log yet.
int FailToStart(const FlagError& error) {
  if (error.form == FlagError::Form::kError) return FailToStart(error.message, error.usage);
  if (error.form == FlagError::Form::kPlain) {
    std::fputs((error.message + "\n").c_str(), stderr);
    return 1;
  }
  base::SetUpLogging(error.log);
  return CommandFailed(Error{error.message}, error.causes);
}

// What --shadow came to: for people on standard output, and as JSON where a file is named.
Result<void> WriteShadowReport(const Daemon& daemon, const std::string& file) {
  const std::optional<shadow::Summary> summary = daemon.SummarizeShadow();
  if (!summary) return {};
  std::string text;
  shadow::AppendTable(*summary, text);
  WriteOut(text);
  FlushOut();
  if (file.empty()) return {};
  text.clear();
  shadow::AppendJson(*summary, text);
  if (auto written = base::WritePrivateFile(file, text); !written) {
    return Fail(written.error().Within("--shadow-report"));
  }
  return {};
}

void LogFlagValues(const RunFlags& flags) {
  for (const auto& [name, value] : flags.values) {
    base::LogLineV(1, "FLAG: --" + name + "=" + Quoted(value));
  }
}

void LogWhatHasNoEffect(const RunFlags& flags, const Settings& settings) {
  for (const std::string& flag : flags.without_effect) {
    base::LogInfo("Flag has no effect yet", {{"flag", "--" + flag}});
  }
  for (const std::string& warning : settings.warnings()) base::LogWarning(warning);
  for (const std::string& warning : ServingFlagWarnings(flags)) base::LogWarning(warning);
}

// As Go writes where a socket listens: "127.0.0.1:10259", "[::1]:10259", "[::]:10259" for all.
std::string WithPort(const std::string& address, int port) {
  const bool all = address.empty() || address == "0.0.0.0";
  const std::string shown = all ? "::" : address;
  const std::string host = shown.find(':') == std::string::npos ? shown : "[" + shown + "]";
  return host + ":" + std::to_string(port);
}

// The HTTPS server of the daemon, started, or nullptr where the flags want none. `stopping` says
// whether the process is about to end.
Result<std::unique_ptr<SecureServing>> Serve(const RunFlags& flags, const Settings& settings,
                                             Time process_start, const Configz& configz,
                                             LiveQuestions& questions, Daemon& daemon,
                                             const std::atomic<bool>& stopping) {
  const config::SchedulerConfiguration& configuration = settings.configuration;
  const config::FeatureGates& gates = settings.feature_gates;
  EndpointSources sources{daemon.clock(),
                          daemon.executor(),
                          daemon.scheduler(),
                          daemon.metrics(),
                          daemon.informers(),
                          configz,
                          questions,
                          {daemon.clock(), process_start, ServedValues(flags),
                           gates.Enabled("ComponentStatusz"), gates.Enabled("ComponentFlagz"),
                           gates.Enabled("CBORServingAndStorage"), gates.emulated_minor()},
                          configuration.enable_profiling};
  sources.scheduling_loop = [&daemon] { return daemon.CheckLoop(); };
  if (configuration.leader_election.leader_elect) {
    sources.leader_election = [&daemon] { return daemon.CheckLeaderElection(); };
  }
  sources.leading = [&daemon] { return daemon.leading(); };
  sources.shutdown = [&stopping]() -> std::optional<std::string> {
    if (!stopping) return std::nullopt;
    return "process is shutting down";
  };
  auto serving = SecureServing::Make(flags, daemon.clock(), base::RandomSeed(), daemon.metrics(),
                                     MakeEndpoints(std::move(sources)));
  if (!serving || *serving == nullptr) return serving;
  if (auto started = (*serving)->Start(); !started) return Fail(started.error());
  base::LogLineV(
      0, "Serving securely on " + WithPort(flags.secure_serving.bind_address, (*serving)->port()));
  return serving;
}

// Waits until the daemon has ended; the first signal asks it to and sets `stopping`. Returns the
// exit code. `reloader` may be nullptr.
int RunUntilSignal(Daemon& daemon, Signals& signals, ConfigReloader* reloader,
                   std::atomic<bool>& stopping) {
  std::optional<Duration> period;
  if (reloader != nullptr) period = ConfigReloader::kPeriod;
  daemon.Start([&signals] { signals.Wake(); });
  while (true) {
    switch (signals.Wait(period)) {
      case Signals::Event::kDump:
        daemon.LogState();
        break;
      case Signals::Event::kTimeout:
        if (!stopping) reloader->Poll();
        break;
      case Signals::Event::kTerminate:
        if (stopping) {
          base::LogWarning("Asked to end a second time: ending without the bindings in hand");
          base::FlushLogs();
          // Not exit(): the threads are still at work on what it would destroy.
          _exit(1);
        }
        stopping = true;
        daemon.Stop(kDrainPatience);
        break;
      case Signals::Event::kWoken:
        if (daemon.lost_lease()) {
          // At once, without the bindings in hand: another process may lead by now.
          base::LogError("Leaderelection lost");
          base::FlushLogs();
          _exit(stopping ? 0 : 1);
        }
        base::LogInfo("Stopped");
        return stopping ? 0 : 1;
    }
  }
}

DaemonOptions MakeDaemonOptions(const RunFlags& flags, const Settings& settings,
                                metrics::RegistryOptions metrics, uint64_t seed) {
  DaemonOptions options;
  options.configuration = settings.configuration;
  options.features = settings.features();
  options.master = flags.master;
  options.config_file = flags.config;
  options.pod_max_in_unschedulable_pods_duration = flags.pod_max_in_unschedulable_pods_duration;
  options.seed = seed;
  options.metrics = std::move(metrics);
  options.shadow = flags.shadow;
  options.record = flags.record;
  options.record_limits = RecordLimits(flags.record_max_mib);
  return options;
}

// What is measured, and how, as flags and feature gates say.
Result<metrics::RegistryOptions> MetricsAsSet(const RunFlags& flags, const Settings& settings) {
  auto metrics = ReadMetricsFlags(flags.metrics);
  if (!metrics) return metrics;
  metrics->native_histograms = settings.feature_gates.Enabled("NativeHistograms");
  metrics->absent = MetricsOfGatesOff(settings.feature_gates, settings.features().pod_groups());
  return metrics;
}

// For --write-config-to; returns the exit code.
int WriteConfiguration(const RunFlags& flags, const config::SchedulerConfiguration& configuration,
                       const Clock& clock) {
  if (auto checked = CheckServing(flags, clock); !checked) return CommandFailed(checked.error());
  // For its owner's eyes: a configuration may hold keys.
  if (auto written = base::WritePrivateFile(flags.write_config_to, config::ToYaml(configuration));
      !written) {
    return CommandFailed(written.error().Within("--write-config-to"));
  }
  base::LogInfo("Wrote configuration", {{"file", flags.write_config_to}});
  return 0;
}

}  // namespace

int Run(const std::vector<std::string>& arguments, const std::string& program,
        const InTreePlugins& in_tree) {
  const Time process_start = base::RealClock().WallNow();
  const auto flags = ParseRunFlags(arguments, program);
  if (!flags) return FailToStart(flags.error());
  if (!flags->print_and_exit.empty()) {
    WriteOut(flags->print_and_exit);
    return 0;
  }
  if (flags->reload_config && flags->config.empty()) {
    return FailToStart("--reload-config: there is no file to watch without --config");
  }
  base::SetUpLogging(flags->log);
  LogFlagValues(*flags);

  Causes causes;
  auto settings = ResolveSettings(*flags, in_tree, Words::kUpstreams, &causes);
  if (!settings) return CommandFailed(settings.error(), std::move(causes));
  auto metrics = MetricsAsSet(*flags, *settings);
  if (!metrics) return CommandFailed(metrics.error());
  const uint64_t seed = flags->seed.value_or(base::RandomSeed());
  base::LogInfo(
      "Starting Berth",
      {{"version", kVersion}, {"kubeSchedulerVersion", kKubernetesVersion}, {"seed", seed}});
  if (flags->shadow) {
    base::LogInfo("In the shadow of another scheduler: nothing is written, no lease is held");
    settings->configuration.leader_election.leader_elect = false;
  }
  LogWhatHasNoEffect(*flags, *settings);
  base::LogV(2, "Using component config",
             {{"config", config::ToYaml(config::WithoutSecrets(settings->configuration))}});

  // Before any thread is started: they inherit what is blocked.
  Signals signals;
  const auto plugins = WithLoadedPlugins(in_tree, flags->plugin_dirs);
  if (!plugins) return CommandFailed(plugins.error());
  auto daemon = Daemon::Make(MakeDaemonOptions(*flags, *settings, *std::move(metrics), seed),
                             plugins->registry);
  if (!daemon) return CommandFailed(daemon.error());
  if (!flags->write_config_to.empty()) {
    return WriteConfiguration(*flags, settings->configuration, (*daemon)->clock());
  }
  DescribeBuild((*daemon)->metrics(), settings->feature_gates,
                flags->gate_versions.min_compatibility);
  Configz configz(settings->configuration);
  LiveQuestions questions(**daemon, settings->configuration, settings->features(),
                          plugins->registry);
  std::optional<ConfigReloader> reloader;
  if (flags->reload_config) {
    reloader.emplace(
        *flags, *plugins, (*daemon)->metrics(),
        [&daemon, &configz, &questions](const config::SchedulerConfiguration& next,
                                        const std::function<void(Result<void>)>& done) {
          (*daemon)->Reload(next, [next, &configz, &questions, done](const Result<void>& result) {
            if (result) {
              configz.Set(next);
              questions.Renew(next);
            }
            done(result);
          });
        });
  }
  std::atomic<bool> stopping = false;
  auto serving = Serve(*flags, *settings, process_start, configz, questions, **daemon, stopping);
  if (!serving) return CommandFailed(serving.error());
  int code = RunUntilSignal(**daemon, signals, reloader ? &*reloader : nullptr, stopping);
  if (*serving != nullptr) (*serving)->Stop(kServingGrace);
  questions.desk().Stop();
  serving->reset();
  if (auto written = WriteShadowReport(**daemon, flags->shadow_report); !written) {
    code = CommandFailed(written.error());
  }
  daemon->reset();
  base::FlushLogs();
  return code;
}

}  // namespace berth::app
