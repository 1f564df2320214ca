// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/api/pod.h"
#include "berth/counts.h"
#include "berth/node_set.h"

namespace berth::cache {

// Placed pods that no PodQuery can tell apart: of one namespace, with the same labels, all or none
// of them being deleted.
struct LabelledPods {
  std::string identity;
  std::shared_ptr<const api::Pod> sample;
  Counts by_row;
  // Slots of the live queries that these pods match; the owner's to keep.
  std::vector<uint32_t> queries;
};

// All placed pods, by group. A group that its last pod has left stays until there are more such
// groups than others: the next pod of a workload often has the labels of the last.
//
// Thread safety: one owner.
class LabelledPodsTable {
 public:
  struct Found {
    LabelledPods& group;
    bool added;
  };
  // The group of `pod`, with its counts changed by `delta` on `row`; good until the next Count().
  Found Count(NodeRow row, const std::shared_ptr<const api::Pod>& pod, int32_t delta);

  // Calls visit(LabelledPods&) for every group, in an order that means nothing.
  template <typename Visit>
  void ForEach(Visit visit) {
    for (auto& [identity, group] : groups_) visit(*group);
  }
  size_t size() const { return groups_.size(); }

 private:
  void Sweep();

  absl::flat_hash_map<std::string_view, std::unique_ptr<LabelledPods>> groups_;  // by identity
  size_t num_empty_ = 0;
  std::string scratch_;
};

}  // namespace berth::cache
