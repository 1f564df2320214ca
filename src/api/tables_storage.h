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
inline constexpr auto kFieldsOf<ObjectReference> = Table(
    Field<1, &ObjectReference::kind>("kind"), Field<2, &ObjectReference::namespace_>("namespace"),
    Field<3, &ObjectReference::name>("name"), Field<4, &ObjectReference::uid>("uid"),
    Field<5, &ObjectReference::api_version>("apiVersion"),
    Field<6, &ObjectReference::resource_version>("resourceVersion"));

template <>
inline constexpr auto kFieldsOf<VolumeNodeAffinity> =
    Table(Field<1, &VolumeNodeAffinity::required>("required"));

template <>
inline constexpr auto kFieldsOf<PersistentVolumeSpec> = Table(
    Field<1, &PersistentVolumeSpec::capacity>("capacity"),
    Nested<2>(Field<1, &PersistentVolumeSpec::gce_persistent_disk>("gcePersistentDisk"),
              Field<2, &PersistentVolumeSpec::aws_elastic_block_store>("awsElasticBlockStore"),
              Field<3, &PersistentVolumeSpec::host_path>("hostPath"),
              Field<6, &PersistentVolumeSpec::rbd>("rbd"),
              Field<7, &PersistentVolumeSpec::iscsi>("iscsi"),
              Field<8, &PersistentVolumeSpec::cinder>("cinder"),
              Field<13, &PersistentVolumeSpec::azure_file>("azureFile"),
              Field<14, &PersistentVolumeSpec::vsphere_volume>("vsphereVolume"),
              Field<16, &PersistentVolumeSpec::azure_disk>("azureDisk"),
              Field<18, &PersistentVolumeSpec::portworx_volume>("portworxVolume"),
              Field<20, &PersistentVolumeSpec::local>("local"),
              Field<22, &PersistentVolumeSpec::csi>("csi")),
    Field<3, &PersistentVolumeSpec::access_modes>("accessModes"),
    Field<4, &PersistentVolumeSpec::claim_ref>("claimRef"),
    Field<5, &PersistentVolumeSpec::persistent_volume_reclaim_policy>(
        "persistentVolumeReclaimPolicy"),
    Field<6, &PersistentVolumeSpec::storage_class_name>("storageClassName"),
    Field<8, &PersistentVolumeSpec::volume_mode>("volumeMode"),
    Field<9, &PersistentVolumeSpec::node_affinity>("nodeAffinity"),
    Field<10, &PersistentVolumeSpec::volume_attributes_class_name>("volumeAttributesClassName"));

template <>
inline constexpr auto kFieldsOf<PersistentVolumeStatus> =
    Table(Field<1, &PersistentVolumeStatus::phase>("phase"));

template <>
inline constexpr auto kFieldsOf<PersistentVolume> = ObjectTableWithStatus<PersistentVolume>();

template <>
inline constexpr auto kFieldsOf<TopologySelectorLabelRequirement> =
    Table(Field<1, &TopologySelectorLabelRequirement::key>("key"),
          Field<2, &TopologySelectorLabelRequirement::values>("values"));

template <>
inline constexpr auto kFieldsOf<TopologySelectorTerm> =
    Table(Field<1, &TopologySelectorTerm::match_label_expressions>("matchLabelExpressions"));

template <>
inline constexpr auto kFieldsOf<StorageClass> =
    Table(Field<1, &StorageClass::metadata>("metadata"),
          Field<2, &StorageClass::provisioner>("provisioner"),
          Field<3, &StorageClass::parameters>("parameters"),
          Field<4, &StorageClass::reclaim_policy>("reclaimPolicy"),
          Field<7, &StorageClass::volume_binding_mode>("volumeBindingMode"),
          Field<8, &StorageClass::allowed_topologies>("allowedTopologies"));

template <>
inline constexpr auto kFieldsOf<VolumeNodeResources> =
    Table(Field<1, &VolumeNodeResources::count>("count"));

template <>
inline constexpr auto kFieldsOf<CSINodeDriver> =
    Table(Field<1, &CSINodeDriver::name>("name"), Field<2, &CSINodeDriver::node_id>("nodeID"),
          Field<3, &CSINodeDriver::topology_keys>("topologyKeys"),
          Field<4, &CSINodeDriver::allocatable>("allocatable"));

template <>
inline constexpr auto kFieldsOf<CSINodeSpec> = Table(Field<1, &CSINodeSpec::drivers>("drivers"));

template <>
inline constexpr auto kFieldsOf<CSINode> = ObjectTable<CSINode>();

template <>
inline constexpr auto kFieldsOf<CSIDriverSpec> = Table(
    Field<1, &CSIDriverSpec::attach_required>("attachRequired"),
    Field<4, &CSIDriverSpec::storage_capacity>("storageCapacity"),
    Field<11, &CSIDriverSpec::prevent_pod_scheduling_if_missing>("preventPodSchedulingIfMissing"));

template <>
inline constexpr auto kFieldsOf<CSIDriver> = ObjectTable<CSIDriver>();

template <>
inline constexpr auto kFieldsOf<CSIStorageCapacity> =
    Table(Field<1, &CSIStorageCapacity::metadata>("metadata"),
          Field<2, &CSIStorageCapacity::node_topology>("nodeTopology"),
          Field<3, &CSIStorageCapacity::storage_class_name>("storageClassName"),
          Field<4, &CSIStorageCapacity::capacity>("capacity"),
          Field<5, &CSIStorageCapacity::maximum_volume_size>("maximumVolumeSize"));

template <>
inline constexpr auto kFieldsOf<VolumeAttachmentSource> =
    Table(Field<1, &VolumeAttachmentSource::persistent_volume_name>("persistentVolumeName"));

template <>
inline constexpr auto kFieldsOf<VolumeAttachmentSpec> =
    Table(Field<1, &VolumeAttachmentSpec::attacher>("attacher"),
          Field<2, &VolumeAttachmentSpec::source>("source"),
          Field<3, &VolumeAttachmentSpec::node_name>("nodeName"));

template <>
inline constexpr auto kFieldsOf<VolumeAttachmentStatus> =
    Table(Field<1, &VolumeAttachmentStatus::attached>("attached"));

template <>
inline constexpr auto kFieldsOf<VolumeAttachment> = ObjectTableWithStatus<VolumeAttachment>();

template <>
inline constexpr auto kFieldsOf<VolumeAttributesClass> =
    Table(Field<1, &VolumeAttributesClass::metadata>("metadata"),
          Field<2, &VolumeAttributesClass::driver_name>("driverName"),
          Field<3, &VolumeAttributesClass::parameters>("parameters"));

}  // namespace berth::api
