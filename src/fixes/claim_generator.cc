// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "src/fixes/refusal.h"

namespace berth::fixes {
namespace {

using informers::Kind;

// Classes that are tried for a claim.
constexpr size_t kMostClasses = 8;

}  // namespace

void OfClaims(const Refusal& refusal) {
  const simulator::MemoryApi& objects = refusal.trial.objects();
  std::vector<std::string> classes;
  objects.ForEach(Kind::kStorageClass, [&](const api::ObjectPtr& object) {
    if (classes.size() < kMostClasses) {
      classes.push_back(api::As<api::StorageClass>(object)->metadata.name);
    }
  });
  const api::Pod& pod = refusal.pod();
  for (const api::Volume& volume : pod.spec.volumes) {
    std::string name;
    if (volume.persistent_volume_claim) name = volume.persistent_volume_claim->claim_name;
    if (volume.ephemeral) name = pod.metadata.name + "-" + volume.name;
    if (name.empty()) continue;
    const std::string key = api::NamespacedKey(pod.metadata.namespace_, name);
    const auto claim =
        simulator::FindIn<api::PersistentVolumeClaim>(objects, Kind::kPersistentVolumeClaim, key);
    // What has its volume keeps it.
    if (claim == nullptr || !claim->spec.volume_name.empty()) continue;
    const std::string now = claim->spec.storage_class_name.value_or("");
    for (const std::string& other : classes) {
      if (other != now) refusal.Add(explain::UseStorageClass{key, now, other});
    }
    const auto of_claim = simulator::FindIn<api::StorageClass>(objects, Kind::kStorageClass, now);
    if (of_claim != nullptr && !of_claim->allowed_topologies.empty()) {
      refusal.Add(explain::AllowAnyTopology{now});
    }
  }
}

}  // namespace berth::fixes
