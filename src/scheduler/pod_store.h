// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "berth/api/pod.h"
#include "src/base/string_map.h"

namespace berth::scheduler {

// The pod as it is, or would be, on that node.
inline std::shared_ptr<const api::Pod> PodOn(const api::Pod& pod, std::string_view node_name) {
  auto on = std::make_shared<api::Pod>(pod);
  on->spec.node_name = node_name;
  return on;
}

// The newest version of every pod that waits for one of our profiles and has no node: what a pod
// that comes back from an attempt is compared with.
//
// Thread safety: the scheduling thread.
class PodStore {
 public:
  void Set(std::shared_ptr<const api::Pod> pod) {
    std::string key = pod->metadata.Key();
    pods_[std::move(key)] = std::move(pod);
  }
  // Only if it is still the same pod, and not one created later under the same name.
  void Erase(const api::Pod& pod) {
    const auto it = pods_.find(pod.metadata.Key());
    if (it != pods_.end() && it->second->metadata.uid == pod.metadata.uid) pods_.erase(it);
  }
  std::shared_ptr<const api::Pod> Find(std::string_view key) const {
    const auto it = pods_.find(key);
    return it == pods_.end() ? nullptr : it->second;
  }
  size_t size() const { return pods_.size(); }

 private:
  base::StringMap<std::shared_ptr<const api::Pod>> pods_;
};

}  // namespace berth::scheduler
