// SPDX-License-Identifier: Apache-2.0
#include "src/cel/environment.h"

#include <algorithm>
#include <utility>

namespace berth::cel {
namespace {

void CollectTypeParams(const Type& type, std::vector<std::string>& names) {
  if (type.kind == TypeKind::kTypeParam &&
      std::find(names.begin(), names.end(), type.name) == names.end())
    names.push_back(type.name);
  for (const Type* const param : type.params) CollectTypeParams(*param, names);
}

std::unique_ptr<Overload> ReadOverload(TypeArena& types, const FunctionRow& row) {
  auto overload = std::make_unique<Overload>();
  overload->id = row.id;
  overload->implement = row.implement;
  overload->cost = row.cost;
  TypeReader reader(types, row.signature);
  if (!reader.Take('(')) {
    overload->member = true;
    overload->params.push_back(reader.Read());
    reader.Take('.');
    reader.Take('(');
  }
  if (!reader.Take(')')) {
    do overload->params.push_back(reader.Read());
    while (reader.Take(','));
    reader.Take(')');
  }
  overload->result = reader.Read();
  for (const Type* const param : overload->params) CollectTypeParams(*param, overload->type_params);
  CollectTypeParams(*overload->result, overload->type_params);
  return overload;
}

}  // namespace

Environment::Environment() {
  for (const char* const name : {"bool", "bytes", "double", "int", "string", "type", "uint"})
    AddTypeName(name, name);
  AddTypeName("list", "list(dyn)");
  AddTypeName("map", "map(dyn, dyn)");
  AddTypeName("null_type", "null");
  AddTypeName("duration", "duration");
  AddTypeName("timestamp", "timestamp");
  AddTypeName("google.protobuf.Duration", "duration");
  AddTypeName("google.protobuf.Timestamp", "timestamp");
  AddTypeName("optional_type", "optional_type(dyn)");
  AddOperators(*this);
  AddConversions(*this);
  AddTimes(*this);
  AddOptionals(*this);
}

Function& Environment::FunctionNamed(const std::string& name) {
  std::unique_ptr<Function>& function = functions_[name];
  if (function == nullptr) {
    function = std::make_unique<Function>();
    function->name = name;
  }
  return *function;
}

void Environment::Add(std::span<const FunctionRow> rows, Dispatch dispatch) {
  for (const FunctionRow& row : rows) {
    Function& function = FunctionNamed(row.function);
    function.dispatch = dispatch;
    function.overloads.push_back(ReadOverload(types_, row));
  }
}

void Environment::SetCost(std::string_view function, Cost cost) {
  FunctionNamed(std::string(function)).cost = cost;
}

void Environment::AddVariable(std::string name, std::string_view type) {
  variables_.push_back({std::move(name), TypeReader(types_, type).Read(), variables_.size()});
}

void Environment::AddField(const std::string& object, const std::string& name,
                           std::string_view type) {
  objects_.insert(object);
  fields_[object + "." + name] = TypeReader(types_, type).Read();
}

void Environment::AddTypeName(const std::string& name, std::string_view type) {
  type_names_[name] = TypeReader(types_, type).Read();
}

const Function* Environment::FindFunction(const std::string& name) const {
  const auto found = functions_.find(name);
  if (found == functions_.end() || found->second->overloads.empty()) return nullptr;
  return found->second.get();
}

const Type* Environment::FindField(const std::string& object, const std::string& field) const {
  const auto found = fields_.find(object + "." + field);
  return found == fields_.end() ? nullptr : found->second;
}

const Type* Environment::FindTypeName(const std::string& name) const {
  const auto found = type_names_.find(name);
  return found == type_names_.end() ? nullptr : found->second;
}

const Environment::Variable* Environment::FindVariable(const std::string& name) const {
  for (const Variable& variable : variables_)
    if (variable.name == name) return &variable;
  return nullptr;
}

bool FitsAtRunTime(const Type& param, const Value& value) {
  if (value.IsError()) return false;
  if (param.kind == TypeKind::kDyn || param.kind == TypeKind::kTypeParam) return true;
  if (param.name != TypeNameOf(value)) return false;
  // Of what a container holds, the first stands for the rest.
  if (param.kind == TypeKind::kList) {
    const std::vector<Value>& items = value.list().items;
    return items.empty() || FitsAtRunTime(*param.params[0], items.front());
  }
  if (param.kind == TypeKind::kMap) {
    const std::vector<Map::Entry>& entries = value.map().entries();
    return entries.empty() || (FitsAtRunTime(*param.params[0], entries.front().first) &&
                               FitsAtRunTime(*param.params[1], entries.front().second));
  }
  return true;
}

}  // namespace berth::cel
