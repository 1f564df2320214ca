// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace berth::engine {

// What would become of a pod group if it were tried now, without evicting pods.
struct PodGroupPreview {
  // A pod without a node, and where it would go, all before it in place; or why nowhere.
  struct Member {
    std::string pod;   // "namespace/name"
    std::string node;  // "": none
    std::string message;
  };

  std::string pod_group;  // "namespace/name"
  bool exists = false;    // else nothing else is known but its pods
  // The composite group above all groups that it is part of, by "namespace/name": the rest is about
  // all pods below that one. "": it is part of none.
  std::string composite_pod_group = {};
  std::optional<int32_t> min_count;        // pods that a gang needs
  std::optional<int32_t> min_group_count;  // groups that a composite gang needs
  size_t existing = 0;                     // pods, those on nodes included
  size_t placed = 0;                       // those on nodes
  // In the order in which they are tried, with those of the composite group; pods that are gated or
  // being deleted are left out.
  std::vector<Member> waiting;
  size_t fitting = 0;  // of those that wait
  // false: it was not tried, as `message` says, and nothing is known of what follows.
  bool tried = true;
  bool starts = false;
  std::string message;  // why it does not start

  // Whether the gang has as many pods on nodes as it needs, so that what waits is more than that.
  // Of a tree the counts do not tell.
  bool has_started() const {
    return composite_pod_group.empty() && placed > 0 &&
           static_cast<int64_t>(placed) >= min_count.value_or(0);
  }
};

}  // namespace berth::engine
