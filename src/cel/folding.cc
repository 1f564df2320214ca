// SPDX-License-Identifier: Apache-2.0
#include "src/cel/folding.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "src/cel/machine.h"
#include "src/cel/selection.h"

namespace berth::cel {
namespace {

bool IsConstant(const Expr* expr) { return expr->kind == Expr::Kind::kConstant; }

bool IsConversion(const Expr& expr) {
  constexpr std::array<std::string_view, 10> kNames = {
      "bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"};
  return expr.kind == Expr::Kind::kCall && expr.args.size() == 1 &&
         std::find(kNames.begin(), kNames.end(), expr.name) != kNames.end();
}

bool IsPlainAggregate(const Expr& expr) {
  const bool aggregate = expr.kind == Expr::Kind::kList || expr.kind == Expr::Kind::kMap;
  return aggregate &&
         std::none_of(expr.optional.begin(), expr.optional.end(), [](bool is) { return is; });
}

void Become(Expr* expr, Value value) {
  expr->kind = Expr::Kind::kConstant;
  expr->constant = std::move(value);
  expr->args.clear();
}

bool IsSearchInNothing(const Expr& expr) {
  return expr.kind == Expr::Kind::kCall && expr.name == "@in" && expr.overloads.size() == 1 &&
         expr.overloads.front()->id == "in_list" && IsConstant(expr.args[1]) &&
         SizeOf(expr.args[1]->constant) == 0;
}

// Of matches, find and findAll: the pattern is none.
Result<void> CheckPattern(const Expr& expr) {
  const bool searches = expr.name == "matches" || expr.name == "find" || expr.name == "findAll";
  if (expr.kind != Expr::Kind::kCall || !searches || expr.args.size() < 2 ||
      !IsConstant(expr.args[1]) || expr.args[1]->constant.kind() != Kind::kString)
    return {};
  const Result<std::shared_ptr<const Pattern>> pattern =
      Pattern::Compile(expr.args[1]->constant.text());
  if (!pattern) return Fail(pattern.error());
  return {};
}

// Of an index: it can be none.
Result<void> CheckIndex(const Expr& expr) {
  const bool indexes = expr.name == "_[_]" || expr.name == "_[?_]";
  if (expr.kind != Expr::Kind::kCall || !indexes || !IsConstant(expr.args[1]) ||
      IsKey(expr.args[1]->constant))
    return {};
  return Fail("invalid qualifier type: " + ImplementationName(expr.args[1]->constant));
}

Value MakeAggregate(const Expr& expr) {
  if (expr.kind == Expr::Kind::kList) {
    std::vector<Value> items;
    for (const Expr* const arg : expr.args) items.push_back(arg->constant);
    return Value::ListOf(std::move(items));
  }
  auto map = std::make_shared<Map>();
  for (size_t i = 0; i + 1 < expr.args.size(); i += 2)
    map->Put(expr.args[i]->constant, expr.args[i + 1]->constant);
  return Value::Of(std::shared_ptr<const Map>(std::move(map)));
}

Value Convert(const Expr& expr, const Environment& environment) {
  Budget budget(~uint64_t{0});
  CallSite site;
  site.function = environment.FindFunction(expr.name);
  site.overload = expr.overloads.size() == 1 ? expr.overloads.front() : nullptr;
  site.count = 1;
  Value argument = expr.args[0]->constant;
  return Invoke(site, budget, std::span(&argument, 1));
}

}  // namespace

Result<void> FoldConstants(Expr* expr, const Environment& environment) {
  for (Expr* const arg : expr->args)
    if (Result<void> folded = FoldConstants(arg, environment); !folded) return folded;
  if (expr->comprehension != nullptr) {
    const Comprehension& parts = *expr->comprehension;
    for (Expr* const part : {parts.init, parts.range, parts.condition, parts.step, parts.result})
      if (Result<void> folded = FoldConstants(part, environment); !folded) return folded;
    return {};
  }
  if (Result<void> checked = CheckPattern(*expr); !checked) return checked;
  if (Result<void> checked = CheckIndex(*expr); !checked) return checked;
  if (IsSearchInNothing(*expr)) Become(expr, Value::Bool(false));
  if (!std::all_of(expr->args.begin(), expr->args.end(), IsConstant)) return {};
  if (IsPlainAggregate(*expr)) {
    Become(expr, MakeAggregate(*expr));
  } else if (IsConversion(*expr)) {
    Value made = Convert(*expr, environment);
    if (made.IsError()) return Fail(made.text());
    Become(expr, std::move(made));
  }
  return {};
}

Value SetOf(const List& list) {
  auto set = std::make_shared<Map>();
  for (const Value& item : list.items) {
    switch (item.kind()) {
      case Kind::kBool:
      case Kind::kInt:
      case Kind::kUint:
      case Kind::kDouble:
      case Kind::kString:
        set->Put(item, Value::Bool(true));
        break;
      default:
        return NoSuchOverload();
    }
  }
  return Value::Of(std::shared_ptr<const Map>(std::move(set)));
}

}  // namespace berth::cel
