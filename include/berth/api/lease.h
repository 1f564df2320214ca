// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "berth/api/meta.h"

namespace berth::api {

struct LeaseSpec {
  std::string holder_identity;
  std::optional<int32_t> lease_duration_seconds;
  std::optional<MicroTime> acquire_time;
  std::optional<MicroTime> renew_time;
  int32_t lease_transitions = 0;
  std::string strategy;
  std::string preferred_holder;

  friend bool operator==(const LeaseSpec&, const LeaseSpec&) = default;
};

// coordination.k8s.io/v1.
struct Lease {
  ObjectMeta metadata;
  LeaseSpec spec;

  friend bool operator==(const Lease&, const Lease&) = default;
};

}  // namespace berth::api
