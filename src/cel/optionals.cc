// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "src/cel/environment.h"

namespace berth::cel {
namespace {

Value Of(Budget&, std::span<Value> args) { return Value::Some(args[0]); }

// Library types and optionals have no zero.
bool IsZero(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return !value.boolean();
    case Kind::kInt:
    case Kind::kDuration:
      return value.integer() == 0;
    case Kind::kUint:
      return value.natural() == 0;
    case Kind::kDouble:
      return value.real() == 0;
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kList:
    case Kind::kMap:
      return SizeOf(value) == 0;
    case Kind::kTimestamp:
      return value.time().seconds == -62'135'596'800 && value.time().nanos == 0;
    default:
      return false;
  }
}

Value OfNonZero(Budget&, std::span<Value> args) {
  return IsZero(args[0]) ? Value::None() : Value::Some(args[0]);
}

Value None(Budget&, std::span<Value>) { return Value::None(); }

Value Held(Budget&, std::span<Value> args) {
  if (args[0].held() == nullptr) return Value::Error("optional.none() dereference");
  return *args[0].held();
}

Value HasValue(Budget&, std::span<Value> args) { return Value::Bool(args[0].held() != nullptr); }

Value Unwrap(Budget& budget, std::span<Value> args) {
  std::vector<Value> held;
  budget.Allocate(args[0].list().items.size() * sizeof(Value));
  for (const Value& item : args[0].list().items) {
    if (item.kind() != Kind::kOptional)
      return Value::Error("value " + DebugText(item) + " is not optional");
    if (item.held() != nullptr) held.push_back(*item.held());
  }
  return Value::ListOf(std::move(held));
}

Value AtEnd(const std::vector<Value>& items, bool last) {
  if (items.empty()) return Value::None();
  return Value::Some(last ? items.back() : items.front());
}
Value Last(Budget&, std::span<Value> args) { return AtEnd(args[0].list().items, true); }
Value First(Budget&, std::span<Value> args) { return AtEnd(args[0].list().items, false); }

}  // namespace

void AddOptionals(Environment& environment) {
  static constexpr FunctionRow kRows[] = {
      {"optional.of", "optional_of", "(V) optional_type(V)", Of},
      {"optional.ofNonZeroValue", "optional_ofNonZeroValue", "(V) optional_type(V)", OfNonZero},
      {"optional.none", "optional_none", "() optional_type(V)", None},
      {"value", "optional_value", "optional_type(V).() V", Held},
      {"hasValue", "optional_hasValue", "optional_type(V).() bool", HasValue},
      {"or", "optional_or_optional", "optional_type(V).(optional_type(V)) optional_type(V)",
       NotCalled},
      {"orValue", "optional_orValue_value", "optional_type(V).(V) V", NotCalled},
      {"_?._", "select_optional_field", "(dyn, string) optional_type(V)", NotCalled},
      {"_[?_]", "list_optindex_optional_int", "(list(V), int) optional_type(V)", NotCalled},
      {"_[?_]", "optional_list_optindex_optional_int",
       "(optional_type(list(V)), int) optional_type(V)", NotCalled},
      {"_[?_]", "map_optindex_optional_value", "(map(K, V), K) optional_type(V)", NotCalled},
      {"_[?_]", "optional_map_optindex_optional_value",
       "(optional_type(map(K, V)), K) optional_type(V)", NotCalled},
      {"last", "list_last", "list(V).() optional_type(V)", Last},
      {"first", "list_first", "list(V).() optional_type(V)", First},
      {"optional.unwrap", "optional_unwrap", "(list(optional_type(V))) list(V)", Unwrap},
      {"unwrapOpt", "optional_unwrapOpt", "list(optional_type(V)).() list(V)", Unwrap},
  };
  environment.Add(kRows);
  static constexpr FunctionRow kIndex[] = {
      {"_[_]", "optional_list_index_int", "(optional_type(list(V)), int) optional_type(V)",
       NotCalled},
      {"_[_]", "optional_map_index_value", "(optional_type(map(K, V)), K) optional_type(V)",
       NotCalled},
  };
  environment.Add(kIndex, Dispatch::kUnguarded);
}

}  // namespace berth::cel
