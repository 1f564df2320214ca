// SPDX-License-Identifier: Apache-2.0
#include "src/cache/resource_table.h"

#include <algorithm>
#include <utility>

#include "berth/check.h"

namespace berth::cache {
namespace {

constexpr size_t kMinSweptNames = 1024;

}  // namespace

ResourceTable::ResourceTable() : sweep_at_(kMinSweptNames) {
  Intern("cpu");
  Intern("memory");
  Intern("ephemeral-storage");
}

ResourceId ResourceTable::Intern(std::string_view name) {
  const ResourceId id = InternPassing(name);
  const bool again = std::exchange(names_.find(id)->second.interned, true);
  if (!again && on_intern_) on_intern_(id);
  return id;
}

ResourceId ResourceTable::InternPassing(std::string_view name) {
  if (const auto it = ids_.find(name); it != ids_.end()) return it->second;
  // Ids are given out in a circle of 2^32, with a leap over those still in use.
  while (names_.contains(next_)) ++next_;
  const ResourceId id = next_++;
  auto text = std::make_shared<const std::string>(name);
  ids_.emplace(*text, id);
  names_.emplace(id, Entry{std::move(text)});
  return id;
}

std::string_view ResourceTable::Name(ResourceId id) const {
  const auto it = names_.find(id);
  BERTH_CHECK(it != names_.end(), "unknown resource id");
  return *it->second.name;
}

ResourceTable::Hold ResourceTable::HoldScalars(const Resources& a, const Resources& b) const {
  if (a.scalars.empty() && b.scalars.empty()) return nullptr;
  auto hold = std::make_shared<std::vector<std::shared_ptr<const std::string>>>();
  hold->reserve(a.scalars.size());
  for (const Resources* amounts : {&a, &b}) {
    if (amounts == &b && b.scalars == a.scalars) break;
    for (const auto& [id, amount] : amounts->scalars) {
      const auto it = names_.find(id);
      BERTH_CHECK(it != names_.end(), "unknown resource id");
      if (!it->second.interned) hold->push_back(it->second.name);
    }
  }
  if (hold->empty()) return nullptr;
  return hold;
}

void ResourceTable::Sweep() {
  absl::erase_if(names_, [this](const auto& named) {
    const Entry& entry = named.second;
    // The table's own reference is the only one left, and only the table hands out new ones.
    if (entry.interned || entry.name.use_count() > 1) return false;
    ids_.erase(*entry.name);
    return true;
  });
  sweep_at_ = std::max(kMinSweptNames, 2 * names_.size());
}

}  // namespace berth::cache
