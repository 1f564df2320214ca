// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>

#include "src/cel/environment.h"
#include "src/cel/kubernetes_values.h"

namespace berth::cel {
namespace {

using Nanos = api::Quantity::Nanos;
constexpr Nanos kUnit = 1'000'000'000;

bool FitsInt64(Nanos units) {
  return units >= std::numeric_limits<int64_t>::min() &&
         units <= std::numeric_limits<int64_t>::max();
}

// Whether Kubernetes reads this text into an int64 and a scale that is not negative: what its
// AsInt64 asks for.
bool ReadsAsInteger(std::string_view text) {
  if (text.front() == '-' || text.front() == '+') text.remove_prefix(1);
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view suffix = text.substr(end);
  const std::string_view number = text.substr(0, end);
  const size_t point = std::min(number.find('.'), number.size());
  std::string_view whole = number.substr(0, point);
  const std::string_view fraction = number.substr(std::min(point + 1, number.size()));
  whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
  const auto digits = static_cast<int>(whole.size() + fraction.size());
  if (suffix.size() == 2 && suffix[1] == 'i') {
    const auto power = static_cast<int>(std::string_view("KMGTPE").find(suffix[0]) + 1);
    if (!fraction.empty()) return false;
    return 15 - static_cast<int>(whole.size()) - power * 10 * 3 / 10 - 1 >= 0;
  }
  int64_t exponent = 0;
  constexpr std::string_view kSuffixes = "num kMGTPE";
  const size_t known = suffix.size() == 1 ? kSuffixes.find(suffix[0]) : std::string_view::npos;
  if (known != std::string_view::npos) {
    exponent = static_cast<int64_t>(known) * 3 - 9;
  } else if (!suffix.empty()) {
    std::string_view written = suffix.substr(1);
    if (written.starts_with('+')) written.remove_prefix(1);
    std::from_chars(written.data(), written.data() + written.size(), exponent);
  }
  exponent -= static_cast<int64_t>(fraction.size());
  const bool zero = number.find_first_not_of("0.") == std::string_view::npos;
  return digits <= 18 && exponent >= 0 && (zero || digits + exponent <= 19);
}

Value Make(Nanos nanos, bool whole, bool computed) {
  return Value::Of(
      std::shared_ptr<const Extension>(std::make_shared<QuantityValue>(nanos, whole, computed)));
}

const QuantityValue& Self(std::span<const Value> args, size_t i = 0) {
  return *As<QuantityValue>(args[i]);
}
Nanos Amount(std::span<const Value> args, size_t i = 0) { return Self(args, i).nanos(); }

int Order(std::span<const Value> args) {
  const Nanos a = Amount(args, 0);
  const Nanos b = Amount(args, 1);
  return a < b ? -1 : a > b ? 1 : 0;
}

Value Parse(Budget&, std::span<Value> args) {
  const Result<api::Quantity> amount = api::Quantity::Parse(args[0].text());
  if (!amount) return Value::Error(amount.error().message);
  const Nanos nanos = amount->nanos();
  return Make(nanos,
              nanos % kUnit == 0 && FitsInt64(nanos / kUnit) && ReadsAsInteger(args[0].text()),
              false);
}

Value IsQuantity(Budget&, std::span<Value> args) {
  return Value::Bool(api::Quantity::Parse(args[0].text()).has_value());
}

Value Sign(Budget&, std::span<Value> args) {
  const Nanos nanos = Amount(args);
  return Value::Int(nanos < 0 ? -1 : nanos > 0 ? 1 : 0);
}
Value IsGreater(Budget&, std::span<Value> args) { return Value::Bool(Order(args) > 0); }
Value IsLess(Budget&, std::span<Value> args) { return Value::Bool(Order(args) < 0); }
Value CompareTo(Budget&, std::span<Value> args) { return Value::Int(Order(args)); }

Value AsFloat(Budget&, std::span<Value> args) {
  const Nanos nanos = Amount(args);
  const Nanos whole = nanos / kUnit;
  if (whole * kUnit == nanos) return Value::Double(static_cast<double>(whole));
  return Value::Double(static_cast<double>(nanos) / 1e9);
}

Value IsInteger(Budget&, std::span<Value> args) { return Value::Bool(Self(args).whole()); }

Value AsInteger(Budget&, std::span<Value> args) {
  if (!Self(args).whole()) return Value::Error("cannot convert value to integer");
  return Value::Int(static_cast<int64_t>(Amount(args) / kUnit));
}

Value Sum(std::span<const Value> args, Nanos other, bool other_whole) {
  Nanos sum = 0;
  if (__builtin_add_overflow(Amount(args), other, &sum)) return Value::Error("quantity overflow");
  // Next to nothing the other keeps its form.
  const bool whole = Amount(args) == 0 ? other_whole
                     : other == 0      ? Self(args).whole()
                                       : Self(args).whole() && other_whole;
  return Make(sum, whole && FitsInt64(sum / kUnit), true);
}
Value AddQuantities(Budget&, std::span<Value> args) {
  return Sum(args, Amount(args, 1), Self(args, 1).whole());
}
Value SubtractQuantities(Budget&, std::span<Value> args) {
  return Sum(args, -Amount(args, 1), Self(args, 1).whole());
}
Value AddInt(Budget&, std::span<Value> args) {
  return Sum(args, Nanos{args[1].integer()} * kUnit, true);
}
Value SubtractInt(Budget&, std::span<Value> args) {
  const int64_t other = args[1].integer();
  // Kubernetes negates it in 64 bits, where the least number stays what it is.
  const bool least = Self(args).whole() && other == std::numeric_limits<int64_t>::min();
  return Sum(args, (least ? 1 : -1) * Nanos{other} * kUnit, true);
}

}  // namespace

Value QuantityValue::Equal(const Value& other) const {
  const auto* const quantity = As<QuantityValue>(other);
  if (quantity == nullptr || quantity->computed_) return OrNoSuchOverload(other);
  return Value::Bool(quantity->nanos_ == nanos_);
}

Value QuantityOf(const api::Quantity& amount) {
  const Nanos nanos = amount.nanos();
  return Make(nanos, nanos % kUnit == 0 && FitsInt64(nanos / kUnit), false);
}

void AddQuantity(Environment& environment) {
#define QUANTITY "kubernetes.Quantity"
  static constexpr FunctionRow kRows[] = {
      {"quantity", "string_to_quantity", "(string) " QUANTITY, Parse, Cost::kFirst},
      {"isQuantity", "is_quantity_string", "(string) bool", IsQuantity, Cost::kFirst},
      {"sign", "quantity_sign", "(" QUANTITY ") int", Sign},
      {"isGreaterThan", "quantity_is_greater_than", QUANTITY ".(" QUANTITY ") bool", IsGreater},
      {"isLessThan", "quantity_is_less_than", QUANTITY ".(" QUANTITY ") bool", IsLess},
      {"compareTo", "quantity_compare_to", QUANTITY ".(" QUANTITY ") int", CompareTo},
      {"asApproximateFloat", "quantity_get_float", QUANTITY ".() double", AsFloat},
      {"asInteger", "quantity_get_int", QUANTITY ".() int", AsInteger},
      {"isInteger", "quantity_is_integer", QUANTITY ".() bool", IsInteger},
      {"add", "quantity_add", QUANTITY ".(" QUANTITY ") " QUANTITY, AddQuantities},
      {"add", "quantity_add_int", QUANTITY ".(int) " QUANTITY, AddInt},
      {"sub", "quantity_sub", QUANTITY ".(" QUANTITY ") " QUANTITY, SubtractQuantities},
      {"sub", "quantity_sub_int", QUANTITY ".(int) " QUANTITY, SubtractInt},
  };
#undef QUANTITY
  environment.Add(kRows);
}

}  // namespace berth::cel
