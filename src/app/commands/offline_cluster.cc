// SPDX-License-Identifier: Apache-2.0
#include "src/app/commands/offline_cluster.h"

#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "src/app/commands/daemon_client.h"
#include "src/app/commands/input_summary.h"
#include "src/app/commands/leader.h"
#include "src/app/commands/live_cluster.h"
#include "src/app/commands/output.h"
#include "src/app/commands/replay.h"
#include "src/app/commands/server_error.h"
#include "src/app/commands/terminal.h"
#include "src/app/daemon/settings.h"
#include "src/app/version.h"
#include "src/base/clock.h"
#include "src/config/extension_points.h"
#include "src/config/feature_gates.h"
#include "src/config/plugin_features.h"
#include "src/documents/parse.h"
#include "src/informers/kinds.h"
#include "src/recording/recorder.h"
#include "src/simulator/memory_api.h"
#include "src/simulator/object_checks.h"

namespace berth::app {
namespace {

// That the files hold a cluster, or what the question adds makes it one.
Result<void> CheckInput(const Input& input, const WhatIfFlags& what_if) {
  const char* missing = nullptr;
  if (input.nodes == 0 && what_if.add.empty()) {
    missing = "no node";
  } else if (input.pods + input.ended_pods == 0 && !what_if.any()) {
    missing = "no pod";
  }
  if (missing == nullptr) return {};
  return Fail("--cluster: " + std::string(missing) + " was read: " + input.ToString());
}

Result<BesideObjects> FillFromFiles(const OfflineFlags& flags, simulator::Simulation& simulation) {
  std::optional<Progress> progress("Reading");
  auto cluster = simulator::LoadCluster(
      flags.clusters, [&progress](size_t bytes, size_t of) { progress->Show(bytes, of); });
  progress.reset();
  if (!cluster) return Fail(cluster.error());
  ui::Reading reading;
  reading.warnings = WarningsOf(*cluster);
  PrintWarnings(reading.warnings);
  const Input input = InputOf(*cluster);
  for (api::ObjectPtr& object : cluster->objects) simulation.Apply(std::move(object));
  simulation.NameEndedPods(std::move(cluster->ended));
  if (auto checked = CheckInput(input, flags.what_if); !checked) return Fail(checked.error());
  TellInput(input);
  reading.read = input.ToString();
  return BesideObjects{std::move(cluster->admission), std::move(cluster->idle), std::move(reading)};
}

void AppendSome(const std::vector<std::string>& texts, std::vector<std::string>& out) {
  constexpr size_t kMost = 100;
  const size_t shown = std::min(texts.size(), kMost);
  out.insert(out.end(), texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(shown));
  if (shown < texts.size()) out.push_back(std::to_string(texts.size() - shown) + " more of these");
}

// So that pods come as a scheduler would have seen them come; a list has them by name.
void SortPodsByCreation(std::vector<informers::InformerEvent>& events) {
  const auto pod_of = [](const informers::InformerEvent& event) {
    const auto* pod = api::As<api::Pod>(event.new_object);
    return pod == nullptr ? api::As<api::Pod>(event.old_object) : pod;
  };
  const auto of_pods = std::ranges::stable_partition(
      events, [&](const informers::InformerEvent& event) { return pod_of(event) == nullptr; });
  std::ranges::stable_sort(of_pods, simulator::CreatedBefore,
                           [&](const informers::InformerEvent& event) -> const api::ObjectMeta& {
                             return pod_of(event)->metadata;
                           });
}

// Of the pod that the question is about.
void NameEndedPod(const OfflineFlags& flags, const client::ServerConfig& server,
                  simulator::Simulation& simulation) {
  const bool of_goal = flags.goal && flags.goal->kind == plan::Goal::Kind::kFit;
  const std::string& key = of_goal ? flags.goal->name : flags.pod;
  if (key.empty() || simulation.FindPod(key) != nullptr) return;
  const std::string phase = PhaseOfEndedPod(server, key, flags.request_timeout);
  if (!phase.empty()) simulation.NameEndedPods({{key, phase}});
}

Result<void> FillFromServer(const OfflineFlags& flags, simulator::Simulation& simulation,
                            const std::function<bool()>& interrupted, bool tells) {
  const auto server = FindLiveCluster(flags);
  if (!server) return Fail(server.error());
  auto events = ReadLiveCluster(*server, simulation.scheduler().features(), flags.seed,
                                {flags.request_timeout, interrupted}, flags.all_kinds);
  if (!events) return Fail(events.error());
  SortPodsByCreation(*events);
  if (tells) {
    std::vector<api::ObjectPtr> objects;
    for (const informers::InformerEvent& event : *events) {
      if (event.new_object.index() > 0) objects.push_back(event.new_object);
    }
    PrintWarnings(WarningsOf(objects));
  }
  for (informers::InformerEvent& event : *events) {
    switch (event.type) {
      case informers::EventType::kAdded:
      case informers::EventType::kUpdated:
        simulation.Apply(std::move(event.new_object));
        break;
      case informers::EventType::kDeleted:
        if (const api::ObjectMeta* meta = api::MetaOf(event.old_object)) {
          simulation.Delete(event.kind, meta->Key());
        } else {
          simulation.Post(std::move(event));
        }
        break;
      case informers::EventType::kUndecodable:
        if (tells) {
          PrintNote("Warning: " + event.undecodable->key +
                    " cannot be read: " + event.undecodable->error);
        }
        simulation.Post(std::move(event));
        break;
      case informers::EventType::kSynced:
        break;
    }
  }
  NameEndedPod(flags, *server, simulation);
  if (tells) TellInput(InputOf(simulation));
  return {};
}

}  // namespace

std::vector<std::string> WarningsOf(const simulator::Cluster& cluster) {
  std::vector<std::string> warnings;
  AppendSome(cluster.warnings, warnings);
  AppendSome(cluster.remarks, warnings);
  return warnings;
}

std::vector<std::string> WarningsOf(const std::vector<api::ObjectPtr>& objects) {
  std::vector<std::string> odd;
  for (const api::ObjectPtr& object : objects) {
    if (std::string text = simulator::OddityOf(object); !text.empty()) {
      odd.push_back(std::move(text));
    }
  }
  std::vector<std::string> warnings;
  AppendSome(odd, warnings);
  return warnings;
}

void PrintWarnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) PrintNote("Warning: " + warning);
}

