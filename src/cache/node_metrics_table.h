// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "berth/in_tree/node_metrics.h"
#include "berth/time.h"
#include "src/base/string_map.h"
#include "src/cache/cache.h"

namespace berth::cache {

// What nodes are measured to use, by source, and which pods were placed of late. It keeps and costs
// nothing until a plugin asks for a source.
//
//   NodesMeasured --Take()--> a table by node name ----------------> MeasuredNodes
//   SetPlaced(), RemovePlaced() --> pods by node, by when they were placed --^
//
// A pod leaves the list once every source that knows something has measured long enough after it,
// or ten minutes later. Rows on which an answer changed are noted in the cache.
//
// Thread safety: the scheduling thread; what it answers as MeasuredNodes.
class NodeMetricsTable {
 public:
  // `cache` must outlive the table.
  explicit NodeMetricsTable(Cache& cache) : cache_(cache) {}
  NodeMetricsTable(const NodeMetricsTable&) = delete;
  NodeMetricsTable& operator=(const NodeMetricsTable&) = delete;

  // The source's table, which lives as long as this. From the first call on pods are remembered;
  // those that are on nodes already count as placed at `wall_now` where they have not been seen to
  // start, else when they did.
  const MeasuredNodes& Watch(const NodeMetricsSource& source, Time wall_now);
  bool watches() const { return !sources_.empty(); }

  // What was measured takes the place of what the source knew. Of nodes that are not there, and of
  // resources that a node has none of, amounts are passed over. A source that is not watched is,
  // too.
  void Take(const NodesMeasured& measured);

  // The pod is on the node from now on, assumed or seen there: it counts as placed at `wall_now`,
  // or when it was seen to start. What is known already stays as it is.
  void SetPlaced(const std::shared_ptr<const api::Pod>& pod, std::string_view node_name,
                 Time wall_now) {
    if (watches()) Place(pod, node_name, wall_now);
  }
  void RemovePlaced(const api::Pod& pod) {
    if (watches()) Unplace(pod);
  }

  size_t num_recent_pods() const { return node_of_pod_.size(); }

 private:
  // The pods that were placed on a node of late: mostly one or two. `seconds` ascend, one for each
  // pod.
  struct RecentPods {
    absl::InlinedVector<std::shared_ptr<const api::Pod>, 2> pods;
    absl::InlinedVector<int64_t, 2> seconds;
  };
  // One source.
  class Source final : public MeasuredNodes {
   public:
    explicit Source(const NodeMetricsTable& table) : table_(table) {}
    const NodeMetrics* Find(std::string_view node_name) const override;
    const NodeMetrics* FindOnRow(NodeRow row, std::string_view node_name) const override;
    std::span<const std::shared_ptr<const api::Pod>> UnmeasuredPods(
        std::string_view node_name) const override;

    int64_t window_end = 0;
    base::StringMap<NodeMetrics> nodes;  // none: nothing is known
    // Of `nodes` those that were there with the message; the rows may be others' by now.
    std::vector<const NodeMetrics*> by_row;

   private:
    const NodeMetricsTable& table_;
  };

  void Place(const std::shared_ptr<const api::Pod>& pod, std::string_view node_name, Time wall_now);
  void Unplace(const api::Pod& pod);
  // Whether the values could be made percents of the capacity of the node on the row; sets them.
  bool ToPercent(NodeRow row, NodeMetrics& node) const;
  // Drops the pods that were placed until then, of one node.
  void DropUntil(int64_t seconds, RecentPods& recent);
  void DropMeasuredPods();

  Cache& cache_;
  base::StringMap<std::unique_ptr<Source>> sources_;  // by name
  base::StringMap<RecentPods> recent_;                // by node
  // By UID, of those in recent_, which keep the text.
  absl::flat_hash_map<std::string_view, std::string, base::StringHash, std::equal_to<>>
      node_of_pod_;
};

}  // namespace berth::cache
