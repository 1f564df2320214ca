// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/api/pod.h"
#include "src/engine/judgement.h"
#include "src/explain/change.h"
#include "src/simulator/memory_api.h"
#include "src/simulator/simulation.h"

namespace berth::questions {

// Objects that come or take the place of those of the same name, and objects that go.
struct Delta {
  std::vector<api::ObjectPtr> put;
  std::vector<std::pair<informers::Kind, std::string>> removed;  // by key
};

// The result of a change for `pod` in the cluster that `objects` holds; nothing is changed there.
// nullopt: it means an object that is not there.
std::optional<Delta> Apply(const explain::Change& change, const api::Pod& pod,
                           const simulator::MemoryApi& objects);

// A node like the one named, as Apply() adds it, with all that comes with it; the node first.
// nullopt: there is no such node.
std::optional<Delta> NodeLike(std::string_view name, const simulator::MemoryApi& objects);
std::optional<Delta> NodeLike(const explain::AddNode& change, const simulator::MemoryApi& objects);

// Whether the taint tells of a node's state, which a new node does not have.
bool TellsOfState(const api::Taint& taint);

// Each carries a change out on a copy of the pod; false: the pod has nothing that it could change.
bool ChangePod(const explain::LowerRequest& change, api::Pod& pod);
bool ChangePod(const explain::Tolerate& change, api::Pod& pod);
bool ChangePod(const explain::DropNodeSelector& change, api::Pod& pod);
bool ChangePod(const explain::DropNodeAffinity& change, api::Pod& pod);
bool ChangePod(const explain::WidenNodeAffinity& change, api::Pod& pod);
bool ChangePod(const explain::DropPodAffinity& change, api::Pod& pod);
bool ChangePod(const explain::RelaxSpread& change, api::Pod& pod);
bool ChangePod(const explain::SpreadAnyway& change, api::Pod& pod);
bool ChangePod(const explain::HonorTaints& change, api::Pod& pod);
bool ChangePod(const explain::LowerMinDomains& change, api::Pod& pod);
bool ChangePod(const explain::DropHostPort& change, api::Pod& pod);

inline constexpr std::string_view kDoNotSchedule = "DoNotSchedule";
inline constexpr std::string_view kHonor = "Honor";

// What a pod asks for, counted as the scheduler counts it: cpu in milli-cores, all else in whole
// units, rounded up.
int64_t Amount(std::string_view resource, const api::Quantity& quantity);
// `like` gives the form in which it is written.
api::Quantity FromAmount(std::string_view resource, int64_t amount, const api::Quantity& like);

// The effective request: containers, init steps, sidecars, pod-level resources and overhead.
api::Quantity EffectiveRequest(const api::Pod& pod, std::string_view resource);
// The resources of which the pod asks for more than nothing; sorted.
std::vector<std::string> RequestedResources(const api::Pod& pod);

// The pod with an effective request of `amount`, or of its overhead where that is more: the
// containers that run together give up equal parts of what they ask for, init containers no more
// than they must. Limits of resources that cannot be overcommitted follow their requests.
api::Pod WithRequest(const api::Pod& pod, std::string_view resource, int64_t amount);

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
  void Replace(const std::shared_ptr<const api::Pod>& pod);
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

}  // namespace berth::questions
