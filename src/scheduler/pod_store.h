// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/api/pod.h"
#include "berth/pod_info.h"
#include "src/base/key_text.h"
#include "src/base/string_map.h"

namespace berth::scheduler {

// The pod as it is, or would be, on that node.
inline std::shared_ptr<const api::Pod> PodOn(const api::Pod& pod, std::string_view node_name) {
  auto on = std::make_shared<api::Pod>(pod);
  on->spec.node_name = node_name;
  return on;
}

// The newest version of every pod that waits for one of our profiles and has no node, or whose
// resize is deferred: what a pod that comes back from an attempt is compared with.
//
// Each pod keeps its slot as long as it is here, so that the pods can be gone through while they
// come and go.
//
// Thread safety: the scheduling thread.
class PodStore {
 public:
  void Set(PodInfoPtr info) {
    const auto [it, added] =
        slots_.try_emplace(base::KeyText(info->pod->metadata).view(), pods_.size());
    if (!added) {
      pods_[it->second] = std::move(info);
    } else if (free_.empty()) {
      pods_.push_back(std::move(info));
    } else {
      it->second = free_.back();
      free_.pop_back();
      pods_[it->second] = std::move(info);
    }
  }
  // Only if it is still the same pod, and not one created later under the same name; else false.
  bool Erase(const api::Pod& pod) {
    const auto it = slots_.find(base::KeyText(pod.metadata).view());
    if (it == slots_.end() || pods_[it->second]->pod->metadata.uid != pod.metadata.uid)
      return false;
    pods_[it->second] = nullptr;
    free_.push_back(it->second);
    slots_.erase(it);
    return true;
  }
  std::shared_ptr<const api::Pod> Find(std::string_view key) const {
    const auto it = slots_.find(key);
    return it == slots_.end() ? nullptr : pods_[it->second]->pod;
  }
  size_t size() const { return slots_.size(); }

  // Slots run from 0; nullptr where one is free.
  size_t num_slots() const { return pods_.size(); }
  const PodInfo* at_slot(size_t slot) const { return pods_[slot].get(); }

 private:
  std::vector<PodInfoPtr> pods_;
  std::vector<size_t> free_;
  base::StringMap<size_t> slots_;  // by "namespace/name"
};

}  // namespace berth::scheduler
