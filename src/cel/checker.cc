// SPDX-License-Identifier: Apache-2.0
#include "src/cel/checker.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/cel/literal_checks.h"
#include "src/cel/unifier.h"

namespace berth::cel {
namespace {

const Type* Basic(TypeKind kind) { return BasicType(kind); }

// "google.protobuf.Duration" of a chain of plain selections; nullopt: it is none.
std::optional<std::string> QualifiedName(const Expr* expr) {
  std::string name;
  for (; expr->kind == Expr::Kind::kSelect; expr = expr->args[0]) {
    if (expr->test_only) return std::nullopt;
    name = "." + expr->name + name;
  }
  if (expr->kind != Expr::Kind::kIdent) return std::nullopt;
  return expr->name + name;
}

const Expr* Innermost(const Expr* expr) {
  while (expr->kind == Expr::Kind::kSelect) expr = expr->args[0];
  return expr;
}

std::string WithoutDot(const std::string& name) {
  return name.front() == '.' ? name.substr(1) : name;
}

class Checker {
 public:
  Checker(const Environment& environment, TypeArena& arena, Issues& issues)
      : environment_(environment), arena_(arena), unifier_(arena), issues_(issues) {}

  void Visit(Expr* expr) {
    if (arena_.overflowed()) {
      expr->type = Basic(TypeKind::kError);
      return;
    }
    switch (expr->kind) {
      case Expr::Kind::kConstant:
        expr->type = TypeOfConstant(expr->constant);
        return;
      case Expr::Kind::kIdent:
        return VisitIdent(expr);
      case Expr::Kind::kSelect:
        return VisitSelect(expr);
      case Expr::Kind::kCall:
        return VisitCall(expr);
      case Expr::Kind::kList:
        return VisitList(expr);
      case Expr::Kind::kMap:
        return VisitMap(expr);
      case Expr::Kind::kComprehension:
        return VisitComprehension(expr);
      default:
        expr->type = Basic(TypeKind::kError);
    }
  }

  // The types found, without parameters.
  void Settle(Expr* expr) {
    expr->type = unifier_.Substitute(expr->type, true);
    for (Expr* const arg : expr->args)
      if (arg->type != nullptr) Settle(arg);
    if (expr->comprehension == nullptr) return;
    const Comprehension& parts = *expr->comprehension;
    for (Expr* const part : {parts.range, parts.init, parts.condition, parts.step, parts.result})
      Settle(part);
  }

 private:
  struct Local {
    std::string name;
    const Type* type;
  };

  static const Type* TypeOfConstant(const Value& value) {
    switch (value.kind()) {
      case Kind::kBool:
        return Basic(TypeKind::kBool);
      case Kind::kInt:
        return Basic(TypeKind::kInt);
      case Kind::kUint:
        return Basic(TypeKind::kUint);
      case Kind::kDouble:
        return Basic(TypeKind::kDouble);
      case Kind::kString:
        return Basic(TypeKind::kString);
      case Kind::kBytes:
        return Basic(TypeKind::kBytes);
      default:
        return Basic(TypeKind::kNull);
    }
  }

  // Names with a leading dot are not local ones, even where a macro was given such a name.
  const Type* FindLocal(const std::string& name) const {
    if (name.starts_with('.')) return nullptr;
    for (size_t i = locals_.size(); i-- > 0;)
      if (locals_[i].name == name) return locals_[i].type;
    return nullptr;
  }

  void Undeclared(const Expr* at, const std::string& name) {
    issues_.Report(at->offset, "undeclared reference to '" + name + "' (in container '')");
  }

  void Mismatch(size_t offset, const Type* expected, const Type* found) {
    issues_.Report(offset, "expected type '" + DisplayName(*expected) + "' but found '" +
                               DisplayName(*found) + "'");
  }

  bool BecomeTypeName(Expr* expr, const std::string& name) {
    const Type* const named = environment_.FindTypeName(name);
    if (named == nullptr) return false;
    expr->kind = Expr::Kind::kConstant;
    expr->constant = Value::TypeNamed(named->name);
    expr->args.clear();
    expr->type = arena_.TypeOf(named);
    return true;
  }

  void VisitIdent(Expr* expr) {
    if (const Type* const local = FindLocal(expr->name)) {
      expr->type = local;
      return;
    }
    const std::string name = WithoutDot(expr->name);
    if (const Environment::Variable* const variable = environment_.FindVariable(name)) {
      expr->name = name;
      expr->outermost = true;
      expr->type = variable->type;
    } else if (!BecomeTypeName(expr, name)) {
      Undeclared(expr, expr->name);
      expr->type = Basic(TypeKind::kError);
    }
  }

