// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "src/engine/judgement.h"
#include "src/fixes/apply.h"
#include "src/simulator/simulation.h"

namespace berth::fixes {

// A cluster in which changes are made one on top of the other, each judged by the real engine, and
// taken back in the reverse order. What is left at the end of its life is taken back, too.
//
// Thread safety: one owner.
class TrialCluster {
 public:
  // `simulation` has not started and has taken its objects in; it must outlive the trial, and only
  // the trial may change it meanwhile. `pod` is the pending pod that is judged.
  TrialCluster(simulator::Simulation& simulation, std::shared_ptr<const api::Pod> pod);
  TrialCluster(const TrialCluster&) = delete;
  TrialCluster& operator=(const TrialCluster&) = delete;
  ~TrialCluster() { TakeBackTo(0); }

  // False, and nothing is changed, where it cannot be applied.
  bool Make(const explain::Change& change);
  // Makes another version of the pod the one that is judged, and that the cluster knows; as a
  // change.
  void Tell(const std::shared_ptr<const api::Pod>& pod);
  // How many changes are made.
  size_t depth() const { return made_.size(); }
  // Takes the last ones back until so many are left.
  void TakeBackTo(size_t depth);

  // What the pod's profile makes of the pod as it is now; of use until the next change.
  std::unique_ptr<engine::Judgement> Judge();
  // Whether a node takes the pod.
  bool Schedules() { return Judge()->kind() == engine::Judgement::Kind::kScheduled; }
  // How often a judgement was made.
  size_t judged() const { return judged_; }

  const api::Pod& pod() const { return *pod_; }
  const simulator::MemoryApi& objects() const { return simulation_.api(); }

 private:
  // What a change took the place of; monostate: nothing was there.
  struct Before {
    std::shared_ptr<const api::Pod> pod;
    std::vector<std::pair<std::pair<informers::Kind, std::string>, api::ObjectPtr>> objects;
  };

  simulator::Simulation& simulation_;
  std::shared_ptr<const api::Pod> pod_;
  const std::string pod_key_;
  std::vector<Before> made_;
  size_t judged_ = 0;
};

}  // namespace berth::fixes
