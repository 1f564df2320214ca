// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/node.h"
#include "berth/counts.h"
#include "berth/in_tree/inputs.h"
#include "berth/node_set.h"
#include "berth/pod_info.h"
#include "berth/result.h"
#include "berth/snapshot.h"
#include "src/base/string_map.h"
#include "src/base/thread.h"
#include "src/cache/affinity_term_table.h"
#include "src/cache/columns.h"
#include "src/cache/label_index.h"
#include "src/cache/node_order.h"
#include "src/cache/node_tables.h"
#include "src/cache/pod_classes.h"
#include "src/cache/pod_counts_table.h"
#include "src/cache/pod_table.h"
#include "src/cache/resource_table.h"
#include "src/cache/topology_table.h"
#include "src/cache/trial.h"
#include "src/cache/volume_change_log.h"

namespace berth::cache {

// Which claims the pods on each row use, by their persistentVolumeClaim volumes.
//
// Thread safety: one owner; any number of readers while it does not write.
class ClaimUses {
 public:
  // The pod came to the row (1) or went from it (-1).
  void Count(NodeRow row, const api::Pod& pod, int32_t delta);

  // Whether a pod on one of `rows` uses the claim.
  bool AnyOn(const NodeSet& rows, std::string_view namespace_, std::string_view claim) const;

  // How many claims are used.
  size_t size() const { return rows_by_claim_.size(); }

 private:
  base::StringMap<Counts> rows_by_claim_;  // by "namespace/name"; none empty
};

// The state of the cluster in columns; what scheduling reads of it is the Snapshot it is.
//
//              AssumePod             AddPod              RemovePod
//   unknown ---------------> assumed --------> confirmed -----------> unknown
//      ^                        |                  ^
//      +------- ForgetPod ------+                  |
//      +-------------------- AddPod ---------------+
//
// A pod is known by its UID and stands on one row. Assumed pods do not expire. Pods may come
// before their node and outlive it: then their row is a ghost, outside nodes(). A row that has
// neither node nor pods is free, and the lowest free row is used next; rows never run backwards.
//
// Generations: every change has a number of one sequence, which the row's node or usage generation
// takes over. A new version of a placed pod that no plugin can tell from the old one (its status
// moved on) and a node update that only moved its resourceVersion are no changes, but the objects
// are replaced all the same. When a placed pod started only preemption reads: such changes have a
// sequence of their own.
//
// Counts across nodes: topologies, pod counts and the terms of placed pods are kept up to date by
// the calls that change pods and nodes, those of trials included.
//
// Thread safety: belongs to the scheduling thread; evaluation workers may read while it waits.
class Cache final : public Snapshot {
 public:
  struct Options {
    LabelIndex::Limits labels = {};
    // How much is kept of what nothing holds: topologies, pod counts, terms that no pod has.
    size_t max_topologies = 64;
    size_t max_pod_counts_bytes = 32u << 20;
    size_t max_unused_affinity_terms = 256;
    size_t change_log_capacity = 1u << 16;
    size_t start_log_capacity = 1u << 12;
    PodInfoOptions pod_info = {};
  };
  Cache() : Cache(Options()) {}
  explicit Cache(const Options& options);
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  // Adds or replaces the node of that name; returns its row.
  NodeRow SetNode(std::shared_ptr<const api::Node> node);
  // Does nothing when there is no such node. Its pods stay, on a ghost row.
  void RemoveNode(std::string_view name);

  // A pod with what is derived from it, and its class unless it has a node already: what all calls
  // below take.
  PodInfoPtr MakePodInfo(std::shared_ptr<const api::Pod> pod);
  // `info`, or the same in its present class when signature parts or tested labels have changed
  // since it was made. Cheap when they have not. Does not touch what the cache holds.
  PodInfoPtr Reclass(PodInfoPtr info);

  // Puts a pod that names its node there and confirms it; replaces what is known of the UID.
  // Errors: no UID or no node name.
  Result<void> AddPod(PodInfoPtr info);
  // Takes the pod away, assumed or confirmed. False when it is unknown.
  bool RemovePod(std::string_view uid);
  // Puts a pod on `row` ahead of the API server. Errors: the UID is known (or empty), the row has
  // no node.
  Result<void> AssumePod(PodInfoPtr info, NodeRow row);
  // Takes an assumed pod away. False when it is unknown, or confirmed meanwhile: then it stays.
  bool ForgetPod(std::string_view uid) { return IsAssumed(uid) && RemovePod(uid); }
  bool IsAssumed(std::string_view uid) const;
  std::optional<CachedPod> FindPod(std::string_view uid) const;

