// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "src/cel/environment.h"
#include "src/cel/value_ops.h"

namespace berth::cel {
namespace {

bool HaveOrder(const std::vector<Value>& items) {
  return std::all_of(items.begin(), items.end(),
                     [](const Value& item) { return HasOrder(item.kind()); });
}

Value IsSorted(Budget&, std::span<Value> args) {
  const std::vector<Value>& items = args[0].list().items;
  if (!HaveOrder(items)) return NoSuchOverload();
  for (size_t i = 0; i + 1 < items.size(); ++i) {
    const Value order = Compare(items[i], items[i + 1]);
    if (order.kind() == Kind::kInt && order.integer() > 0) return Value::Bool(false);
  }
  return Value::Bool(true);
}

template <Kind kind>
Value Sum(Budget& budget, std::span<Value> args) {
  Value sum;
  if (kind == Kind::kInt) sum = Value::Int(0);
  if (kind == Kind::kUint) sum = Value::Uint(0);
  if (kind == Kind::kDouble) sum = Value::Double(0);
  if (kind == Kind::kDuration) sum = Value::Duration(0);
  for (const Value& item : args[0].list().items) {
    sum = Add(budget, sum, item);
    if (sum.IsError()) return sum;
  }
  return sum;
}

// `wanted`: how what is kept so far compares with what takes its place.
template <int wanted>
Value Extreme(Budget&, std::span<Value> args) {
  const std::vector<Value>& items = args[0].list().items;
  if (items.empty())
    return Value::Error(std::string(wanted < 0 ? "max" : "min") + " called on empty list");
  if (!HaveOrder(items)) return NoSuchOverload();
  const Value* kept = &items.front();
  for (const Value& item : items) {
    const Value order = Compare(*kept, item);
    if (order.kind() == Kind::kInt && order.integer() == wanted) kept = &item;
  }
  return *kept;
}

template <bool last>
Value IndexOf(Budget& budget, std::span<Value> args) {
  const std::vector<Value>& items = args[0].list().items;
  int64_t found = -1;
  for (size_t i = 0; i < items.size() && (last || found < 0); ++i)
    if (AreEqual(items[i], args[1], budget.steps())) found = static_cast<int64_t>(i);
  return Value::Int(found);
}

Value Includes(Budget& budget, std::span<Value> args) {
  if (args[0].kind() != Kind::kList) return Value::Bool(AreEqual(args[0], args[1], budget.steps()));
  for (const Value& item : args[0].list().items)
    if (AreEqual(item, args[1], budget.steps())) return Value::Bool(true);
  return Value::Bool(false);
}

void AddOfList(Environment& environment, const char* function, const std::string& id,
               const std::string& type, const std::string& result, Implementation implement) {
  const std::string signature = "list(" + type + ").() " + result;
  const FunctionRow row = {function, id.c_str(), signature.c_str(), implement};
  environment.Add(std::span(&row, 1));
}

}  // namespace

void AddKubernetesLists(Environment& environment) {
  for (const std::string type :
       {"int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"}) {
    AddOfList(environment, "isSorted", "list_" + type + "_is_sorted_bool", type, "bool", IsSorted);
    AddOfList(environment, "max", "list_" + type + "_max_" + type, type, type, Extreme<-1>);
    AddOfList(environment, "min", "list_" + type + "_min_" + type, type, type, Extreme<1>);
  }
  AddOfList(environment, "sum", "list_int_sum_int", "int", "int", Sum<Kind::kInt>);
  AddOfList(environment, "sum", "list_uint_sum_uint", "uint", "uint", Sum<Kind::kUint>);
  AddOfList(environment, "sum", "list_double_sum_double", "double", "double", Sum<Kind::kDouble>);
  AddOfList(environment, "sum", "list_duration_sum_duration", "duration", "duration",
            Sum<Kind::kDuration>);
  static constexpr FunctionRow kRows[] = {
      {"indexOf", "list_a_index_of_int", "list(A).(A) int", IndexOf<false>},
      {"lastIndexOf", "list_a_last_index_of_int", "list(A).(A) int", IndexOf<true>},
      {"includes", "list_includes_dyn_dyn", "dyn.(dyn) bool", Includes},
  };
  environment.Add(kRows);
  for (const char* const name :
       {"isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"})
    environment.SetCost(name, Cost::kTraversal);
}

}  // namespace berth::cel
