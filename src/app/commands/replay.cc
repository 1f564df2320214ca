// SPDX-License-Identifier: Apache-2.0
#include "src/app/commands/replay.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "src/app/commands/commands.h"
#include "src/app/commands/replay_report.h"
#include "src/app/daemon/settings.h"
#include "src/app/flags/flag_set.h"
#include "src/app/flags/offline_flags.h"
#include "src/base/file.h"
#include "src/base/logging.h"
#include "src/config/extenders.h"
#include "src/config/load.h"
#include "src/recording/replay.h"

namespace berth::app {
namespace {

struct ReplayFlags {
  RunFlags run;
  config::FeatureGates gates;
  std::vector<std::string> paths;
  uint64_t differences = 20;
  OutputFormat output = OutputFormat::kTable;
  std::string print_and_exit;
};

Result<ReplayFlags> ParseReplayFlags(const std::vector<std::string>& arguments,
                                     const std::string& program) {
  FlagSet flags(program + " PATH...",
                "Repeats recordings, those of a folder or that of a file, and says where a "
                "decision is another one now. The exit code is 0 where none is, else 1.",
                FlagSet::Words::kOwn);
  ReplayFlags out;
  bool help = false;
  flags.Group("Flags");
  flags.Add("config", "FILE",
            "Decides with this configuration file instead of the recorded configuration.",
            [&out](const std::string& value) -> Result<void> {
              out.run.config = value;
              return {};
            });
  AddPluginDir(flags, out.run);
  flags.Add("feature-gates", "[kube:]name=bool,...",
            "Feature gates in place of the recorded ones; may be repeated.",
            [&out](const std::string& value) -> Result<void> {
              out.run.feature_gates.push_back(value);
              return {};
            });
  flags.Add("differences", "NUMBER", "How many differences to show and to explain (20).",
            [&out](const std::string& value) -> Result<void> {
              const auto number = ReadFlagValue<uint64_t>(value);
              if (!number) return Fail(std::string(ValueRule<uint64_t>()));
              out.differences = *number;
              return {};
            });
  AddOutputFormat(flags, out.output);
  AddQuietVerbosity(flags, out.run);
  flags.Value("help", "Print this text.", help);
  const std::string see_help = "; `" + program + " --help` lists the flags";
  auto others = flags.Parse(arguments);
  if (!others) return Fail(others.error().message + see_help);
  if (help) {
    out.print_and_exit = flags.Usage();
    return out;
  }
  if (others->empty()) return Fail("which recording? Name a folder or a file" + see_help);
  auto gates = config::FeatureGates::Parse(out.run.feature_gates);
  if (!gates) return Fail(gates.error().Within("--feature-gates"));
  out.gates = std::move(*gates);
  out.paths = std::move(*others);
  return out;
}

Result<config::SchedulerConfiguration> LoadConfiguration(std::string_view yaml,
                                                         std::string_view name,
                                                         const config::KnownPlugins& known) {
  auto configuration = config::Load(yaml, name, known);
  if (!configuration) return configuration;
  if (auto left = config::LeaveManagedResources(*configuration); !left) return Fail(left.error());
  return configuration;
}

// Replays one recording, a second time where the report says why something differs.
class Replaying {
 public:
  Replaying(const ReplayFlags& flags, const InTreePlugins& plugins)
      : flags_(flags), plugins_(plugins) {}

  Result<recording::ReplayReport> Run(const recording::RecordingFiles& files,
                                      recording::Header& header) const {
    auto report = RunOnce(files, {}, header);
    if (!report || report->identical() || report->differences.empty()) return report;
    std::vector<uint64_t> explain;
    for (const recording::Difference& difference : report->differences) {
      explain.push_back(difference.number);
    }
    explain.erase(std::unique(explain.begin(), explain.end()), explain.end());
    return RunOnce(files, std::move(explain), header);
  }

 private:
  Result<recording::ReplayReport> RunOnce(const recording::RecordingFiles& files,
                                          std::vector<uint64_t> explain,
                                          recording::Header& header) const {
    auto reader = recording::RecordingReader::Open(files.parts);
    if (!reader) return Fail(reader.error());
    header = reader->header();
    recording::ReplayOptions options;
    options.most_differences = flags_.differences;
    options.explain = std::move(explain);
    if (!flags_.run.feature_gates.empty()) options.features = flags_.gates.Resolve();
    Result<config::SchedulerConfiguration> configuration;
    if (flags_.run.config.empty()) {
      configuration = LoadRecordedConfiguration(header.configuration,
                                                files.parts.front().string() + ": configuration",
                                                plugins_, flags_.gates);
      options.load = [this](std::string_view yaml) {
        return LoadRecordedConfiguration(yaml, "reloaded configuration", plugins_, flags_.gates);
      };
    } else {
      const auto text = base::ReadFile(flags_.run.config);
      if (!text) return Fail(text.error());
      configuration = LoadConfiguration(*text, flags_.run.config, KnownTo(plugins_, flags_.gates));
    }
    if (!configuration) return Fail(configuration.error());
    options.configuration = std::move(*configuration);
    return recording::Replay(*reader, plugins_.registry, options);
  }

  const ReplayFlags& flags_;
  const InTreePlugins& plugins_;
};

}  // namespace

Result<config::SchedulerConfiguration> LoadRecordedConfiguration(
    std::string_view yaml, std::string_view name, const InTreePlugins& plugins,
    const config::FeatureGates& gates) {
  config::KnownPlugins known = KnownTo(plugins, gates);
  // What was written down has its profiles' defaults already.
  known.defaults.clear();
  return LoadConfiguration(yaml, name, known);
}

recording::FileLimits RecordLimits(uint64_t mib) {
  recording::FileLimits limits;
  limits.folder_bytes = mib << 20;
  // So that several files fit, and old ones can go.
  limits.file_bytes = std::min(limits.file_bytes, limits.folder_bytes / 4);
  return limits;
}

int Replay(const std::vector<std::string>& arguments, const std::string& program,
           const InTreePlugins& in_tree) {
  const auto flags = ParseReplayFlags(arguments, program);
  if (!flags) return FailWith(flags.error().message);
  if (!flags->print_and_exit.empty()) {
    std::fputs(flags->print_and_exit.c_str(), stdout);
    return kDone;
  }
  base::SetUpLogging(flags->run.log);
  const auto plugins = WithLoadedPlugins(in_tree, flags->run.plugin_dirs);
  if (!plugins) return FailWith(plugins.error().message);
  const Replaying replaying(*flags, *plugins);
  int code = kDone;
  for (const std::string& path : flags->paths) {
    const auto recordings = recording::FindRecordings(path);
    if (!recordings) return FailWith(recordings.error().message);
    for (const recording::RecordingFiles& files : *recordings) {
      recording::Header header;
      const auto report = replaying.Run(files, header);
      if (!report) return FailWith(report.error().message);
      std::string text;
      if (IsDocument(flags->output)) {
        AppendReplayJson(files.id, header, *report, text);
        PrintDocuments(text, flags->output);
      } else {
        AppendReplayTable(files.id, header, *report, text);
        PrintTable(text, flags->output);
      }
      if (report->problem && !report->torn) {
        code = FailWith(*report->problem);
      } else if (!report->identical() && code == kDone) {
        code = kNegative;
      }
    }
  }
  base::FlushLogs();
  return code;
}

}  // namespace berth::app
