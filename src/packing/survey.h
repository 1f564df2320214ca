// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/api/node.h"
#include "berth/resources.h"
#include "src/base/string_map.h"
#include "src/cache/cache.h"
#include "src/packing/figures.h"
#include "src/scheduler/pod_store.h"

namespace berth::packing {

// The labels by which clouds and autoscalers name the pool of a node; the first that a node has
// counts. A node of none of them goes by its instance type.
inline constexpr std::array<std::string_view, 5> kNodePoolLabels = {
    "cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup", "karpenter.sh/nodepool",
    "kubernetes.azure.com/agentpool", "node.kubernetes.io/instance-type"};

// The pool that the node is in: the value of a label of it, so good as long as the node; "" where
// it has none of the labels.
std::string_view NodePoolOf(const api::Node& node);

// What a pod requests, as an index into a ShapeTable.
using ShapeId = uint32_t;
// How many pods have a shape.
using ShapeCounts = absl::flat_hash_map<ShapeId, uint64_t>;

// The distinct request vectors of pods. Amounts of zero are no part of one.
//
// Thread safety: one owner.
class ShapeTable {
 public:
  // nullopt: the pod requests nothing. `names` must know the ids of the requests.
  std::optional<ShapeId> Intern(const Resources& requests, const ResourceNames& names);
  const Resources& shape(ShapeId id) const { return shapes_[id]; }
  // Of a resource that a shape names, also when `names` has forgotten it.
  std::string_view NameOf(ResourceId id) const;
  size_t size() const { return shapes_.size(); }

  // The most frequent shapes, first the one that most pods have: as many as it takes to cover nine
  // tenths of the pods, but at most `most`. Between equal ones the larger amount of cpu, memory,
  // ephemeral storage and then of the other resources by name decides.
  std::vector<ShapeId> MostFrequent(const ShapeCounts& counts, size_t most) const;

 private:
  struct Hash {
    size_t operator()(const Resources& requests) const;
  };
  using Named = std::vector<std::pair<std::string_view, int64_t>>;

  bool IsLarger(ShapeId a, ShapeId b) const;
  Named NamedScalars(const Resources& requests) const;

  absl::flat_hash_map<Resources, ShapeId, Hash> ids_;
  std::vector<Resources> shapes_;
  absl::flat_hash_map<ResourceId, std::string> names_;  // of scalars
};

// A node that strands some of a resource.
struct StrandedNode {
  NodeRow row = 0;
  int64_t amount = 0;
  // Those of the shapes that ask for the resource and would find enough of it: each lacks another
  // one there, or a slot.
  std::vector<Resources> shapes = {};
};

// What is stranded of one resource, and where.
struct Stranding {
  int64_t amount = 0;  // over all pools, as the figures have it
  size_t pools = 0;
  std::vector<StrandedNode> nodes = {};  // by row
};

// Computes the figures of a cluster in small steps, between which the cluster may change: then each
// node counts as it was when its step was made. Every node is looked at twice: first for its pool
// and its pods, then, once it is known which pods are typical, for what is free on it.
//
// A step takes time in the pods of one node, or in the shapes of one pool. The memory is that of
// the nodes and the distinct shapes, not of the pods.
//
// Thread safety: that of the cache.
class Survey {
 public:
  Survey() = default;
  // Also says how many pods of that namespace there are, and what they request.
  explicit Survey(std::string_view pod_namespace) {
    figures_.of_namespace.emplace().namespace_ = pod_namespace;
  }

  // Also says which nodes strand this resource; before the first step.
  void Watch(std::string_view resource) { watched_ = resource; }

  // False: the survey is complete. Both must be the same at each step.
  bool Step(const cache::Cache& cache, const scheduler::PodStore& pending);
  // Of a complete survey, once.
  Figures Take() { return std::move(figures_); }
  // The same of what is watched; nullopt: there are no figures of that resource.
  std::optional<Stranding> TakeStranding();

 private:
  enum class Phase { kPods, kPendingPods, kPools, kShapes, kNodes, kDone };

  // One resource of a shape: index into resources_, and how much.
  using Amounts = std::vector<std::pair<uint32_t, int64_t>>;

  struct Pool {
    std::string name;
    size_t nodes = 0;
    // Of the pods that are not tied to their nodes: pods of DaemonSets and static pods are.
    ShapeCounts shapes = {};
    Resources requested = {};
    Resources requested_there = {};  // by all pods of the namespace that is named
    int64_t pods = 0;
    size_t used_nodes = 0;
    // Chosen once all pods are counted; the first is the typical pod.
    std::vector<Amounts> typical = {};
    // The most that a node has for pods that are not tied to it, by resources_; pods last.
    std::vector<int64_t> largest_capacity = {};
    PoolFigures figures = {};
  };
  struct Row {
    uint32_t pool = UINT32_MAX;
    // Of the pods that are tied to the node.
    Resources tied = {};
    int64_t tied_pods = 0;
  };
  struct Offered {
    std::string name;
    size_t nodes = 0;
  };

  // Whether the pod is of the namespace that is named.
  bool IsThere(const PodInfo& pod) const;
  void CountPods(const cache::Cache& cache, NodeRow row);
  void CountPod(const cache::Cache& cache, const PodInfo& pod, Pool& pool);
  void CountPending(const cache::Cache& cache, const PodInfo& pod);
  void MergePools();
  void ChooseResources();
  void ChooseShapes(Pool& pool);
  uint32_t IndexOf(ResourceId id);
  std::vector<Amounts> AmountsOf(const std::vector<ShapeId>& shapes);
  NamedAmounts NamedAmountsOf(ShapeId id) const;

  void MeasureNode(const cache::Cache& cache, NodeRow row);
  void CountOvercommitted(const cache::Cache& cache, NodeRow row);
  void MeasureOpenNode(NodeRow row, int64_t slots, Pool& pool);
  bool Fits(const Amounts& shape) const;
  void AddStranded(NodeRow row, bool has_slot, Pool& pool);
  void AddWatched(NodeRow row, const Pool& pool);
  void Finish();

  Phase phase_ = Phase::kPods;
  size_t next_ = 0;  // row, slot of the store, or pool
  std::vector<Row> rows_;
  std::vector<Pool> pools_;
  base::StringMap<uint32_t> pool_by_name_;
  ShapeTable shapes_;
  ShapeCounts cluster_shapes_;
  ShapeCounts pending_shapes_;
  absl::flat_hash_map<ResourceId, Offered> offered_;  // scalars

  // First those that are shown, then those that shapes ask for besides.
  std::vector<ResourceId> resources_;
  size_t shown_ = 0;
  absl::flat_hash_map<ResourceId, uint32_t> index_;
  std::vector<Amounts> pending_;
  std::vector<int64_t> free_;  // of the node that is measured, by resources_
  std::vector<char> usable_, hindered_;
  Figures figures_;
  std::string watched_;  // a resource; "": none
  std::optional<uint32_t> watched_index_;
  Stranding stranding_;  // of it
};

// All steps at once. `pod_namespace` "": none is named.
Figures Measure(const cache::Cache& cache, const scheduler::PodStore& pending,
                std::string_view pod_namespace);

// What is stranded of the resource, as the figures have it, by node. nullopt: they do not have it,
// as no node offers it or more nodes offer eight others.
std::optional<Stranding> MeasureStranding(const cache::Cache& cache,
                                          const scheduler::PodStore& pending,
                                          std::string_view resource);

}  // namespace berth::packing
