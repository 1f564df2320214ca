// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/persistent_volume.h"
#include "berth/api/storage.h"
#include "src/api/field_table.h"
#include "src/api/tables_meta.h"
#include "src/api/tables_pod.h"
#include "src/api/tables_volume.h"

// Field tables of PersistentVolume and of the kinds of storage.k8s.io. Numbers are those of
// generated.proto in k8s.io/api/core/v1 and k8s.io/api/storage/v1.
namespace berth::api {

template <>
struct FieldsOf<ObjectReference> {
  static constexpr auto kFields = Table(
      Field<1, &ObjectReference::kind>("kind"), Field<2, &ObjectReference::namespace_>("namespace"),
      Field<3, &ObjectReference::name>("name"), Field<4, &ObjectReference::uid>("uid"),
      Field<5, &ObjectReference::api_version>("apiVersion"),
      Field<6, &ObjectReference::resource_version>("resourceVersion"));
};

template <>
struct FieldsOf<VolumeNodeAffinity> {
  static constexpr auto kFields = Table(Field<1, &VolumeNodeAffinity::required>("required"));
};

template <>
struct FieldsOf<PersistentVolumeSpec> {
  using Spec = PersistentVolumeSpec;
  static constexpr auto kFields = Table(
      Field<1, &Spec::capacity>("capacity"),
      Nested<2>(Field<1, &Spec::gce_persistent_disk>("gcePersistentDisk"),
                Field<2, &Spec::aws_elastic_block_store>("awsElasticBlockStore"),
                Field<3, &Spec::host_path>("hostPath"), Field<6, &Spec::rbd>("rbd"),
                Field<7, &Spec::iscsi>("iscsi"), Field<8, &Spec::cinder>("cinder"),
                Field<13, &Spec::azure_file>("azureFile"),
                Field<14, &Spec::vsphere_volume>("vsphereVolume"),
                Field<16, &Spec::azure_disk>("azureDisk"),
                Field<18, &Spec::portworx_volume>("portworxVolume"),
                Field<20, &Spec::local>("local"), Field<22, &Spec::csi>("csi")),
      Field<3, &Spec::access_modes>("accessModes"), Field<4, &Spec::claim_ref>("claimRef"),
      Field<5, &Spec::persistent_volume_reclaim_policy>("persistentVolumeReclaimPolicy"),
      Field<6, &Spec::storage_class_name>("storageClassName"),
      Field<8, &Spec::volume_mode>("volumeMode"), Field<9, &Spec::node_affinity>("nodeAffinity"),
      Field<10, &Spec::volume_attributes_class_name>("volumeAttributesClassName"));
};

template <>
struct FieldsOf<PersistentVolumeStatus> {
  static constexpr auto kFields = Table(Field<1, &PersistentVolumeStatus::phase>("phase"));
};

template <>
struct FieldsOf<PersistentVolume> {
  static constexpr auto kFields = Table(Field<1, &PersistentVolume::metadata>("metadata"),
                                        Field<2, &PersistentVolume::spec>("spec"),
                                        Field<3, &PersistentVolume::status>("status"));
};

template <>
struct FieldsOf<TopologySelectorLabelRequirement> {
  static constexpr auto kFields =
      Table(Field<1, &TopologySelectorLabelRequirement::key>("key"),
            Field<2, &TopologySelectorLabelRequirement::values>("values"));
};

template <>
struct FieldsOf<TopologySelectorTerm> {
  static constexpr auto kFields =
      Table(Field<1, &TopologySelectorTerm::match_label_expressions>("matchLabelExpressions"));
};

template <>
struct FieldsOf<StorageClass> {
  static constexpr auto kFields =
      Table(Field<1, &StorageClass::metadata>("metadata"),
            Field<2, &StorageClass::provisioner>("provisioner"),
            Field<3, &StorageClass::parameters>("parameters"),
            Field<4, &StorageClass::reclaim_policy>("reclaimPolicy"),
            Field<7, &StorageClass::volume_binding_mode>("volumeBindingMode"),
            Field<8, &StorageClass::allowed_topologies>("allowedTopologies"));
};

template <>
struct FieldsOf<VolumeNodeResources> {
  static constexpr auto kFields = Table(Field<1, &VolumeNodeResources::count>("count"));
};

template <>
struct FieldsOf<CSINodeDriver> {
  static constexpr auto kFields =
      Table(Field<1, &CSINodeDriver::name>("name"), Field<2, &CSINodeDriver::node_id>("nodeID"),
            Field<3, &CSINodeDriver::topology_keys>("topologyKeys"),
            Field<4, &CSINodeDriver::allocatable>("allocatable"));
};

template <>
struct FieldsOf<CSINodeSpec> {
  static constexpr auto kFields = Table(Field<1, &CSINodeSpec::drivers>("drivers"));
};

template <>
struct FieldsOf<CSINode> {
  static constexpr auto kFields =
      Table(Field<1, &CSINode::metadata>("metadata"), Field<2, &CSINode::spec>("spec"));
};

template <>
struct FieldsOf<CSIDriverSpec> {
  static constexpr auto kFields =
      Table(Field<1, &CSIDriverSpec::attach_required>("attachRequired"),
            Field<4, &CSIDriverSpec::storage_capacity>("storageCapacity"),
            Field<11, &CSIDriverSpec::prevent_pod_scheduling_if_missing>(
                "preventPodSchedulingIfMissing"));
};

template <>
struct FieldsOf<CSIDriver> {
  static constexpr auto kFields =
      Table(Field<1, &CSIDriver::metadata>("metadata"), Field<2, &CSIDriver::spec>("spec"));
};

template <>
struct FieldsOf<CSIStorageCapacity> {
  static constexpr auto kFields =
      Table(Field<1, &CSIStorageCapacity::metadata>("metadata"),
            Field<2, &CSIStorageCapacity::node_topology>("nodeTopology"),
            Field<3, &CSIStorageCapacity::storage_class_name>("storageClassName"),
            Field<4, &CSIStorageCapacity::capacity>("capacity"),
            Field<5, &CSIStorageCapacity::maximum_volume_size>("maximumVolumeSize"));
};

template <>
struct FieldsOf<VolumeAttachmentSource> {
  static constexpr auto kFields =
      Table(Field<1, &VolumeAttachmentSource::persistent_volume_name>("persistentVolumeName"));
};

template <>
struct FieldsOf<VolumeAttachmentSpec> {
  static constexpr auto kFields = Table(Field<1, &VolumeAttachmentSpec::attacher>("attacher"),
                                        Field<2, &VolumeAttachmentSpec::source>("source"),
                                        Field<3, &VolumeAttachmentSpec::node_name>("nodeName"));
};

template <>
struct FieldsOf<VolumeAttachmentStatus> {
  static constexpr auto kFields = Table(Field<1, &VolumeAttachmentStatus::attached>("attached"));
};

template <>
struct FieldsOf<VolumeAttachment> {
  static constexpr auto kFields = Table(Field<1, &VolumeAttachment::metadata>("metadata"),
                                        Field<2, &VolumeAttachment::spec>("spec"),
                                        Field<3, &VolumeAttachment::status>("status"));
};

template <>
struct FieldsOf<VolumeAttributesClass> {
  static constexpr auto kFields = Table(Field<1, &VolumeAttributesClass::metadata>("metadata"),
                                        Field<2, &VolumeAttributesClass::driver_name>("driverName"),
                                        Field<3, &VolumeAttributesClass::parameters>("parameters"));
};

}  // namespace berth::api
