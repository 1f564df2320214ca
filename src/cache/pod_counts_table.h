// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/pod_info.h"
#include "berth/topology.h"
#include "src/cache/labelled_pods.h"
#include "src/cache/selector_index.h"
#include "src/cache/topology_table.h"

namespace berth::cache {

// How many placed pods match each of the queries asked for. A query is counted the first time
// a reader asks, and kept up to date from then on. When counts take more memory than the limit
// allows, those asked for longest ago are dropped, but none that a reader holds; where readers hold
// many, that is looked after once for every so many new ones.
//
// Once there was a query, pods are kept in groups: a query looks at groups, not at pods, and only
// at those with a label that it demands; a pod only finds its group to know the queries that it
// matches. Until then a pod costs nothing. A group lists its queries while all lists together are
// short of a limit; beyond that they are found again where they are needed.
//
// Thread safety: one owner; what Get() gave may be dropped on any thread.
class PodCountsTable {
 public:
  // Calls its argument with every placed pod and its row.
  using ForEachPod = std::function<void(const std::function<void(NodeRow, const PodInfo&)>&)>;

  // `topologies` must outlive the table and all that Get() gave; `for_each_pod` is called when the
  // first query is counted.
  PodCountsTable(TopologyTable& topologies, size_t max_bytes, ForEachPod for_each_pod);
  ~PodCountsTable();

  std::shared_ptr<const PodCounts> Get(const PodQuery& query);
  // About how many looks at a term and a group Get() would take now.
  uint64_t StepsToCount(const PodQuery& query);

  // A pod came to `row` (delta 1), or left it (-1). While a pod is here, its row must not change
  // its domain in any topology.
  void Count(NodeRow row, const std::shared_ptr<const api::Pod>& pod, int32_t delta);

  size_t size() const { return by_use_.size(); }
  // What the counts take, in bytes, and the lists of the groups.
  size_t bytes() const { return bytes_; }
  size_t listed_bytes() const { return num_listed_ * sizeof(uint32_t); }
  // Looks at counts to drop some, and at groups to count pods, until now.
  uint64_t num_looks() const { return num_looks_; }

 private:
  class Live;
  using List = std::list<std::shared_ptr<Live>>;

  void BeginGrouping();
  std::shared_ptr<Live> Make(const PodQuery& query);
  // Lists the queries of a group, if that is not done.
  void ListQueries(LabelledPods& group);
  // All groups list their queries again when they are asked for them.
  void ForgetLists();
  List::iterator Drop(List::iterator at);
  void Evict();

  TopologyTable& topologies_;
  const size_t max_bytes_;
  const ForEachPod for_each_pod_;
  List by_use_;  // last asked for first
  absl::flat_hash_map<std::string_view, List::iterator> by_identity_;
  std::vector<Live*> by_slot_;  // nullptr: free
  std::vector<uint32_t> free_slots_;
  SelectorIndex index_;  // of the live queries, for new groups
  LabelledPodsTable groups_;
  bool grouping_ = false;
  uint64_t listing_ = 1;   // what LabelledPods::listed is where the list is good
  size_t num_listed_ = 0;  // at most so many slots are listed
  size_t bytes_ = 0;
  size_t num_left_ = 0;   // by the last Evict()
  size_t num_added_ = 0;  // since then
  uint64_t num_looks_ = 0;
  std::string scratch_;
};

}  // namespace berth::cache
