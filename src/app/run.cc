// SPDX-License-Identifier: Apache-2.0
#include "src/app/run.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <utility>

#include "src/app/daemon.h"
#include "src/app/flags.h"
#include "src/app/metrics_setup.h"
#include "src/app/settings.h"
#include "src/app/signals.h"
#include "src/app/version.h"
#include "src/base/clock.h"
#include "src/base/logging.h"
#include "src/config/write.h"

namespace berth::app {
namespace {

// Less than the 30 s that a pod is given to end.
constexpr Duration kDrainPatience = std::chrono::seconds(20);

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

Result<void> WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) return Fail("--write-config-to: " + path + " cannot be written");
  return {};
}

void LogWhatHasNoEffect(const RunFlags& flags, const Settings& settings) {
  for (const std::string& flag : flags.without_effect) {
    base::LogInfo("Flag has no effect yet", {{"flag", "--" + flag}});
  }
  for (const std::string& warning : settings.feature_gates.warnings()) base::LogWarning(warning);
  if (settings.configuration.leader_election.leader_elect) {
    base::LogWarning(
        "Leader election is not done yet: this process schedules at once, so run only one "
        "replica");
  }
}

// Waits until the daemon has ended; the first signal asks it to. Returns the exit code.
int RunUntilSignal(Daemon& daemon, Signals& signals) {
  daemon.Start([&signals] { signals.Wake(); });
  bool stopping = false;
  while (true) {
    switch (signals.Wait()) {
      case Signals::Event::kDump:
        base::LogInfo("SIGUSR2 has no effect yet");
        break;
      case Signals::Event::kTerminate:
        if (stopping) {
          base::LogWarning("Told to end a second time: ending without the bindings in hand");
          base::FlushLogs();
          // Not exit(): the threads are still at work on what it would destroy.
          _exit(1);
        }
        stopping = true;
        daemon.Stop(kDrainPatience);
        break;
      case Signals::Event::kWoken:
        base::LogInfo("Stopped");
        return stopping ? 0 : 1;
    }
  }
}

}  // namespace

int Run(const std::vector<std::string>& arguments, const std::string& program,
        const InTreePlugins& plugins) {
  const auto flags = ParseRunFlags(arguments, program);
  if (!flags) return FailToStart(flags.error().message, flags.error().usage);
  if (!flags->print_and_exit.empty()) {
    std::fputs(flags->print_and_exit.c_str(), stdout);
    return 0;
  }
  base::SetUpLogging(flags->log);

  auto settings = ResolveSettings(*flags, plugins.defaults);
  if (!settings) return FailToStart(settings.error().message);
  auto metrics = ReadMetricsFlags(flags->metrics);
  if (!metrics) return FailToStart(metrics.error().message);
  if (!flags->write_config_to.empty()) {
    const auto written = WriteFile(flags->write_config_to, config::ToYaml(settings->configuration));
    if (!written) return FailToStart(written.error().message);
    base::LogInfo("Wrote configuration", {{"file", flags->write_config_to}});
    return 0;
  }

  const uint64_t seed = flags->seed.value_or(base::RandomSeed());
  base::LogInfo(
      "Starting Berth",
      {{"version", kVersion}, {"kubeSchedulerVersion", kKubernetesVersion}, {"seed", seed}});
  LogWhatHasNoEffect(*flags, *settings);
  if (base::LogVerbosity() >= 2) {
    base::LogV(2, "Using component config", {{"config", config::ToYaml(settings->configuration)}});
  }

  // Before any thread is started: they inherit what is blocked.
  Signals signals;
  DaemonOptions options;
  options.configuration = std::move(settings->configuration);
  options.features = settings->feature_gates.Resolve();
  options.master = flags->master;
  options.config_file = flags->config;
  options.pod_max_in_unschedulable_pods_duration = flags->pod_max_in_unschedulable_pods_duration;
  options.seed = seed;
  options.metrics = std::move(*metrics);
  auto daemon = Daemon::Make(std::move(options), plugins.registry);
  if (!daemon) return FailToStart(daemon.error().message);
  DescribeBuild((*daemon)->metrics(), settings->feature_gates, flags->min_compatibility_minor);
  const int code = RunUntilSignal(**daemon, signals);
  daemon->reset();
  base::FlushLogs();
  return code;
}

}  // namespace berth::app
