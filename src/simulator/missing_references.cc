// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/missing_references.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "src/base/string_map.h"

namespace berth::simulator {
namespace {

using informers::Kind;
using NameSet = absl::flat_hash_set<std::string, base::StringHash, std::equal_to<>>;

// Objects of one kind: those that are there, and those that others refer to.
struct Referred {
  std::string_view what;  // "PersistentVolumeClaims that pods use"
  std::optional<Kind> kind = std::nullopt;
  NameSet there = {};
  std::set<std::string> asked_for = {};

  // What `cluster` has, if there is one, is there, too.
  void AppendMissing(std::string_view consequence, const MemoryApi* cluster,
                     std::vector<std::string>& out) const {
    constexpr size_t kMostNames = 5;
    size_t missing = 0;
    std::string names;
    for (const std::string& name : asked_for) {
      if (there.contains(name)) continue;
      if (cluster != nullptr && kind && cluster->Find(*kind, name).index() > 0) continue;
      if (++missing > kMostNames) continue;
      names += (names.empty() ? "" : ", ") + name;
    }
    if (missing == 0) return;
    if (missing > kMostNames) names += " and " + std::to_string(missing - kMostNames) + " more";
    out.push_back(std::string(what) + " were not read: " + names + "; " + std::string(consequence));
  }
};

// Whether a term of the pod's goes by the labels of namespaces; no labels are needed for all of
// them.
bool SelectsNamespaces(const api::PodAffinityTerm& term) {
  const std::optional<api::LabelSelector>& selector = term.namespace_selector;
  return selector && !(selector->match_labels.empty() && selector->match_expressions.empty());
}

bool SelectsNamespaces(const std::optional<api::PodAffinity>& affinity) {
  if (!affinity) return false;
  return std::ranges::any_of(
             affinity->required_during_scheduling_ignored_during_execution,
             [](const api::PodAffinityTerm& term) { return SelectsNamespaces(term); }) ||
         std::ranges::any_of(affinity->preferred_during_scheduling_ignored_during_execution,
                             [](const api::WeightedPodAffinityTerm& term) {
                               return SelectsNamespaces(term.pod_affinity_term);
                             });
}

class References {
 public:
  // `cluster`: what else is there; nullptr: nothing.
  explicit References(const MemoryApi* cluster = nullptr)
      : cluster_(cluster),
        has_slices_(cluster != nullptr && cluster->Count(Kind::kResourceSlice) > 0) {}

  // Of an object that is there, and whose references count.
  void Take(const api::ObjectPtr& object) {
    See(object);
    if (const auto* pod = api::As<api::Pod>(object)) {
      TakePod(*pod);
    } else if (const auto* claim = api::As<api::PersistentVolumeClaim>(object)) {
      TakeClaim(claim->spec);
    } else if (const auto* device_claim = api::As<api::ResourceClaim>(object)) {
      TakeDevices(device_claim->spec.devices.requests);
    } else if (const auto* claim_template = api::As<api::ResourceClaimTemplate>(object)) {
      TakeDevices(claim_template->spec.spec.devices.requests);
    }
  }

  // Counts a namespace that each cluster has as one that is there.
  void SeeNamespace(std::string_view name) { namespaces_.there.emplace(name); }

  std::vector<std::string> Missing() const {
    std::vector<std::string> missing;
    const auto append = [&](const Referred& referred, std::string_view consequence) {
      referred.AppendMissing(consequence, cluster_, missing);
    };
    // A dump without any tells nothing of them.
    if (selects_namespaces_) {
      append(namespaces_,
             "affinity by namespaceSelector goes as though they had no labels but their name");
    } else if (cluster_ != nullptr && cluster_->Count(Kind::kNamespace) > 0) {
      append(namespaces_, "an API server would refuse what is to be in them");
    }
    constexpr std::string_view kPending = "pods that wait for them cannot be scheduled";
    append(claims_, "pods that wait for them cannot be scheduled, others use no volume");
    append(volumes_, "their claims have no volume");
    append(storage_classes_, "pods with unbound claims of them cannot be scheduled");
    append(device_claims_,
           "their devices count as free, pods that wait for them cannot be scheduled");
    append(templates_, kPending);
    append(device_classes_, kPending);
    if (!device_classes_.asked_for.empty() && !has_slices_)
      missing.emplace_back(
          "No ResourceSlices were read, but claims of devices: no node has devices");
    append(groups_, "with the gate GenericWorkload their pods wait for them");
    return missing;
  }

 private:
  void See(const api::ObjectPtr& object) {
    if (const auto* claim = api::As<api::PersistentVolumeClaim>(object)) {
      claims_.there.insert(claim->metadata.Key());
    } else if (const auto* device_claim = api::As<api::ResourceClaim>(object)) {
      device_claims_.there.insert(device_claim->metadata.Key());
    } else if (const auto* claim_template = api::As<api::ResourceClaimTemplate>(object)) {
      templates_.there.insert(claim_template->metadata.Key());
    } else if (const auto* namespace_ = api::As<api::Namespace>(object)) {
      namespaces_.there.insert(namespace_->metadata.name);
    } else if (const auto* volume = api::As<api::PersistentVolume>(object)) {
      volumes_.there.insert(volume->metadata.name);
    } else if (const auto* storage_class = api::As<api::StorageClass>(object)) {
      storage_classes_.there.insert(storage_class->metadata.name);
    } else if (const auto* device_class = api::As<api::DeviceClass>(object)) {
      device_classes_.there.insert(device_class->metadata.name);
    } else if (const auto* group = api::As<api::PodGroup>(object)) {
      groups_.there.insert(group->metadata.Key());
    } else if (api::As<api::ResourceSlice>(object) != nullptr) {
      has_slices_ = true;
    }
  }

