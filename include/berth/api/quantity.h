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
// rounded away from zero; magnitudes are capped, those with a binary suffix at 2^63-1 units as in
// Kubernetes, others at 10^24, where Kubernetes knows no bound: 10,000 of them can be added. The
// format is no part of the value: comparisons pass it over.
class Quantity {
 public:
  __extension__ typedef __int128 Nanos;
  // How the text was written: "1500m", "1536Mi", "15e-1".
  enum class Format : uint8_t { kDecimalSI, kBinarySI, kDecimalExponent };

  Quantity() = default;
  static Quantity FromUnits(int64_t units, Format format = Format::kDecimalSI) {
    return Quantity(Nanos{units} * 1'000'000'000, format);
  }
  static Quantity FromMilli(int64_t milli, Format format = Format::kDecimalSI) {
    return Quantity(Nanos{milli} * 1'000'000, format);
  }
  static Quantity FromNanos(Nanos nanos, Format format = Format::kDecimalSI) {
    return Quantity(nanos, format);
  }

  // "100m", "1.5Gi", "1e3", "0.1", ... Errors: text that is no quantity.
  static Result<Quantity> Parse(std::string_view text);

  // In whole units and in thousandths, rounded up, saturated to int64.
  int64_t Value() const;
  int64_t MilliValue() const;
  Nanos nanos() const { return bits_ >> kFormatBits; }
  bool IsZero() const { return nanos() == 0; }
  Format format() const { return static_cast<Format>(bits_ & kFormatMask); }

  // The shortest exact decimal form with decimal SI suffix ("1500m", "2", "500n").
  std::string ToString() const;
  // As Kubernetes writes it: in its format, or with decimal SI suffix where a binary one would not
  // be exact.
  std::string ToCanonicalString() const;

  Quantity& operator+=(const Quantity& other) {
    return *this = Quantity(nanos() + other.nanos(), IsZero() ? other.format() : format());
  }
  friend bool operator==(const Quantity& a, const Quantity& b) { return a.nanos() == b.nanos(); }
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
    return a.nanos() <=> b.nanos();
  }

 private:
  static constexpr int kFormatBits = 2;
  static constexpr Nanos kFormatMask = (1 << kFormatBits) - 1;

  Quantity(Nanos nanos, Format format)
      : bits_((nanos << kFormatBits) | static_cast<Nanos>(format)) {}

  Nanos bits_ = 0;  // the format in the lowest two: 10^24 units of nanos leave more than them free
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
