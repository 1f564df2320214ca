// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "berth/api/node.h"
#include "berth/node_set.h"
#include "berth/pod_info.h"
#include "berth/resources.h"
#include "berth/saturating.h"
#include "berth/topology.h"

namespace berth {

struct RowAmount {
  NodeRow row = 0;
  int64_t amount = 0;

  friend bool operator==(const RowAmount&, const RowAmount&) = default;
};

// One value a node row. A resource that no row has any of is empty: it reads as 0 everywhere. One
// that few of many rows have lists those rows in place of the values; resources that a plugin
// interned, and what every node has, always come as values.
struct Column {
  std::span<const int64_t> values;
  std::span<const RowAmount> few = {};  // ascending, none 0; empty where there are values

  int64_t operator[](NodeRow row) const { return values.empty() ? AmountOfFew(row) : values[row]; }
  bool zero() const { return values.empty() && few.empty(); }

 private:
  int64_t AmountOfFew(NodeRow row) const;
};

// Nodes with equal taint lists share one id; ids are dense, 0 is the empty list.
using TaintSetId = uint32_t;

// Where an image is. The size is what the first node to report it said.
struct ImageState {
  int64_t size_bytes = 0;
  std::span<const NodeRow> rows;  // ascending
};

// The cluster as one scheduling cycle sees it: columns over node rows.
//
// Only rows in nodes() mean anything; other rows are holes (deleted nodes, or nodes that pods name
// but the API server has not shown yet). Spans and references stay valid until the cycle ends.
//
// Thread safety: read on the scheduling thread, and by evaluation workers while it waits for them;
// NodesWithLabel, NodesWithLabelKey, GetTopology, CountPods, StepsToCountPods and
// MatchingAffinityTerms only on the scheduling thread (they may build an index).
class Snapshot {
 public:
  virtual ~Snapshot() = default;

  virtual const NodeSet& nodes() const = 0;
  size_t num_rows() const { return nodes().size(); }
  // How many nodes there are: nodes().Count(), kept.
  virtual size_t num_nodes() const = 0;
  // `row` must be in nodes().
  virtual const api::Node& node(NodeRow row) const = 0;
  // The row of a node in nodes(), or kNoRow.
  virtual NodeRow FindNode(std::string_view name) const = 0;

  // Pods placed or assumed on the row, in no particular order.
  virtual std::span<const PodInfo* const> pods(NodeRow row) const = 0;

  virtual Column allocatable(ResourceId id) const = 0;
  virtual Column requested(ResourceId id) const = 0;
  // Only kCpu and kMemory: requests with defaults for containers that name none.
  virtual Column non_zero_requested(ResourceId id) const = 0;
  virtual Column allowed_pods() const = 0;
  virtual Column pod_count() const = 0;

  virtual const NodeSet& unschedulable_nodes() const = 0;
  virtual std::span<const TaintSetId> taint_sets() const = 0;
  virtual size_t num_taint_sets() const = 0;
  virtual std::span<const api::Taint> taints(TaintSetId id) const = 0;

  // Adds to `out`, which has num_rows() rows, the nodes that carry the label pair or key.
  virtual void NodesWithLabel(std::string_view key, std::string_view value, NodeSet& out) const = 0;
  virtual void NodesWithLabelKey(std::string_view key, NodeSet& out) const = 0;

  // The nodes by their value of a label key. Kept up to date while it is used.
  virtual std::shared_ptr<const Topology> GetTopology(std::string_view key) const = 0;
  // How many placed pods match. Kept up to date while it is used.
  virtual std::shared_ptr<const PodCounts> CountPods(const PodQuery& query) const = 0;
  // About how many steps of a CycleBudget that would take now. One for what is counted already.
  virtual uint64_t StepsToCountPods(const PodQuery& query) const { return query.all_of.size(); }
  // Adds to `out` the terms of placed pods, of these kinds, that mean `pod`, whose namespace has
  // these labels; in an order that depends on what was placed when, not on anything else. Terms
  // that count in no domain are left out.
  virtual void MatchingAffinityTerms(const api::Pod& pod, const api::StringMap& namespace_labels,
                                     AffinityTermKinds kinds,
                                     std::vector<AffinityTermCounts>& out) const = 0;

  virtual const NodeSet& nodes_with_host_ports() const = 0;
  virtual std::span<const HostPort> host_ports(NodeRow row) const = 0;

  // Whether a pod on one of nodes() has a persistentVolumeClaim volume of that claim.
  virtual bool IsClaimUsed(std::string_view namespace_, std::string_view claim) const = 0;

