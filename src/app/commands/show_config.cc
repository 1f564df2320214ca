// SPDX-License-Identifier: Apache-2.0
#include "src/app/commands/commands.h"
#include "src/app/commands/output.h"
#include "src/app/daemon/settings.h"
#include "src/app/flags/flag_set.h"
#include "src/app/flags/offline_flags.h"
#include "src/base/clock.h"
#include "src/base/logging.h"
#include "src/config/write.h"
#include "src/simulator/simulation.h"

namespace berth::app {
namespace {

struct ShowConfigFlags {
  RunFlags run;
  OutputFormat output = OutputFormat::kYaml;
  std::string print_and_exit;
};

Result<ShowConfigFlags> ParseShowConfigFlags(const std::vector<std::string>& arguments,
                                             const std::string& program) {
  FlagSet flags(program,
                "Checks a configuration file and prints it as it is used: with all defaults, and "
                "the plugins of each profile. Needs no cluster.",
                FlagSet::Words::kOwn);
  ShowConfigFlags out;
  bool help = false;
  flags.Group("Flags");
  flags.Value("config",
              "The configuration file (KubeSchedulerConfiguration v1); without it the "
              "defaults are printed.",
              out.run.config);
  AddFeatureGates(flags, out.run.feature_gates);
  AddPluginDir(flags, out.run);
  AddDocumentFormat(flags, out.output);
  flags.Value("help", "Print this text.", help);
  const std::string see_help = "; `" + program + " --help` lists the flags";
  const auto others = flags.Parse(arguments);
  if (!others) return Fail(others.error().message + see_help);
  if (help) out.print_and_exit = flags.Usage();
  if (!help && !others->empty()) {
    return Fail("unexpected argument \"" + others->front() + "\"" + see_help);
  }
  return out;
}

// Makes the profiles, as the daemon would, and drops them.
Result<void> TryProfiles(const Settings& settings, const InTreePlugins& plugins) {
  simulator::SimulationOptions options;
  options.scheduler.configuration = settings.configuration;
  options.scheduler.features = settings.features();
  options.scheduler.hostname = "config";
  options.start = base::RealClock().Now();
  auto simulation = simulator::Simulation::Make(options, plugins.registry);
  if (!simulation) return Fail(simulation.error().Within("initializing profiles"));
  return {};
}

}  // namespace

int ShowConfig(const std::vector<std::string>& arguments, const std::string& program,
               const InTreePlugins& in_tree) {
  const auto flags = ParseShowConfigFlags(arguments, program);
  if (!flags) return FailWith(flags.error().message);
  if (!flags->print_and_exit.empty()) {
    WriteOut(flags->print_and_exit);
    return kDone;
  }
  base::SetUpLogging({.verbosity = -1});
  const auto plugins = WithLoadedPlugins(in_tree, flags->run.plugin_dirs);
  if (!plugins) return FailWith(plugins.error().message);
  const auto settings = ResolveSettings(flags->run, in_tree);
  if (!settings) return FailWith(settings.error().message);
  if (auto tried = TryProfiles(*settings, *plugins); !tried) {
    const std::string& file = flags->run.config;
    return FailWith((file.empty() ? tried.error() : tried.error().Within(file)).message);
  }
  for (const std::string& warning : settings->warnings()) PrintNote("Warning: " + warning);
  const config::SchedulerConfiguration configuration =
      config::WithoutSecrets(settings->configuration);
  const std::string text = flags->output == OutputFormat::kJson
                               ? config::ToDocument(configuration).ToJson() + "\n"
                               : config::ToYaml(configuration);
  WriteOut(text);
  return kDone;
}

}  // namespace berth::app
