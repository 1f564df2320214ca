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
struct FieldsOf<EmptyDirVolumeSource> {
  static constexpr auto kFields = Table(Field<1, &EmptyDirVolumeSource::medium>("medium"));
};

template <>
struct FieldsOf<GCEPersistentDiskVolumeSource> {
  using Source = GCEPersistentDiskVolumeSource;
  static constexpr auto kFields =
      Table(Field<1, &Source::pd_name>("pdName"), Field<3, &Source::partition>("partition"),
            Field<4, &Source::read_only>("readOnly"));
};

template <>
struct FieldsOf<AWSElasticBlockStoreVolumeSource> {
  using Source = AWSElasticBlockStoreVolumeSource;
  static constexpr auto kFields =
      Table(Field<1, &Source::volume_id>("volumeID"), Field<3, &Source::partition>("partition"),
            Field<4, &Source::read_only>("readOnly"));
};

template <>
struct FieldsOf<ISCSIVolumeSource> {
  using Source = ISCSIVolumeSource;
  static constexpr auto kFields =
      Table(Field<1, &Source::target_portal>("targetPortal"), Field<2, &Source::iqn>("iqn"),
            Field<3, &Source::lun>("lun"), Field<6, &Source::read_only>("readOnly"));
};

template <>
struct FieldsOf<RBDVolumeSource> {
  using Source = RBDVolumeSource;
  static constexpr auto kFields =
      Table(Field<1, &Source::monitors>("monitors"), Field<2, &Source::image>("image"),
            Field<4, &Source::pool>("pool"), Field<8, &Source::read_only>("readOnly"));
};

template <>
struct FieldsOf<AzureDiskVolumeSource> {
  using Source = AzureDiskVolumeSource;
  static constexpr auto kFields =
      Table(Field<1, &Source::disk_name>("diskName"), Field<2, &Source::disk_uri>("diskURI"),
            Field<5, &Source::read_only>("readOnly"), Field<6, &Source::kind>("kind"));
};

template <>
struct FieldsOf<AzureFileVolumeSource> {
  using Source = AzureFileVolumeSource;
  static constexpr auto kFields =
      Table(Field<1, &Source::secret_name>("secretName"),
            Field<2, &Source::share_name>("shareName"), Field<3, &Source::read_only>("readOnly"));
};

template <>
struct FieldsOf<AzureFilePersistentVolumeSource> {
  using Source = AzureFilePersistentVolumeSource;
  static constexpr auto kFields =
      Table(Field<1, &Source::secret_name>("secretName"),
            Field<2, &Source::share_name>("shareName"), Field<3, &Source::read_only>("readOnly"),
            Field<4, &Source::secret_namespace>("secretNamespace"));
};

template <>
struct FieldsOf<CinderVolumeSource> {
  static constexpr auto kFields = Table(Field<1, &CinderVolumeSource::volume_id>("volumeID"),
                                        Field<3, &CinderVolumeSource::read_only>("readOnly"));
};

template <>
struct FieldsOf<PortworxVolumeSource> {
  static constexpr auto kFields = Table(Field<1, &PortworxVolumeSource::volume_id>("volumeID"),
                                        Field<3, &PortworxVolumeSource::read_only>("readOnly"));
};

template <>
struct FieldsOf<VsphereVirtualDiskVolumeSource> {
  static constexpr auto kFields =
      Table(Field<1, &VsphereVirtualDiskVolumeSource::volume_path>("volumePath"));
};

template <>
struct FieldsOf<CSIVolumeSource> {
  static constexpr auto kFields =
      Table(Field<1, &CSIVolumeSource::driver>("driver"),
            Field<2, &CSIVolumeSource::read_only>("readOnly"),
            Field<4, &CSIVolumeSource::volume_attributes>("volumeAttributes"));
};

template <>
struct FieldsOf<CSIPersistentVolumeSource> {
  using Source = CSIPersistentVolumeSource;
  static constexpr auto kFields =
      Table(Field<1, &Source::driver>("driver"), Field<2, &Source::volume_handle>("volumeHandle"),
            Field<3, &Source::read_only>("readOnly"),
            Field<5, &Source::volume_attributes>("volumeAttributes"));
};

template <>
struct FieldsOf<LocalVolumeSource> {
  static constexpr auto kFields = Table(Field<1, &LocalVolumeSource::path>("path"));
};

template <>
struct FieldsOf<HostPathVolumeSource> {
  static constexpr auto kFields = Table(Field<1, &HostPathVolumeSource::path>("path"));
};

template <>
struct FieldsOf<PersistentVolumeClaimVolumeSource> {
  static constexpr auto kFields =
      Table(Field<1, &PersistentVolumeClaimVolumeSource::claim_name>("claimName"),
            Field<2, &PersistentVolumeClaimVolumeSource::read_only>("readOnly"));
};

template <>
struct FieldsOf<VolumeResourceRequirements> {
  static constexpr auto kFields =
      Table(Field<1, &VolumeResourceRequirements::limits>("limits"),
            Field<2, &VolumeResourceRequirements::requests>("requests"));
};

template <>
struct FieldsOf<PersistentVolumeClaimSpec> {
  using Spec = PersistentVolumeClaimSpec;
  static constexpr auto kFields =
      Table(Field<1, &Spec::access_modes>("accessModes"), Field<2, &Spec::resources>("resources"),
            Field<3, &Spec::volume_name>("volumeName"), Field<4, &Spec::selector>("selector"),
            Field<5, &Spec::storage_class_name>("storageClassName"),
            Field<6, &Spec::volume_mode>("volumeMode"),
            Field<9, &Spec::volume_attributes_class_name>("volumeAttributesClassName"));
};

template <>
struct FieldsOf<PersistentVolumeClaimStatus> {
  using Status = PersistentVolumeClaimStatus;
  static constexpr auto kFields = Table(
      Field<1, &Status::phase>("phase"), Field<2, &Status::access_modes>("accessModes"),
      Field<3, &Status::capacity>("capacity"),
      Field<8, &Status::current_volume_attributes_class_name>("currentVolumeAttributesClassName"));
};

template <>
struct FieldsOf<PersistentVolumeClaim> {
  static constexpr auto kFields = Table(Field<1, &PersistentVolumeClaim::metadata>("metadata"),
                                        Field<2, &PersistentVolumeClaim::spec>("spec"),
                                        Field<3, &PersistentVolumeClaim::status>("status"));
};

template <>
struct FieldsOf<PersistentVolumeClaimTemplate> {
  static constexpr auto kFields =
      Table(Field<1, &PersistentVolumeClaimTemplate::metadata>("metadata"),
            Field<2, &PersistentVolumeClaimTemplate::spec>("spec"));
};

template <>
struct FieldsOf<EphemeralVolumeSource> {
  static constexpr auto kFields =
      Table(Field<1, &EphemeralVolumeSource::volume_claim_template>("volumeClaimTemplate"));
};

template <>
struct FieldsOf<ImageVolumeSource> {
  static constexpr auto kFields = Table(Field<1, &ImageVolumeSource::reference>("reference"));
};

}  // namespace berth::api
