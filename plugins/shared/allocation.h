// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/resources.h"
#include "berth/snapshot.h"
#include "plugins/shared/args_reader.h"

// What the resource scores have in common: they compare, resource by resource, what is allocated
// on a node with what it has to give. Both forms of a score, per node and by column, run the same
// function over a reader of these amounts, so that they cannot differ.
namespace berth::plugins {

// Whether a node's cpu and memory count with defaults for containers that request none.
enum class NodeAmounts { kRequested, kNonZeroRequested };

struct NodeAllocation {
  int64_t allocatable = 0;
  int64_t allocated = 0;
};

// The devices that stand for a resource on nodes which have none of it by themselves. Thread
// safety: the scheduling thread.
class DeviceAmounts {
 public:
  virtual ~DeviceAmounts() = default;
  virtual NodeAllocation On(const api::Node& node) const = 0;
};

// A resource to score for one pod. Scalar resources the pod does not ask for have no term.
struct AllocationTerm {
  ResourceId id = 0;
  int64_t weight = 0;
  int64_t pod_request = 0;
  const DeviceAmounts* devices = nullptr;  // nullptr: none stand for it
};

inline bool CountsDevices(std::span<const AllocationTerm> terms) {
  return std::ranges::any_of(terms,
                             [](const AllocationTerm& term) { return term.devices != nullptr; });
}

// The resources of a score, their names interned. Thread safety: immutable.
class ScoredResources {
 public:
  ScoredResources(std::span<const ResourceSpec> specs, ResourceNames& names);

  size_t size() const { return resources_.size(); }
  // What the pod asks for of each resource, by PodRequests with `options`.
  std::vector<int64_t> PodAmounts(const api::Pod& pod, const PodRequestsOptions& options) const;
  // The terms for those amounts, with the devices that `find` has for scalar resources.
  using FindDevices = std::function<const DeviceAmounts*(std::string_view resource)>;
  std::vector<AllocationTerm> Terms(std::span<const int64_t> pod_amounts,
                                    const FindDevices& find = nullptr) const;

 private:
  struct Resource {
    std::string name;
    ResourceId id = 0;
    int64_t weight = 0;
    bool scalar = false;
  };

  std::vector<Resource> resources_;
};

// `own`, or where the node has none of the resource what devices give it.
inline NodeAllocation OwnOrOfDevices(const NodeAllocation& own, const AllocationTerm& term,
                                     const api::Node& node) {
  return own.allocatable != 0 || term.devices == nullptr ? own : term.devices->On(node);
}

// Reads the amounts of one node.
class ViewAllocations {
 public:
  ViewAllocations(const NodeView& node, std::span<const AllocationTerm> terms, NodeAmounts amounts)
      : node_(node), terms_(terms), amounts_(amounts) {}

  NodeAllocation operator()(size_t term) const {
    const ResourceId id = terms_[term].id;
    const bool non_zero = amounts_ == NodeAmounts::kNonZeroRequested && id <= kMemory;
    return OwnOrOfDevices(
        {node_.allocatable(id), non_zero ? node_.non_zero_requested(id) : node_.requested(id)},
        terms_[term], node_.node());
  }

 private:
  NodeView node_;
  std::span<const AllocationTerm> terms_;
  NodeAmounts amounts_;
};

// Reads the amounts of many nodes, one after another. What is given must outlive it.
class ColumnAllocations {
 public:
  ColumnAllocations(const Snapshot& snapshot, std::span<const AllocationTerm> terms,
                    NodeAmounts amounts);

  void MoveTo(NodeRow row) { row_ = row; }
  NodeAllocation operator()(size_t term) const {
    const NodeAllocation own{columns_[term].allocatable[row_], columns_[term].allocated[row_]};
    // The node object is looked up only where devices may count.
    return terms_[term].devices == nullptr
               ? own
               : OwnOrOfDevices(own, terms_[term], snapshot_->node(row_));
  }

 private:
  struct Columns {
    Column allocatable;
    Column allocated;
  };

  const Snapshot* snapshot_;
  std::span<const AllocationTerm> terms_;
  std::vector<Columns> columns_;
  NodeRow row_ = 0;
};

}  // namespace berth::plugins
