// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/result.h"

namespace berth::api {

// A Kubernetes resource.Quantity, exact to 1e-9 of a unit.
//
// Source of the syntax and the rounding: k8s.io/apimachinery pkg/api/resource. Finer digits are
// rounded away from zero; magnitudes are capped at 2^63-1 units.
class Quantity {
 public:
  __extension__ typedef __int128 Nanos;

  Quantity() = default;
  static Quantity FromUnits(int64_t units) { return Quantity(Nanos{units} * 1'000'000'000); }
  static Quantity FromMilli(int64_t milli) { return Quantity(Nanos{milli} * 1'000'000); }
  static Quantity FromNanos(Nanos nanos) { return Quantity(nanos); }

  // "100m", "1.5Gi", "1e3", "0.1", ... Errors: text that is no quantity.
  static Result<Quantity> Parse(std::string_view text);

  // In whole units and in thousandths, rounded up, saturated to int64.
  int64_t Value() const;
  int64_t MilliValue() const;
  Nanos nanos() const { return nanos_; }
  bool IsZero() const { return nanos_ == 0; }

  // The shortest exact decimal form with decimal SI suffix ("1500m", "2", "500n").
  std::string ToString() const;

  Quantity& operator+=(const Quantity& other) {
    nanos_ += other.nanos_;
    return *this;
  }
  friend auto operator<=>(const Quantity&, const Quantity&) = default;

 private:
  explicit Quantity(Nanos nanos) : nanos_(nanos) {}

  Nanos nanos_ = 0;
};

// Resource name to amount, sorted by name, names unique.
using ResourceList = std::vector<std::pair<std::string, Quantity>>;

// The entry of `name`, or nullptr.
inline const Quantity* Find(const ResourceList& list, std::string_view name) {
  for (const auto& [key, value] : list)
    if (key == name) return &value;
  return nullptr;
}

}  // namespace berth::api
