// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "berth/api/meta.h"
#include "berth/api/resource_claim.h"

namespace berth::api {

// JSON has the configuration's members in its place: here only `opaque`.
struct DeviceClassConfiguration {
  std::optional<OpaqueDeviceConfiguration> opaque;

  friend bool operator==(const DeviceClassConfiguration&,
                         const DeviceClassConfiguration&) = default;
};

struct DeviceClassSpec {
  std::vector<DeviceSelector> selectors;
  std::vector<DeviceClassConfiguration> config;
  // The extended resource that devices of the class stand for, besides the implicit one,
  // "deviceclass.resource.kubernetes.io/<name of the class>".
  std::optional<std::string> extended_resource_name;

  friend bool operator==(const DeviceClassSpec&, const DeviceClassSpec&) = default;
};

// resource.k8s.io/v1.
struct DeviceClass {
  ObjectMeta metadata;
  DeviceClassSpec spec;

  friend bool operator==(const DeviceClass&, const DeviceClass&) = default;
};

}  // namespace berth::api