  void TakePod(const api::Pod& pod) {
    const std::string& in = pod.metadata.namespace_;
    namespaces_.asked_for.insert(in);
    if (const auto& affinity = pod.spec.affinity) {
      selects_namespaces_ = selects_namespaces_ || SelectsNamespaces(affinity->pod_affinity) ||
                            SelectsNamespaces(affinity->pod_anti_affinity);
    }
    const bool placed = !pod.spec.node_name.empty();
    for (const api::Volume& volume : pod.spec.volumes) {
      if (volume.persistent_volume_claim) {
        claims_.asked_for.insert(
            api::NamespacedKey(in, volume.persistent_volume_claim->claim_name));
      } else if (volume.ephemeral && placed) {  // until then a controller may still make it
        claims_.asked_for.insert(api::NamespacedKey(in, pod.metadata.name + "-" + volume.name));
      } else if (volume.ephemeral && volume.ephemeral->volume_claim_template) {
        TakeClaim(volume.ephemeral->volume_claim_template->spec);
      }
    }
    for (const api::PodResourceClaim& claim : pod.spec.resource_claims) {
      if (claim.resource_claim_name)
        device_claims_.asked_for.insert(api::NamespacedKey(in, *claim.resource_claim_name));
      if (claim.resource_claim_template_name && !placed)
        templates_.asked_for.insert(api::NamespacedKey(in, *claim.resource_claim_template_name));
    }
    for (const api::PodResourceClaimStatus& status : pod.status.resource_claim_statuses) {
      if (status.resource_claim_name)
        device_claims_.asked_for.insert(api::NamespacedKey(in, *status.resource_claim_name));
    }
    if (pod.spec.scheduling_group && pod.spec.scheduling_group->pod_group_name) {
      groups_.asked_for.insert(api::NamespacedKey(in, *pod.spec.scheduling_group->pod_group_name));
    }
  }

  void TakeClaim(const api::PersistentVolumeClaimSpec& claim) {
    if (!claim.volume_name.empty()) {
      volumes_.asked_for.insert(claim.volume_name);
    } else if (claim.storage_class_name && !claim.storage_class_name->empty()) {
      storage_classes_.asked_for.insert(*claim.storage_class_name);
    }
  }

  void TakeDevices(const std::vector<api::DeviceRequest>& requests) {
    for (const api::DeviceRequest& request : requests) {
      if (request.exactly) device_classes_.asked_for.insert(request.exactly->device_class_name);
      for (const api::DeviceSubRequest& sub : request.first_available)
        device_classes_.asked_for.insert(sub.device_class_name);
    }
  }

  Referred namespaces_{.what = "Namespaces of pods", .kind = Kind::kNamespace};
  Referred claims_{.what = "PersistentVolumeClaims of pods", .kind = Kind::kPersistentVolumeClaim};
  Referred volumes_{.what = "PersistentVolumes of claims", .kind = Kind::kPersistentVolume};
  Referred storage_classes_{.what = "StorageClasses of claims", .kind = Kind::kStorageClass};
  Referred device_claims_{.what = "ResourceClaims of pods", .kind = Kind::kResourceClaim};
  Referred templates_{.what = "ResourceClaimTemplates of pods",
                      .kind = Kind::kResourceClaimTemplate};
  Referred device_classes_{.what = "DeviceClasses of claims", .kind = Kind::kDeviceClass};
  Referred groups_{.what = "PodGroups of pods", .kind = Kind::kPodGroup};
  const MemoryApi* cluster_;
  bool selects_namespaces_ = false;
  bool has_slices_;
};

}  // namespace

std::vector<std::string> MissingReferences(const std::vector<api::ObjectPtr>& objects) {
  References references;
  for (const api::ObjectPtr& object : objects) references.Take(object);
  return references.Missing();
}

std::vector<std::string> MissingReferences(const std::vector<api::ObjectPtr>& objects,
                                           const MemoryApi& cluster) {
  References references(&cluster);
  references.SeeNamespace("default");
  for (const api::ObjectPtr& object : objects) references.Take(object);
  return references.Missing();
}

std::vector<std::string> MissingRuntimeClasses(std::set<std::string> names,
                                               const AdmissionObjects& read) {
  Referred classes{.what = "RuntimeClasses of manifests",
                   .kind = std::nullopt,
                   .there = {""},
                   .asked_for = std::move(names)};
  for (const RuntimeClass& one : read.runtime_classes) classes.there.insert(one.name);
  std::vector<std::string> missing;
  classes.AppendMissing("their pods have no overhead, node selector or tolerations of them",
                        nullptr, missing);
  return missing;
}

}  // namespace berth::simulator
