// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/simulator/cluster_files.h"
#include "src/simulator/simulation.h"

namespace berth::app {

// What an answer is about.
struct Input {
  uint64_t nodes = 0;
  uint64_t pods = 0;
  uint64_t pending_pods = 0;  // of them
  uint64_t ended_pods = 0;    // beside them
  uint64_t others = 0;
  // Workloads whose pods are among the pods, or will be, by kind.
  std::map<std::string, uint64_t> expanded;
  // Objects of kinds that are not read, by "Secret" or "Deployment.apps".
  std::map<std::string, uint64_t> skipped;

  // "2,000 nodes, 20,120 pods (120 pending), 81 other objects; expanded 1 Deployment; skipped 7
  // ended pods, 1 Deployment (not expanded), 3 Secret".
  std::string ToString() const;
};

// The objects of a simulation that has decided nothing.
Input InputOf(const simulator::Simulation& simulation);
// Objects alone, as those of a live cluster.
Input InputOf(const std::vector<api::ObjectPtr>& objects);
// Those of files.
Input InputOf(const simulator::Cluster& cluster);
// Says it on standard error.
void TellInput(const Input& input);

}  // namespace berth::app
