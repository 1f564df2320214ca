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
std::unique_ptr<cel::Environment> MakeDeviceEnvironment();

// The device as the variable `device`. Maps of attributes and capacities are by domain, then by
// name; what has no domain belongs to the driver. A domain that the device does not have is an
// empty map.
//
// Errors: an attribute without a value, or a version that is none.
Result<cel::Value> DeviceValue(const DeviceOfDriver& device);

// CEL selectors: compiled once, then evaluated for one device after the other. Of expressions,
// compiled or refused, the `most` used last are kept, and of those what `max_bytes` have room for;
// the one used last always is. Compiling spends from the budget, and takes no more than
// kMostSteps, however often it is asked for.
//
// Thread safety: the scheduling thread only.
class DeviceSelectors : public DeviceExpressions {
 public:
  static constexpr size_t kMostExpressions = 1'000;

  static constexpr size_t kMaxBytes = size_t{32} << 20;
  // One expression's: some seconds.
  static constexpr uint64_t kMostSteps = CycleBudget::kSteps / 2;

  explicit DeviceSelectors(size_t most = kMostExpressions, size_t max_bytes = kMaxBytes);

  void SetBudget(CycleBudget* budget) override { budget_ = budget; }

  SelectorAnswer Matches(std::string_view expression, const DeviceOfDriver& device) override;
  DerivedAttribute Derive(std::string_view expression, const DeviceOfDriver& device) override;

  size_t kept() const { return compiled_.size(); }
  size_t kept_bytes() const override { return kept_bytes_; }

 private:
  struct Compiled {
    std::string key;
    Result<cel::Expression> expression;
    size_t bytes = 0;
    // It takes more steps than that; 0: it is compiled, or refused.
    uint64_t too_few_steps = 0;
  };

  // Valid until the next call; nullptr: the budget is used up. `derived`: any type that an
  // attribute may have, not only bool.
  const Result<cel::Expression>* Compile(std::string_view text, bool derived);
  void Compile(std::string_view text, bool derived, uint64_t max_steps, Compiled& into);
  void Evict();

  const size_t most_;
  const size_t max_bytes_;
  CycleBudget* budget_ = nullptr;
  size_t kept_bytes_ = 0;
  const std::unique_ptr<const cel::Environment> environment_;
  std::list<Compiled> compiled_;  // the one used last first
  absl::flat_hash_map<std::string_view, std::list<Compiled>::iterator> by_key_;
};

}  // namespace berth::plugins::dra
