// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/pod.h"
#include "berth/in_tree/eviction.h"
#include "berth/result.h"
#include "src/simulator/admission.h"
#include "src/simulator/simulation.h"
#include "src/simulator/workload.h"

namespace berth::questions {

// Pods and those who make them, as far as a picture of a cluster tells.
using PodPtr = std::shared_ptr<const api::Pod>;

// All pods that come back are pending at once, the oldest first, and scheduled. Settles the
// simulation, which has started.
void Reschedule(simulator::Simulation& simulation);

// Lets the scheduler decide until all is quiet; see Simulation.
void Settle(simulator::Simulation& simulation);

// More are no question any more.
inline constexpr size_t kMostReplicas = 100'000;

// How many pods a controller is to have.
struct Scale : simulator::Workload {
  size_t replicas = 0;

  // "shop/Deployment/web=5", or without the namespace as Workload::Parse() has it. Errors: text of
  // another form, more than 100,000 replicas.
  static Result<Scale> Parse(std::string_view text);
};

// More pods are copies of one that is there, without a node; those of a StatefulSet have claims of
// their own, which are made where they are not there. Fewer are those that the controller
// would take: of a StatefulSet those with the highest ordinals; of others those without a node
// first, then those that do not run or are not ready, of the lowest deletion cost, beside the most
// of their like, ready or created last (within powers of two of their age). The pods of a
// Deployment are those of its ReplicaSets, which must be in the picture. Settles the simulation,
// which has started. Pods that are being deleted count for a StatefulSet alone.
//
// Errors: the controller has no pod to make copies of.
Result<void> Carry(const Scale& scale, simulator::Simulation& simulation);

// Whether Carry() finds a pod to make copies of.
bool HasPods(const Scale& scale, const simulator::Simulation& simulation);

// More are no question any more.
inline constexpr size_t kMostCopies = 100'000;

struct Filled {
  size_t pods = 0;
  std::map<std::string, size_t> by_node;
  std::set<std::string> keys;  // of the copies that have a node
  // The message to the next one; "": `most` was reached.
  std::string stopped_by;
};

// Adds copies of `pod` to a simulation that has started, until one fits nowhere, up to `most`. They
// are decided one by one, as they would be in a cluster, and evict no one for themselves. The
// copies that have a node stay; the others are taken away.
Filled Fill(const std::shared_ptr<const api::Pod>& pod, simulator::Simulation& simulation,
            size_t most = kMostCopies);

// What admission makes of the pods that questions bring. No scheduler watches what it goes by:
// files and questions state it, and pods of the cluster tell what their PriorityClasses mean, since
// the API server writes that into each.
//
// Thread safety: one owner.
class Admission {
 public:
  // `simulation` outlives this; its pods are looked at when the first class is asked for that is
  // not stated.
  explicit Admission(const simulator::Simulation& simulation) : simulation_(simulation) {}

  void Add(const simulator::AdmissionObjects& stated) { admission_.Add(stated); }
  // The pod, which has its defaults, as the API server would store it. Errors: it would refuse it.
  Result<PodPtr> Admit(const PodPtr& pod);

 private:
  const simulator::Simulation& simulation_;
  simulator::Admission admission_;
  bool seen_ = false;  // the pods of the simulation
};

}  // namespace berth::questions
