// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/persistent_volume_claim.h"
#include "berth/api/volume_sources.h"
#include "src/api/field_table.h"
#include "src/api/tables_meta.h"

// Field tables of volume sources and of PersistentVolumeClaim. Numbers are those of
// k8s.io/api/core/v1/generated.proto.
namespace berth::api {

template <>
inline constexpr auto kFieldsOf<EmptyDirVolumeSource> =
    Table(Field<1, &EmptyDirVolumeSource::medium>("medium"));

template <>
inline constexpr auto kFieldsOf<GCEPersistentDiskVolumeSource> =
    Table(Field<1, &GCEPersistentDiskVolumeSource::pd_name>("pdName"),
          Field<3, &GCEPersistentDiskVolumeSource::partition>("partition"),
          Field<4, &GCEPersistentDiskVolumeSource::read_only>("readOnly"));

template <>
inline constexpr auto kFieldsOf<AWSElasticBlockStoreVolumeSource> =
    Table(Field<1, &AWSElasticBlockStoreVolumeSource::volume_id>("volumeID"),
          Field<3, &AWSElasticBlockStoreVolumeSource::partition>("partition"),
          Field<4, &AWSElasticBlockStoreVolumeSource::read_only>("readOnly"));

template <>
inline constexpr auto kFieldsOf<ISCSIVolumeSource> =
    Table(Field<1, &ISCSIVolumeSource::target_portal>("targetPortal"),
          Field<2, &ISCSIVolumeSource::iqn>("iqn"), Field<3, &ISCSIVolumeSource::lun>("lun"),
          Field<6, &ISCSIVolumeSource::read_only>("readOnly"));

template <>
inline constexpr auto kFieldsOf<RBDVolumeSource> = Table(
    Field<1, &RBDVolumeSource::monitors>("monitors"), Field<2, &RBDVolumeSource::image>("image"),
    Field<4, &RBDVolumeSource::pool>("pool"), Field<8, &RBDVolumeSource::read_only>("readOnly"));

template <>
inline constexpr auto kFieldsOf<AzureDiskVolumeSource> =
    Table(Field<1, &AzureDiskVolumeSource::disk_name>("diskName"),
          Field<2, &AzureDiskVolumeSource::disk_uri>("diskURI"),
          Field<5, &AzureDiskVolumeSource::read_only>("readOnly"),
          Field<6, &AzureDiskVolumeSource::kind>("kind"));

template <>
inline constexpr auto kFieldsOf<AzureFileVolumeSource> =
    Table(Field<1, &AzureFileVolumeSource::secret_name>("secretName"),
          Field<2, &AzureFileVolumeSource::share_name>("shareName"),
          Field<3, &AzureFileVolumeSource::read_only>("readOnly"));

template <>
inline constexpr auto kFieldsOf<AzureFilePersistentVolumeSource> =
    Table(Field<1, &AzureFilePersistentVolumeSource::secret_name>("secretName"),
          Field<2, &AzureFilePersistentVolumeSource::share_name>("shareName"),
          Field<3, &AzureFilePersistentVolumeSource::read_only>("readOnly"),
          Field<4, &AzureFilePersistentVolumeSource::secret_namespace>("secretNamespace"));

template <>
inline constexpr auto kFieldsOf<CinderVolumeSource> =
    Table(Field<1, &CinderVolumeSource::volume_id>("volumeID"),
          Field<3, &CinderVolumeSource::read_only>("readOnly"));

template <>
inline constexpr auto kFieldsOf<PortworxVolumeSource> =
    Table(Field<1, &PortworxVolumeSource::volume_id>("volumeID"),
          Field<3, &PortworxVolumeSource::read_only>("readOnly"));

template <>
inline constexpr auto kFieldsOf<VsphereVirtualDiskVolumeSource> =
    Table(Field<1, &VsphereVirtualDiskVolumeSource::volume_path>("volumePath"));

template <>
inline constexpr auto kFieldsOf<CSIVolumeSource> = Table(
    Field<1, &CSIVolumeSource::driver>("driver"), Field<2, &CSIVolumeSource::read_only>("readOnly"),
    Field<4, &CSIVolumeSource::volume_attributes>("volumeAttributes"));

template <>
inline constexpr auto kFieldsOf<CSIPersistentVolumeSource> =
    Table(Field<1, &CSIPersistentVolumeSource::driver>("driver"),
          Field<2, &CSIPersistentVolumeSource::volume_handle>("volumeHandle"),
          Field<3, &CSIPersistentVolumeSource::read_only>("readOnly"),
          Field<5, &CSIPersistentVolumeSource::volume_attributes>("volumeAttributes"));

template <>
inline constexpr auto kFieldsOf<LocalVolumeSource> =
    Table(Field<1, &LocalVolumeSource::path>("path"));

template <>
inline constexpr auto kFieldsOf<HostPathVolumeSource> =
    Table(Field<1, &HostPathVolumeSource::path>("path"));

template <>
inline constexpr auto kFieldsOf<PersistentVolumeClaimVolumeSource> =
    Table(Field<1, &PersistentVolumeClaimVolumeSource::claim_name>("claimName"),
          Field<2, &PersistentVolumeClaimVolumeSource::read_only>("readOnly"));

template <>
inline constexpr auto kFieldsOf<VolumeResourceRequirements> =
    Table(Field<1, &VolumeResourceRequirements::limits>("limits"),
          Field<2, &VolumeResourceRequirements::requests>("requests"));

template <>
inline constexpr auto kFieldsOf<PersistentVolumeClaimSpec> =
    Table(Field<1, &PersistentVolumeClaimSpec::access_modes>("accessModes"),
          Field<2, &PersistentVolumeClaimSpec::resources>("resources"),
          Field<3, &PersistentVolumeClaimSpec::volume_name>("volumeName"),
          Field<4, &PersistentVolumeClaimSpec::selector>("selector"),
          Field<5, &PersistentVolumeClaimSpec::storage_class_name>("storageClassName"),
          Field<6, &PersistentVolumeClaimSpec::volume_mode>("volumeMode"),
          Field<9, &PersistentVolumeClaimSpec::volume_attributes_class_name>(
              "volumeAttributesClassName"));

template <>
inline constexpr auto kFieldsOf<PersistentVolumeClaimStatus> =
    Table(Field<1, &PersistentVolumeClaimStatus::phase>("phase"),
          Field<2, &PersistentVolumeClaimStatus::access_modes>("accessModes"),
          Field<3, &PersistentVolumeClaimStatus::capacity>("capacity"),
          Field<8, &PersistentVolumeClaimStatus::current_volume_attributes_class_name>(
              "currentVolumeAttributesClassName"));

template <>
inline constexpr auto kFieldsOf<PersistentVolumeClaim> =
    ObjectTableWithStatus<PersistentVolumeClaim>();

template <>
inline constexpr auto kFieldsOf<PersistentVolumeClaimTemplate> =
    ObjectTable<PersistentVolumeClaimTemplate>();

template <>
inline constexpr auto kFieldsOf<EphemeralVolumeSource> =
    Table(Field<1, &EphemeralVolumeSource::volume_claim_template>("volumeClaimTemplate"));

template <>
inline constexpr auto kFieldsOf<ImageVolumeSource> =
    Table(Field<1, &ImageVolumeSource::reference>("reference"));

}  // namespace berth::api
