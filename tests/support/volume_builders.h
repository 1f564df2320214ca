// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"
#include "berth/api/storage.h"
#include "berth/volumes.h"
#include "tests/support/builders.h"

// Builders of volumes, claims and classes, in the manner of builders.h.
namespace berth::test {

// A volume of 10Gi, ReadWriteOnce and Available, that every node reaches; resourceVersion 1.
class VolumeBuilder {
 public:
  VolumeBuilder(std::string_view name, std::string_view storage_class) {
    volume_.metadata.name = name;
    volume_.metadata.resource_version = "1";
    volume_.spec.storage_class_name = storage_class;
    volume_.spec.access_modes = {std::string(api::kReadWriteOnce)};
    volume_.status.phase = api::kVolumeAvailable;
    Capacity("10Gi");
  }
  VolumeBuilder& Capacity(std::string_view storage) {
    volume_.spec.capacity = MakeResources({{"storage", storage}});
    return *this;
  }
  VolumeBuilder& Modes(std::vector<std::string> modes) {
    volume_.spec.access_modes = std::move(modes);
    return *this;
  }
  VolumeBuilder& Mode(std::string_view mode) {
    volume_.spec.volume_mode = mode;
    return *this;
  }
  VolumeBuilder& AttributesClass(std::string_view name) {
    volume_.spec.volume_attributes_class_name = name;
    return *this;
  }
  VolumeBuilder& Label(std::string_view key, std::string_view value) {
    volume_.metadata.labels.emplace_back(key, value);
    return *this;
  }
  VolumeBuilder& Annotation(std::string_view key, std::string_view value) {
    volume_.metadata.annotations.emplace_back(key, value);
    return *this;
  }
  VolumeBuilder& Phase(std::string_view phase) {
    volume_.status.phase = phase;
    return *this;
  }
  VolumeBuilder& Version(std::string_view version) {
    volume_.metadata.resource_version = version;
    return *this;
  }
  VolumeBuilder& Deleted() {
    volume_.metadata.deletion_timestamp.emplace();
    return *this;
  }
  // Each call adds a term.
  VolumeBuilder& RequireNode(std::vector<api::NodeSelectorRequirement> expressions,
                             std::vector<api::NodeSelectorRequirement> fields = {}) {
    if (!volume_.spec.node_affinity) volume_.spec.node_affinity.emplace().required.emplace();
    volume_.spec.node_affinity->required->node_selector_terms.push_back(
        {std::move(expressions), std::move(fields)});
    return *this;
  }
  VolumeBuilder& On(std::string_view host) {
    return RequireNode({MakeRequirement("kubernetes.io/hostname", "In", {std::string(host)})});
  }
  // Promised to that claim; with a uid, bound to it.
  VolumeBuilder& Claim(std::string_view name, std::string_view uid = "") {
    volume_.spec.claim_ref = {.kind = "PersistentVolumeClaim",
                              .namespace_ = "default",
                              .name = std::string(name),
                              .uid = std::string(uid),
                              .api_version = "v1",
                              .resource_version = ""};
    return *this;
  }

  api::PersistentVolume Obj() const { return volume_; }
  operator api::PersistentVolume() const { return volume_; }
  std::shared_ptr<const api::PersistentVolume> Ptr() const {
    return std::make_shared<const api::PersistentVolume>(volume_);
  }
  api::PersistentVolume* operator->() { return &volume_; }

 private:
  api::PersistentVolume volume_;
};

// A pending claim default/<name> for 5Gi, ReadWriteOnce, with the uid default/<name>;
// resourceVersion 1.
class ClaimBuilder {
 public:
  ClaimBuilder(std::string_view name, std::string_view storage_class) {
    claim_.metadata.name = name;
    claim_.metadata.namespace_ = "default";
    claim_.metadata.uid = "default/" + std::string(name);
    claim_.metadata.resource_version = "1";
    claim_.spec.storage_class_name = storage_class;
    claim_.spec.access_modes = {std::string(api::kReadWriteOnce)};
    claim_.status.phase = api::kClaimPending;
    Request("5Gi");
  }
  ClaimBuilder& Request(std::string_view storage) {
    claim_.spec.resources.requests = MakeResources({{"storage", storage}});
    return *this;
  }
  ClaimBuilder& Phase(std::string_view phase) {
    claim_.status.phase = phase;
    return *this;
  }
  ClaimBuilder& Version(std::string_view version) {
    claim_.metadata.resource_version = version;
    return *this;
  }
  ClaimBuilder& Annotation(std::string_view key, std::string_view value) {
    claim_.metadata.annotations.emplace_back(key, value);
    return *this;
  }
  ClaimBuilder& SelectedNode(std::string_view node) {
    return Annotation(kSelectedNodeAnnotation, node);
  }
  // Names its volume, and no more.
  ClaimBuilder& Volume(std::string_view name) {
    claim_.spec.volume_name = name;
    return *this;
  }
  ClaimBuilder& BoundTo(std::string_view volume) {
    claim_.status.phase = api::kClaimBound;
    claim_.metadata.annotations.emplace(claim_.metadata.annotations.begin(),
                                        kBindCompletedAnnotation, "yes");
    return Volume(volume);
  }
  ClaimBuilder& OwnedBy(std::string_view pod_uid) {
    claim_.metadata.owner_references.push_back({.api_version = "v1",
                                                .kind = "Pod",
                                                .name = "",
                                                .uid = std::string(pod_uid),
                                                .controller = true});
    return *this;
  }
  ClaimBuilder& Deleted() {
    claim_.metadata.deletion_timestamp.emplace();
    return *this;
  }

  api::PersistentVolumeClaim Obj() const { return claim_; }
  operator api::PersistentVolumeClaim() const { return claim_; }
  std::shared_ptr<const api::PersistentVolumeClaim> Ptr() const {
    return std::make_shared<const api::PersistentVolumeClaim>(claim_);
  }
  api::PersistentVolumeClaim* operator->() { return &claim_; }

 private:
  api::PersistentVolumeClaim claim_;
};

inline VolumeBuilder MakeVolume(std::string_view name, std::string_view storage_class) {
  return {name, storage_class};
}
inline ClaimBuilder MakeClaim(std::string_view name, std::string_view storage_class) {
  return {name, storage_class};
}
// A class that waits for its first consumer.
inline api::StorageClass MakeWaitingClass(std::string_view name, std::string_view provisioner) {
  api::StorageClass made;
  made.metadata.name = name;
  made.provisioner = provisioner;
  made.volume_binding_mode = api::kBindWaitForFirstConsumer;
  return made;
}

}  // namespace berth::test
