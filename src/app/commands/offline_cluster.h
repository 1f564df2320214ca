// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/app/daemon/in_tree_plugins.h"
#include "src/app/flags/offline_flags.h"
#include "src/questions/what_if.h"
#include "src/recording/recorder.h"
#include "src/simulator/cluster_files.h"
#include "src/simulator/simulation.h"
#include "src/ui/api.h"

namespace berth::app {

// A simulation, with its recorder: nullptr without --record.
struct RecordedSimulation {
  std::unique_ptr<recording::Recorder> recorder;
  std::unique_ptr<simulator::Simulation> simulation;
  std::vector<std::string> feature_gates;  // that count, as --feature-gates has them
};

// What dumps hold that no scheduler watches.
struct BesideObjects {
  simulator::AdmissionObjects admission;
  std::vector<simulator::PodController> idle;  // workloads without pods
  // What they are, and what was odd about them, for people.
  ui::Reading reading;
};

// What gets the decisions; each may be empty.
struct DecisionListeners {
  std::function<void(const scheduler::CycleOutcome&)> on_cycle;
  std::function<void(const scheduler::PodGroupOutcome&)> on_pod_group;
};

// What was odd about a cluster that was read from files; at most a hundred of each kind.
std::vector<std::string> WarningsOf(const simulator::Cluster& cluster);
// The same of objects that a server has, up to a hundred.
std::vector<std::string> WarningsOf(const std::vector<api::ObjectPtr>& objects);
// On standard error, as kubectl prints them ("Warning: ...").
void PrintWarnings(const std::vector<std::string>& warnings);

// That of a configuration with extenders, for people.
inline constexpr std::string_view kWithoutExtenders =
    "the extenders of the configuration are not asked: what follows is decided without them";

// What simulations are made with that decide as the flags ask or, where they name no configuration,
// as the Berth in the live cluster does, besides kube-scheduler's default; what that is goes to
// standard error. `gates` are the feature gates that count: where the flags name neither them nor a
// configuration, that Berth's. Errors: a bad configuration or feature gate; the API server cannot
// be asked.
Result<simulator::SimulationOptions> SimulationOptionsOf(const OfflineFlags& flags,
                                                         const InTreePlugins& plugins,
                                                         std::vector<std::string>& gates);
// The same for a configuration that has been read.
simulator::SimulationOptions SimulationOptionsFor(config::SchedulerConfiguration configuration,
                                                  const Features& features, uint64_t seed);

// One with the configuration that the flags ask for, and no objects yet.
// Errors: a bad configuration, feature gate or profile; a recording that cannot be begun.
Result<RecordedSimulation> MakeSimulation(const OfflineFlags& flags, const InTreePlugins& plugins,
                                          DecisionListeners listeners);

// Puts what the flags name into the simulation: the dumps, or the live cluster, which is given up
// soon once `interrupted` says yes. Says on standard error what was read and what is odd about it,
// of a live cluster where it `tells`. Errors: it cannot be read; the dumps hold no node or no pod,
// and no question adds some. Returns what the dumps hold beside that; nothing of a live cluster.
Result<BesideObjects> FillSimulation(const OfflineFlags& flags, simulator::Simulation& simulation,
                                     const std::function<bool()>& interrupted = nullptr,
                                     bool tells = true);

// The same for a picture, in which nothing is decided: of dumps, with what the controllers of a
// cluster would have done by now about manifests.
Result<BesideObjects> FillPicture(const OfflineFlags& flags, simulator::Simulation& simulation,
                                  const std::function<bool()>& interrupted = nullptr,
                                  bool tells = true);

// What admission goes by in the live cluster; without a kind that cannot be read, with a warning on
// standard error.
simulator::AdmissionObjects LiveAdmission(const OfflineFlags& flags);

// The live cluster's workloads that are to have no pods; without a kind that cannot be read, with a
// warning on standard error.
std::vector<simulator::PodController> LiveIdleWorkloads(const OfflineFlags& flags);
// Finds workloads of the live cluster. Any thread.
questions::FindWorkload LiveWorkloads(const OfflineFlags& flags);

// Both, and the objects are taken in; nothing is decided, as the simulation is not started.
Result<RecordedSimulation> MakePicture(const OfflineFlags& flags, const InTreePlugins& plugins);

// Keys of the pods that wait and are to be shown, sorted.
std::vector<std::string> WaitingPods(const OfflineFlags& flags,
                                     const simulator::Simulation& simulation);

}  // namespace berth::app
