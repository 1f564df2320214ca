// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/node.h"
#include "berth/api/pod.h"
#include "berth/in_tree/eviction.h"
#include "berth/result.h"
#include "src/questions/replicas.h"
#include "src/simulator/simulation.h"

namespace berth::questions {

// Changes of nodes in a simulation that has started and settled. Each settles it again.
//
// Thread safety: as the simulation's.
// Cordons the node; its pods stay. Nothing runs yet. Errors: there is no such node.
Result<void> Cordon(std::string_view name, simulator::Simulation& simulation);

// Nodes with the shape of this one; see NodeLike. Errors: there is no such node.
Result<void> AddNodes(size_t count, std::string_view like, simulator::Simulation& simulation);

// What the PodDisruptionBudgets allow over all changes of one question: each pod that is lost
// counts until the one in its place has a node, which then runs as the other did.
//
// Thread safety: one owner.
class Disruptions {
 public:
  // Nothing is lost yet. The simulation must outlive this.
  explicit Disruptions(const simulator::Simulation& simulation);

  Leave Ask(const api::Pod& pod) const;
  std::vector<std::string> BudgetsOf(const api::Pod& pod) const { return budgets_.Of(pod); }
  // The pod, which is still there, goes now.
  void Add(const PodPtr& pod);
  // Takes in which pods have nodes by now.
  void Update();
  // The budget is `after` from now on, besides what is lost.
  void Replace(const api::PodDisruptionBudget& before, const api::PodDisruptionBudget& after) {
    budgets_.Replace(before, after);
  }

 private:
  const simulator::Simulation& simulation_;
  EvictionBudgets budgets_;
  std::vector<PodPtr> lost_;                // those that count, as they were
  std::map<std::string, PodPtr> replaced_;  // those that count no more, by key
};

// The node fails: its pods go with it, whatever budgets say, and those of controllers other than
// DaemonSets come back under their names. Errors: there is no such node.
Result<void> RemoveNode(std::string_view name, Disruptions& disruptions,
                        simulator::Simulation& simulation);

// What became of a drain. A pod that was being deleted already is in none of these lists, unless a
// StatefulSet makes it again.
struct Drained {
  // A pod that stays, since the API server refuses its eviction.
  struct Stopped {
    std::string pod;
    std::vector<std::string> budgets;  // namespace/name
  };
  std::string node;
  std::vector<Stopped> stopped;
  std::vector<std::string> homeless;   // evicted; they come back, and fit nowhere
  std::vector<std::string> unmanaged;  // evicted; no controller makes them again
  std::vector<std::string> moved;      // evicted; they are elsewhere
  // Of those evicted, the ones with an emptyDir volume, whose data is lost.
  std::vector<std::string> with_empty_dir;

  bool ok() const { return stopped.empty() && homeless.empty(); }
};

// Cordons the node and evicts its pods one after the other, by name, as `kubectl drain --force
// --ignore-daemonsets --delete-emptydir-data` does; those of DaemonSets and kubelets stay. An
// eviction is refused while the pod's budget allows none, or where it has several. Pods that have
// not begun to run, or are being deleted, need no budget's leave; nor do those that are not ready
// where the budget's unhealthyPodEvictionPolicy lets them go. Goes on while evictions are granted.
// Errors: there is no such node.
Result<Drained> Drain(std::string_view name, Disruptions& disruptions,
                      simulator::Simulation& simulation);

}  // namespace berth::questions
