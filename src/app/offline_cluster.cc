// SPDX-License-Identifier: Apache-2.0
#include "src/app/offline_cluster.h"

#include <utility>

#include "src/app/live_cluster.h"
#include "src/app/progress.h"
#include "src/app/replay.h"
#include "src/app/settings.h"
#include "src/app/version.h"
#include "src/base/clock.h"
#include "src/base/logging.h"
#include "src/informers/kinds.h"
#include "src/recording/setup.h"
#include "src/simulator/cluster_files.h"

namespace berth::app {
namespace {

constexpr Duration kSyncPatience = std::chrono::seconds(60);

Result<void> FillFromFiles(const std::vector<std::string>& files,
                           simulator::Simulation& simulation) {
  Progress progress("Reading");
  auto cluster = simulator::LoadCluster(
      files, [&progress](size_t bytes, size_t of) { progress.Show(bytes, of); });
  if (!cluster) return Fail(cluster.error());
  for (api::ObjectPtr& object : cluster->objects) simulation.Apply(std::move(object));
  for (const auto& [kind, count] : cluster->skipped) {
    base::LogV(1, "Objects that scheduling does not read were skipped",
               {{"kind", kind}, {"objects", count}});
  }
  return {};
}

Result<void> FillFromServer(const OfflineFlags& flags, simulator::Simulation& simulation,
                            const std::function<bool()>& interrupted) {
  config::ClientConnection connection;
  connection.kubeconfig = flags.kubeconfig;
  const auto gates =
      config::FeatureGates::Parse(flags.run.feature_gates, flags.run.min_compatibility_minor);
  if (!gates) return Fail(gates.error());
  auto events = ReadLiveCluster(connection, gates->Resolve(), flags.seed,
                                {kSyncPatience, interrupted}, flags.context);
  if (!events) return Fail(events.error().Within(flags.kubeconfig));
  for (informers::InformerEvent& event : *events) {
    switch (event.type) {
      case informers::EventType::kAdded:
      case informers::EventType::kUpdated:
        simulation.Apply(std::move(event.new_object));
        break;
      case informers::EventType::kDeleted:
        if (const api::ObjectMeta* meta = informers::MetaOf(event.old_object)) {
          simulation.Delete(event.kind, meta->Key());
        } else {
          simulation.Tell(std::move(event));
        }
        break;
      case informers::EventType::kUndecodable:
        base::LogWarning("An object cannot be read",
                         {{"object", event.undecodable->key}, {"err", event.undecodable->error}});
        simulation.Tell(std::move(event));
        break;
      case informers::EventType::kSynced:
        break;
    }
  }
  return {};
}

}  // namespace

simulator::SimulationOptions SimulationOptionsFor(config::SchedulerConfiguration configuration,
                                                  const Features& features, uint64_t seed) {
  if (!configuration.extenders.empty()) {
    base::LogWarning(
        "The extenders of the configuration are not asked: what follows is decided "
        "without them");
  }
  simulator::SimulationOptions options;
  options.scheduler.configuration = std::move(configuration);
  options.scheduler.features = features;
  options.scheduler.seed = seed;
  options.scheduler.hostname = "simulator";
  options.keep_events = false;
  // Pods without a start time count as started now, which must be after all others have.
  options.start = base::RealClock().Now();
  return options;
}

Result<simulator::SimulationOptions> SimulationOptionsOf(const OfflineFlags& flags,
                                                         const InTreePlugins& plugins) {
  auto settings = ResolveSettings(flags.run, plugins);
  if (!settings) return Fail(settings.error());
  for (const std::string& warning : settings->feature_gates.warnings()) base::LogWarning(warning);
  const Features features = settings->features();
  return SimulationOptionsFor(std::move(settings->configuration), features, flags.seed);
}

Result<RecordedSimulation> MakeSimulation(const OfflineFlags& flags, const InTreePlugins& in_tree,
                                          DecisionListeners listeners) {
  auto resolved = SimulationOptionsOf(flags, in_tree);
  if (!resolved) return Fail(resolved.error());
  simulator::SimulationOptions& options = *resolved;
  const auto plugins = WithLoadedPlugins(in_tree, flags.run.plugin_dirs);
  if (!plugins) return Fail(plugins.error());
  options.scheduler.on_cycle = std::move(listeners.on_cycle);
  options.scheduler.on_pod_group = std::move(listeners.on_pod_group);
  RecordedSimulation made;
  if (!flags.run.record.empty()) {
    const base::VirtualClock clock(options.start);
    auto recorder = recording::Record(flags.run.record, RecordLimits(flags.run.record_max_mib),
                                      kVersion, clock, base::RandomSeed(), options.scheduler);
    if (!recorder) return Fail(recorder.error().Within("--record"));
    made.recorder = std::move(*recorder);
  }
  auto simulation = simulator::Simulation::Make(options, plugins->registry);
  if (!simulation) {
    const Error error = simulation.error().Within("initializing profiles");
    return Fail(flags.run.config.empty() ? error : error.Within(flags.run.config));
  }
  made.simulation = std::move(*simulation);
  return made;
}

Result<void> FillSimulation(const OfflineFlags& flags, simulator::Simulation& simulation,
                            const std::function<bool()>& interrupted) {
  return flags.clusters.empty() ? FillFromServer(flags, simulation, interrupted)
                                : FillFromFiles(flags.clusters, simulation);
}

Result<RecordedSimulation> MakePicture(const OfflineFlags& flags, const InTreePlugins& plugins) {
  auto made = MakeSimulation(flags, plugins, {});
  if (!made) return made;
  if (auto filled = FillSimulation(flags, *made->simulation); !filled) return Fail(filled.error());
  made->simulation->RunDue();
  return made;
}

std::vector<std::string> PendingPods(const simulator::Simulation& simulation) {
  std::vector<std::string> keys;
  simulation.api().ForEach(informers::Kind::kPod, [&keys](const api::ObjectPtr& object) {
    const api::Pod& pod = *api::As<api::Pod>(object);
    if (pod.spec.node_name.empty()) keys.push_back(pod.metadata.Key());
  });
  return keys;
}

}  // namespace berth::app
