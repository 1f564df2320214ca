// SPDX-License-Identifier: Apache-2.0
#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/cel/format_clause.h"
#include "src/cel/phases.h"
#include "src/cel/type.h"
#include "src/cel/value_ops.h"

namespace berth::cel {
namespace {

// Finds out what type parameters stand for.
class Unifier {
 public:
  explicit Unifier(TypeArena& arena) : arena_(arena) {}

  // A type parameter that no other type mentions.
  const Type* Fresh();

  // Whether a value of type `from` may stand where `to` is asked for. Yes: the parameters in both
  // are bound as that takes; no: nothing is bound.
  bool Assign(const Type* from, const Type* to);
  // The same for each of two lists at once.
  bool Assign(const std::vector<const Type*>& from, const std::vector<const Type*>& to);

  // With each bound parameter replaced by what it stands for. `free_to_dyn`: the others become dyn.
  const Type* Substitute(const Type* type, bool free_to_dyn);
  // With the named parameters replaced by the given types.
  const Type* Rename(const Type* type, const std::vector<std::string>& names,
                     const std::vector<const Type*>& types);

  // Of two types that unify the one that says less.
  static const Type* MoreGeneral(const Type* a, const Type* b);

 private:
  enum class Fit : uint8_t { kYes, kNo, kNoAndBound };

  bool TryAssign(const Type* from, const Type* to);
  Fit TrySubstitution(const Type* type, const Type* param);
  bool IsFreeOf(const Type* param, const Type* within) const;
  const Type* Bound(const Type* type) const;
  void Bind(const Type* param, const Type* type);
  void Undo(size_t mark);

