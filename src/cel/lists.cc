// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "src/cel/environment.h"

namespace berth::cel {
namespace {

using Items = std::vector<Value>;

constexpr int64_t kLongestRange = 1'000'000;

// False, and the budget refuses: what the call will cost is more than is left. Asked before the
// work is done.
bool CanAfford(Budget& budget, uint64_t factor, uint64_t a, uint64_t b) {
  uint64_t cost = 0;
  if (__builtin_mul_overflow(a, b, &cost) || __builtin_mul_overflow(cost, factor, &cost))
    cost = ~uint64_t{0};
  if (cost > budget.cost_left()) budget.Refuse();
  return !budget.exhausted();
}

Value Slice(Budget& budget, std::span<Value> args) {
  const Items& items = args[0].list().items;
  const int64_t begin = args[1].integer();
  const int64_t end = args[2].integer();
  const auto fault = [&](const std::string& why) {
    return Value::Error("cannot slice(" + std::to_string(begin) + ", " + std::to_string(end) +
                        "), " + why);
  };
  if (begin < 0 || end < 0) return fault("negative indexes not supported");
  if (begin > end) return fault("start index must be less than or equal to end index");
  if (static_cast<int64_t>(items.size()) < end)
    return fault("list is length " + std::to_string(items.size()));
  budget.Allocate(static_cast<uint64_t>(end - begin) * sizeof(Value));
  return Value::ListOf(Items(items.begin() + begin, items.begin() + end));
}

void FlattenInto(Budget& budget, const Items& items, int64_t depth, Items& flat) {
  for (const Value& item : items) {
    if (item.kind() == Kind::kList && depth > 0) {
      FlattenInto(budget, item.list().items, depth - 1, flat);
    } else if (budget.Allocate(sizeof(Value))) {
      flat.push_back(item);
    }
    if (budget.out_of_memory()) return;
  }
}

Value Flatten(Budget& budget, std::span<Value> args) {
  if (args[0].kind() != Kind::kList)
    return Value::Error("no such overload: " + std::string(TypeNameOf(args[0])) + ".flatten()");
  const int64_t depth = args.size() == 2 ? args[1].integer() : 1;
  if (depth < 0) return Value::Error("level must be non-negative");
  Items flat;
  FlattenInto(budget, args[0].list().items, depth, flat);
  return Value::ListOf(std::move(flat));
}

Value SortByKeys(Budget& budget, const Items& items, const Items& keys) {
  if (items.size() != keys.size())
    return Value::Error(
        "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but "
        "got " +
        std::to_string(items.size()) + " and " + std::to_string(keys.size()) +
        " elements respectively");
  if (items.empty()) return Value::ListOf({});
  if (Compare(keys[0], keys[0]).IsError() && keys[0].kind() != Kind::kDouble)
    return Value::Error("list elements must be comparable");
  const bool mixed = std::any_of(keys.begin(), keys.end(), [&](const Value& key) {
    return TypeNameOf(key) != TypeNameOf(keys[0]);
  });
  if (mixed) return Value::Error("list elements must have the same type");
  if (!CanAfford(budget, 2, keys.size(), keys.size())) return NoSuchOverload();
  budget.Allocate(items.size() * sizeof(Value));
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Value sign = Compare(keys[a], keys[b]);
    return sign.kind() == Kind::kInt && sign.integer() < 0;
  });
  Items sorted;
  sorted.reserve(items.size());
  for (const size_t i : order) sorted.push_back(items[i]);
  return Value::ListOf(std::move(sorted));
}

Value Sort(Budget& budget, std::span<Value> args) {
  if (args[0].kind() == Kind::kString) return NoSuchOverload();
  if (args[0].kind() != Kind::kList) return Value::Error("no such overload: sort");
  return SortByKeys(budget, args[0].list().items, args[0].list().items);
}

Value SortByAssociatedKeys(Budget& budget, std::span<Value> args) {
  if (args[0].kind() != Kind::kList || args[1].kind() != Kind::kList)
    return Value::Error("no such overload: @sortByAssociatedKeys");
  return SortByKeys(budget, args[0].list().items, args[1].list().items);
}

