// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/resource_claim.h"
#include "plugins/dynamic_resources/allocator/features.h"
#include "plugins/dynamic_resources/allocator/kept_answers.h"

namespace berth::plugins::dra {

// The class of that name, or nullptr.
using FindDeviceClass = std::function<const api::DeviceClass*(std::string_view name)>;

// How many results a claim's allocation may have.
inline constexpr int64_t kMostResults = 32;
// How many subrequests a request may have; the score counts down from it.
inline constexpr int64_t kMostSubRequests = 8;

// All devices that it applies to have the same value of an attribute, or all different ones.
struct ConstraintToMeet {
  bool distinct = false;
  std::string attribute = {};
};

// A request that asks for devices: an exact one, or one subrequest.
struct RequestToAllocate {
  struct Selector {
    std::shared_ptr<Expression> expression;
    bool of_class = false;
    size_t number = 0;  // among the class's, or the request's own
  };
  struct Constraint {
    size_t constraint = 0;  // of ClaimsToAllocate::constraints
    // What gives the attribute where the request derives it, else nullptr.
    std::shared_ptr<Expression> derived = nullptr;
  };

  std::string name = {};
  std::string parent = {};  // of a subrequest, else ""
  // Why it cannot be asked on any node, in upstream's words; "": it can.
  std::string error = {};
  const api::DeviceClass* device_class = nullptr;
  std::string class_name = {};
  std::vector<Selector> selectors = {};  // the class's, then its own
  bool all = false;                      // allocationMode All
  int64_t count = 0;                     // of ExactCount
  bool admin_access = false;
  std::span<const api::DeviceToleration> tolerations = {};
  const api::ResourceList* capacity = nullptr;  // nullptr: asks for none in particular
  std::vector<Constraint> constraints = {};     // those that apply to it, in the claim's order

  std::string FullName() const { return parent.empty() ? name : parent + "/" + name; }
};

struct ClaimToAllocate {
  struct Request {
    size_t first = 0;  // of ClaimsToAllocate::requests
    size_t count = 1;
    bool first_available = false;
    std::string error = {};  // as RequestToAllocate's
  };

  const api::ResourceClaim* claim = nullptr;
  std::string key = {};  // "namespace/name"
  std::vector<Request> requests = {};
  std::string constraint_error = {};
};

// The claims of one pod that need devices, looked up once for all nodes. Errors in them are kept:
// each node's search meets them where upstream's does.
struct ClaimsToAllocate {
  std::vector<ClaimToAllocate> claims = {};
  std::vector<RequestToAllocate> requests = {};
  std::vector<ConstraintToMeet> constraints = {};
};

// Claims and classes must outlive what is returned.
ClaimsToAllocate ReadClaims(std::span<const api::ResourceClaim* const> claims,
                            const FindDeviceClass& find_class, const AllocatorFeatures& features,
                            ExpressionTable& expressions);

}  // namespace berth::plugins::dra
