// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/allocator/claims_to_allocate.h"

#include <algorithm>

#include "berth/field_errors.h"

namespace berth::plugins::dra {
namespace {

// What exact requests and subrequests have in common.
struct RequestFields {
  const std::string& name;
  const std::string& device_class_name;
  const std::vector<api::DeviceSelector>& selectors;
  const std::string& allocation_mode;
  int64_t count;
  const std::optional<bool>& admin_access;
  const std::vector<api::DeviceToleration>& tolerations;
  const std::optional<api::CapacityRequirements>& capacity;
  const std::vector<api::DeviceDerivedAttribute>& derived_attributes;
};

constexpr std::optional<bool> kNoAdminAccess;

RequestFields FieldsOf(const api::DeviceRequest& request) {
  const api::ExactDeviceRequest& exact = *request.exactly;
  return {request.name,
          exact.device_class_name,
          exact.selectors,
          exact.allocation_mode,
          exact.count,
          exact.admin_access,
          exact.tolerations,
          exact.capacity,
          exact.derived_attributes};
}

RequestFields FieldsOf(const api::DeviceSubRequest& request) {
  return {request.name,
          request.device_class_name,
          request.selectors,
          request.allocation_mode,
          request.count,
          kNoAdminAccess,
          request.tolerations,
          request.capacity,
          request.derived_attributes};
}

class Reader {
 public:
  Reader(const FindDeviceClass& find_class, const AllocatorFeatures& features,
         ExpressionTable& expressions, ClaimsToAllocate& read)
      : find_class_(find_class), features_(features), expressions_(expressions), read_(read) {}

  void ReadClaim(const api::ResourceClaim& claim) {
    ClaimToAllocate& to_allocate = read_.claims.emplace_back();
    to_allocate.claim = &claim;
    to_allocate.key = claim.metadata.Key();
    prefix_ = "claim " + to_allocate.key;
    first_constraint_ = read_.constraints.size();
    to_allocate.constraint_error = ReadConstraints(claim.spec.devices);
    for (const api::DeviceRequest& request : claim.spec.devices.requests) {
      ClaimToAllocate::Request& of_claim = to_allocate.requests.emplace_back();
      of_claim.first = read_.requests.size();
      of_claim.first_available = !request.first_available.empty();
      of_claim.error = ProblemOf(request);
      if (!of_claim.error.empty()) continue;
      if (!of_claim.first_available) {
        ReadRequest(FieldsOf(request), "", claim.spec.devices);
        continue;
      }
      of_claim.count = request.first_available.size();
      for (const api::DeviceSubRequest& subrequest : request.first_available)
        ReadRequest(FieldsOf(subrequest), request.name, claim.spec.devices);
    }
  }

 private:
  std::string ProblemOf(const api::DeviceRequest& request) const {
    const std::string where = prefix_ + ", request " + request.name + ": ";
    if (request.first_available.empty() && !request.exactly.has_value())
      return where + "unknown request type";
    if (!features_.prioritized_list && !request.first_available.empty())
      return where + "has subrequests, but the DRAPrioritizedList feature is disabled";
    if (features_.consumable_capacity || features_.UsesStable()) return "";
    constexpr std::string_view kDisabled =
        ": has capacity requests, but the DRAConsumableCapacity feature is disabled";
    if (request.exactly.has_value() && request.exactly->capacity.has_value())
      return prefix_ + ", request " + request.name + std::string(kDisabled);
    for (const api::DeviceSubRequest& subrequest : request.first_available) {
      if (subrequest.capacity.has_value())
        return prefix_ + ", subrequest " + subrequest.name + std::string(kDisabled);
    }
    return "";
  }

  std::string ReadConstraints(const api::DeviceClaim& devices) {
    for (size_t i = 0; i < devices.constraints.size(); ++i) {
      const api::DeviceConstraint& constraint = devices.constraints[i];
      if (constraint.match_attribute.has_value()) {
        read_.constraints.push_back({.attribute = *constraint.match_attribute});
      } else if (constraint.distinct_attribute.has_value() && !features_.UsesStable()) {
        read_.constraints.push_back(
            {.distinct = true, .attribute = *constraint.distinct_attribute});
      } else {
        return prefix_ + ", constraint #" + std::to_string(i) +
               ": empty constraint (unsupported constraint type?)";
      }
    }
    return "";
  }

