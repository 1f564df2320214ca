// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/node_resource_topology.h"
#include "berth/api/pod.h"
#include "berth/listers.h"
#include "berth/snapshot.h"
#include "berth/time.h"
#include "plugins/node_resource_topology_match/args.h"
#include "plugins/node_resource_topology_match/numa_nodes.h"

namespace berth::plugins {

// The fingerprint of a set of pods that agents write beside what they measured, so that a reader
// can tell of which pods it was measured. Source: k8stopologyawareschedwg/podfingerprint v0.2.2,
// version v001: "pfp0v001" and, as 16 hexadecimal digits, the hash of the pods' hashes.
//
// Thread safety: one owner.
class PodFingerprint {
 public:
  void Add(std::string_view namespace_, std::string_view name);
  // Whatever the order in which they were added.
  std::string Sign();

 private:
  std::vector<uint64_t> hashes_;
};

// XXH64 (Yann Collet, xxHash specification 0.1.1).
uint64_t Xxh64(std::string_view text, uint64_t seed);

// What is known of the NUMA nodes of each node. An agent measures them, and writes what they have
// left some seconds later; what was placed meanwhile is not counted there.
//
// Without a cache the newest object of each node counts as it is. With discardReservedNodes nothing
// is known of a node while a pod of this profile is on its way to it.
//
// With cacheResyncPeriodSeconds an object counts from when its fingerprint is that of the pods that
// run on the node; what was placed since is taken from each NUMA node, for none can be ruled out,
// and placed pods that do not run yet stay so when a newer object counts. Nothing is known of a
// node where a pod of another scheduler came, changed or went since. Whether a newer object counts
// is looked at with the first pod after each period.
//
// Thread safety: Update(), Reserve() and Unreserve() on the scheduling thread; between two, any
// number of readers.
class NodeTopologies {
 public:
  struct Node {
    TopologyManager manager;
    std::vector<NumaNode> numa_nodes;  // what is left
  };
  struct Known {
    bool fresh = true;
    std::shared_ptr<const Node> node = nullptr;  // the node has no object
  };

  NodeTopologies(const NodeResourceTopologyMatchArgs& args, std::string_view scheduler_name);

  void Update(const Snapshot& snapshot, const Listers& listers, Time now);
  void Reserve(const api::Pod& pod, std::string_view node_name);
  // Nothing happens where it is not reserved.
  void Unreserve(const api::Pod& pod, std::string_view node_name);

  // As of the last Update(). With `listers` the newest object counts also where none was since,
  // which takes longer.
  Known Of(const NodeView& node, const Listers* listers) const;
  // Whether a pod that is not Guaranteed, and asks for cpu, memory and ephemeral storage alone,
  // fits on each node as far as its NUMA nodes go.
  bool TakesPlainPods() const { return num_odd_ == 0 && num_stale_ == 0 && !discards_reserved_; }
  bool empty() const { return nodes_.empty(); }
  // About how much memory this takes.
  size_t bytes() const { return bytes_; }

 private:
  using TopologyPtr = std::shared_ptr<const api::NodeResourceTopology>;
  struct Entry {
    TopologyPtr newest;
    TopologyPtr accepted;              // what counts
    std::shared_ptr<const Node> node;  // of `accepted`, less what is reserved
    std::map<std::string, api::ResourceList, std::less<>> reserved;  // by "namespace/name"
    uint64_t foreign = 0;  // a sum over the pods of other schedulers, as they were
    size_t bytes = 0;
    bool stale = false;  // `foreign` changed since `accepted` counts
    bool odd = false;    // see TakesPlainPods()
  };

  bool reserves() const { return period_ > Duration::zero() && !discards_reserved_; }
  bool IsForeign(const api::Pod& pod) const;
  bool Counts(const api::Pod& pod, bool only_exclusive) const;
  void TakeNewest(const Listers& listers);
  void FindForeignPods(const Snapshot& snapshot);
  void Resync(const Snapshot& snapshot);
  // Whether the newest object is of the pods that are there.
  bool IsOfPods(const api::NodeResourceTopology& topology,
                std::span<const PodInfo* const> pods) const;
  void Accept(Entry& entry);
  void SetStale(bool stale, Entry& entry);
  // After a change of what counts, or where something is no longer reserved.
  void Derive(Entry& entry);
  void Set(std::shared_ptr<const Node> node, Entry& entry);
  void Erase(std::map<std::string, Entry, std::less<>>::iterator entry);

  const NodeResourceTopologyMatchArgs args_;
  const std::string scheduler_name_;
  const bool discards_reserved_;
  const Duration period_;

  std::map<std::string, Entry, std::less<>> nodes_;
  size_t num_odd_ = 0;
  size_t num_stale_ = 0;
  size_t bytes_ = 0;
  std::optional<uint64_t> topologies_generation_;
  std::optional<uint64_t> generation_;  // of the rows
  std::optional<Time> resynced_;
  std::vector<NodeRow> changed_rows_;
};

}  // namespace berth::plugins
