// SPDX-License-Identifier: Apache-2.0
#include "src/cache/resource_table.h"

#include "berth/check.h"

namespace berth::cache {

ResourceTable::ResourceTable() {
  Intern("cpu");
  Intern("memory");
  Intern("ephemeral-storage");
}

ResourceId ResourceTable::Intern(std::string_view name) {
  if (const auto it = ids_.find(name); it != ids_.end()) return it->second;
  const auto id = static_cast<ResourceId>(names_.size());
  ids_.emplace(names_.emplace_back(name), id);
  return id;
}

std::string_view ResourceTable::Name(ResourceId id) const {
  BERTH_CHECK(id < names_.size(), "unknown resource id");
  return names_[id];
}

}  // namespace berth::cache
