// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/informers/informer_event.h"
#include "src/simulator/simulation.h"

namespace berth::mirror {

// A pod that the scheduler has chosen a node for, which the API server need not know yet.
struct DecidedPod {
  std::shared_ptr<const api::Pod> pod;
  std::string node;
};

// A picture of the running cluster, kept up by what informers see: a simulation that never starts,
// so that pods can be judged in it, but nothing is decided. What the scheduler has decided and the
// API server has not confirmed counts as done.
//
// Thread safety: one owner.
class Mirror {
 public:
  // `simulation` has no objects.
  explicit Mirror(std::unique_ptr<simulator::Simulation> simulation)
      : simulation_(std::move(simulation)) {}

  // Events of each object in the API server's order. Takes effect with the next RunDue().
  void Take(const informers::InformerEvent& event);
  // Kinds whose kSynced was among the events.
  size_t num_synced() const { return synced_.size(); }
  // All pods that are decided now, instead of those named before.
  void SetDecided(const std::vector<DecidedPod>& pods);
  std::vector<DecidedPod> decided() const;

  simulator::Simulation& simulation() { return *simulation_; }
  // Gives another simulation, which has none, the objects.
  void CopyTo(simulator::Simulation& other) const;

 private:
  void TakePod(const std::shared_ptr<const api::Pod>& pod);

  std::unique_ptr<simulator::Simulation> simulation_;
  std::set<informers::Kind> synced_;
  // By key, as the API server has them: without a node.
  std::map<std::string, DecidedPod> decided_;
  std::map<std::pair<informers::Kind, std::string>, informers::InformerEvent> undecodable_;
};

}  // namespace berth::mirror
