// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/app/in_tree_plugins.h"
#include "src/app/offline_flags.h"
#include "src/recording/recorder.h"
#include "src/simulator/simulation.h"

namespace berth::app {

// A simulation, with the recorder that hears of it: nullptr without --record.
struct RecordedSimulation {
  std::unique_ptr<recording::Recorder> recorder;
  std::unique_ptr<simulator::Simulation> simulation;
};

// What hears of decisions; each may be empty.
struct DecisionListeners {
  std::function<void(const scheduler::CycleOutcome&)> on_cycle;
  std::function<void(const scheduler::PodGroupOutcome&)> on_pod_group;
};

// What simulations are made with that decide as the flags ask. Errors: a bad configuration or
// feature gate.
Result<simulator::SimulationOptions> SimulationOptionsOf(const OfflineFlags& flags,
                                                         const InTreePlugins& plugins);
// The same for a configuration that has been read.
simulator::SimulationOptions SimulationOptionsFor(config::SchedulerConfiguration configuration,
                                                  const Features& features, uint64_t seed);

// One with the configuration that the flags ask for, and no objects yet.
// Errors: a bad configuration, feature gate or profile; a recording that cannot be begun.
Result<RecordedSimulation> MakeSimulation(const OfflineFlags& flags, const InTreePlugins& plugins,
                                          DecisionListeners listeners);

// Puts what the flags name into the simulation: the dumps, or the live cluster, which is given up
// soon once `interrupted` says yes. Errors: it cannot be read.
Result<void> FillSimulation(const OfflineFlags& flags, simulator::Simulation& simulation,
                            const std::function<bool()>& interrupted = nullptr);

// Both, and the objects are taken in; nothing is decided, as the simulation is not started.
Result<RecordedSimulation> MakePicture(const OfflineFlags& flags, const InTreePlugins& plugins);

// Keys of the pods without a node, sorted.
std::vector<std::string> PendingPods(const simulator::Simulation& simulation);

}  // namespace berth::app
