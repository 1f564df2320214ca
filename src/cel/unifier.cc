// SPDX-License-Identifier: Apache-2.0
#include "src/cel/unifier.h"

#include <algorithm>

namespace berth::cel {
namespace {

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

}  // namespace

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

}  // namespace berth::cel
