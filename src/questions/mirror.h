// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "src/informers/informer_event.h"
#include "src/scheduler/binding_cycles.h"
#include "src/simulator/simulation.h"

namespace berth::questions {

// A picture of the running cluster, kept up by what informers see: a simulation that never starts,
// so that pods can be judged in it, but nothing is decided. What the scheduler has decided and the
// API server has not confirmed counts as done: from the decision on, until the scheduler takes it
// back, or the informers show the pod on a node, about to be deleted, or gone.
//
// Thread safety: one owner.
class Mirror {
 public:
  // `simulation` has no objects.
  explicit Mirror(std::unique_ptr<simulator::Simulation> simulation)
      : simulation_(std::move(simulation)) {}

  // Events of each object in the API server's order. Takes effect with the next RunDue().
  void Take(const informers::InformerEvent& event);
  // Decisions in the scheduler's order, each after the event that brought the scheduler the
  // pod; those from before the informers' first lists may come before these.
  void Take(const scheduler::PodAssignment& decision);
  // Kinds whose kSynced was among the events.
  size_t num_synced() const { return synced_.size(); }
  // Calls `work` while the pod waits as if nothing had been decided of it.
  void WithoutDecision(const std::string& pod_key, const std::function<void()>& work);
  size_t num_decided() const { return decided_.size(); }

  simulator::Simulation& simulation() { return *simulation_; }
  // Gives another simulation, which has none, the objects.
  void CopyTo(simulator::Simulation& other) const;

 private:
  // By key; the pods as the API server has them: without a node.
  using Decisions = std::map<std::string, scheduler::PodAssignment>;

  void TakePod(const std::shared_ptr<const api::Pod>& pod);
  void TakeBack(Decisions::iterator decided);

  std::unique_ptr<simulator::Simulation> simulation_;
  std::set<informers::Kind> synced_;
  Decisions decided_;
  Decisions early_;  // of pods that the first list has yet to bring
  std::map<std::pair<informers::Kind, std::string>, informers::InformerEvent> undecodable_;
};

}  // namespace berth::questions
