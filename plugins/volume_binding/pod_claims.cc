// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/pod_claims.h"

#include <algorithm>
#include <utility>

#include "berth/field_errors.h"
#include "berth/volumes.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kStorage = "storage";

const api::Quantity* SizeLimit(const api::CSIStorageCapacity& capacity) {
  if (capacity.maximum_volume_size) return &*capacity.maximum_volume_size;
  return capacity.capacity ? &*capacity.capacity : nullptr;
}

BoundClaim LookAtBound(const api::PersistentVolumeClaim& claim, const AssumedVolumes& volumes) {
  BoundClaim bound{.claim = &claim, .volume = volumes.FindVolume(claim.spec.volume_name)};
  if (bound.volume == nullptr) return bound;
  bound.affinity = VolumeAffinity(bound.volume->spec.node_affinity);
  const std::string_view plugin = MigratedPluginOf(*bound.volume);
  if (plugin.empty()) return bound;
  const auto affinity = MigratedAffinity(*bound.volume);
  if (affinity && *affinity == bound.volume->spec.node_affinity) return bound;
  MigratedVolume migrated{.plugin = plugin};
  if (affinity) {
    migrated.affinity = VolumeAffinity(*affinity);
  } else {
    migrated.error = affinity.error().message;
  }
  bound.migrated = std::make_shared<const MigratedVolume>(std::move(migrated));
  return bound;
}

void FindMatching(const AssumedVolumes& volumes, DelayedClaim& delayed) {
  const api::PersistentVolumeClaim& claim = *delayed.claim;
  std::optional<LabelSelectorMatcher> selector;
  if (claim.spec.selector) {
    auto made = LabelSelectorMatcher::Make(claim.spec.selector);
    if (!made) {
      delayed.match_error =
          "error creating internal label selector for claim: " + claim.metadata.Key() + ": " +
          made.error().message;
      return;
    }
    selector = *std::move(made);
  }
  std::vector<const api::PersistentVolume*> free;
  volumes.ForEachVolumeOfClass(StorageClassOf(claim), [&](const api::PersistentVolume& volume) {
    const bool promised = IsPromisedTo(volume, claim);
    if ((volume.spec.claim_ref && !promised) || !MayServe(volume, claim)) return;
    if (promised) {
      delayed.promised.push_back({&volume, VolumeAffinity(volume.spec.node_affinity)});
    } else if (volume.status.phase == api::kVolumeAvailable &&
               (!selector || selector->Matches(volume.metadata.labels)) &&
               HasModes(volume, claim)) {
      free.push_back(&volume);
    }
  });
  std::ranges::stable_sort(free, {}, [](const api::PersistentVolume* volume) {
    return StorageIn(volume->spec.capacity);
  });
  for (const api::PersistentVolume* volume : free) delayed.free.Add(*volume);
}

// Of each of the class's terms; one that no label can match, as of a bad value, allows no node.
std::optional<std::vector<LabelSelectorMatcher>> AllowedBy(const api::StorageClass& storage_class) {
  if (storage_class.allowed_topologies.empty()) return std::nullopt;
  std::vector<LabelSelectorMatcher> allowed;
  for (const api::TopologySelectorTerm& term : storage_class.allowed_topologies) {
    if (term.match_label_expressions.empty()) continue;
    api::LabelSelector selector;
    for (const auto& expression : term.match_label_expressions) {
      selector.match_expressions.push_back({expression.key, "In", expression.values});
    }
    if (auto nodes = LabelSelectorMatcher::Make(selector)) allowed.push_back(*std::move(nodes));
  }
  return allowed;
}

