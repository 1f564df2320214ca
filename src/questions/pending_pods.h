// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/pod.h"
#include "berth/time.h"
#include "src/explain/pod_list.h"
#include "src/simulator/simulation.h"

namespace berth::questions {

// The pods without a node, grouped by what keeps them there: pods that the same plugins reject for
// the same reasons are one group, on however many nodes each. Each is judged alone, as PodVerdict
// has it, and replicas that are alike but once, so that thousands cost no more than a few.
//
// Thread safety: as the simulation's.
class PendingPods {
 public:
  // `simulation` has its objects and has not started, and stays so; both outlive this. Only the
  // pods of `pod_namespace` are grouped; "": all.
  PendingPods(simulator::Simulation& simulation, const Clock& clock,
              std::string_view pod_namespace = "");

  // Judges on until all are, or `budget` has passed, or the thread's limit of time is up
  // (framework::TimeLimit): then the last pod has yet to be judged.
  void Judge(Duration budget);
  bool complete() const { return next_ == pods_.size(); }

  // Appends {"complete":true,"groups":[...],"judged":7,"pending":7}, the largest group first. A
  // group:
  // {"message":...,"pods":["ns/name"],"reasons":[{"nodes":3,"plugin":...,"reasons":[...]}],
  // "result":"unschedulable"}; `result` is a verdict's, or "held by its pod group". message and
  // reasons are those of its first pod, and may be missing. Where PreFilter ruled nodes out, plugin
  // and reasons are those of explain::Rejection.
  void Append(std::string& out) const;
  // The same for people to read; see explain::AppendPodsAlike().
  void AppendTable(std::string& out) const;

 private:
  using PodPtr = std::shared_ptr<const api::Pod>;
  struct Group : explain::PodsAlike {
    std::string reasons;  // as JSON
  };

  // nullptr: the time was up.
  Group* JudgeOne(const PodPtr& pod);
  // The largest first.
  std::vector<const Group*> GroupsBySize() const;

  simulator::Simulation& simulation_;
  const Clock& clock_;
  std::vector<PodPtr> pods_;  // those alike side by side
  size_t next_ = 0;
  Group* last_ = nullptr;  // of the pod before
  // As the last pod that was judged found its own.
  std::shared_ptr<const engine::PodGroupPreview> pod_group_;
  std::map<std::string, Group> groups_;  // by result and reasons
};

// "shop/Deployment/web", as `berth simulate --scale` has it; of a pod without a controller "". A
// ReplicaSet that a Deployment made, as its pods' label pod-template-hash tells, counts as that.
std::string OwnerOf(const api::Pod& pod);

}  // namespace berth::questions
