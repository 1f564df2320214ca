// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/pod.h"
#include "src/simulator/simulation.h"

namespace berth::simulator {

// The controller of pods, as a person names it.
struct Workload {
  std::string namespace_ = {};
  std::string kind = {};  // Deployment, ReplicaSet, StatefulSet, Job, ...
  std::string name = {};

  // Kubernetes' name of a kind that kubectl knows by this word, in any case: "deploy",
  // "deployments.apps", "Deployment"; any other word as it is.
  static std::string KindOf(std::string_view word);
  // "shop/Deployment/web", the kind as KindOf() has it; "deploy/web" leaves the namespace empty.
  // nullopt: text of another form.
  static std::optional<Workload> Parse(std::string_view text);
  // "shop/Deployment/web".
  std::string ToString() const;

  friend bool operator==(const Workload&, const Workload&) = default;
};

// The name of a node without kubectl's word for nodes, in any case: "n1" of "n1", "node/n1" and
// "Nodes/n1".
std::string_view NodeNameIn(std::string_view text);

// Its pods, by key. Those of a Deployment are the pods of its ReplicaSets, which must be in the
// picture. Pods that are being deleted count for a StatefulSet alone.
std::vector<std::shared_ptr<const api::Pod>> PodsMadeBy(const Workload& workload,
                                                        const Simulation& simulation);

// Of a workload that has no pod: which kind or workload was probably meant, as "; did you mean
// ...?" or "; there is ...". "": none.
std::string MeantInsteadOf(const Workload& workload, const Simulation& simulation);

// What its annotation controller.kubernetes.io/pod-deletion-cost says; 0 without one.
int64_t DeletionCostOf(const api::Pod& pod);

}  // namespace berth::simulator