  TypeArena& arena_;
  absl::flat_hash_map<std::string, const Type*> bound_;
  // What each binding replaced, to take it back.
  std::vector<std::pair<std::string, const Type*>> journal_;
  int made_ = 0;
};

bool IsParam(const Type* type) { return type->kind == TypeKind::kTypeParam; }

// Objects, times and library types may be null.
bool TakesNull(const Type* type) {
  switch (type->kind) {
    case TypeKind::kNull:
    case TypeKind::kOpaque:
    case TypeKind::kStruct:
    case TypeKind::kDuration:
    case TypeKind::kTimestamp:
      return true;
    default:
      return false;
  }
}

bool SaysNoMore(const Type* a, const Type* b) {
  if (IsDyn(*a) || IsParam(a)) return true;
  if (IsDyn(*b) || IsParam(b) || a->kind != b->kind) return false;
  if (a->kind == TypeKind::kType) return true;
  if (a->name != b->name || a->params.size() != b->params.size()) return false;
  for (size_t i = 0; i < a->params.size(); ++i)
    if (!SaysNoMore(a->params[i], b->params[i])) return false;
  return true;
}

const Type* Unifier::Fresh() {
  return arena_.Make(TypeKind::kTypeParam, "_var" + std::to_string(made_++));
}

const Type* Unifier::Bound(const Type* type) const {
  if (!IsParam(type)) return nullptr;
  const auto found = bound_.find(type->name);
  return found == bound_.end() ? nullptr : found->second;
}

void Unifier::Bind(const Type* param, const Type* type) {
  const Type*& place = bound_[param->name];
  journal_.emplace_back(param->name, place);
  place = type;
}

void Unifier::Undo(size_t mark) {
  for (; journal_.size() > mark; journal_.pop_back()) {
    const auto& [name, before] = journal_.back();
    if (before == nullptr) {
      bound_.erase(name);
    } else {
      bound_[name] = before;
    }
  }
}

bool Unifier::Assign(const Type* from, const Type* to) {
  journal_.clear();
  const bool fits = TryAssign(from, to);
  if (!fits) Undo(0);
  return fits;
}

bool Unifier::Assign(const std::vector<const Type*>& from, const std::vector<const Type*>& to) {
  if (from.size() != to.size()) return false;
  journal_.clear();
  for (size_t i = 0; i < from.size(); ++i) {
    if (TryAssign(from[i], to[i])) continue;
    Undo(0);
    return false;
  }
  return true;
}

bool Unifier::TryAssign(const Type* from, const Type* to) {
  if (IsParam(to)) {
    const Fit fit = TrySubstitution(from, to);
    if (fit == Fit::kYes) return true;
    if (fit == Fit::kNoAndBound) return false;
  }
  if (IsParam(from)) return TrySubstitution(to, from) == Fit::kYes;
  if (IsDynOrError(*from) || IsDynOrError(*to)) return true;
  if (from->kind == TypeKind::kNull) return TakesNull(to);
  if (to->kind == TypeKind::kNull) return TakesNull(from);
  if (from->kind != to->kind) return false;
  if (from->kind == TypeKind::kType) return true;
  if (from->name != to->name || from->params.size() != to->params.size()) return false;
  for (size_t i = 0; i < from->params.size(); ++i)
    if (!TryAssign(from->params[i], to->params[i])) return false;
  return true;
}

// Whether the parameter may stand for `type`, given what it stands for already.
Unifier::Fit Unifier::TrySubstitution(const Type* type, const Type* param) {
  if (IsParam(type) && type->name == param->name) return Fit::kYes;
  if (const Type* const known = Bound(param)) {
    if (type->kind == known->kind && SameType(*type, *known)) return Fit::kYes;
    if (!TryAssign(type, known)) return Fit::kNoAndBound;
    const Type* const general = MoreGeneral(type, known);
    if (IsFreeOf(param, general)) Bind(param, general);
    return Fit::kYes;
  }
  if (!IsFreeOf(param, type)) return Fit::kNo;
  Bind(param, type);
  return Fit::kYes;
}

bool Unifier::IsFreeOf(const Type* param, const Type* within) const {
  if (IsParam(within)) {
    if (within->name == param->name) return false;
    const Type* const known = Bound(within);
    return known == nullptr || IsFreeOf(param, known);
  }
  return std::all_of(within->params.begin(), within->params.end(),
                     [&](const Type* inner) { return IsFreeOf(param, inner); });
}

const Type* Unifier::Substitute(const Type* type, bool free_to_dyn) {
  if (const Type* const known = Bound(type)) return Substitute(known, free_to_dyn);
  if (IsParam(type)) return free_to_dyn ? BasicType(TypeKind::kDyn) : type;
  if (type->params.empty()) return type;
  bool changed = false;
  std::vector<const Type*> params;
  for (const Type* const param : type->params) {
    params.push_back(Substitute(param, free_to_dyn));
    changed |= params.back() != param;
  }
  return changed ? arena_.Make(type->kind, type->name, std::move(params)) : type;
}

const Type* Unifier::Rename(const Type* type, const std::vector<std::string>& names,
                            const std::vector<const Type*>& types) {
  if (IsParam(type)) {
    const auto found = std::find(names.begin(), names.end(), type->name);
    return found == names.end() ? type : types[static_cast<size_t>(found - names.begin())];
  }
  if (type->params.empty()) return type;
  std::vector<const Type*> params;
  for (const Type* const param : type->params) params.push_back(Rename(param, names, types));
  return arena_.Make(type->kind, type->name, std::move(params));
}

const Type* Unifier::MoreGeneral(const Type* a, const Type* b) { return SaysNoMore(a, b) ? a : b; }

class LiteralChecks {
 public:
  LiteralChecks(Issues& issues, Patterns& patterns) : issues_(issues), patterns_(patterns) {}

  // Formats come after all else. What is inside comes first.
  void VisitFormats(const Expr& expr) {
    for (const Expr* const arg : expr.args) VisitFormats(*arg);
    if (expr.comprehension != nullptr) {
      const Comprehension& parts = *expr.comprehension;
      for (const Expr* const part :
           {parts.range, parts.init, parts.condition, parts.step, parts.result})
        VisitFormats(*part);
    }
    if (expr.kind == Expr::Kind::kCall && expr.name == "format" && expr.member &&
        expr.args.size() == 2 && IsText(*expr.args[0]) && expr.args[1]->kind == Expr::Kind::kList)
      CheckFormat(expr, issues_);
  }

