// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/resources.h"

namespace berth::cache {

// The resource names of the cluster and their ids.
//
// Names that a plugin interned stay. Of the others, which every pod may bring more of, those that
// are held stay, and Sweep() drops the rest; their ids are not used again before all others were.
//
// Thread safety: Intern() and the like by one owner while no thread reads; a Hold may be dropped on
// any thread.
class ResourceTable final : public ResourceNames {
 public:
  // Keeps some names and their ids; nullptr keeps none.
  using Hold = std::shared_ptr<const std::vector<std::shared_ptr<const std::string>>>;

  ResourceTable();
  ResourceTable(const ResourceTable&) = delete;
  ResourceTable& operator=(const ResourceTable&) = delete;

  ResourceId Intern(std::string_view name) override;
  // Good until Sweep(), unless it is held by then.
  ResourceId InternPassing(std::string_view name) override;
  // `id` must be known.
  std::string_view Name(ResourceId id) const override;

  // Holds the scalar resources of both, whose ids must be known.
  Hold HoldScalars(const Resources& a, const Resources& b = {}) const;
  // Drops the names that nothing holds, once they may be more than those that something does.
  // Nothing that is to be held may be waiting for it.
  void MaySweep() {
    if (names_.size() >= sweep_at_) Sweep();
  }
  void Sweep();

  // Called with each id that Intern() gives for the first time.
  void set_on_intern(std::function<void(ResourceId)> on_intern) {
    on_intern_ = std::move(on_intern);
  }
  size_t size() const { return names_.size(); }

 private:
  struct Entry {
    std::shared_ptr<const std::string> name;
    bool interned = false;
  };

  absl::flat_hash_map<ResourceId, Entry> names_;
  absl::flat_hash_map<std::string_view, ResourceId> ids_;  // by the text in names_
  ResourceId next_ = 0;
  size_t sweep_at_ = 0;
  std::function<void(ResourceId)> on_intern_;
};

}  // namespace berth::cache
