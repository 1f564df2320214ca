// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "berth/snapshot.h"
#include "tests/support/plain_resource_names.h"

namespace berth::test {

// A Snapshot made from scratch from nodes and placed pods, the slow and obvious way: the twin that
// the cache's Snapshot is compared with, and the cluster of plugin tests.
//
// Node i of the list has row i. A pod goes to the node its spec names; a pod that names no node of
// the list is left out. Thread safety: one owner; topologies are built when asked for.
class PlainSnapshot : public Snapshot {
 public:
  // `names` must outlive the snapshot.
  PlainSnapshot(PlainResourceNames& names, const std::vector<api::Node>& nodes,
                const std::vector<api::Pod>& pods = {});

  // From now on the columns of scalar resources list the rows that have any, as those of a cache do
  // where they are few.
  void ListFew() { list_few_ = true; }

  // The pod of that name in the cluster; it must be there.
  const PodInfo& pod(std::string_view name) const;
  // The view of the node of that name; it must be there.
  NodeView view(std::string_view name, const Overlay* overlay = nullptr) const;

  const NodeSet& nodes() const override { return all_; }
  size_t num_nodes() const override { return nodes_.size(); }
  const api::Node& node(NodeRow row) const override { return *nodes_[row]; }
  NodeRow FindNode(std::string_view name) const override;
  std::span<const PodInfo* const> pods(NodeRow row) const override { return pods_[row]; }

  Column allocatable(ResourceId id) const override { return Of(allocatable_, id); }
  Column requested(ResourceId id) const override { return Of(requested_, id); }
  Column non_zero_requested(ResourceId id) const override { return Of(non_zero_requested_, id); }
  Column allowed_pods() const override { return {allowed_pods_}; }
  Column pod_count() const override { return {pod_count_}; }

  const NodeSet& unschedulable_nodes() const override { return unschedulable_; }
  std::span<const TaintSetId> taint_sets() const override { return taint_set_of_; }
  size_t num_taint_sets() const override { return taint_sets_.size(); }
  std::span<const api::Taint> taints(TaintSetId id) const override { return taint_sets_[id]; }

  void NodesWithLabel(std::string_view key, std::string_view value, NodeSet& out) const override;
  void NodesWithLabelKey(std::string_view key, NodeSet& out) const override;

  std::shared_ptr<const Topology> GetTopology(std::string_view key) const override;
  std::shared_ptr<const PodCounts> CountPods(const PodQuery& query) const override;
  // In the order of the pods that brought the terms.
  void MatchingAffinityTerms(const api::Pod& pod, const api::StringMap& namespace_labels,
                             AffinityTermKinds kinds,
                             std::vector<AffinityTermCounts>& out) const override;

  const NodeSet& nodes_with_host_ports() const override { return with_host_ports_; }
  std::span<const HostPort> host_ports(NodeRow row) const override { return host_ports_[row]; }
  bool IsClaimUsed(std::string_view namespace_, std::string_view claim) const override;
  std::optional<ImageState> FindImage(std::string_view name) const override;
  const NodeSet& closed_nodes() const override { return closed_; }
  const ResourceNames& resource_names() const override { return *names_; }
  // Of every snapshot another one; none knows of those before.
  uint64_t generation() const override { return generation_; }
  bool RowsChangedSince(uint64_t generation, std::vector<NodeRow>&) const override {
    return generation == generation_;
  }
  bool NodesChangedSince(uint64_t generation, std::vector<NodeRow>&) const override {
    return generation == generation_;
  }

 private:
  using Columns = std::map<ResourceId, std::vector<int64_t>>;
  struct Image {
    int64_t size_bytes = 0;
    std::vector<NodeRow> rows;
  };

  struct CountedTerm {
    AffinityTerm term;
    std::shared_ptr<const Topology> topology;
    Counts by_domain;
  };

  Column Of(const Columns& columns, ResourceId id) const;
  std::vector<int64_t>& At(Columns& columns, ResourceId id);
  void AddAmounts(Columns& columns, NodeRow row, const Resources& amounts);
  void AddNode(NodeRow row, const api::Node& node);
  void AddPod(NodeRow row, const api::Pod& pod);
  void CountTerm(NodeRow row, const AffinityTerm& term);

  static uint64_t NextGeneration();

  PlainResourceNames* names_;
  uint64_t generation_ = NextGeneration();
  std::vector<std::shared_ptr<const api::Node>> nodes_;
  std::vector<PodInfoPtr> pod_infos_;
  NodeSet all_;
  std::vector<std::vector<const PodInfo*>> pods_;
  Columns allocatable_;
  Columns requested_;
  Columns non_zero_requested_;
  std::vector<int64_t> allowed_pods_;
  std::vector<int64_t> pod_count_;
  NodeSet unschedulable_;
  std::vector<TaintSetId> taint_set_of_;
  std::vector<std::vector<api::Taint>> taint_sets_{{}};
  NodeSet with_host_ports_;
  std::vector<std::vector<HostPort>> host_ports_;
  std::map<std::string, Image, std::less<>> images_;
  NodeSet closed_;
  mutable std::map<std::string, std::shared_ptr<const Topology>, std::less<>> topologies_;
  std::deque<CountedTerm> terms_;
  bool list_few_ = false;
  // What Of() gave; a deque, so that it stays where it is.
  mutable std::deque<std::vector<RowAmount>> few_;
};

}  // namespace berth::test
