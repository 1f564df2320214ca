// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/result.h"
#include "src/packing/survey.h"
#include "src/plan/plan.h"
#include "src/simulator/simulation.h"

// What the goals kSkew and kStranded are about, in a picture of a cluster.
namespace berth::plan {

// The topology key of a goal that names none.
inline constexpr std::string_view kDefaultTopologyKey = "topology.kubernetes.io/zone";

// The domains of the goal's topology key, as PodTopologySpread counts them for the pod that the
// workload made last: those of the nodes that its node selector and required node affinity match,
// whatever their taints.
class Domains {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  // Errors: the workload has no pod; no such node has the label.
  static Result<Domains> Of(const Goal& goal, const simulator::Simulation& simulation);

  // By value.
  const std::vector<std::string>& values() const { return values_; }
  // Index of the node's domain; kNone: its pods do not count.
  size_t On(std::string_view node) const;
  // How many of the workload's pods that are on nodes and not being deleted each domain has now.
  std::vector<int64_t> Count(const simulator::Simulation& simulation) const;

 private:
  explicit Domains(simulator::Workload workload) : workload_(std::move(workload)) {}

  simulator::Workload workload_;
  std::vector<std::string> values_;
  std::map<std::string, size_t, std::less<>> by_node_;
};

// The largest number minus the smallest.
int64_t SkewOf(const std::vector<int64_t>& pods);

// What is stranded of the goal's resource, by the figures of `berth packing`. Errors: they do not
// have the resource.
Result<packing::Stranding> StrandingOf(const Goal& goal, simulator::Simulation& simulation);
// The goal's amount as the scheduler counts it: cpu in milli-cores.
int64_t AmountOf(const Goal& goal);

// Of a goal that is measured: why it is not reached; "": it is.
std::string WhyNotReached(const Goal& goal, simulator::Simulation& simulation);

}  // namespace berth::plan
