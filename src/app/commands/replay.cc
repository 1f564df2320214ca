// SPDX-License-Identifier: Apache-2.0
#include "src/app/commands/replay.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/app/commands/commands.h"
#include "src/app/commands/output.h"
#include "src/app/daemon/settings.h"
#include "src/app/flags/flag_set.h"
#include "src/app/flags/offline_flags.h"
#include "src/app/version.h"
#include "src/base/file.h"
#include "src/base/json.h"
#include "src/base/logging.h"
#include "src/config/load.h"
#include "src/explain/text_table.h"
#include "src/recording/header.h"
#include "src/recording/replay.h"

namespace berth::app {
namespace {

// What a replay came to, for people and for programs.
//
// Thread safety: any thread.
// A summary, and a table of the first differences; `namespace_`: whose are shown, "" where all are.
void AppendReplayTable(const std::string& id, const recording::Header& header,
                       const recording::ReplayReport& report, const std::string& namespace_,
                       std::string& out);

// One line of JSON.
void AppendReplayJson(const std::string& id, const recording::Header& header,
                      const recording::ReplayReport& report, std::string& out);

using recording::AttemptEnded;
using recording::Difference;
using recording::ReplayReport;

// Messages of a hundred nodes' reasons would push the columns apart.
constexpr size_t kMostText = 120;

std::string Shortened(std::string text) {
  if (text.size() > kMostText) text = text.substr(0, kMostText - 3) + "...";
  return text;
}

std::string Cell(const std::optional<AttemptEnded>& decision) {
  if (!decision) return "(no decision)";
  if (!decision->node_name.empty()) return decision->node_name;
  return "none: " + Shortened(decision->message);
}

std::string SecondsAfter(Time start, Time at) {
  return FormatGoDuration(std::chrono::duration_cast<std::chrono::milliseconds>(at - start));
}

void AppendAttemptEnded(std::string_view name, const std::optional<AttemptEnded>& decision,
                        base::JsonObject& to) {
  if (!decision) {
    to.AddNull(name);
    return;
  }
  base::JsonObject object(to.Key(name));
  object.Add("code", CodeName(decision->code));
  object.AddIfNotEmpty("node", decision->node_name);
  object.AddIfNotEmpty("message", decision->message);
}

void AppendReplayTable(const std::string& id, const recording::Header& header,
                       const ReplayReport& report, const std::string& namespace_,
                       std::string& out) {
  out += "Recording " + id + " of Berth " + header.berth_version + ", replayed by " +
         std::string(kVersion) + ": " + explain::Counted(report.messages, "message") + ", " +
         explain::Counted(report.decisions, "decision") + " in " +
         SecondsAfter(header.start, report.ended) + ".\n";
  if (report.problem) {
    out += *report.problem + (report.torn ? "; all that stands before it was replayed.\n" : "\n");
  }
  if (report.identical()) {
    out += "Every decision is the recorded one, bit for bit.\n";
    return;
  }
  out += explain::Counted(report.num_differences, "difference") + ", " +
         std::to_string(report.equal) + " decisions as recorded.";
  if (report.num_shown < report.num_differences) {
    out += " " + std::to_string(report.num_shown) + " of the differences " +
           (report.num_shown == 1 ? "is" : "are") + " in namespace " + namespace_ + ".";
  }
  if (report.differences.size() < report.num_shown) {
    out += " The first " + std::to_string(report.differences.size()) + ":";
  }
  out += '\n';
  if (report.differences.empty()) return;
  out += '\n';
  explain::TextTable table;
  table.AddColumn("DECISION", explain::TextTable::Align::kRight);
  table.AddColumn("AFTER", explain::TextTable::Align::kRight);
  for (const char* column : {"WHAT", "POD", "RECORDED", "NOW", "WHY"}) table.AddColumn(column);
  for (const Difference& difference : report.differences) {
    table.AddRow({std::to_string(difference.number), SecondsAfter(header.start, difference.at),
                  std::string(NameOf(difference.kind)), difference.pod, Cell(difference.recorded),
                  Cell(difference.replayed), Shortened(difference.why)});
  }
  table.Append("", out);
}

void AppendReplayJson(const std::string& id, const recording::Header& header,
                      const ReplayReport& report, std::string& out) {
  base::JsonObject object(out);
  object.Add("recording", id);
  object.Add("recordedBy", header.berth_version);
  object.Add("replayedBy", kVersion);
  object.Add("messages", report.messages);
  object.Add("cycles", report.cycles);
  object.Add("decisions", report.decisions);
  object.Add("identical", report.identical());
  object.Add("equal", report.equal);
  object.Add("differences", report.num_differences);
  object.Add("shown", report.num_shown);
  if (report.problem) {
    object.Add("problem", *report.problem);
    object.Add("torn", report.torn);
  }
  base::JsonList list(object.Key("first"));
  for (const Difference& difference : report.differences) {
    base::JsonObject one(list.Next());
    one.Add("kind", NameOf(difference.kind));
    one.Add("decision", difference.number);
    one.Add("nanosecondsAfterStart", (difference.at - header.start).count());
    one.Add("pod", difference.pod);
    AppendAttemptEnded("recorded", difference.recorded, one);
    AppendAttemptEnded("replayed", difference.replayed, one);
    one.AddIfNotEmpty("why", difference.why);
  }
  list.Close();
  object.Close();
  out += '\n';
}

struct ReplayFlags {
  RunFlags run;
  config::FeatureGates gates;
  std::vector<std::string> paths;
  uint64_t differences = 20;
  std::string namespace_;  // "": all
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
  flags.AddAnyText("config", "FILE",
                   "Decides with this configuration file instead of the recorded configuration.",
                   out.run.config);
  AddPluginDir(flags, out.run);
  AddFeatureGates(flags, out.run.feature_gates,
                  "Feature gates in place of the recorded ones; may be repeated.");
  flags.Add("differences", "NUMBER", "How many differences to show and to explain (20).",
            [&out](const std::string& value) -> Result<void> {
              const auto number = ReadFlagValue<uint64_t>(value);
              if (!number) return Fail(std::string(ValueRule<uint64_t>()));
              out.differences = *number;
              return {};
            });
  bool all_namespaces = false;
  flags.AddText("namespace", "NAME", "Shows differences of this namespace's pods alone; all count.",
                out.namespace_);
  flags.Value("all-namespaces", "Shows those of all namespaces, as without --namespace.",
              all_namespaces);
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
  if (all_namespaces && !out.namespace_.empty()) {
    return Fail("--namespace and --all-namespaces exclude each other");
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
    if (!flags_.namespace_.empty()) {
      options.shows = [prefix = flags_.namespace_ + "/"](std::string_view pod) {
        return pod.starts_with(prefix);
      };
    }
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
    WriteOut(flags->print_and_exit);
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
        AppendReplayTable(files.id, header, *report, flags->namespace_, text);
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
