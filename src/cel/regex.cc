// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "src/cel/environment.h"
#include "src/cel/machine.h"
#include "src/cel/pattern.h"

namespace berth::cel {
namespace {

// A pattern that only the evaluation knows is compiled for it alone.
Result<std::shared_ptr<const Pattern>> CompileNow(Budget& budget, const std::string& text) {
  return Pattern::Compile(text, &budget.steps());
}

Value Matches(Budget& budget, std::span<Value> args) {
  if (args[0].kind() != Kind::kString) return Value::Error("no such overload: matches");
  if (args[1].kind() != Kind::kString) return NoSuchOverload();
  const Result<std::shared_ptr<const Pattern>> pattern = CompileNow(budget, args[1].text());
  if (!pattern) return Value::Error(pattern.error().message);
  return ApplyPattern(**pattern, "matches", args, budget);
}

template <char function>
Value Search(Budget& budget, std::span<Value> args) {
  const Result<std::shared_ptr<const Pattern>> pattern = CompileNow(budget, args[1].text());
  if (!pattern) return Value::Error("Illegal regex: " + pattern.error().message);
  return ApplyPattern(**pattern, function == 'f' ? "find" : "findAll", args, budget);
}

}  // namespace

Value ApplyPattern(const Pattern& pattern, std::string_view function, std::span<const Value> args,
                   Budget& budget) {
  const std::string& text = args[0].text();
  if (function == "matches") return Value::Bool(pattern.Matches(text, &budget.steps()));
  if (function == "find") return Value::String(pattern.Find(text, &budget.steps()));
  int64_t most = -1;
  if (args.size() == 3) {
    if (args[2].kind() != Kind::kInt) return OrNoSuchOverload(args[2]);
    most = args[2].integer();
  }
  std::vector<Value> found;
  for (std::string& part : pattern.FindAll(text, most, &budget.steps()))
    found.push_back(Value::String(std::move(part)));
  return Value::ListOf(std::move(found));
}

void AddMatches(Environment& environment) {
  static constexpr FunctionRow kRows[] = {
      {"matches", "matches", "(string, string) bool", Matches, Cost::kRegex},
      {"matches", "matches_string", "string.(string) bool", Matches, Cost::kRegex},
  };
  environment.Add(kRows, Dispatch::kUnguarded);
}

void AddRegex(Environment& environment) {
  static constexpr FunctionRow kRows[] = {
      {"find", "string_find_string", "string.(string) string", Search<'f'>, Cost::kRegex},
      {"findAll", "string_find_all_string", "string.(string) list(string)", Search<'a'>,
       Cost::kRegex},
      {"findAll", "string_find_all_string_int", "string.(string, int) list(string)", Search<'a'>,
       Cost::kRegex},
  };
  environment.Add(kRows);
  environment.SetCost("find", Cost::kRegex);
  environment.SetCost("findAll", Cost::kRegex);
}

}  // namespace berth::cel
