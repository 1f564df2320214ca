// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
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

// A resource to score for one pod. Scalar resources the pod does not ask for have no term.
struct AllocationTerm {
  ResourceId id = 0;
  int64_t weight = 0;
  int64_t pod_request = 0;
};

// The resources of a score, their names interned. Thread safety: immutable.
class ScoredResources {
 public:
  ScoredResources(std::span<const ResourceSpec> specs, ResourceNames& names);

  // What the pod asks for of each resource, by PodRequests with `options`.
  std::vector<int64_t> PodAmounts(const api::Pod& pod, const PodRequestsOptions& options) const;
  // The terms for those amounts.
  std::vector<AllocationTerm> Terms(std::span<const int64_t> pod_amounts) const;

 private:
  struct Resource {
    std::string name;
    ResourceId id = 0;
    int64_t weight = 0;
    bool scalar = false;
  };

  std::vector<Resource> resources_;
};

struct NodeAllocation {
  int64_t allocatable = 0;
  int64_t allocated = 0;
};

// Reads the amounts of one node.
class ViewAllocations {
 public:
  ViewAllocations(const NodeView& node, std::span<const AllocationTerm> terms, NodeAmounts amounts)
      : node_(node), terms_(terms), amounts_(amounts) {}

  NodeAllocation operator()(size_t term) const {
    const ResourceId id = terms_[term].id;
    const bool non_zero = amounts_ == NodeAmounts::kNonZeroRequested && id <= kMemory;
    return {node_.allocatable(id), non_zero ? node_.non_zero_requested(id) : node_.requested(id)};
  }

 private:
  NodeView node_;
  std::span<const AllocationTerm> terms_;
  NodeAmounts amounts_;
};

// Reads the amounts of many nodes, one after another.
class ColumnAllocations {
 public:
  ColumnAllocations(const Snapshot& snapshot, std::span<const AllocationTerm> terms,
                    NodeAmounts amounts);

  void MoveTo(NodeRow row) { row_ = row; }
  NodeAllocation operator()(size_t term) const {
    return {columns_[term].allocatable[row_], columns_[term].allocated[row_]};
  }

 private:
  struct Columns {
    Column allocatable;
    Column allocated;
  };

  std::vector<Columns> columns_;
  NodeRow row_ = 0;
};

}  // namespace berth::plugins
