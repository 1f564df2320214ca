// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/api/node.h"
#include "berth/api/node_resource_topology.h"
#include "berth/api/pod.h"
#include "berth/api/quantity.h"

// What a kubelet's Topology Manager would do with a pod, as far as a NodeResourceTopology says: the
// model of NodeResourceTopologyMatch in kubernetes-sigs/scheduler-plugins v0.34.7
// (pkg/noderesourcetopology). Pure functions.
//
// Thread safety: any thread.
namespace berth::plugins {

enum class QosClass : uint8_t { kGuaranteed, kBurstable, kBestEffort };
// As the API server writes it to status.qosClass (k8s.io/kubernetes pkg/apis/core/v1/helper/qos).
QosClass QosClassOf(const api::Pod& pod);

// Whether the kubelet knows the resource itself; others are extended ones, which device plugins
// bring.
bool IsNativeResource(std::string_view resource);
// Whether a container that asks for a resource of that name gets it for itself alone.
bool IsExclusive(QosClass qos, std::string_view resource, const api::Quantity& quantity);
bool AsksForExclusiveResources(const api::Pod& pod);
// Whether a container asks for an extended resource, be it for none of it.
bool AsksForDevices(const api::Pod& pod);

// What the pod takes at once: the larger one of what its containers ask for together and of what an
// init container asks for, and its overhead.
api::ResourceList EffectiveRequests(const api::Pod& pod);

// What is read of a pod's requests for each node, worked out once.
struct NumaRequests {
  QosClass qos = QosClass::kBestEffort;
  bool devices = false;      // it asks for some
  api::ResourceList of_pod;  // EffectiveRequests()
  size_t count = 0;          // of requests, those of containers and those of the pod

  size_t bytes() const { return of_pod.size() * sizeof(api::ResourceList::value_type); }
};
NumaRequests NumaRequestsOf(const api::Pod& pod);

struct TopologyManager {
  enum class Policy : uint8_t { kNone, kBestEffort, kRestricted, kSingleNumaNode };
  enum class Scope : uint8_t { kContainer, kPod };

  Policy policy = Policy::kNone;
  Scope scope = Scope::kContainer;
  int64_t max_numa_nodes = 8;  // 2 to 1024

  bool single_numa_node() const { return policy == Policy::kSingleNumaNode; }
  friend bool operator==(const TopologyManager&, const TopologyManager&) = default;
};
// Attributes count before topologyPolicies; values that mean nothing are passed over.
TopologyManager TopologyManagerOf(const api::NodeResourceTopology& topology);

struct NumaNode {
  int id = 0;                                  // 0 to 63
  api::ResourceList available;                 // sorted by name
  std::vector<std::pair<int, int64_t>> costs;  // by id, of those that are stated

  friend bool operator==(const NumaNode&, const NumaNode&) = default;
};
// In the order of the object; zones of another type or without such a name are left out.
std::vector<NumaNode> NumaNodesOf(const api::NodeResourceTopology& topology);

// Takes the requests from every NUMA node, since on which one they are is not known; where that is
// too much, nothing is left.
void TakeFromEach(const api::ResourceList& requests, std::span<NumaNode> numa_nodes);

// What keeps a pod off a node of the policy single-numa-node.
enum class Misfit : uint8_t { kNone, kInitContainer, kSidecarContainer, kContainer, kPod };
Misfit FindMisfit(const api::Pod& pod, const NumaRequests& requests, TopologyManager::Scope scope,
                  const api::Node& node, std::span<const NumaNode> numa_nodes);

// What each NUMA node lacks first of the pod's requests, for people: "node-0 has 4 of 6 cpu, ...".
// Of more than four NUMA nodes the first four.
std::string LackOf(const NumaRequests& requests, std::span<const NumaNode> numa_nodes);

enum class NumaStrategy : uint8_t {
  kLeastAllocated,
  kMostAllocated,
  kBalancedAllocation,
  kLeastNumaNodes,
};
// A resource and its weight; those that are not named have 1.
using NumaWeights = std::vector<std::pair<std::string, int64_t>>;

// Above so many zones LeastNUMANodes scores 0: it looks at all sets of them.
inline constexpr size_t kMostZonesToCombine = 16;
// The score of a node for a Guaranteed pod, 0 to 100.
int64_t NumaScore(const api::Pod& pod, const NumaRequests& requests, NumaStrategy strategy,
                  const NumaWeights& weights, const TopologyManager& manager,
                  std::span<const NumaNode> numa_nodes);

}  // namespace berth::plugins
