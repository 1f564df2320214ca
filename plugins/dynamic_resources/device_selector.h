// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "plugins/dynamic_resources/allocator/expressions.h"
#include "plugins/dynamic_resources/device_shape.h"
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

// CEL selectors: compiled once, then evaluated once for each shape of devices (device_shape.h). Of
// expressions, compiled or refused, the `most` used last are kept, and of those what `max_bytes`
// have room for; the one used last always is. Compiling spends from the budget, and takes no more
// than kMostSteps, however often it is asked for.
//
// Answers by shape end with their expression, and all of one expression's where they are
// `most_shapes`. They cannot be outdated: nothing but expression and shape makes them.
//
// Thread safety: the scheduling thread only.
class DeviceSelectors : public DeviceExpressions {
 public:
  static constexpr size_t kMostExpressions = 1'000;

  static constexpr size_t kMaxBytes = size_t{32} << 20;
  // One expression's: some seconds.
  static constexpr uint64_t kMostSteps = CycleBudget::kSteps / 2;

  // Of one expression.
  static constexpr size_t kMostShapes = 256;

  // With 0 `most_shapes` each device is evaluated: the slow twin.
  explicit DeviceSelectors(size_t most = kMostExpressions, size_t max_bytes = kMaxBytes,
                           size_t most_shapes = kMostShapes);

  void SetBudget(CycleBudget* budget) override { budget_ = budget; }

  SelectorAnswer Matches(std::string_view expression, const DeviceOfDriver& device) override;
  DerivedAttribute Derive(std::string_view expression, const DeviceOfDriver& device) override;

  size_t kept() const { return compiled_.size(); }
  size_t kept_bytes() const override { return kept_bytes_; }
  // How many devices selectors were evaluated for, ever.
  uint64_t num_evaluations() const { return num_evaluations_; }

 private:
  struct Compiled {
    std::string key;
    Result<cel::Expression> expression;
    size_t bytes = 0;  // answers included
    // It takes more steps than that; 0: it is compiled, or refused.
    uint64_t too_few_steps = 0;
    // Of a selector that is compiled.
    std::optional<DeviceReads> reads = std::nullopt;
    absl::flat_hash_map<std::string, SelectorAnswer> by_shape = {};
    size_t answer_bytes = 0;
  };

  // Valid until the next call; nullptr: the budget is used up. `derived`: any type that an
  // attribute may have, not only bool.
  Compiled* Compile(std::string_view text, bool derived);
  void Compile(std::string_view text, bool derived, uint64_t max_steps, Compiled& into);
  SelectorAnswer Evaluate(const cel::Expression& expression, const DeviceOfDriver& device);
  // Under shape_. `compiled` is the one used last.
  void KeepAnswer(const SelectorAnswer& answer, Compiled& compiled);
  void Evict();

  const size_t most_;
  const size_t max_bytes_;
  const size_t most_shapes_;
  CycleBudget* budget_ = nullptr;
  size_t kept_bytes_ = 0;
  const std::unique_ptr<const cel::Environment> environment_;
  std::list<Compiled> compiled_;  // the one used last first
  absl::flat_hash_map<std::string_view, std::list<Compiled>::iterator> by_key_;
  std::string shape_;  // scratch
  uint64_t num_evaluations_ = 0;
};

}  // namespace berth::plugins::dra
