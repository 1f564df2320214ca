// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/api/object.h"
#include "berth/api/storage.h"

// The objects of volumes that plugin tests put into listers and events.
namespace berth::test {

template <typename T>
T Named(std::string_view name, std::string_view namespace_ = "") {
  T object;
  object.metadata.name = name;
  object.metadata.namespace_ = namespace_;
  return object;
}

inline api::PersistentVolumeClaim Claim(std::string_view name, std::string_view volume_name = "") {
  auto claim = Named<api::PersistentVolumeClaim>(name, "default");
  claim.spec.volume_name = volume_name;
  return claim;
}
inline api::PersistentVolumeClaim ClaimOfClass(std::string_view name, std::string_view class_name) {
  api::PersistentVolumeClaim claim = Claim(name);
  claim.spec.storage_class_name = std::string(class_name);
  return claim;
}
inline api::PersistentVolumeClaim ClaimWithModes(std::string_view name,
                                                 std::vector<std::string> modes) {
  api::PersistentVolumeClaim claim = Claim(name);
  claim.spec.access_modes = std::move(modes);
  return claim;
}

inline api::PersistentVolume PlainVolume(std::string_view name, api::StringMap labels = {}) {
  auto volume = Named<api::PersistentVolume>(name);
  volume.metadata.labels = std::move(labels);
  return volume;
}
inline api::PersistentVolume CsiVolume(std::string_view name, std::string_view driver,
                                       std::string_view handle) {
  api::PersistentVolume volume = PlainVolume(name);
  volume.spec.csi.emplace();
  volume.spec.csi->driver = driver;
  volume.spec.csi->volume_handle = handle;
  return volume;
}

inline api::StorageClass Class(std::string_view name, std::string_view provisioner,
                               std::optional<std::string> mode = "WaitForFirstConsumer") {
  auto storage_class = Named<api::StorageClass>(name);
  storage_class.provisioner = provisioner;
  storage_class.volume_binding_mode = std::move(mode);
  return storage_class;
}

// A driver and how many volumes it takes on the node; nullopt: no limit.
using DriverLimit = std::pair<std::string, std::optional<int32_t>>;

inline api::CSINode NodeDrivers(std::string_view node, const std::vector<DriverLimit>& drivers) {
  auto csi_node = Named<api::CSINode>(node);
  for (const auto& [name, limit] : drivers) {
    api::CSINodeDriver& driver = csi_node.spec.drivers.emplace_back();
    driver.name = name;
    if (limit) driver.allocatable = api::VolumeNodeResources{*limit};
  }
  return csi_node;
}

inline api::VolumeAttachment Attachment(std::string_view name, std::string_view attacher,
                                        std::string_view node, std::string_view volume) {
  auto attachment = Named<api::VolumeAttachment>(name);
  attachment.spec.attacher = attacher;
  attachment.spec.node_name = node;
  attachment.spec.source.persistent_volume_name = std::string(volume);
  return attachment;
}

template <typename T>
api::ObjectPtr AnyObject(const T& object) {
  return std::make_shared<const T>(object);
}

}  // namespace berth::test