  void ReadRequest(const RequestFields& fields, const std::string& parent,
                   const api::DeviceClaim& devices) {
    RequestToAllocate& request = read_.requests.emplace_back();
    request.name = fields.name;
    request.parent = parent;
    request.error = Fill(fields, request);
    if (!request.error.empty()) {
      request.error = prefix_ + ", request " + fields.name + request.error;
      return;
    }
    AddConstraints(fields, devices, request);
  }

  // What follows the request's name in the error; "": there is none.
  std::string Fill(const RequestFields& fields, RequestToAllocate& request) {
    if (!fields.derived_attributes.empty() && !features_.derived_attributes)
      return ": cannot handle request with derived attributes, the feature is disabled";
    for (size_t i = 0; i < fields.selectors.size(); ++i) {
      if (!fields.selectors[i].cel.has_value()) {
        return ", selector #" + std::to_string(i) +
               ": CEL expression empty (unsupported selector type?)";
      }
    }
    if (!features_.admin_access && fields.admin_access.has_value())
      return ": admin access is requested, but the feature is disabled";
    if (fields.device_class_name.empty())
      return ": missing device class name (unsupported request type?)";
    request.class_name = fields.device_class_name;
    request.device_class = find_class_(fields.device_class_name);
    if (request.device_class == nullptr) {
      return ": could not retrieve device class " + fields.device_class_name +
             ": deviceclass.resource.k8s.io " + Quoted(fields.device_class_name) + " not found";
    }
    request.all = fields.allocation_mode == api::kAllDevices;
    if (!request.all && fields.allocation_mode != api::kExactCount)
      return ": unsupported count mode " + fields.allocation_mode;
    request.count = fields.count;
    request.admin_access = fields.admin_access.value_or(false);
    request.tolerations = fields.tolerations;
    if (fields.capacity.has_value()) request.capacity = &fields.capacity->requests;
    AddSelectors(request.device_class->spec.selectors, true, request);
    AddSelectors(fields.selectors, false, request);
    return "";
  }

  void AddSelectors(const std::vector<api::DeviceSelector>& selectors, bool of_class,
                    RequestToAllocate& request) {
    for (size_t i = 0; i < selectors.size(); ++i) {
      const std::string_view text =
          selectors[i].cel.has_value() ? std::string_view(selectors[i].cel->expression) : "";
      request.selectors.push_back({expressions_.Use(text), of_class, i});
    }
  }

  void AddConstraints(const RequestFields& fields, const api::DeviceClaim& devices,
                      RequestToAllocate& request) {
    const auto names_it = [&request](const std::string& name) {
      return name == (request.parent.empty() ? request.name : request.parent) ||
             (!request.parent.empty() && name == request.FullName());
    };
    for (size_t i = first_constraint_; i < read_.constraints.size(); ++i) {
      const auto& names = devices.constraints[i - first_constraint_].requests;
      if (!names.empty() && std::none_of(names.begin(), names.end(), names_it)) continue;
      RequestToAllocate::Constraint& constraint = request.constraints.emplace_back();
      constraint.constraint = i;
      for (const api::DeviceDerivedAttribute& derived : fields.derived_attributes) {
        if (derived.name == read_.constraints[i].attribute)
          constraint.derived = expressions_.Use(derived.expression);
      }
    }
  }

  const FindDeviceClass& find_class_;
  const AllocatorFeatures& features_;
  ExpressionTable& expressions_;
  ClaimsToAllocate& read_;
  std::string prefix_;
  size_t first_constraint_ = 0;
};

}  // namespace

ClaimsToAllocate ReadClaims(std::span<const api::ResourceClaim* const> claims,
                            const FindDeviceClass& find_class, const AllocatorFeatures& features,
                            ExpressionTable& expressions) {
  ClaimsToAllocate read;
  Reader reader(find_class, features, expressions, read);
  for (const api::ResourceClaim* claim : claims) reader.ReadClaim(*claim);
  return read;
}

}  // namespace berth::plugins::dra
