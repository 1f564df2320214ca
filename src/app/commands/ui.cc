// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "src/app/commands/commands.h"
#include "src/app/commands/input_summary.h"
#include "src/app/commands/live_cluster.h"
#include "src/app/commands/offline_cluster.h"
#include "src/app/commands/output.h"
#include "src/app/commands/replay.h"
#include "src/app/daemon/settings.h"
#include "src/app/daemon/signals.h"
#include "src/app/flags/offline_flags.h"
#include "src/base/clock.h"
#include "src/base/logging.h"
#include "src/config/plugin_features.h"
#include "src/informers/kinds.h"
#include "src/recording/file_sink.h"
#include "src/recording/reader.h"
#include "src/ui/api.h"
#include "src/ui/page_server.h"
#include "src/ui/story.h"

namespace berth::app {
namespace {

using simulator::Simulation;
using Objects = std::vector<api::ObjectPtr>;

// What the page is made from.
struct Shown {
  ui::ClusterSource source;
  Objects objects;
  std::optional<ui::Story> story;
};

// Files by their names, without the folders.
std::string NameOf(const OfflineFlags& flags) {
  if (flags.live()) return flags.kubeconfig.empty() ? "the live cluster" : flags.kubeconfig;
  std::string name;
  for (const std::string& file : flags.clusters) {
    name += (name.empty() ? "" : ", ") + file.substr(file.rfind('/') + 1);
  }
  return name;
}

// All that the flags name, pods last and by their creation; of dumps what is `beside` them, too.
// `tells`: on standard error what was read.
Result<Objects> ReadObjects(const OfflineFlags& flags, const ui::ClusterSource& source,
                            const ui::Interrupted& interrupted, bool tells,
                            BesideObjects* beside = nullptr) {
  auto simulation = source.make_simulation();
  if (!simulation) return Fail(simulation.error());
  auto filled = FillPicture(flags, **simulation, interrupted, tells);
  if (!filled) return Fail(filled.error());
  if (beside != nullptr) *beside = *std::move(filled);
  Objects objects;
  const simulator::MemoryApi& api = (*simulation)->api();
  const auto add = [&objects](const api::ObjectPtr& object) { objects.push_back(object); };
  for (const informers::Kind kind : informers::AllKinds()) {
    if (kind != informers::Kind::kPod) api.ForEach(kind, add);
  }
  api.ForEachPodByCreation(add);
  return objects;
}

// The live cluster, watched until the end.
Result<std::shared_ptr<LiveCluster>> Watch(const OfflineFlags& flags, const Features& features) {
  const auto server = FindLiveCluster(flags);
  if (!server) return Fail(server.error());
  auto opened =
      LiveCluster::Open(*server, features, flags.seed, {flags.request_timeout, nullptr}, PrintNote);
  if (!opened) return Fail(opened.error());
  return std::shared_ptr<LiveCluster>(*std::move(opened));
}

// Of several recordings in a folder the last.
Result<recording::RecordingReader> OpenRecording(const std::string& path) {
  const auto recordings = recording::FindRecordings(path);
  if (!recordings) return Fail(recordings.error());
  return recording::RecordingReader::Open(recordings->back().parts);
}

Result<simulator::SimulationOptions> OptionsOf(const OfflineFlags& flags,
                                               const InTreePlugins& plugins,
                                               const recording::Header* header,
                                               std::vector<std::string>& gates) {
  // A configuration or gates that are named are to be seen at work.
  const bool as_recorded = flags.run.config.empty() && flags.run.feature_gates.empty();
  if (header == nullptr || !as_recorded) return SimulationOptionsOf(flags, plugins, gates);
  auto configuration =
      LoadRecordedConfiguration(header->configuration, flags.recording, plugins, {});
  if (!configuration) return Fail(configuration.error());
  return SimulationOptionsFor(*std::move(configuration), header->features, flags.seed);
}

// One that decides by the configuration in the text.
Result<std::unique_ptr<Simulation>> MakeOther(const std::string& text,
                                              const std::vector<std::string>& feature_gates,
                                              simulator::SimulationOptions options,
                                              const InTreePlugins& plugins,
                                              std::vector<std::string>& warnings) {
  RunFlags run;
  run.feature_gates = feature_gates;
  auto settings = ResolveSettings(run, plugins, text, "newConfig");
  if (!settings) return Fail(settings.error());
  std::ranges::move(settings->plugin_warnings, std::back_inserter(warnings));
  config::SchedulerConfiguration& configuration = settings->configuration;
  if (!configuration.extenders.empty()) warnings.emplace_back(kWithoutExtenders);
  options.scheduler.features = config::WithPlugins(options.scheduler.features, configuration);
  options.scheduler.configuration = std::move(configuration);
  return Simulation::Make(options, plugins.registry);
}

// `plugins` outlive what is made.
Result<Shown> Read(const OfflineFlags& flags, const InTreePlugins& plugins) {
  Shown shown;
  shown.source.namespace_ = flags.namespace_;
  std::optional<recording::RecordingReader> reader;
  if (!flags.recording.empty()) {
    auto opened = OpenRecording(flags.recording);
    if (!opened) return Fail(opened.error());
    reader = std::move(*opened);
  }
  std::vector<std::string> gates;
  const auto options = OptionsOf(flags, plugins, reader ? &reader->header() : nullptr, gates);
  if (!options) return Fail(options.error());
  shown.source.make_simulation = [options = *options, &plugins] {
    return Simulation::Make(options, plugins.registry);
  };
  shown.source.make_other = [options = *options, &plugins, gates = std::move(gates)](
                                const std::string& text, std::vector<std::string>& warnings) {
    return MakeOther(text, gates, options, plugins, warnings);
  };
  if (reader) {
    shown.source.name = "recording " + reader->header().id;
    shown.story.emplace(*reader);
    shown.objects = shown.story->Objects();
    return shown;
  }
  shown.source.name = NameOf(flags);
  if (flags.live()) {
    const auto cluster = Watch(flags, options->scheduler.features);
    if (!cluster) return Fail(cluster.error());
    shown.source.describe = [live = *cluster](const Objects& objects) {
      ui::Reading reading{InputOf(objects).ToString(), live->Undecodable()};
      std::ranges::move(WarningsOf(objects), std::back_inserter(reading.warnings));
      return reading;
    };
    shown.objects = (*cluster)->Objects();
    TellInput(InputOf(shown.objects));
    shown.source.read = [flags, source = shown.source](const ui::Interrupted& interrupted) {
      // What is odd the page says each time, standard error once.
      return ReadObjects(flags, source, interrupted, false);
    };
    shown.source.admission = LiveAdmission(flags);
    shown.source.find_workload = LiveWorkloads(flags);
    shown.source.following = [live = *cluster] { return live->following(); };
    shown.source.watched = [live = *cluster] { return live->Objects(); };
    return shown;
  }
  BesideObjects beside;
  auto objects = ReadObjects(flags, shown.source, nullptr, true, &beside);
  if (!objects) return Fail(objects.error());
  shown.source.admission = std::move(beside.admission);
  shown.source.idle = std::move(beside.idle);
  shown.source.describe = [reading = std::move(beside.reading)](const Objects& /*objects*/) {
    return reading;
  };
  shown.objects = *std::move(objects);
  return shown;
}

}  // namespace

int Ui(const std::vector<std::string>& arguments, const std::string& program,
       const InTreePlugins& in_tree) {
  const auto flags = BeginOffline(OfflineCommand::kUi, arguments, program);
  if (!flags) return flags.error();
  Signals signals;
  const auto plugins = WithLoadedPlugins(in_tree, flags->run.plugin_dirs);
  if (!plugins) return FailWith(plugins.error().message);
  auto shown = Read(*flags, *plugins);
  if (!shown) return FailWith(shown.error().message);
  const base::RealClock clock;
  ui::Api api(std::move(shown->source), std::move(shown->objects),
              shown->story ? &*shown->story : nullptr, clock);
  if (flags->live()) PrintWarnings(api.reading().warnings);
  const auto server = ui::PageServer::Start(flags->port, clock, api.router());
  if (!server) return FailWith(server.error().Within("--port").message);
  WriteOut((*server)->address() + "\n");
  FlushOut();
  while (signals.Wait() != Signals::Event::kTerminate) {
    // Other signals have nothing to do here.
  }
  base::FlushLogs();
  api.Stop();
  return kDone;
}

}  // namespace berth::app