  void VisitSelect(Expr* expr) {
    if (const std::optional<std::string> name = QualifiedName(expr))
      if (FindLocal(Innermost(expr)->name) == nullptr && BecomeTypeName(expr, WithoutDot(*name)))
        return;
    const Type* const field = FieldType(expr, expr->args[0], expr->name, false);
    expr->type = expr->test_only ? Basic(TypeKind::kBool) : unifier_.Substitute(field, false);
  }

  const Type* FieldType(const Expr* expr, Expr* operand, const std::string& field, bool optional) {
    Visit(operand);
    const Type* target = unifier_.Substitute(operand->type, false);
    const bool was_optional = IsOptional(*target);
    if (was_optional) target = target->params[0];
    const Type* result = Basic(TypeKind::kError);
    switch (target->kind) {
      case TypeKind::kMap:
        result = target->params[1];
        break;
      case TypeKind::kStruct:
        if (const Type* const found = environment_.FindField(target->name, field)) {
          result = found;
        } else {
          issues_.Report(expr->offset,
                         environment_.HasFields(target->name)
                             ? "undefined field '" + field + "'"
                             : "unexpected failed resolution of '" + target->name + "'");
        }
        break;
      case TypeKind::kTypeParam:
        unifier_.Assign(Basic(TypeKind::kDyn), target);
        result = Basic(TypeKind::kDyn);
        break;
      default:
        if (!IsDynOrError(*target))
          issues_.Report(expr->offset,
                         "type '" + DisplayName(*target) + "' does not support field selection");
        result = Basic(TypeKind::kDyn);
    }
    return was_optional || optional ? arena_.Optional(result) : result;
  }

  void VisitCall(Expr* expr) {
    if (expr->name == "_?._") {
      const Type* const field =
          FieldType(expr, expr->args[0], expr->args[1]->constant.text(), true);
      expr->args[1]->type = Basic(TypeKind::kString);
      expr->type = unifier_.Substitute(field, false);
      return;
    }
    for (size_t i = expr->member ? 1 : 0; i < expr->args.size(); ++i) Visit(expr->args[i]);
    if (expr->member) {
      if (const std::optional<std::string> prefix = QualifiedName(expr->args[0])) {
        const std::string full = WithoutDot(*prefix) + "." + expr->name;
        if (const Function* const function = environment_.FindFunction(full)) {
          expr->member = false;
          expr->name = full;
          expr->args.erase(expr->args.begin());
          return Resolve(expr, *function);
        }
      }
      Visit(expr->args[0]);
    }
    const Function* const function = environment_.FindFunction(WithoutDot(expr->name));
    if (function == nullptr) {
      Undeclared(expr, expr->name);
      expr->type = Basic(TypeKind::kError);
      return;
    }
    expr->name = function->name;
    Resolve(expr, *function);
  }

  void Resolve(Expr* expr, const Function& function) {
    if (function.name == "_&&_" || function.name == "_||_") return ResolveLogic(expr, function);
    std::vector<const Type*> types;
    for (const Expr* const arg : expr->args) types.push_back(arg->type);
    const Type* result = nullptr;
    for (const auto& overload : function.overloads) {
      if (overload->member != expr->member) continue;
      const Type* const found = TryOverload(*overload, types);
      if (found == nullptr) continue;
      expr->overloads.push_back(overload.get());
      if (result == nullptr) {
        result = found;
      } else if (!IsDyn(*result) && !SameType(*found, *result)) {
        result = Basic(TypeKind::kDyn);
      }
    }
    if (result == nullptr) NoOverload(expr, function.name, types);
    expr->type = result == nullptr ? Basic(TypeKind::kError) : result;
  }

  // The type of the result, or nullptr when the arguments do not fit.
  const Type* TryOverload(const Overload& overload, const std::vector<const Type*>& types) {
    if (overload.type_params.empty())
      return unifier_.Assign(types, overload.params) ? overload.result : nullptr;
    std::vector<const Type*> fresh;
    for (size_t i = 0; i < overload.type_params.size(); ++i) fresh.push_back(unifier_.Fresh());
    std::vector<const Type*> params;
    for (const Type* const param : overload.params)
      params.push_back(unifier_.Rename(param, overload.type_params, fresh));
    if (!unifier_.Assign(types, params)) return nullptr;
    return unifier_.Substitute(unifier_.Rename(overload.result, overload.type_params, fresh),
                               false);
  }

  void ResolveLogic(Expr* expr, const Function& function) {
    const Type* const boolean = Basic(TypeKind::kBool);
    expr->type = boolean;
    expr->overloads.push_back(function.overloads.front().get());
    for (const Expr* const arg : expr->args) {
      if (unifier_.Assign(arg->type, boolean)) continue;
      Mismatch(arg->offset, boolean, arg->type);
      expr->type = Basic(TypeKind::kError);
    }
  }

