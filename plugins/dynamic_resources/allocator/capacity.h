// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "berth/api/quantity.h"
#include "berth/api/resource_slice.h"

namespace berth::plugins::dra {

// How much a request takes of each of a device's capacities, in their order.
struct CapacityDemand {
  enum class Kind : uint8_t {
    kFits,     // as far as the device's own policies go
    kDoesNot,  // the device is passed over
    kError,    // the request can be granted on no device
  };

  Kind kind = Kind::kFits;
  std::string error = {};
  std::vector<api::Quantity> amounts = {};
};

// Fills `demand` with what a request for `requests` (nullptr: none in particular) takes of the
// device: what is asked for, rounded up as the capacity's policy says; where nothing is asked for
// the policy's default, else all. kFits: each is allowed by its policy; whether so much is left is
// not looked at.
void ResolveDemand(const api::ResourceList* requests, const api::Device& device,
                   bool fractional_range, CapacityDemand& demand);

}  // namespace berth::plugins::dra