Provisioning FindProvisioning(const api::PersistentVolumeClaim& claim, const Listers& listers) {
  Provisioning provisioning;
  provisioning.storage_class = listers.Find<api::StorageClass>(StorageClassOf(claim));
  if (provisioning.storage_class == nullptr) return provisioning;
  const std::string& provisioner = provisioning.storage_class->provisioner;
  provisioning.has_provisioner = !provisioner.empty() && provisioner != kNoProvisioner;
  if (!provisioning.has_provisioner) return provisioning;
  provisioning.allowed = AllowedBy(*provisioning.storage_class);
  const api::Quantity* size = api::Find(claim.spec.resources.requests, kStorage);
  if (size == nullptr) return provisioning;
  const api::CSIDriver* driver = listers.Find<api::CSIDriver>(provisioner);
  if (driver == nullptr || !driver->spec.storage_capacity.value_or(false)) return provisioning;
  auto& room = provisioning.room.emplace();
  listers.ForEachBy<api::CSIStorageCapacity>(
      provisioning.storage_class->metadata.name, [&](const api::CSIStorageCapacity& capacity) {
        const api::Quantity* limit = SizeLimit(capacity);
        if (limit == nullptr || limit->Value() < size->Value() || !capacity.node_topology) return;
        if (auto nodes = LabelSelectorMatcher::Make(capacity.node_topology)) {
          room.push_back({&capacity, *std::move(nodes)});
        }
      });
  return provisioning;
}

// Errors: the class does not say.
Result<bool> WaitsForConsumer(const api::PersistentVolumeClaim& claim, const Listers& listers) {
  const std::string_view name = StorageClassOf(claim);
  const api::StorageClass* found = name.empty() ? nullptr : listers.Find<api::StorageClass>(name);
  if (found == nullptr) return false;
  if (!found->volume_binding_mode) {
    return Fail("VolumeBindingMode not set for StorageClass " + Quote(name));
  }
  return *found->volume_binding_mode == api::kBindWaitForFirstConsumer;
}

constexpr std::string_view kHostname = "kubernetes.io/hostname";
// Each node is asked for all of them.
constexpr size_t kMaxLabels = 4;

using Requirement = api::NodeSelectorRequirement;
using Terms = std::vector<api::NodeSelectorTerm>;

const Requirement* FindIn(const api::NodeSelectorTerm& term, std::string_view key) {
  const auto& expressions = term.match_expressions;
  const auto found = std::ranges::find_if(expressions, [&](const Requirement& expression) {
    return expression.operator_ == "In" && expression.key == key;
  });
  return found == expressions.end() ? nullptr : &*found;
}

// The label by whose value each of the terms names nodes, the host's before others; "": none.
std::string_view LabelOf(const Terms& terms) {
  const bool by_fields = std::ranges::any_of(
      terms, [](const api::NodeSelectorTerm& term) { return !term.match_fields.empty(); });
  if (terms.empty() || by_fields) return "";
  const auto all_name = [&](std::string_view key) {
    return std::ranges::all_of(
        terms, [&](const api::NodeSelectorTerm& term) { return FindIn(term, key) != nullptr; });
  };
  if (all_name(kHostname)) return kHostname;
  for (const Requirement& expression : terms.front().match_expressions) {
    if (expression.operator_ == "In" && all_name(expression.key)) return expression.key;
  }
  return "";
}

// Whether the host's name is all that counts, as for most local volumes.
bool ByHostAlone(const Terms& terms) {
  return terms.size() == 1 && terms.front().match_expressions.size() == 1 &&
         std::ranges::all_of(
             terms.front().match_expressions.front().values,
             [](const std::string& value) { return LabelValueProblems(value).empty(); });
}

void KeepAssumed(const AssumedVolumes& volumes, PodClaims& claims) {
  const auto keep = [&](const auto* object) {
    if (object == nullptr) return;
    if (auto kept = volumes.Keep(*object)) claims.kept.push_back(std::move(kept));
  };
  for (const BoundClaim& bound : claims.bound) {
    keep(bound.claim);
    keep(bound.volume);
  }
  for (const DelayedClaim& delayed : claims.delayed) {
    keep(delayed.claim);
    for (const PromisedVolume& promised : delayed.promised) keep(promised.volume);
  }
}

}  // namespace

bool HasClaims(const api::Pod& pod) {
  return std::ranges::any_of(pod.spec.volumes, [](const api::Volume& volume) {
    return volume.persistent_volume_claim.has_value() || volume.ephemeral.has_value();
  });
}