  void NoOverload(const Expr* expr, const std::string& name,
                  const std::vector<const Type*>& types) {
    std::string signature = "(";
    for (size_t i = 0; i < types.size(); ++i) {
      const std::string type = DisplayName(*unifier_.Substitute(types[i], true));
      if (i == 0 && expr->member) {
        signature = type + ".(";
      } else {
        signature += (signature.back() == '(' ? "" : ", ") + type;
      }
    }
    issues_.Report(expr->offset,
                   "found no matching overload for '" + name + "' applied to '" + signature + ")'");
  }

  // An optional element gives what it holds.
  const Type* ElementType(const Expr* element, bool optional) {
    if (!optional) return element->type;
    if (IsOptional(*element->type)) return element->type->params[0];
    if (!IsDyn(*element->type))
      Mismatch(element->offset, arena_.Optional(element->type), element->type);
    return element->type;
  }

  const Type* Join(const Type* before, const Type* type) {
    if (before == nullptr) return type;
    // Whether mixed types are allowed is for CheckLiterals to say.
    return unifier_.Assign(before, type) ? Unifier::MoreGeneral(before, type)
                                         : Basic(TypeKind::kDyn);
  }

  void VisitList(Expr* expr) {
    const Type* elements = nullptr;
    for (size_t i = 0; i < expr->args.size(); ++i) {
      Visit(expr->args[i]);
      elements = Join(elements, ElementType(expr->args[i], expr->optional[i]));
    }
    expr->type = arena_.List(elements == nullptr ? unifier_.Fresh() : elements);
  }

  void VisitMap(Expr* expr) {
    const Type* keys = nullptr;
    const Type* values = nullptr;
    for (size_t i = 0; i + 1 < expr->args.size(); i += 2) {
      Visit(expr->args[i]);
      keys = Join(keys, expr->args[i]->type);
      Visit(expr->args[i + 1]);
      values = Join(values, ElementType(expr->args[i + 1], expr->optional[i / 2]));
    }
    if (keys == nullptr) {
      keys = unifier_.Fresh();
      values = unifier_.Fresh();
    }
    expr->type = arena_.Map(keys, values);
  }

  // The types of the loop's variables over a range; the second only when asked for.
  std::pair<const Type*, const Type*> VariableTypes(const Expr* range, bool two) {
    const Type* const type = unifier_.Substitute(range->type, false);
    const Type* const dyn = Basic(TypeKind::kDyn);
    switch (type->kind) {
      case TypeKind::kList:
        if (two) return {Basic(TypeKind::kInt), type->params[0]};
        return {type->params[0], nullptr};
      case TypeKind::kMap:
        return {type->params[0], type->params[1]};
      case TypeKind::kDyn:
      case TypeKind::kError:
      case TypeKind::kTypeParam:
        unifier_.Assign(dyn, type);
        return {dyn, dyn};
      default:
        issues_.Report(range->offset,
                       "expression of type '" + DisplayName(*type) +
                           "' cannot be range of a comprehension (must be list, map, or dynamic)");
        return {Basic(TypeKind::kError), Basic(TypeKind::kError)};
    }
  }

  void MustBe(const Expr* expr, const Type* type) {
    if (!unifier_.Assign(type, expr->type)) Mismatch(expr->offset, type, expr->type);
  }

  void VisitComprehension(Expr* expr) {
    const Comprehension& parts = *expr->comprehension;
    Visit(parts.range);
    Visit(parts.init);
    const bool two = !parts.second_variable.empty();
    const auto [first, second] = VariableTypes(parts.range, two);
    const Type* const collected = parts.init->type;
    const size_t outside = locals_.size();
    locals_.push_back({parts.accumulator, collected});
    locals_.push_back({parts.variable, first});
    if (two) locals_.push_back({parts.second_variable, second});
    Visit(parts.condition);
    MustBe(parts.condition, Basic(TypeKind::kBool));
    Visit(parts.step);
    MustBe(parts.step, collected);
    locals_.resize(outside + 1);
    Visit(parts.result);
    locals_.resize(outside);
    expr->type = unifier_.Substitute(parts.result->type, false);
  }

  const Environment& environment_;
  TypeArena& arena_;
  Unifier unifier_;
  Issues& issues_;
  std::vector<Local> locals_;
};

}  // namespace

void Check(Expr* root, const Environment& environment, TypeArena& arena, Issues& issues) {
  Checker checker(environment, arena, issues);
  checker.Visit(root);
  if (arena.overflowed()) {
    issues.ReportNowhere("the types of the expression are too large");
    return;
  }
  checker.Settle(root);
  if (issues.empty()) CheckLiterals(*root, issues);
}

}  // namespace berth::cel
