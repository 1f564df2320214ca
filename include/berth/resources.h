// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/api/pod.h"

namespace berth {

// What the devices of a pod's claims take of what its node has of cpu, memory, ephemeral storage
// and huge pages: pod.status.nodeAllocatableResourceClaimStatuses, behind the gate
// DRANodeAllocatableResources. PodRequests counts it with claim_status, PodInfo for placed pods.

// Left in the pod's cycle by the Reserve of the plugin that gives it devices. The scheduler counts
// the pod on its node with them from then on. The plugin writes them in its PreBind; where the pod
// is not bound after all, the scheduler takes that back.
struct NodeAllocatableClaims {
  std::vector<api::NodeAllocatableResourceClaimStatus> statuses;
  // A request to write them has been sent.
  bool sent = false;
};

// Why the pod's pod-level resources do not cover the sum of its containers and claims, in
// kube-scheduler's words; "": they do, or it has none of them.
std::string PodLevelShortage(const api::Pod& pod);

// A resource name, interned by the Snapshot's owner. The first three are fixed.
using ResourceId = uint32_t;
inline constexpr ResourceId kCpu = 0;               // in milli-cores
inline constexpr ResourceId kMemory = 1;            // in bytes
inline constexpr ResourceId kEphemeralStorage = 2;  // in bytes
inline constexpr ResourceId kFirstScalar = 3;       // in whole units

// Gives names their ids; the scheduling state owns the one table. While an id is in use, and long
// after, no other name has it.
class ResourceNames {
 public:
  virtual ~ResourceNames() = default;
  // The id is the name's for good: for the names that a configuration or a plugin's code has.
  virtual ResourceId Intern(std::string_view name) = 0;
  // For the names that objects have, of which there may be any number: the id is the name's while a
  // PodInfo, class or node of the cache has it, and to the end of the running call.
  virtual ResourceId InternPassing(std::string_view name) { return Intern(name); }
  // `id` must be in use.
  virtual std::string_view Name(ResourceId id) const = 0;
};

// Amounts by resource. Scalars are sorted by id; an explicit zero is kept ("present").
struct Resources {
  int64_t milli_cpu = 0;
  int64_t memory = 0;
  int64_t ephemeral_storage = 0;
  std::vector<std::pair<ResourceId, int64_t>> scalars;

  int64_t Get(ResourceId id) const;
  // Saturates.
  void Add(ResourceId id, int64_t amount);
  friend bool operator==(const Resources&, const Resources&) = default;
};

// Calls visit(id, amount) for each resource of which there is some.
template <typename Visit>
void ForEachAmount(const Resources& resources, Visit visit) {
  const std::pair<ResourceId, int64_t> fixed[] = {{kCpu, resources.milli_cpu},
                                                  {kMemory, resources.memory},
                                                  {kEphemeralStorage, resources.ephemeral_storage}};
  for (const auto& [id, amount] : fixed) {
    if (amount > 0) visit(id, amount);
  }
  for (const auto& [id, amount] : resources.scalars) {
    if (amount > 0) visit(id, amount);
  }
}

// The defaults that stand in for a container's missing request when scoring.
inline constexpr int64_t kDefaultMilliCpuRequest = 100;
inline constexpr int64_t kDefaultMemoryRequest = int64_t{200} * 1024 * 1024;

// How pod requests are added up; see k8s.io/component-helpers resource.PodRequests.
struct PodRequestsOptions {
  // Also count what the kubelet has allocated or actuated (placed pods, in-place resize).
  bool use_status = false;
  // With it, also what the devices of its claims take of the node (berth/node_allocatable.h). As
  // upstream, this counts for what is placed, with the gate DRANodeAllocatableResources, and for
  // the room that claims need; never in scores and hints.
  bool claim_status = false;
  // spec.resources (pod-level) replaces what the containers add up to.
  bool pod_level = true;
  // Also honour pod-level allocations in the status (gate InPlacePodLevelResourcesVerticalScaling).
  bool pod_level_status = true;
  // Missing cpu and memory requests of a container count as the defaults above.
  bool non_missing = false;
};

// The effective requests of a pod: the larger of the running containers' sum and every init
// step, restartable init containers (sidecars) included, then pod-level values, then overhead.
// Sorted by name. Errors: none; amounts saturate.
api::ResourceList PodRequests(const api::Pod& pod, const PodRequestsOptions& options);
// The effective limits that the spec sets, added up in the same way; overhead counts only for what
// has a limit.
api::ResourceList PodLimits(const api::Pod& pod);

// Whether the pod runs on a node, where the kubelet has put off a resize until there is room.
bool IsResizeDeferred(const api::Pod& pod);

// Requests and allocatable amounts as the scheduler counts them: cpu in milli-cores, all else in
// whole units, both rounded up, and at least 0. Names that are no scheduling resource are dropped:
// kept are cpu, memory, ephemeral-storage, and scalars for which IsScalarResourceName holds; their
// ids are those of InternPassing().
Resources ToResources(const api::ResourceList& list, ResourceNames& names);

// Extended, hugepages-*, prefixed native (*kubernetes.io/*) and attachable-volumes-* names.
bool IsScalarResourceName(std::string_view name);
// A fully qualified name outside kubernetes.io, such as nvidia.com/gpu.
bool IsExtendedResourceName(std::string_view name);

}  // namespace berth
