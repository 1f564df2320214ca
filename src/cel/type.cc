// SPDX-License-Identifier: Apache-2.0
#include "src/cel/type.h"

#include <array>
#include <utility>

#include "berth/check.h"

namespace berth::cel {
namespace {

struct Row {
  TypeKind kind;
  std::string_view name;     // at run time
  std::string_view display;  // in the checker's messages and in declarations
};

constexpr std::array kTypeNames = {
    Row{TypeKind::kDyn, "dyn", "dyn"},
    Row{TypeKind::kError, "error", "!error!"},
    Row{TypeKind::kBool, "bool", "bool"},
    Row{TypeKind::kBytes, "bytes", "bytes"},
    Row{TypeKind::kDouble, "double", "double"},
    Row{TypeKind::kInt, "int", "int"},
    Row{TypeKind::kUint, "uint", "uint"},
    Row{TypeKind::kString, "string", "string"},
    Row{TypeKind::kNull, "null_type", "null"},
    Row{TypeKind::kDuration, "google.protobuf.Duration", "duration"},
    Row{TypeKind::kTimestamp, "google.protobuf.Timestamp", "timestamp"},
    Row{TypeKind::kList, "list", "list"},
    Row{TypeKind::kMap, "map", "map"},
    Row{TypeKind::kStruct, "", ""},
    Row{TypeKind::kOpaque, "", ""},
    Row{TypeKind::kType, "type", "type"},
    Row{TypeKind::kTypeParam, "", ""},
};

const Row& RowOf(TypeKind kind) { return kTypeNames[static_cast<size_t>(kind)]; }

std::string WithParams(std::string_view name, const Type& type,
                       std::string (*name_of)(const Type&)) {
  std::string text(name);
  if (type.params.empty()) return text;
  text += '(';
  for (size_t i = 0; i < type.params.size(); ++i) {
    if (i > 0) text += ", ";
    text += name_of(*type.params[i]);
  }
  return text += ')';
}

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_';
}

}  // namespace

std::string DisplayName(const Type& type) {
  const std::string_view display = RowOf(type.kind).display;
  return WithParams(display.empty() ? std::string_view(type.name) : display, type, DisplayName);
}

std::string ResultName(const Type& type) { return WithParams(type.name, type, ResultName); }

bool SameType(const Type& a, const Type& b) {
  if (&a == &b) return true;
  if (a.kind != b.kind || a.name != b.name || a.params.size() != b.params.size()) return false;
  for (size_t i = 0; i < a.params.size(); ++i)
    if (!SameType(*a.params[i], *b.params[i])) return false;
  return true;
}

const Type* BasicType(TypeKind kind) {
  static const auto* const types = [] {
    auto* made = new std::array<Type, kTypeNames.size()>;
    for (size_t i = 0; i < kTypeNames.size(); ++i)
      (*made)[i] = Type{kTypeNames[i].kind, std::string(kTypeNames[i].name), {}, 1};
    return made;
  }();
  return &(*types)[static_cast<size_t>(kind)];
}

const Type* TypeArena::Make(TypeKind kind, std::string name, std::vector<const Type*> params) {
  size_t weight = 1;
  for (const Type* const param : params) weight += param->weight;
  if (weight > kMaxWeight) {
    refused_ = true;
    return BasicType(TypeKind::kError);
  }
  return &types_.emplace_back(Type{kind, std::move(name), std::move(params), weight});
}

const Type* TypeArena::Map(const Type* keys, const Type* values) {
  return Make(TypeKind::kMap, "map", {keys, values});
}

const Type* TypeArena::Optional(const Type* value) {
  return Make(TypeKind::kOpaque, "optional_type", {value});
}

bool TypeReader::Take(char c) {
  SkipBlanks();
  if (rest_.empty() || rest_.front() != c) return false;
  rest_.remove_prefix(1);
  return true;
}

bool TypeReader::AtEnd() {
  SkipBlanks();
  return rest_.empty();
}

const Type* TypeReader::Read() {
  SkipBlanks();
  size_t length = 0;
  while (length < rest_.size() && IsNameCharacter(rest_[length])) ++length;
  if (length > 0 && rest_[length - 1] == '.') --length;  // before a member's parenthesis
  BERTH_CHECK(length > 0, "a declaration lacks a type");
  const std::string name(rest_.substr(0, length));
  rest_.remove_prefix(length);
  if (name.size() == 1 && name[0] >= 'A' && name[0] <= 'Z')
    return arena_.Make(TypeKind::kTypeParam, name);
  std::vector<const Type*> params;
  if (Take('(')) {
    do params.push_back(Read());
    while (Take(','));
    BERTH_CHECK(Take(')'), "a declaration lacks a parenthesis");
  }
  for (const Row& row : kTypeNames)
    if (!row.display.empty() && row.display == name)
      return params.empty() ? BasicType(row.kind)
                            : arena_.Make(row.kind, std::string(row.name), std::move(params));
  const bool opaque = Take('!') || name == "optional_type";
  return arena_.Make(opaque ? TypeKind::kOpaque : TypeKind::kStruct, name, std::move(params));
}

}  // namespace berth::cel