  void Visit(const Expr& expr, bool mixed_types_allowed) {
    const bool is_call = expr.kind == Expr::Kind::kCall;
    const bool mixed_inside = mixed_types_allowed || (is_call && expr.name == "format");
    for (const Expr* const arg : expr.args) Visit(*arg, mixed_inside);
    if (expr.comprehension != nullptr) {
      const Comprehension& parts = *expr.comprehension;
      for (const Expr* const part :
           {parts.range, parts.init, parts.condition, parts.step, parts.result})
        Visit(*part, mixed_types_allowed);
    }
    if (is_call) CheckCall(expr);
    if (expr.kind == Expr::Kind::kList && !mixed_types_allowed) CheckList(expr);
    if (expr.kind == Expr::Kind::kMap && !mixed_types_allowed) CheckMap(expr);
  }

 private:
  static bool IsText(const Expr& expr) {
    return expr.kind == Expr::Kind::kConstant && expr.constant.kind() == Kind::kString;
  }

  void CheckCall(const Expr& call) {
    const size_t at = call.member ? 1 : 0;
    if (call.args.size() <= at || call.args[at]->kind != Expr::Kind::kConstant) return;
    const Expr& literal = *call.args[at];
    bool valid = true;
    if (call.name == "matches" && IsText(literal)) {
      valid = patterns_.Compile(literal.constant.text()).has_value();
    } else if (call.name == "duration") {
      valid = !ToDuration(literal.constant).IsError();
    } else if (call.name == "timestamp") {
      valid = !ToTimestamp(literal.constant).IsError();
    }
    if (!valid) issues_.Report(literal.offset, "invalid " + call.name + " argument");
  }

  static const Type& HeldType(const Expr& element, bool optional) {
    const Type& type = *element.type;
    return optional && !type.params.empty() ? *type.params[0] : type;
  }

  bool CheckSame(const Type& first, const Type& type, const Expr& at) {
    if (SameType(first, type)) return true;
    issues_.Report(at.offset, "expected type '" + DisplayName(first) + "' but found '" +
                                  DisplayName(type) + "'");
    return false;
  }

  void CheckList(const Expr& list) {
    for (size_t i = 1; i < list.args.size(); ++i)
      if (!CheckSame(HeldType(*list.args[0], list.optional[0]),
                     HeldType(*list.args[i], list.optional[i]), *list.args[i]))
        return;
  }

  void CheckMap(const Expr& map) {
    for (size_t i = 2; i + 1 < map.args.size(); i += 2) {
      CheckSame(*map.args[0]->type, *map.args[i]->type, *map.args[i]);
      CheckSame(HeldType(*map.args[1], map.optional[0]),
                HeldType(*map.args[i + 1], map.optional[i / 2]), *map.args[i + 1]);
    }
  }

  Issues& issues_;
  Patterns& patterns_;
};

// Reports literals that a checked tree may not hold: arguments of matches, duration and timestamp
// that cannot be read, formats that do not fit their arguments, and elements of a list or map whose
// types are not exactly the same (but for what format() is given).
void CheckLiterals(const Expr& root, Issues& issues, Patterns& patterns) {
  LiteralChecks checks(issues, patterns);
  checks.Visit(root, false);
  checks.VisitFormats(root);
}

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

void Check(Expr* root, const Environment& environment, TypeArena& arena, Issues& issues,
           Patterns& patterns) {
  Checker checker(environment, arena, issues);
  checker.Visit(root);
  if (arena.overflowed()) {
    issues.ReportNowhere("the types of the expression are too large");
    return;
  }
  checker.Settle(root);
  if (issues.empty()) CheckLiterals(*root, issues, patterns);
}

}  // namespace berth::cel
