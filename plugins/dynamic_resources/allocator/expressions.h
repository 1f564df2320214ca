// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "berth/api/resource_slice.h"
#include "berth/in_tree/cycle_budget.h"

namespace berth::plugins::dra {

// What an expression is asked about.
struct DeviceOfDriver {
  std::string_view driver;
  const api::Device& device;
  // Off: the device's allowMultipleAllocations reads false; see AllocatorFeatures::UsesStable().
  bool shows_sharing = true;
};

// What a selector says about a device.
struct SelectorAnswer {
  // kOutOfBudget: it is not known, and would take more than the cycle may.
  enum class Kind : uint8_t { kNo, kYes, kCompileError, kRuntimeError, kOutOfBudget };

  Kind kind = Kind::kNo;
  // Of the errors: their text, as k8s.io/dynamic-resource-allocation/cel words it.
  std::string error = {};
  // What the evaluation cost, in CEL's units.
  uint64_t cost = 0;
};

// What an expression makes of a device.
struct DerivedAttribute {
  enum class Kind : uint8_t { kValue, kCompileError, kRuntimeError, kOutOfBudget };

  Kind kind = Kind::kValue;
  // nullopt: the expression gives the device no such attribute.
  std::optional<api::DeviceAttribute> value = std::nullopt;
  std::string error = {};
  uint64_t cost = 0;
};

// CEL, as far as the allocator needs it. The allocator keeps the answers: it asks once for each
// expression and device, until the slice changes. What is compiled is the other side's to keep.
//
// The same expression and device always get the same answer, or none for want of a budget.
//
// Thread safety: the scheduling thread only.
class DeviceExpressions {
 public:
  virtual ~DeviceExpressions() = default;

  // What is kept, in bytes.
  virtual size_t kept_bytes() const { return 0; }
  // What is spent from now on; nullptr: nothing limits the work.
  virtual void SetBudget(CycleBudget* /*budget*/) {}

  // A selector of a class or a request.
  virtual SelectorAnswer Matches(std::string_view expression, const DeviceOfDriver& device) = 0;
  // The expression of a request's derived attribute.
  virtual DerivedAttribute Derive(std::string_view expression, const DeviceOfDriver& device) = 0;
};

}  // namespace berth::plugins::dra
