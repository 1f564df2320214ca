// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "src/cel/value_ops.h"

namespace berth::cel {
namespace {

// What a look-up found: a value, an error, or nothing there.
struct Found {
  const Value* value = nullptr;
  Value error;  // null: none
  bool failed() const { return error.IsError(); }
};

Found Failed(std::string message) { return {nullptr, Value::Error(std::move(message))}; }

Found FindInList(const List& list, const Value& key) {
  std::optional<int64_t> index;
  if (key.kind() == Kind::kInt) {
    index = key.integer();
  } else if (key.kind() == Kind::kDouble) {
    index = ExactInt(key.real());
  } else if (key.kind() == Kind::kUint) {
    index = ExactInt(static_cast<double>(key.natural()));
  } else {
    return Failed("unsupported index type '" + std::string(TypeNameOf(key)) + "' in list");
  }
  if (!index) return Failed("unsupported index value " + DebugText(key) + " in list");
  if (*index < 0 || *index >= static_cast<int64_t>(list.items.size())) return {};
  return {&list.items[static_cast<size_t>(*index)], {}};
}

Found Find(const Value& value, const Value& key) {
  if (key.IsError()) return {nullptr, key};
  if (!IsKey(key)) return Failed("invalid qualifier type: " + ImplementationName(key));
  if (value.kind() == Kind::kMap) return {value.map().Find(key), {}};
  if (value.kind() == Kind::kList) return FindInList(value.list(), key);
  return {};
}

std::string Missing(const Value& value, const Value& key) {
  return (value.kind() == Kind::kList ? "index out of bounds: " : "no such key: ") + DebugText(key);
}

}  // namespace

bool IsKey(const Value& key) {
  switch (key.kind()) {
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
    case Kind::kString:
      return true;
    default:
      return false;
  }
}

void BeginChain(Value& value) {
  if (value.kind() != Kind::kOptional || value.chain() != Value::kPlain) return;
  if (value.held() == nullptr) {
    value.set_chain(Value::kEnded);
    return;
  }
  value = Value(*value.held());
  value.set_chain(Value::kThroughOptional);
}

uint64_t Select(Value& value, const Value& key, bool optional, bool presence) {
  const bool lenient = optional || value.chain() == Value::kThroughOptional;
  Found found = Find(value, key);
  if (found.failed()) {
    value = std::move(found.error);
    return lenient && !presence ? 0 : 1;
  }
  const Value::Chain chain = lenient ? Value::kThroughOptional : Value::kPlain;
  if (presence) {
    const bool there = found.value != nullptr;
    // Where has() is a branch of a choice, the optional is what comes of it, with what is there.
    value = !lenient ? Value::Bool(there) : there ? Value(*found.value) : Value::None();
    value.set_chain(lenient && !there ? Value::kEnded : chain);
    return lenient && !there ? 0 : 1;
  }
  if (found.value == nullptr) {
    if (lenient) {
      value = Value::None();
      value.set_chain(Value::kEnded);
      return 0;
    }
    value = Value::Error(Missing(value, key));
    return 1;
  }
  value = Value(*found.value);
  if (!value.IsError()) value.set_chain(chain);
  return 1;
}

void EndChain(Value& value, bool presence) {
  const Value::Chain chain = value.chain();
  value.set_chain(Value::kPlain);
  if (value.IsError()) return;
  if (presence) {
    if (chain == Value::kEnded) value = Value::Bool(false);
    if (chain == Value::kThroughOptional) value = Value::Bool(true);
  } else if (chain == Value::kThroughOptional) {
    value = Value::Some(std::move(value));
  }
}

std::string ImplementationName(const Value& value) {
  constexpr std::string_view kNames[] = {"types.Null",      "types.Bool",
                                         "types.Int",       "types.Uint",
                                         "types.Double",    "types.String",
                                         "types.Bytes",     "*types.baseList",
                                         "*types.baseMap",  "types.Duration",
                                         "types.Timestamp", "*types.Type",
                                         "*types.Optional", "",
                                         "*types.Err"};
  if (value.kind() != Kind::kExtension)
    return std::string(kNames[static_cast<size_t>(value.kind())]);
  const std::string_view name = value.extension().type_name();
  return "cel." + std::string(name.substr(name.rfind('.') + 1));
}

}  // namespace berth::cel