Value Range(Budget& budget, std::span<Value> args) {
  const int64_t count = args[0].integer();
  if (count < 0)
    return Value::Error("lists.range: size must be non-negative, got " + std::to_string(count));
  if (count > kLongestRange)
    return Value::Error("lists.range: size " + std::to_string(count) +
                        " exceeds maximum allowed (" + std::to_string(kLongestRange) + ")");
  const auto size = static_cast<uint64_t>(count);
  if (!CanAfford(budget, 1, size, 1) || !budget.Allocate(size * sizeof(Value)))
    return NoSuchOverload();
  Items items;
  items.reserve(size);
  for (int64_t i = 0; i < count; ++i) items.push_back(Value::Int(i));
  return Value::ListOf(std::move(items));
}

Value Reverse(Budget& budget, std::span<Value> args) {
  const Items& items = args[0].list().items;
  budget.Allocate(items.size() * sizeof(Value));
  return Value::ListOf(Items(items.rbegin(), items.rend()));
}

Value Distinct(Budget& budget, std::span<Value> args) {
  const Items& items = args[0].list().items;
  if (!CanAfford(budget, 2, items.size(), items.size())) return NoSuchOverload();
  Items distinct;
  for (const Value& item : items)
    if (std::none_of(distinct.begin(), distinct.end(),
                     [&](const Value& other) { return AreEqual(item, other, budget.steps()); }))
      distinct.push_back(item);
  return Value::ListOf(std::move(distinct));
}

bool Holds(Budget& budget, const Items& items, const Value& wanted) {
  return std::any_of(items.begin(), items.end(),
                     [&](const Value& item) { return AreEqual(wanted, item, budget.steps()); });
}

bool HoldsAll(Budget& budget, const Items& items, const Items& wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const Value& one) { return Holds(budget, items, one); });
}

template <char which>
Value CompareSets(Budget& budget, std::span<Value> args) {
  const Items& a = args[0].list().items;
  const Items& b = args[1].list().items;
  if (!CanAfford(budget, which == '=' ? 2 : 1, a.size(), b.size())) return NoSuchOverload();
  if (which == '<') return Value::Bool(HoldsAll(budget, a, b));
  if (which == '=') return Value::Bool(HoldsAll(budget, a, b) && HoldsAll(budget, b, a));
  return Value::Bool(
      std::any_of(a.begin(), a.end(), [&](const Value& one) { return Holds(budget, b, one); }));
}

constexpr std::array<const char*, 8> kComparable = {"int",      "uint",      "double", "bool",
                                                    "duration", "timestamp", "string", "bytes"};

}  // namespace

void AddLists(Environment& environment) {
  static constexpr FunctionRow kRows[] = {
      {"slice", "list_slice", "list(T).(int, int) list(T)", Slice, Cost::kMadeList},
      {"lists.range", "lists_range", "(int) list(int)", Range, Cost::kMadeList},
      {"reverse", "list_reverse", "list(T).() list(T)", Reverse, Cost::kMadeList},
      {"distinct", "list_distinct", "list(T).() list(T)", Distinct, Cost::kSelfCompare},
  };
  environment.Add(kRows);
  static constexpr FunctionRow kFlatten[] = {
      {"flatten", "list_flatten", "list(list(T)).() list(T)", Flatten, Cost::kFlatten},
      {"flatten", "list_flatten_int", "list(dyn).(int) list(dyn)", Flatten, Cost::kFlatten},
  };
  environment.Add(kFlatten, Dispatch::kUnguarded);
  for (const std::string type : kComparable) {
    const std::string sort = "list_" + type + "_sort";
    const std::string sort_signature = "list(" + type + ").() list(" + type + ")";
    const std::string by_keys = sort + "ByAssociatedKeys";
    const std::string by_keys_signature = "list(T).(list(" + type + ")) list(T)";
    const FunctionRow rows[] = {
        {"sort", sort.c_str(), sort_signature.c_str(), Sort, Cost::kSelfCompare},
        {"@sortByAssociatedKeys", by_keys.c_str(), by_keys_signature.c_str(), SortByAssociatedKeys,
         Cost::kKeysCompare},
    };
    environment.Add(rows, Dispatch::kUnguarded);
  }
}

void AddSets(Environment& environment) {
  static constexpr FunctionRow kRows[] = {
      {"sets.contains", "list_sets_contains_list", "(list(T), list(T)) bool", CompareSets<'<'>,
       Cost::kSets},
      {"sets.equivalent", "list_sets_equivalent_list", "(list(T), list(T)) bool", CompareSets<'='>,
       Cost::kSetsTwice},
      {"sets.intersects", "list_sets_intersects_list", "(list(T), list(T)) bool", CompareSets<'&'>,
       Cost::kSets},
  };
  environment.Add(kRows);
}

}  // namespace berth::cel