std::optional<std::string> FindClaimProblem(const api::Pod& pod, const Listers& listers) {
  for (const api::Volume& volume : pod.spec.volumes) {
    const auto name = ClaimNameOf(pod, volume);
    if (!name) continue;
    const auto* claim = listers.Find<api::PersistentVolumeClaim>(pod.metadata.namespace_, *name);
    if (claim == nullptr) {
      if (!volume.ephemeral) return "persistentvolumeclaim " + Quote(*name) + " not found";
      return "waiting for ephemeral volume controller to create the persistentvolumeclaim " +
             Quote(*name);
    }
    if (claim->status.phase == api::kClaimLost) {
      return "persistentvolumeclaim " + Quote(*name) + " bound to non-existent persistentvolume " +
             Quote(claim->spec.volume_name);
    }
    if (claim->metadata.deletion_timestamp) {
      return "persistentvolumeclaim " + Quote(*name) + " is being deleted";
    }
    if (volume.ephemeral && !IsMadeFor(*claim, pod)) {
      return "PVC " + claim->metadata.Key() + " was not created for pod " + pod.metadata.Key() +
             " (pod is not owner)";
    }
  }
  return std::nullopt;
}

Result<PodClaims> FindPodClaims(const api::Pod& pod, Handle& handle) {
  const AssumedVolumes& volumes = handle.assumed_volumes();
  const Listers& listers = handle.listers();
  PodClaims claims;
  for (const api::Volume& volume : pod.spec.volumes) {
    const auto name = ClaimNameOf(pod, volume);
    if (!name) continue;
    const auto* claim = volumes.FindClaim(pod.metadata.namespace_, *name);
    if (claim == nullptr) continue;
    if (IsFullyBound(*claim)) {
      claims.bound.push_back(LookAtBound(*claim, volumes));
      continue;
    }
    const auto waits = WaitsForConsumer(*claim, listers);
    if (!waits) return Fail(waits.error());
    // One that names its volume waits for that volume, not for a node.
    if (!*waits || !claim->spec.volume_name.empty()) {
      claims.has_unbound_immediate = true;
      continue;
    }
    claims.delayed.push_back(
        {.claim = claim,
         .selected_node = api::Find(claim->metadata.annotations, kSelectedNodeAnnotation)});
  }
  if (claims.has_unbound_immediate) return claims;
  const auto rest = std::ranges::stable_partition(
      claims.delayed, [](const DelayedClaim& delayed) { return delayed.selected_node != nullptr; });
  std::ranges::stable_sort(rest, {}, [](const DelayedClaim& delayed) {
    return StorageIn(delayed.claim->spec.resources.requests);
  });
  for (DelayedClaim& delayed : claims.delayed) {
    if (delayed.selected_node == nullptr) FindMatching(volumes, delayed);
    delayed.provisioning = FindProvisioning(*delayed.claim, listers);
  }
  KeepAssumed(volumes, claims);
  return claims;
}

std::unordered_map<std::string_view, std::vector<uint32_t>>* FreeVolumes::VolumesBy(
    std::string_view key) {
  const auto known = std::ranges::find(by_label_, key, &ByLabel::key);
  if (known != by_label_.end()) return &known->volumes;
  if (by_label_.size() == kMaxLabels) return nullptr;
  return &by_label_.emplace_back(ByLabel{key, {}}).volumes;
}

void FreeVolumes::Add(const api::PersistentVolume& volume) {
  const auto index = static_cast<uint32_t>(volumes_.size());
  Free& free = volumes_.emplace_back(Free{.volume = &volume});
  const auto& affinity = volume.spec.node_affinity;
  if (!affinity || !affinity->required) {
    by_no_label_.push_back(index);
    return;
  }
  const Terms& terms = affinity->required->node_selector_terms;
  const std::string_view key = LabelOf(terms);
  auto* named = key.empty() ? nullptr : VolumesBy(key);
  free.by_label_alone = named != nullptr && key == kHostname && ByHostAlone(terms);
  if (!free.by_label_alone) free.affinity = VolumeAffinity(affinity);
  if (named == nullptr) {
    by_no_label_.push_back(index);
    return;
  }
  for (const api::NodeSelectorTerm& term : terms) {
    for (const std::string& value : FindIn(term, key)->values) {
      std::vector<uint32_t>& volumes = (*named)[value];
      if (volumes.empty() || volumes.back() != index) volumes.push_back(index);
    }
  }
}

}  // namespace berth::plugins
