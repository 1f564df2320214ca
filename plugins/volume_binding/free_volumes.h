// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/api/node.h"
#include "berth/api/persistent_volume.h"
#include "plugins/volume_binding/volume_affinity.h"

namespace berth::plugins {

// The free volumes that would do for a claim as far as nodes do not matter, by the labels of nodes
// that they name: a node is shown only those that may be reached from it, not all of them.
//
// Thread safety: any number of readers once all volumes are added.
class FreeVolumes {
 public:
  // After those that go before it. The volume must outlive this.
  void Add(const api::PersistentVolume& volume);

  // The first volume that can be reached from the node and is not taken(volume); nullptr: none.
  template <typename Taken>
  const api::PersistentVolume* FindFirst(const api::Node& node, Taken taken) const {
    size_t first = volumes_.size();
    const auto look = [&](const std::vector<uint32_t>& ascending) {
      for (const uint32_t i : ascending) {
        if (i >= first) return;
        const Free& free = volumes_[i];
        if (taken(free.volume) || !(free.by_label_alone || free.affinity.Matches(node))) continue;
        first = i;
        return;
      }
    };
    look(by_no_label_);
    for (const ByLabel& label : by_label_) {
      const std::string* value = api::Find(node.metadata.labels, label.key);
      if (value == nullptr) continue;
      const auto named = label.volumes.find(*value);
      if (named != label.volumes.end()) look(named->second);
    }
    return first == volumes_.size() ? nullptr : volumes_[first].volume;
  }

 private:
  struct Free {
    const api::PersistentVolume* volume = nullptr;
    VolumeAffinity affinity = {};
    // Every node with a label that names the volume reaches it; `affinity` is not set.
    bool by_label_alone = false;
  };
  // By the label's value, the volumes that only nodes with it may reach; ascending.
  struct ByLabel {
    std::string_view key;
    std::unordered_map<std::string_view, std::vector<uint32_t>> volumes;
  };

  std::unordered_map<std::string_view, std::vector<uint32_t>>* VolumesBy(std::string_view key);

  std::vector<Free> volumes_;
  std::vector<ByLabel> by_label_;
  std::vector<uint32_t> by_no_label_;
};

}  // namespace berth::plugins