  // Opens a scope in which pods come and go on trial. Until it ends only AssumePod, ForgetPod,
  // RemovePod and further trials may change the cache; calls made on the cache are part of it.
  [[nodiscard]] Trial BeginTrial();

  // A pod on the node could not be read: the node takes no new pods until OpenNode().
  // `pod_key` is "namespace/name".
  void CloseNode(std::string_view node_name, std::string_view pod_key);
  void OpenNode(std::string_view pod_key);

  // What a plugin with Reach::kMeasured reads of the row has changed.
  void NoteMeasured(NodeRow row);

  // What pods are alike by, and which labels plugins test; see PodClasses.
  void SetSignatureParts(PodParts parts, std::span<const std::string> tested_label_keys = {});
  // To be called for what can select pods before it counts; pods' own terms the cache finds itself.
  void TestSelectorOf(const api::ObjectPtr& object);
  // Grows when pods may be in other classes than before; Reclass() tells which.
  uint32_t class_epoch() const { return classes_.epoch(); }
  const PodClasses& pod_classes() const { return classes_; }

  // The next thread to change the cache owns it from then on. For start-up, which builds the cache
  // before the scheduling thread runs.
  void ReleaseThread() { owner_.Release(); }

  // The number of the newest change, and the changes after `generation`; see ChangeLog. A
  // rollback is a change, too, although it takes the rows' generations back.
  uint64_t generation() const override { return changes_.generation(); }
  bool ChangesSince(uint64_t generation, std::vector<Change>& out) const {
    return changes_.Since(generation, out);
  }

  // The same of changes of when a placed pod started, where nothing else changed with it.
  const ChangeLog& start_changes() const { return start_changes_; }

  // Of nodes().
  const NodeOrder& node_order() const { return node_order_; }

  size_t num_pods() const { return pods_.size(); }
  size_t num_assumed() const { return pods_.num_assumed(); }
  // Nodes, and names that only pods on a ghost row give.
  size_t num_node_names() const { return row_by_name_.size(); }
  // Rows run from 0; some are free.
  NodeRow num_rows() const { return static_cast<NodeRow>(rows_.size()); }
  // The resources that the row offers, or its pods take; ascending.
  std::vector<ResourceId> ResourcesOn(NodeRow row) const;
  // Also of a ghost row; "" when the row is free.
  std::string_view node_name(NodeRow row) const { return rows_[row].name; }
  // Calls visit(const CachedPod&) for every pod, row by row, ghosts included.
  template <typename Visit>
  void ForEachPod(Visit visit) const {
    for (NodeRow row = 0; row < rows_.size(); ++row)
      for (const PodTable::Slot slot : pods_.slots(row)) visit(pods_.pod(slot));
  }
  ResourceTable& mutable_resource_names() { return resources_; }
  // How much is kept of what objects name.
  struct Sizes {
    size_t resource_names = 0;
    size_t scalar_columns = 0;
    size_t topologies = 0;
    size_t topology_bytes = 0;
    size_t fragment_bytes = 0;
  };
  Sizes sizes() const;

