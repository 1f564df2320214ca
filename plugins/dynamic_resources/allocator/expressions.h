// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "berth/api/resource_slice.h"

namespace berth::plugins::dra {

// What an expression is asked about.
struct DeviceOfDriver {
  std::string_view driver;
  const api::Device& device;
};

// What a selector says about a device.
struct SelectorAnswer {
  enum class Kind : uint8_t { kNo, kYes, kCompileError, kRuntimeError };

  Kind kind = Kind::kNo;
  // Of the two errors: their text, as k8s.io/dynamic-resource-allocation/cel words it.
  std::string error = {};
  // What the evaluation cost, in CEL's units.
  uint64_t cost = 0;
};

// What an expression makes of a device.
struct DerivedAttribute {
  enum class Kind : uint8_t { kValue, kCompileError, kRuntimeError };

  Kind kind = Kind::kValue;
  // nullopt: the expression gives the device no such attribute.
  std::optional<api::DeviceAttribute> value = std::nullopt;
  std::string error = {};
  uint64_t cost = 0;
};

// CEL, as far as the allocator needs it. The allocator keeps the answers: it asks once for each
// expression and device, until the slice changes. What is compiled is the other side's to keep.
//
// The same expression and device always get the same answer.
//
// Thread safety: the scheduling thread only.
class DeviceExpressions {
 public:
  virtual ~DeviceExpressions() = default;

  // A selector of a class or a request.
  virtual SelectorAnswer Matches(std::string_view expression, const DeviceOfDriver& device) = 0;
  // The expression of a request's derived attribute.
  virtual DerivedAttribute Derive(std::string_view expression, const DeviceOfDriver& device) = 0;
};

}  // namespace berth::plugins::dra
