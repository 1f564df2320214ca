// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "berth/api/object.h"
#include "berth/listers.h"
#include "src/cache/volume_change_log.h"

namespace berth::cache {

// The objects that are neither pods nor nodes, by kind, namespace and name.
//
// Thread safety: the scheduling thread.
class ObjectTables : public Listers {
 public:
  // Adds the object, or puts it in place of the version before. Pods, nodes and none are a bug.
  void Set(const api::ObjectPtr& object);
  // Takes out what has this object's kind, namespace and name; nothing happens where there is none.
  void Remove(const api::ObjectPtr& object);

  const api::PluginObject* FindPluginObject(api::PluginKindId kind, std::string_view namespace_,
                                            std::string_view name) const override;
  void ForEachPluginObject(api::PluginKindId kind, std::optional<std::string_view> namespace_,
                           const Visit<api::PluginObject>& visit) const override;
  uint64_t generation() const override { return generation_; }
  uint64_t namespaces_generation() const override { return namespaces_generation_; }
  uint64_t disruption_budgets_generation() const override { return disruption_budgets_generation_; }
  uint64_t volumes_generation() const override { return volume_changes_.generation(); }
  uint64_t devices_generation() const override { return devices_generation_; }
  uint64_t pod_groups_generation() const override { return pod_groups_generation_; }
  uint64_t node_topologies_generation() const override { return node_topologies_generation_; }
  bool VolumesChangedSince(uint64_t generation, const Visit<VolumeChange>& visit) const override {
    return volume_changes_.Since(generation, visit);
  }

 private:
  // From `before` to `after`; either may be nullptr.
  template <typename T>
  void CountChange(const T* before, const T* after);
  // Keeps the index of T, if it has one, in step with a change from `before` to `after`; either
  // may be nullptr.
  template <typename T>
  void Reindex(const std::shared_ptr<const T>& before, const std::shared_ptr<const T>& after);

  std::map<api::PluginKindId, Table<api::PluginObject>> plugin_objects_;
  uint64_t generation_ = 0;
  uint64_t namespaces_generation_ = 0;
  uint64_t disruption_budgets_generation_ = 0;
  uint64_t devices_generation_ = 0;
  uint64_t pod_groups_generation_ = 0;
  uint64_t node_topologies_generation_ = 0;
  VolumeChangeLog volume_changes_;
};

}  // namespace berth::cache
