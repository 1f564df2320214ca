// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "berth/node_set.h"
#include "berth/snapshot.h"
#include "berth/topology.h"
#include "plugins/shared/position_by_key.h"

namespace berth::plugins {

// Counts by topology key and domain. Counts of one key add up, whichever term they come from.
//
// What the snapshot counted is shared, and never changed here; pods that are imagined on a node or
// away from it are kept apart, so that a copy costs little however large the cluster is.
//
// There may be any number of keys that no node has; what is asked about a node looks at the others
// alone.
//
// Thread safety: one owner; any number of readers between its writes.
class TopologyCounts {
 public:
  // Adds counts by domain of the topology. Of counts that nothing else keeps, no more than
  // kMaxOwned stay: what comes after that is added up, and Update() cannot tell any more.
  void AddCounts(const std::shared_ptr<const Topology>& topology,
                 std::shared_ptr<const Counts> counts);
  // Pods came to or left `rows`: makes sums and the number of counts those of now, and adds to
  // `touched` the rows whose domain's count of some key went above 0 or back. Not for copies, nor
  // where pods are imagined, nor after Detach(). False: it cannot tell.
  bool Update(std::span<const NodeRow> rows, NodeSet& touched);
  // Copies what the snapshot counted: it changes no more.
  void Detach();
  // Adds `delta` in the row's domain; nothing happens when the row has none.
  void AddPod(const Snapshot& snapshot, std::string_view key, NodeRow row, int32_t delta);

  // About what it holds on the heap; what it shares, in parts.
  size_t bytes() const;

  // Every count of every key is 0.
  bool empty() const { return num_counts_ == 0; }

  // Whether the row has a domain of every key; of all keys, whether its domains' counts are above
  // 0; whether that is so for any key.
  bool HasAllKeys(NodeRow row) const;
  bool AllPositive(NodeRow row) const;
  bool AnyPositive(NodeRow row) const;

  // The same for many rows: keeps or takes out the rows for which it is true.
  void KeepIfHasAllKeys(NodeSet& nodes) const;
  void KeepIfAllPositive(NodeSet& nodes) const;
  void RemoveIfAnyPositive(NodeSet& nodes) const;

  static constexpr size_t kMaxOwned = 256;

 private:
  struct Entry {
    std::shared_ptr<const Topology> topology;
    std::shared_ptr<const Counts> counts;  // nullptr: none
    std::shared_ptr<Counts> sum;           // what `counts` is when it was added up here
    std::vector<std::shared_ptr<const Counts>> addends;  // of the sum
    std::vector<uint8_t> positive;  // by domain, as Update() saw it last; empty before
    Counts imagined;

    int64_t Get(DomainId domain) const;
    bool Positive(NodeRow row) const;
    // One byte a domain: 1 where the count is above 0.
    std::vector<uint8_t> PositiveDomains() const;
  };

  // The entry of a topology that has domains.
  Entry& At(const std::shared_ptr<const Topology>& topology);

  std::vector<Entry> entries_;  // one a key that some node has
  PositionByKey by_key_;
  bool nowhere_ = false;  // there is a key that no node has: its counts are 0
  size_t num_owned_ = 0;  // counts that stay because of this
  bool sums_alone_ = false;
  int64_t num_counts_ = 0;  // how many counts are not 0
};

}  // namespace berth::plugins
