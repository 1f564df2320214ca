// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <list>
#include <string>
#include <string_view>

#include "plugins/dynamic_resources/allocator/expressions.h"
#include "src/cel/expression.h"

namespace berth::plugins::dra {

// What expressions about devices may name, as Kubernetes 1.37 evaluates what is stored: the
// variable `device` with driver, attributes, capacity and allowMultipleAllocations, and the
// libraries of its API server.
std::unique_ptr<const cel::Environment> MakeDeviceEnvironment();

// The device as the variable `device`. Maps of attributes and capacities are by domain, then by
// name; what has no domain belongs to the driver. A domain that the device does not have is an
// empty map.
//
// Errors: an attribute without a value, or a version that is none.
Result<cel::Value> DeviceValue(const DeviceOfDriver& device);

// CEL selectors: compiled once, then evaluated for one device after the other. Of expressions,
// compiled or refused, the `most` used last are kept.
//
// Thread safety: the scheduling thread only.
class DeviceSelectors : public DeviceExpressions {
 public:
  static constexpr size_t kMostExpressions = 1'000;

  explicit DeviceSelectors(size_t most = kMostExpressions);

  SelectorAnswer Matches(std::string_view expression, const DeviceOfDriver& device) override;
  DerivedAttribute Derive(std::string_view expression, const DeviceOfDriver& device) override;

  size_t kept() const { return compiled_.size(); }

 private:
  struct Compiled {
    std::string key;
    Result<cel::Expression> expression;
  };

  // Valid until the next call. `derived`: any type that an attribute may have, not only bool.
  const Result<cel::Expression>& Compile(std::string_view text, bool derived);

  const size_t most_;
  const std::unique_ptr<const cel::Environment> environment_;
  std::list<Compiled> compiled_;  // the one used last first
  absl::flat_hash_map<std::string_view, std::list<Compiled>::iterator> by_key_;
};

}  // namespace berth::plugins::dra