simulator::SimulationOptions SimulationOptionsFor(config::SchedulerConfiguration configuration,
                                                  const Features& features, uint64_t seed) {
  if (!configuration.extenders.empty()) PrintNote("Warning: " + std::string(kWithoutExtenders));
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

namespace {

// An answer of the API server to a small question.
constexpr Duration kShortPatience = std::chrono::seconds(5);

// Makes the profile sort the queue as the first one does: all profiles of one configuration must.
// What MultiPoint of the first has and Berth has not may be what sorts there.
void SortAlike(const config::Profile& first, const InTreePlugins& plugins,
               config::Profile& profile) {
  constexpr std::string_view kPrioritySort = "PrioritySort";
  const auto is = [](std::string_view name) {
    return [name](const auto& entry) { return entry.name == name; };
  };
  profile.plugins.queue_sort = first.plugins.queue_sort;
  std::vector<config::PluginRef>& enabled = profile.plugins.multi_point.enabled;
  std::vector<std::string_view> sorters = {kPrioritySort};
  if (!config::IsEnabled(first.plugins, kPrioritySort) &&
      !config::IsEnabled(first.plugins, config::kCoscheduling)) {
    std::erase_if(enabled, is(kPrioritySort));
  }
  for (const config::PluginRef& plugin : first.plugins.multi_point.enabled) {
    if (std::ranges::any_of(plugins.registry, is(plugin.name))) continue;
    sorters.push_back(plugin.name);
    enabled.push_back(plugin);
    for (const config::ExtensionPoint& point : config::kExtensionPoints) {
      const bool sorts = point.set == &config::Plugins::queue_sort;
      if (sorts || point.set == &config::Plugins::multi_point) continue;
      (profile.plugins.*point.set).disabled.push_back({plugin.name});
    }
  }
  for (const config::PluginConfig& args : first.plugin_config) {
    if (std::ranges::find(sorters, args.name) != sorters.end())
      profile.plugin_config.push_back(args);
  }
}

// A pod names a profile, and most name kube-scheduler's: how that one is configured no API tells.
void AddDefaultProfile(const RunFlags& flags, const InTreePlugins& plugins,
                       config::SchedulerConfiguration& configuration) {
  RunFlags plain;
  plain.feature_gates = flags.feature_gates;
  auto standard = ResolveSettings(plain, plugins);
  if (!standard) return;
  config::Profile& profile = standard->configuration.profiles.front();
  const auto& profiles = configuration.profiles;
  const auto has_name = [&profile](const config::Profile& one) {
    return one.scheduler_name == profile.scheduler_name;
  };
  if (std::ranges::any_of(profiles, has_name)) return;
  SortAlike(profiles.front(), plugins, profile);
  configuration.profiles.push_back(std::move(profile));
}

// What a scheduler is configured by, and where that stands; both "": it cannot be read.
struct FoundConfiguration {
  std::string text;
  std::string name;
  std::vector<std::string> feature_gates = {};
};

// What the leader itself says. Errors: it cannot be asked, or is no Berth.
Result<FoundConfiguration> AskForConfiguration(const Leader& leader, const OfflineFlags& flags,
                                               client::UserConfig user, Duration patience) {
  if (flags.daemon.none) return Fail("--daemon=none");
  const auto forward = PortForward::Open(leader, {flags.kubeconfig, flags.context}, patience);
  if (!forward) return Fail(forward.error());
  const std::string path = "/configz";
  const auto answer =
      AskDaemon(ServerOf(DaemonBehind(**forward, flags.daemon), std::move(user)), path, patience);
  if (!answer) return Fail(InKubectlsWords(answer.error(), (*forward)->url()));
  const auto document = documents::ParseJson(answer->body, path);
  if (!document) return Fail(document.error());
  const ConfigValue* configuration =
      document->map() == nullptr ? nullptr : document->Find("componentconfig");
  if (configuration == nullptr) return Fail(path + " has no componentconfig");
  return FoundConfiguration{configuration->ToJson(), path + " of " + leader.Key(),
                            leader.feature_gates};
}

// The configuration of the Berth that leads in the live cluster: its ConfigMap, else what it says
// itself; standard error says where neither can be read. nullopt: there is none. Errors: the API
// server cannot be asked at all.
Result<std::optional<FoundConfiguration>> ConfigurationOfTheCluster(const OfflineFlags& flags) {
  auto server = FindLiveCluster(flags);
  if (!server) return Fail(server.error());
  const std::string lease = flags.daemon.lease.empty() ? kDefaultLease : flags.daemon.lease;
  const Duration patience = flags.request_timeout > Duration::zero()
                                ? std::min(flags.request_timeout, kShortPatience)
                                : kShortPatience;
  const auto is_in_vain = [](const client::ApiError& error) {
    return error.code != 403 && IsFinal(error);
  };
  const auto leader = FindLeader(*server, lease, patience);
  if (!leader) {
    if (!is_in_vain(leader.error())) return std::nullopt;
    return Fail(InKubectlsWords(leader.error(), server->cluster.server));
  }
  if (!leader->config_map.empty()) {
    auto text = ConfigurationOf(*leader, *server, patience);
    if (text) {
      return FoundConfiguration{*std::move(text),
                                "ConfigMap " + leader->namespace_ + "/" + leader->config_map,
                                leader->feature_gates};
    }
    if (is_in_vain(text.error())) {
      return Fail(InKubectlsWords(text.error(), server->cluster.server));
    }
  }
  auto said = AskForConfiguration(*leader, flags, std::move(server->user), patience);
  if (said) return *std::move(said);
  PrintNote("Warning: judged by kube-scheduler's default configuration: that of " + leader->Key() +
            " cannot be read (--config names another): " + said.error().message);
  return FoundConfiguration{"", "", leader->feature_gates};
}

// Those of the gates that this release has; a leader may be of another. Says what is left out.
std::vector<std::string> GatesOfToday(const std::vector<std::string>& gates) {
  std::vector<std::string> known;
  for (const std::string& value : gates) {
    for (const std::string& gate : std::vector<std::string>(absl::StrSplit(value, ','))) {
      const auto checked = config::FeatureGates::Parse(std::span(&gate, 1));
      if (checked || checked.error().message.find("unrecognized") == std::string::npos) {
        known.push_back(gate);
      } else {
        PrintNote("Warning: the scheduler's --feature-gates: " + checked.error().message);
      }
    }
  }
  return known;
}

// By the configuration of the cluster and its feature gates, which `run` gets where it has none;
// nullopt: it has none. Errors: also a text that is none.
Result<std::optional<Settings>> SettingsOfTheCluster(const OfflineFlags& flags,
                                                     const InTreePlugins& plugins, RunFlags& run) {
  const auto found = ConfigurationOfTheCluster(flags);
  if (!found) return Fail(found.error());
  if (!*found) return std::nullopt;
  const auto& [text, name, gates] = **found;
  if (run.feature_gates.empty()) run.feature_gates = GatesOfToday(gates);
  if (name.empty()) return std::nullopt;
  auto settings = ResolveSettings(run, plugins, text, name);
  if (!settings) return Fail(settings.error().Within("--config is not given"));
  AddDefaultProfile(run, plugins, settings->configuration);
  PrintNote("Configured by " + name + ".");
  return *std::move(settings);
}

// `gates`: those that count.
Result<Settings> SettingsOf(const OfflineFlags& flags, const InTreePlugins& plugins,
                            std::vector<std::string>& gates) {
  RunFlags run = flags.run;
  std::optional<Settings> of_cluster;
  if (flags.live() && run.config.empty()) {
    auto found = SettingsOfTheCluster(flags, plugins, run);
    if (!found) return Fail(found.error());
    of_cluster = *std::move(found);
  }
  gates = run.feature_gates;
  if (gates != flags.run.feature_gates) {
    PrintNote("Feature gates of the scheduler: " + absl::StrJoin(gates, ",") + ".");
  }
  return of_cluster ? *std::move(of_cluster) : ResolveSettings(run, plugins);
}

}  // namespace

Result<simulator::SimulationOptions> SimulationOptionsOf(const OfflineFlags& flags,
                                                         const InTreePlugins& plugins,
                                                         std::vector<std::string>& gates) {
  auto settings = SettingsOf(flags, plugins, gates);
  if (!settings) return Fail(settings.error());
  PrintWarnings(settings->warnings());
  const Features features = settings->features();
  return SimulationOptionsFor(std::move(settings->configuration), features, flags.seed);
}

Result<RecordedSimulation> MakeSimulation(const OfflineFlags& flags, const InTreePlugins& in_tree,
                                          DecisionListeners listeners) {
  RecordedSimulation made;
  auto resolved = SimulationOptionsOf(flags, in_tree, made.feature_gates);
  if (!resolved) return Fail(resolved.error());
  simulator::SimulationOptions& options = *resolved;
  const auto plugins = WithLoadedPlugins(in_tree, flags.run.plugin_dirs);
  if (!plugins) return Fail(plugins.error());
  options.scheduler.on_cycle = std::move(listeners.on_cycle);
  options.scheduler.on_pod_group = std::move(listeners.on_pod_group);
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

Result<BesideObjects> FillSimulation(const OfflineFlags& flags, simulator::Simulation& simulation,
                                     const std::function<bool()>& interrupted, bool tells) {
  if (!flags.live()) return FillFromFiles(flags, simulation);
  if (auto filled = FillFromServer(flags, simulation, interrupted, tells); !filled)
    return Fail(filled.error());
  return BesideObjects();
}

Result<BesideObjects> FillPicture(const OfflineFlags& flags, simulator::Simulation& simulation,
                                  const std::function<bool()>& interrupted, bool tells) {
  if (flags.live()) return FillSimulation(flags, simulation, interrupted, tells);
  simulation.StartControllers(simulator::ControllersOf::kManifests);
  auto filled = FillSimulation(flags, simulation, interrupted, tells);
  if (!filled) return filled;
  simulation.RunDue();
  simulation.EndControllers();
  return filled;
}

namespace {

Duration ShortPatience(const OfflineFlags& flags) {
  return flags.request_timeout > Duration::zero() ? std::min(flags.request_timeout, kShortPatience)
                                                  : kShortPatience;
}

void WarnOfKind(std::string_view kind, const Error& error) {
  const std::string kinds = std::string(kind) + (kind.ends_with('s') ? "es" : "s");
  PrintNote("Warning: without " + kinds + ": " + error.message);
}

}  // namespace

simulator::AdmissionObjects LiveAdmission(const OfflineFlags& flags) {
  simulator::AdmissionObjects objects;
  const auto server = FindLiveCluster(flags);
  if (!server) return objects;  // reading its objects has failed, too
  for (const simulator::AdmissionKind& kind : simulator::kAdmissionKinds) {
    const auto read = ReadAdmissionObjects(*server, kind, ShortPatience(flags), objects);
    if (!read) WarnOfKind(kind.kind, read.error());
  }
  return objects;
}

std::vector<simulator::PodController> LiveIdleWorkloads(const OfflineFlags& flags) {
  std::vector<simulator::PodController> idle;
  const auto server = FindLiveCluster(flags);
  if (!server) return idle;  // reading its objects has failed, too
  for (const WorkloadKind& kind : kWorkloadKinds) {
    const auto read = ReadIdleWorkloads(*server, kind, ShortPatience(flags), idle);
    if (!read) WarnOfKind(kind.kind, Error{"those without pods: " + read.error().message});
  }
  return idle;
}

questions::FindWorkload LiveWorkloads(const OfflineFlags& flags) {
  return [flags](const questions::Scale& scale) -> Result<std::optional<simulator::PodController>> {
    const auto server = FindLiveCluster(flags);
    if (!server) return Fail(server.error());
    return FindWorkload(*server, scale, ShortPatience(flags));
  };
}

Result<RecordedSimulation> MakePicture(const OfflineFlags& flags, const InTreePlugins& plugins) {
  auto made = MakeSimulation(flags, plugins, {});
  if (!made) return made;
  if (auto filled = FillPicture(flags, *made->simulation); !filled) return Fail(filled.error());
  made->simulation->RunDue();
  return made;
}

std::vector<std::string> WaitingPods(const OfflineFlags& flags,
                                     const simulator::Simulation& simulation) {
  std::vector<std::string> keys;
  for (const auto& pod : simulation.WaitingPods()) {
    if (flags.Shows(pod->metadata.namespace_)) keys.push_back(pod->metadata.Key());
  }
  return keys;
}

}  // namespace berth::app
