// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/volume_score.h"

#include <algorithm>
#include <cmath>

namespace berth::plugins {
namespace {

constexpr int64_t kMaxUtilization = 100;

int64_t Storage(const api::ResourceList& list) {
  const api::Quantity* storage = api::Find(list, "storage");
  return storage == nullptr ? 0 : storage->Value();
}

}  // namespace

VolumeScorer::ClassUse& VolumeScorer::UseOf(std::string_view storage_class) {
  const auto known = std::ranges::find(uses_, storage_class, &ClassUse::storage_class);
  return known != uses_.end() ? *known
                              : uses_.emplace_back(ClassUse{.storage_class = storage_class});
}

void VolumeScorer::FindUses(const NodeVolumes& volumes) {
  uses_.clear();
  for (const NodeVolumes::Binding& binding : volumes.bindings) {
    ClassUse& use = UseOf(binding.volume->spec.storage_class_name);
    use.requested += Storage(binding.claim->spec.resources.requests);
    use.capacity += Storage(binding.volume->spec.capacity);
  }
  if (!volumes.bindings.empty()) return;
  for (const NodeVolumes::Provision& provision : volumes.provisions) {
    if (provision.capacity == nullptr) continue;
    const auto& storage_class = provision.claim->spec.storage_class_name;
    ClassUse& use = UseOf(storage_class ? std::string_view(*storage_class) : "");
    use.requested += Storage(provision.claim->spec.resources.requests);
    // One room serves all claims of the class.
    use.capacity = provision.capacity->capacity ? provision.capacity->capacity->Value() : 0;
  }
}

int64_t VolumeScorer::Score(const NodeVolumes& volumes) {
  FindUses(volumes);
  if (uses_.empty()) return 0;
  int64_t sum = 0;
  for (const ClassUse& use : uses_) {
    const bool full = use.capacity == 0 || use.requested > use.capacity;
    sum += shape_(full ? kMaxUtilization : use.requested * kMaxUtilization / use.capacity);
  }
  return static_cast<int64_t>(
      std::round(static_cast<double>(sum) / static_cast<double>(uses_.size())));
}

}  // namespace berth::plugins
