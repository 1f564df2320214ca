// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/meta.h"
#include "berth/api/quantity.h"

namespace berth::api {

inline constexpr std::string_view kClaimPending = "Pending";
inline constexpr std::string_view kClaimBound = "Bound";
// The claim's volume is gone.
inline constexpr std::string_view kClaimLost = "Lost";

// Who may mount a volume, of PersistentVolumes and PersistentVolumeClaims.
inline constexpr std::string_view kReadWriteOnce = "ReadWriteOnce";
inline constexpr std::string_view kReadOnlyMany = "ReadOnlyMany";
inline constexpr std::string_view kReadWriteMany = "ReadWriteMany";
inline constexpr std::string_view kReadWriteOncePod = "ReadWriteOncePod";

struct VolumeResourceRequirements {
  ResourceList limits;
  ResourceList requests;

  friend bool operator==(const VolumeResourceRequirements&,
                         const VolumeResourceRequirements&) = default;
};

struct PersistentVolumeClaimSpec {
  std::vector<std::string> access_modes;
  std::optional<LabelSelector> selector;
  VolumeResourceRequirements resources;
  // "" until a volume is chosen.
  std::string volume_name;
  std::optional<std::string> storage_class_name;
  // Filesystem where absent.
  std::optional<std::string> volume_mode;
  std::optional<std::string> volume_attributes_class_name;

  friend bool operator==(const PersistentVolumeClaimSpec&,
                         const PersistentVolumeClaimSpec&) = default;
};

struct PersistentVolumeClaimStatus {
  std::string phase;
  std::vector<std::string> access_modes;
  ResourceList capacity;
  std::optional<std::string> current_volume_attributes_class_name;

  friend bool operator==(const PersistentVolumeClaimStatus&,
                         const PersistentVolumeClaimStatus&) = default;
};

// v1.
struct PersistentVolumeClaim {
  ObjectMeta metadata;
  PersistentVolumeClaimSpec spec;
  PersistentVolumeClaimStatus status;

  friend bool operator==(const PersistentVolumeClaim&, const PersistentVolumeClaim&) = default;
};

}  // namespace berth::api
