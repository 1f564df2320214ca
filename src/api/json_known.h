// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "src/api/field_table.h"

// What the field tables know of a JSON object, cut out of its text. A parser is strict in what it
// takes, and nothing that Berth does not read may cost an object: integers of any length, nesting
// of any depth, lone surrogates and bytes that are no UTF-8 stand in members that are passed on as
// they are (RawJson) or not read at all.
namespace berth::api {

struct JsonShape;

struct JsonMember {
  std::string_view name;
  const JsonShape* shape = nullptr;
};

// How much of a value is read. Lists have the shape of their elements.
struct JsonShape {
  enum class Type { kValue, kRaw, kObject, kMap };

  Type type = Type::kValue;
  std::span<const JsonMember> members = {};  // kObject
  const JsonShape* element = nullptr;        // kMap
};

template <typename T>
struct JsonShapeOf;

namespace json_known {

template <typename T>
inline constexpr JsonShape kValue{};
template <>
inline constexpr JsonShape kValue<RawJson>{.type = JsonShape::Type::kRaw};

template <typename T>
constexpr const JsonShape* Find() {
  if constexpr (Struct<T>) {
    return &JsonShapeOf<T>::kShape;
  } else if constexpr (Optional<T>) {
    return Find<typename T::value_type>();
  } else if constexpr (kIsMap<T>) {
    return &JsonShapeOf<T>::kShape;
  } else if constexpr (kIsList<T>) {
    return Find<typename T::value_type>();
  } else {
    return &kValue<T>;
  }
}

template <typename T, typename... Fields>
constexpr void Collect(const FieldList<Fields...>& fields, JsonMember*& next);

template <typename T, typename FieldOrNested>
constexpr void CollectOne(const FieldOrNested& field, JsonMember*& next) {
  if constexpr (kIsNested<FieldOrNested>) {
    Collect<T>(field.fields, next);
  } else {
    using Member = std::remove_cvref_t<decltype(std::declval<T>().*FieldOrNested::kMember)>;
    *next++ = {field.name, Find<Member>()};
  }
}

template <typename T, typename... Fields>
constexpr void Collect(const FieldList<Fields...>& fields, JsonMember*& next) {
  fields.Apply([&](const auto&... field) { (CollectOne<T>(field, next), ...); });
}

template <Struct T>
constexpr auto MembersOf() {
  std::array<JsonMember, CountFields(kFieldsOf<T>)> members;
  JsonMember* next = members.data();
  Collect<T>(kFieldsOf<T>, next);
  return members;
}

}  // namespace json_known

template <Struct T>
struct JsonShapeOf<T> {
  static constexpr auto kMembers = json_known::MembersOf<T>();
  static constexpr JsonShape kShape{.type = JsonShape::Type::kObject, .members = kMembers};
};

template <typename V>
struct JsonShapeOf<std::vector<std::pair<std::string, V>>> {
  static constexpr JsonShape kShape{.type = JsonShape::Type::kMap,
                                    .element = json_known::Find<V>()};
};

// Whether an object of this shape can hold a RawJson.
constexpr bool HoldsRaw(const JsonShape& shape) {
  if (shape.type == JsonShape::Type::kRaw) return true;
  if (shape.element != nullptr && HoldsRaw(*shape.element)) return true;
  for (const JsonMember& member : shape.members)
    if (HoldsRaw(*member.shape)) return true;
  return false;
}

struct KnownJson {
  // Of the object its apiVersion, its kind and what its shape names; such that a parser takes it.
  // In place of each RawJson stands a string that RawIndex() understands.
  std::string text;
  // The texts of the RawJson as they were; they point into the source.
  std::vector<std::string_view> raw;
};

// nullopt: the text is no JSON object. Time and memory grow with the text alone.
std::optional<KnownJson> KeepKnown(std::string_view text, const JsonShape& shape);

// The place in KnownJson::raw that a string of KnownJson::text stands for.
std::optional<size_t> RawIndex(std::string_view string);

}  // namespace berth::api
