// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/binding_conditions.h"

#include <algorithm>
#include <string>
#include <utility>

#include "berth/field_errors.h"

namespace berth::plugins {
namespace {

const api::AllocatedDeviceStatus* StatusOf(const api::ResourceClaim& claim,
                                           const api::DeviceRequestAllocationResult& result) {
  const auto& devices = claim.status.devices;
  const auto found = std::ranges::find_if(devices, [&](const api::AllocatedDeviceStatus& status) {
    return status.device == result.device && status.driver == result.driver &&
           status.pool == result.pool;
  });
  return found == devices.end() ? nullptr : &*found;
}

const api::Condition* TrueCondition(const api::AllocatedDeviceStatus& status,
                                    const std::string& type) {
  const auto found = std::ranges::find(status.conditions, type, &api::Condition::type);
  return found == status.conditions.end() || found->status != "True" ? nullptr : &*found;
}

}  // namespace

bool HasBindingConditions(const api::AllocationResult& allocation) {
  return std::ranges::any_of(allocation.devices.results,
                             [](const auto& result) { return !result.binding_conditions.empty(); });
}

Result<bool> IsReadyForBinding(const api::ResourceClaim& claim) {
  if (!claim.status.allocation) return false;
  for (const auto& result : claim.status.allocation->devices.results) {
    if (result.binding_conditions.empty()) continue;
    const api::AllocatedDeviceStatus* status = StatusOf(claim, result);
    if (status == nullptr) return false;
    for (const std::string& type : result.binding_failure_conditions) {
      if (const api::Condition* failed = TrueCondition(*status, type)) {
        std::string text(kBindingFailed);
        text.append(": claim=").append(claim.metadata.name).append(", reason=");
        text.append(failed->reason).append(", message=").append(Quoted(failed->message));
        return Fail(std::move(text));
      }
    }
    for (const std::string& type : result.binding_conditions) {
      if (TrueCondition(*status, type) == nullptr) return false;
    }
  }
  return true;
}

bool IsBindingTimedOut(const api::ResourceClaim& claim, Duration timeout, Time now) {
  if (!claim.status.allocation || !claim.status.allocation->allocation_timestamp) return false;
  return HasBindingConditions(*claim.status.allocation) &&
         *claim.status.allocation->allocation_timestamp + timeout < now;
}

}  // namespace berth::plugins