  // Snapshot.
  const NodeSet& nodes() const override { return nodes_; }
  size_t num_nodes() const override { return num_nodes_; }
  const api::Node& node(NodeRow row) const override { return *rows_[row].node; }
  const std::shared_ptr<const api::Node>& node_ptr(NodeRow row) const { return rows_[row].node; }
  NodeRow FindNode(std::string_view name) const override;
  std::span<const PodInfo* const> pods(NodeRow row) const override { return pods_.pods(row); }
  Column allocatable(ResourceId id) const override { return columns_.allocatable(id); }
  Column requested(ResourceId id) const override { return columns_.requested(id); }
  Column non_zero_requested(ResourceId id) const override {
    return columns_.non_zero_requested(id);
  }
  Column allowed_pods() const override { return columns_.allowed_pods(); }
  Column pod_count() const override { return columns_.pod_count(); }
  const NodeSet& unschedulable_nodes() const override { return unschedulable_; }
  std::span<const TaintSetId> taint_sets() const override { return taint_sets_; }
  size_t num_taint_sets() const override { return taints_.size(); }
  std::span<const api::Taint> taints(TaintSetId id) const override { return taints_.taints(id); }
  void NodesWithLabel(std::string_view key, std::string_view value, NodeSet& out) const override;
  void NodesWithLabelKey(std::string_view key, NodeSet& out) const override;
  std::shared_ptr<const Topology> GetTopology(std::string_view key) const override;
  std::shared_ptr<const PodCounts> CountPods(const PodQuery& query) const override;
  uint64_t StepsToCountPods(const PodQuery& query) const override;
  void MatchingAffinityTerms(const api::Pod& pod, const api::StringMap& namespace_labels,
                             AffinityTermKinds kinds,
                             std::vector<AffinityTermCounts>& out) const override;
  const NodeSet& nodes_with_host_ports() const override { return with_host_ports_; }
  std::span<const HostPort> host_ports(NodeRow row) const override {
    return rows_[row].ports.ports();
  }
  bool IsClaimUsed(std::string_view namespace_, std::string_view claim) const override {
    return claim_uses_.AnyOn(nodes_, namespace_, claim);
  }
  std::optional<ImageState> FindImage(std::string_view name) const override {
    return images_.Find(name);
  }
  const NodeSet& closed_nodes() const override { return closed_; }
  const ResourceNames& resource_names() const override { return resources_; }
  bool RowsChangedSince(uint64_t generation, std::vector<NodeRow>& rows) const override {
    return changes_.RowsSince(generation, rows);
  }
  bool NodesChangedSince(uint64_t generation, std::vector<NodeRow>& rows) const override {
    return changes_.NodeRowsSince(generation, rows);
  }

 private:
  friend class Trial;

  struct Row {
    std::string name;                       // "" when the row is free
    std::shared_ptr<const api::Node> node;  // nullptr on a ghost row
    ResourceTable::Hold resource_names;     // those of the node
    PortCounts ports;
  };
  // What takes one change of a trial back.
  struct Undo {
    bool added = false;  // else removed
    NodeRow row = 0;
    PodTable::Removed removed;  // only the slot when added
  };

  template <typename Visit>
  void ForEachNodeLabels(const Visit& visit) const {
    nodes_.ForEach([&](NodeRow row) { visit(row, rows_[row].node->metadata.labels); });
  }
  NodeRow RowFor(std::string_view name);
  void AddRow();
  void FreeIfUnused(NodeRow row);
  void UpdateClosed(std::string_view node_name);
  void Place(CachedPod pod);
  void TakeAway(PodTable::Slot slot);
  // `delta`: 1 for a pod that comes, -1 for one that goes.
  void CountUsage(NodeRow row, const PodInfo& pod, int32_t delta);
  void CountAcrossNodes(NodeRow row, const PodInfo& pod, int32_t delta);
  void LabelsChanged(NodeRow row, const api::StringMap& before, const api::StringMap& now);
  void RollBackTo(const Trial& trial);
  void Commit(const Trial& trial);

  base::ThreadOwner owner_;
  const PodInfoOptions pod_info_options_;
  ResourceTable resources_;
  Columns columns_;
  PodTable pods_;
  std::vector<Row> rows_;
  base::StringMap<NodeRow> row_by_name_;
  NodeSet nodes_;
  NodeSet free_rows_;
  size_t num_nodes_ = 0;
  NodeOrder node_order_;
  NodeSet unschedulable_;
  NodeSet with_host_ports_;
  NodeSet closed_;
  std::vector<TaintSetId> taint_sets_;
  TaintTable taints_;
  LabelKeys label_keys_;
  // Asking may build and drop parts of these.
  mutable LabelIndex labels_;
  mutable TopologyTable topologies_;
  mutable PodCountsTable pod_counts_;
  AffinityTermTable affinity_terms_;
  ClaimUses claim_uses_;
  ImageTable images_;
  PodClasses classes_;
  ChangeLog changes_;
  ChangeLog start_changes_;
  // Undecodable pods and the nodes they close; how many close each node.
  base::StringMap<std::string> closing_pods_;
  base::StringMap<size_t> closed_names_;
  std::vector<Undo> undo_;
  size_t trial_depth_ = 0;
};

}  // namespace berth::cache