  // By normalised name (with tag or digest); nullopt when no node has it.
  virtual std::optional<ImageState> FindImage(std::string_view name) const = 0;

  // Nodes that must take no new pod because a pod on them could not be read.
  virtual const NodeSet& closed_nodes() const = 0;

  virtual const ResourceNames& resource_names() const = 0;

  // The number of the newest change of a node or of a row's pods: what was derived from them is
  // good for as long as it stays.
  virtual uint64_t generation() const = 0;
  // Adds to `rows` those that changed after `generation`; a row may repeat. False: that is not
  // known any more, and any may have.
  virtual bool RowsChangedSince(uint64_t generation, std::vector<NodeRow>& rows) const = 0;
  // The same of those whose node came, changed or went: pods that come and go change none.
  virtual bool NodesChangedSince(uint64_t generation, std::vector<NodeRow>& rows) const = 0;
};

// Pods to imagine on a node, and pods of it to imagine away.
class Overlay {
 public:
  void AddPod(const PodInfo& pod);
  void RemovePod(const PodInfo& pod);
  // Nothing is imagined any more; keeps its capacity.
  void Clear();

  std::span<const PodInfo* const> added() const { return added_; }
  std::span<const PodInfo* const> removed() const { return removed_; }
  // Exact, so that taking away undoes adding.
  WideAmount requested(ResourceId id) const;
  WideAmount non_zero_requested(ResourceId id) const {
    return id == kCpu ? non_zero_milli_cpu_ : non_zero_memory_;
  }
  int64_t pod_count() const {
    return static_cast<int64_t>(added_.size()) - static_cast<int64_t>(removed_.size());
  }

 private:
  void Count(const PodInfo& pod, int64_t sign);

  std::vector<const PodInfo*> added_;
  std::vector<const PodInfo*> removed_;
  using ScalarAmount = std::pair<ResourceId, WideAmount>;

  std::array<WideAmount, kFirstScalar> requested_{};
  std::vector<ScalarAmount> scalars_;  // sorted by id
  WideAmount non_zero_milli_cpu_ = 0;
  WideAmount non_zero_memory_ = 0;
};

// One node as a per-node Filter or Score sees it: a row of the snapshot, plus an overlay.
// Cheap to copy; both must outlive it.
class NodeView {
 public:
  NodeView(const Snapshot& snapshot, NodeRow row, const Overlay* overlay = nullptr)
      : snapshot_(&snapshot), row_(row), overlay_(overlay) {}

  const Snapshot& snapshot() const { return *snapshot_; }
  NodeRow row() const { return row_; }
  const api::Node& node() const { return snapshot_->node(row_); }
  const Overlay* overlay() const { return overlay_; }

  int64_t allocatable(ResourceId id) const { return snapshot_->allocatable(id)[row_]; }
  int64_t requested(ResourceId id) const {
    const int64_t amount = snapshot_->requested(id)[row_];
    return overlay_ ? Imagined(amount, overlay_->requested(id)) : amount;
  }
  int64_t non_zero_requested(ResourceId id) const {
    const int64_t amount = snapshot_->non_zero_requested(id)[row_];
    return overlay_ ? Imagined(amount, overlay_->non_zero_requested(id)) : amount;
  }
  int64_t allowed_pods() const { return snapshot_->allowed_pods()[row_]; }
  int64_t pod_count() const {
    return snapshot_->pod_count()[row_] + (overlay_ ? overlay_->pod_count() : 0);
  }

  // Calls visit(const PodInfo&) for every pod on the node, the overlay applied.
  template <typename Visit>
  void ForEachPod(Visit visit) const {
    for (const PodInfo* pod : snapshot_->pods(row_)) {
      if (!Removed(*pod)) visit(*pod);
    }
    if (overlay_ == nullptr) return;
    for (const PodInfo* pod : overlay_->added()) visit(*pod);
  }

 private:
  // A column that shows the greatest amount may stand for any more: imagining a pod away makes no
  // room there.
  static int64_t Imagined(int64_t amount, WideAmount more) {
    return amount == kMostAmount ? amount : Saturated(amount + more);
  }
  bool Removed(const PodInfo& pod) const {
    if (overlay_ == nullptr) return false;
    for (const PodInfo* removed : overlay_->removed())
      if (removed == &pod) return true;
    return false;
  }

  const Snapshot* snapshot_;
  NodeRow row_;
  const Overlay* overlay_;
};

}  // namespace berth
