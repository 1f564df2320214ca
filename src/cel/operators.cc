// SPDX-License-Identifier: Apache-2.0
#include "src/cel/environment.h"

namespace berth::cel {
namespace {

// These are instructions of the machine; their rows are for the checker.

Value Not(Budget&, std::span<Value> args) {
  if (args[0].kind() != Kind::kBool) return NoSuchOverload();
  return Value::Bool(!args[0].boolean());
}

// Anything but false lets a loop go on: an error may yet be absorbed.
Value NotStrictlyFalse(Budget&, std::span<Value> args) {
  return args[0].kind() == Kind::kBool ? args[0] : Value::Bool(true);
}

template <char first, char second>
Value Ordered(Budget&, std::span<Value> args) {
  if (!HasOrder(args[0].kind())) {
    std::string name = {'_', first};
    if (second != 0) name += second;
    return Value::Error("no such overload: " + name + "_");
  }
  Value order = Compare(args[0], args[1]);
  if (order.IsError()) return order;
  const int64_t sign = order.integer();
  if (sign == 0) return Value::Bool(second == '=');
  return Value::Bool(first == '<' ? sign < 0 : sign > 0);
}

Value In(Budget& budget, std::span<Value> args) {
  if (args[1].kind() == Kind::kMap) return Value::Bool(args[1].map().Contains(args[0]));
  if (args[1].kind() != Kind::kList) return NoSuchOverload();
  for (const Value& item : args[1].list().items)
    if (AreEqual(args[0], item, budget.steps())) return Value::Bool(true);
  return Value::Bool(false);
}

Value Size(Budget&, std::span<Value> args) {
  const std::optional<uint64_t> size = MeasuredSize(args[0]);
  if (!size) return Value::Error("no such overload: size");
  return Value::Int(static_cast<int64_t>(*size));
}

template <bool (*test)(std::string_view, std::string_view)>
Value TestTexts(Budget&, std::span<Value> args) {
  if (args[0].kind() != Kind::kString || args[1].kind() != Kind::kString) return NoSuchOverload();
  return Value::Bool(test(args[0].text(), args[1].text()));
}
bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
bool StartsWith(std::string_view text, std::string_view part) { return text.starts_with(part); }
bool EndsWith(std::string_view text, std::string_view part) { return text.ends_with(part); }

void AddComparisons(Environment& environment) {
  struct Comparison {
    const char* function;
    std::string id;
    Implementation implement;
  };
  const Comparison comparisons[] = {{"_<_", "less", Ordered<'<', 0>},
                                    {"_<=_", "less_equals", Ordered<'<', '='>},
                                    {"_>_", "greater", Ordered<'>', 0>},
                                    {"_>=_", "greater_equals", Ordered<'>', '='>}};
  struct Operands {
    const char* id;
    const char* signature;
    Cost cost = Cost::kDefault;
  };
  constexpr Operands kOperands[] = {
      {"_bool", "(bool, bool) bool"},
      {"_int64", "(int, int) bool"},
      {"_int64_double", "(int, double) bool"},
      {"_int64_uint64", "(int, uint) bool"},
      {"_uint64", "(uint, uint) bool"},
      {"_uint64_double", "(uint, double) bool"},
      {"_uint64_int64", "(uint, int) bool"},
      {"_double", "(double, double) bool"},
      {"_double_int64", "(double, int) bool"},
      {"_double_uint64", "(double, uint) bool"},
      {"_string", "(string, string) bool", Cost::kSmaller},
      {"_bytes", "(bytes, bytes) bool", Cost::kSmaller},
      {"_timestamp", "(timestamp, timestamp) bool"},
      {"_duration", "(duration, duration) bool"},
  };
  for (const Comparison& comparison : comparisons) {
    for (const Operands& operands : kOperands) {
      const std::string id = comparison.id + operands.id;
      const FunctionRow row = {comparison.function, id.c_str(), operands.signature,
                               comparison.implement, operands.cost};
      environment.Add(std::span(&row, 1), Dispatch::kUnguarded);
    }
  }
}

}  // namespace

void AddOperators(Environment& environment) {
  static constexpr FunctionRow kRows[] = {
      {"_?_:_", "conditional", "(bool, A, A) A", NotCalled},
      {"_&&_", "logical_and", "(bool, bool) bool", NotCalled},
      {"_||_", "logical_or", "(bool, bool) bool", NotCalled},
      {"!_", "logical_not", "(bool) bool", Not},
      {"@not_strictly_false", "not_strictly_false", "(bool) bool", NotStrictlyFalse},
      {"_==_", "equals", "(A, A) bool", NotCalled},
      {"_!=_", "not_equals", "(A, A) bool", NotCalled},
      {"_[_]", "index_list", "(list(A), int) A", NotCalled},
      {"_[_]", "index_map", "(map(A, B), A) B", NotCalled},
      {"@in", "in_list", "(A, list(A)) bool", In, Cost::kSecondWhole},
      {"@in", "in_map", "(A, map(A, B)) bool", In},
      {"size", "size_bytes", "(bytes) int", Size},
      {"size", "bytes_size", "bytes.() int", Size},
      {"size", "size_list", "(list(A)) int", Size},
      {"size", "list_size", "list(A).() int", Size},
      {"size", "size_map", "(map(A, B)) int", Size},
      {"size", "map_size", "map(A, B).() int", Size},
      {"size", "size_string", "(string) int", Size},
      {"size", "string_size", "string.() int", Size},
      {"contains", "contains_string", "string.(string) bool", TestTexts<Contains>, Cost::kProduct},
      {"endsWith", "ends_with_string", "string.(string) bool", TestTexts<EndsWith>, Cost::kSecond},
      {"startsWith", "starts_with_string", "string.(string) bool", TestTexts<StartsWith>,
       Cost::kSecond},
  };
  environment.Add(kRows, Dispatch::kUnguarded);
  AddComparisons(environment);
  AddArithmetic(environment);
  AddMatches(environment);
}

}  // namespace berth::cel
