// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/allocator/capacity.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "berth/field_errors.h"
#include "berth/result.h"

namespace berth::plugins::dra {
namespace {

using api::Quantity;

using Wide = Quantity::Nanos;  // no sum or difference of two int64_t overflows it

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// The amount in thousandths; nullopt: it is not a whole number of them, or too many.
std::optional<int64_t> Milli(const Quantity& amount) {
  const int64_t milli = amount.MilliValue();
  if (Quantity::FromMilli(milli) != amount) return std::nullopt;
  return milli;
}

// Whether the range is reckoned in thousandths.
bool UsesMilli(const api::CapacityRequestPolicyRange& range, bool fractional_range) {
  if (!fractional_range) return false;
  for (const auto& bound : {range.min, range.max, range.step})
    if (bound.has_value() && !Milli(*bound)) return false;
  return !range.step.has_value() || *Milli(*range.step) >= 1;
}

// min + step * n, not below `wanted`, which is at least min. nullopt: it passes the largest number.
std::optional<int64_t> RoundUp(int64_t wanted, int64_t min, int64_t step) {
  const Wide above = Wide{wanted} - min;
  const Wide rounded = min + (above / step + (above % step != 0 ? 1 : 0)) * step;
  if (rounded > kMost) return std::nullopt;
  return static_cast<int64_t>(rounded);
}

Result<Quantity> RoundUpToRange(const Quantity& wanted,
                                const api::CapacityRequestPolicyRange& range,
                                bool fractional_range) {
  if (wanted < *range.min) return *range.min;
  if (!range.step.has_value() || range.step->nanos() <= 0) return wanted;
  const Quantity::Format format = range.step->format();
  const auto fail = [&wanted](const char* before, const char* after) {
    return Fail("capacity request cannot be represented in the device's range arithmetic: " +
                std::string(before) + wanted.ToCanonicalString() + after);
  };
  if (UsesMilli(range, fractional_range)) {
    const std::optional<int64_t> milli = Milli(wanted);
    if (!milli) return fail("request ", " is not a representable milli value");
    const auto rounded = RoundUp(*milli, range.min->MilliValue(), range.step->MilliValue());
    if (!rounded)
      return fail("rounding request ", " up to the next step passes the milli-value range");
    return Quantity::FromMilli(*rounded, format);
  }
  if (wanted > Quantity::FromUnits(kMost)) return fail("request ", " exceeds MaxInt64");
  const auto rounded = RoundUp(wanted.Value(), range.min->Value(), range.step->Value());
  if (!rounded) return fail("rounding request ", " up to the next step passes MaxInt64");
  return Quantity::FromUnits(*rounded, format);
}

// What a request for `wanted` (nullptr: for nothing) takes.
Result<Quantity> Consumed(const Quantity* wanted, const api::DeviceCapacity& capacity,
                          bool fractional_range) {
  const bool has_policy = capacity.request_policy.has_value();
  if (wanted == nullptr) {
    return has_policy && capacity.request_policy->default_.has_value()
               ? *capacity.request_policy->default_
               : capacity.value;
  }
  if (!has_policy) return *wanted;
  const api::CapacityRequestPolicy& policy = *capacity.request_policy;
  if (policy.valid_range.has_value() && policy.valid_range->min.has_value())
    return RoundUpToRange(*wanted, *policy.valid_range, fractional_range);
  for (const Quantity& valid : policy.valid_values)
    if (*wanted <= valid) return valid;
  return *wanted;
}

bool IsInRange(const Quantity& amount, const api::CapacityRequestPolicyRange& range,
               bool fractional_range) {
  if (range.max.has_value() && amount > *range.max) return false;
  if (!range.step.has_value() || range.step->nanos() <= 0) return true;
  const Quantity min = range.min.value_or(Quantity());
  if (UsesMilli(range, fractional_range)) {
    const std::optional<int64_t> milli = Milli(amount);
    return milli && (Wide{*milli} - min.MilliValue()) % range.step->MilliValue() == 0;
  }
  return (Wide{amount.Value()} - min.Value()) % range.step->Value() == 0;
}

bool IsAllowed(const Quantity& amount, const api::CapacityRequestPolicy& policy,
               bool fractional_range) {
  if (policy.default_.has_value() && amount == *policy.default_) return true;
  if (policy.valid_range.has_value())
    return IsInRange(amount, *policy.valid_range, fractional_range);
  return policy.valid_values.empty() ||
         std::find(policy.valid_values.begin(), policy.valid_values.end(), amount) !=
             policy.valid_values.end();
}

bool HasAll(const api::Device& device, const api::ResourceList& requests) {
  return std::all_of(requests.begin(), requests.end(), [&device](const auto& request) {
    return std::any_of(device.capacity.begin(), device.capacity.end(),
                       [&request](const auto& entry) { return entry.first == request.first; });
  });
}

}  // namespace

void ResolveDemand(const api::ResourceList* requests, const api::Device& device,
                   bool fractional_range, CapacityDemand& demand) {
  demand.kind = CapacityDemand::Kind::kFits;
  demand.amounts.clear();
  if (requests != nullptr && !HasAll(device, *requests)) {
    demand.kind = CapacityDemand::Kind::kDoesNot;
    return;
  }
  // All errors before any verdict: whether the request can be granted at all must not depend on
  // which device it meets first.
  for (const auto& [name, capacity] : device.capacity) {
    const Quantity* wanted = requests == nullptr ? nullptr : api::Find(*requests, name);
    Result<Quantity> amount = Consumed(wanted, capacity, fractional_range);
    if (amount && amount->nanos() < 0) amount = Fail("capacity value is negative");
    if (!amount) {
      demand.kind = CapacityDemand::Kind::kError;
      demand.error = "capacity " + Quoted(name) + ": " + amount.error().message;
      return;
    }
    demand.amounts.push_back(*amount);
  }
  for (size_t i = 0; i < demand.amounts.size(); ++i) {
    const auto& policy = device.capacity[i].second.request_policy;
    if (policy.has_value() && !IsAllowed(demand.amounts[i], *policy, fractional_range)) {
      demand.kind = CapacityDemand::Kind::kDoesNot;
      return;
    }
  }
}

}  // namespace berth::plugins::dra
