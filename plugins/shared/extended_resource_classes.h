// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "berth/api/resource_claim.h"
#include "berth/listers.h"

namespace berth::plugins {

// Whether devices may stand for the resource: an extended one, or the implicit one of a class.
bool IsDeviceResourceName(std::string_view name);

// The resource that stands for devices of the class without further ado.
std::string ImplicitResourceOf(std::string_view device_class);

// Which device classes stand for extended resources, kept until a device class may have changed.
//
// Thread safety: the scheduling thread.
class ExtendedResourceClasses {
 public:
  // `listers` must outlive it.
  explicit ExtendedResourceClasses(const Listers& listers) : listers_(listers) {}

  // The class whose devices stand for the extended resource, or nullptr. Of several classes for one
  // resource the newest counts, of those of an age the first by name.
  const api::DeviceClass* Find(std::string_view resource) const;

 private:
  void Update() const;

  const Listers& listers_;
  mutable std::optional<uint64_t> generation_;
  mutable std::map<std::string, std::string, std::less<>> class_of_;
};

}  // namespace berth::plugins
