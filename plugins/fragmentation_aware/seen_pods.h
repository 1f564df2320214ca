// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "berth/api/pod.h"
#include "plugins/fragmentation_aware/fragmentation.h"

namespace berth::plugins {

// Which nodes a pod can have, as text: pods with equal texts have equal node selectors and required
// node affinities. "": all nodes.
std::string NodeAffinityKey(const api::Pod& pod);

// The pods that were tried, by what they ask for, each once however often it is tried. At most
// kMaxKinds are kept apart: where there are more, all counts are halved, and kinds that are left
// with none go. Of pods the last kMaxRemembered are known again. A pod whose demand and node
// affinity are longer than kMaxKeyBytes is passed over: they would be held against every node.
//
// Thread safety: the scheduling thread.
class SeenPods {
 public:
  static constexpr size_t kMaxKinds = 1'024;
  static constexpr size_t kMaxRemembered = 65'536;
  static constexpr size_t kMaxKeyBytes = 4'096;
  // The mix is made of as many kinds, the most frequent first, as make up so much of all pods.
  static constexpr double kCovered = 0.95;

  struct Kind {
    Demand demand;
    // A pod of the kind, for its node affinity; nullptr: all nodes.
    std::shared_ptr<const api::Pod> example;
    int64_t pods = 0;
  };

  // Whether the mix is due to be made again: after 1, 2, 4, ... pods, and after every 256.
  bool See(const std::shared_ptr<const api::Pod>& pod, const Demand& demand);

  // The kinds of the mix, the most frequent first; at most kMaxShapes.
  std::vector<const Kind*> Mix() const;

  size_t kept_bytes() const;

 private:
  bool IsKnown(std::string_view uid);
  void Halve();

  // By what they ask for and where; the order makes the mix the same everywhere.
  std::map<std::string, Kind, std::less<>> kinds_;
  int64_t pods_ = 0;
  std::vector<uint64_t> remembered_;  // a ring of hashed uids
  size_t next_ = 0;
  absl::flat_hash_set<uint64_t> is_remembered_;
};

}  // namespace berth::plugins
