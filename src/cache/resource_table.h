// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "berth/resources.h"

namespace berth::cache {

// The resource names of the cluster and their ids, dense from 0.
//
// Thread safety: Intern() by one owner while nobody reads.
class ResourceTable final : public ResourceNames {
 public:
  ResourceTable();
  ResourceTable(const ResourceTable&) = delete;
  ResourceTable& operator=(const ResourceTable&) = delete;

  ResourceId Intern(std::string_view name) override;
  // `id` must come from Intern().
  std::string_view Name(ResourceId id) const override;
  size_t size() const { return names_.size(); }

 private:
  std::deque<std::string> names_;  // a deque: the keys of ids_ point into it
  absl::flat_hash_map<std::string_view, ResourceId> ids_;
};

}  // namespace berth::cache
