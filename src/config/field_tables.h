// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/strings/escaping.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "berth/config_value.h"
#include "berth/field_errors.h"
#include "src/config/schema.h"
#include "src/config/types.h"

// What a table of a struct's fields is. How the struct is read, how it is written, and its schema
// come from the table (tables.h), so a new field needs a member and a line there:
//
//   template <>
//   struct TableOf<PluginSet> {
//     static constexpr std::string_view kGoType = "v1.PluginSet";
//     static constexpr std::tuple kFields{Held<&PluginSet::enabled>{"enabled"}, ...};
//   };
//
// Where lists of the struct stand in another, the table has kGoList, too.
namespace berth::config {

// What a zero in a file is. Where Kubernetes' own type cannot tell it from an absent field, it
// stands for the default.
enum class ZeroIs { kItself, kDefault };

template <auto member>
struct Held {
  std::string_view name;
  Print print = Print::kUnlessZero;
  ZeroIs zero = ZeroIs::kItself;
  std::string_view embedded = "";  // see SchemaField
};

// Bytes that files have in base64.
template <auto member>
struct HeldData {
  std::string_view name;
};

// A text that documents have and the struct has not.
struct NotHeld {
  std::string_view name;
  std::string_view embedded = "";
};

template <typename T>
struct TableOf;

template <typename T>
concept HasTable = requires { TableOf<T>::kFields; };

template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// --- The schema

template <typename T>
struct SchemaFor;
template <>
struct SchemaFor<bool> {
  static constexpr Schema kSchema{SchemaKind::kBool, "bool"};
};
template <>
struct SchemaFor<int32_t> {
  static constexpr Schema kSchema{SchemaKind::kInt32, "int32"};
};
template <>
struct SchemaFor<int64_t> {
  static constexpr Schema kSchema{SchemaKind::kInt64, "int64"};
};
template <>
struct SchemaFor<float> {
  static constexpr Schema kSchema{SchemaKind::kFloat32, "float32"};
};
template <>
struct SchemaFor<std::string> {
  static constexpr Schema kSchema{SchemaKind::kString, "string"};
};
template <>
struct SchemaFor<Duration> {
  static constexpr Schema kSchema{SchemaKind::kDuration, "string"};
};
template <>
struct SchemaFor<ConfigValue> {
  static constexpr Schema kSchema{SchemaKind::kAny, "runtime.RawExtension"};
};
template <typename T>
struct SchemaFor<std::optional<T>> : SchemaFor<T> {};
template <typename T>
struct SchemaFor<std::vector<T>> {
  static constexpr Schema kSchema{SchemaKind::kList, TableOf<T>::kGoList, &SchemaFor<T>::kSchema};
};

inline constexpr Schema kDataSchema{SchemaKind::kBytes, "[]uint8"};

template <typename T, typename Member>
Member MemberOf(Member T::*);

template <auto member>
constexpr SchemaField ToSchema(const Held<member>& field) {
  return {field.name, &SchemaFor<decltype(MemberOf(member))>::kSchema, field.print, field.embedded};
}
template <auto member>
constexpr SchemaField ToSchema(const HeldData<member>& field) {
  return {field.name, &kDataSchema};
}
constexpr SchemaField ToSchema(const NotHeld& field) {
  return {field.name, &SchemaFor<std::string>::kSchema, Print::kUnlessZero, field.embedded};
}

template <HasTable T>
struct SchemaFor<T> {
  static constexpr auto kFields = std::apply(
      [](const auto&... field) { return std::array{ToSchema(field)...}; }, TableOf<T>::kFields);
  static constexpr Schema kSchema{SchemaKind::kStruct, TableOf<T>::kGoType, nullptr, kFields};
};

// --- Reading, of what CheckAgainst() found nothing wrong with. What a file does not have stays.

template <HasTable T>
void ReadFields(FieldReader& fields, T& out);

template <typename T>
void ReadMember(FieldReader& fields, std::string_view name, ZeroIs zero, T& out) {
  const ConfigValue* value = fields.Get(name);
  if (value == nullptr) return;
  if constexpr (std::is_same_v<T, ConfigValue>) {
    out = *value;
  } else if constexpr (kIsOptional<T>) {
    ReadMember(fields, name, zero, out.emplace());
  } else if constexpr (HasTable<T>) {
    FieldReader nested(*value, fields.PathOf(name));
    ReadFields(nested, out);
    fields.Merge(nested);
  } else if constexpr (kIsVector<T>) {
    const ConfigValue::List& elements = fields.GetList(name);
    for (size_t i = 0; i < elements.size(); ++i) {
      FieldReader element(elements[i], IndexedPath(fields.PathOf(name), i));
      ReadFields(element, out.emplace_back());
      fields.Merge(element);
    }
  } else {
    std::conditional_t<std::is_same_v<T, float>, double, T> read{};
    if (!fields.Read(name, read)) return;
    if (zero == ZeroIs::kItself || read != decltype(read){}) out = static_cast<T>(read);
  }
}

template <typename T, auto member>
void ReadField(FieldReader& fields, const Held<member>& field, T& out) {
  ReadMember(fields, field.name, field.zero, out.*member);
}
template <typename T, auto member>
void ReadField(FieldReader& fields, const HeldData<member>& field, T& out) {
  std::string text;
  fields.Read(field.name, text);
  if (auto data = DecodeBase64(text)) out.*member = std::move(*data);
}
template <typename T>
void ReadField(FieldReader& fields, const NotHeld& field, T&) {
  fields.Get(field.name);
}

template <HasTable T>
void ReadFields(FieldReader& fields, T& out) {
  std::apply([&](const auto&... field) { (ReadField(fields, field, out), ...); },
             TableOf<T>::kFields);
}

// --- Writing: every field that is held; AsPrinted() leaves out what is not printed.

template <typename T>
ConfigValue ToValue(const T& value);

template <typename T, auto member>
void WriteField(const T& from, const Held<member>& field, ConfigValue::Map& out) {
  if constexpr (kIsOptional<decltype(MemberOf(member))>) {
    if (from.*member) out.emplace_back(field.name, ToValue(*(from.*member)));
  } else {
    out.emplace_back(field.name, ToValue(from.*member));
  }
}
template <typename T, auto member>
void WriteField(const T& from, const HeldData<member>& field, ConfigValue::Map& out) {
  out.emplace_back(field.name, ConfigValue(absl::Base64Escape(from.*member)));
}
template <typename T>
void WriteField(const T&, const NotHeld&, ConfigValue::Map&) {}

template <typename T>
ConfigValue ToValue(const T& value) {
  if constexpr (std::is_same_v<T, ConfigValue>) {
    return value;
  } else if constexpr (std::is_same_v<T, Duration>) {
    return ConfigValue(FormatGoDuration(value));
  } else if constexpr (std::is_same_v<T, float>) {
    return ConfigValue(static_cast<double>(value));
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return ConfigValue(int64_t{value});
  } else if constexpr (kIsVector<T>) {
    ConfigValue::List list;
    for (const auto& element : value) list.push_back(ToValue(element));
    return ConfigValue(std::move(list));
  } else if constexpr (HasTable<T>) {
    ConfigValue::Map fields;
    std::apply([&](const auto&... field) { (WriteField(value, field, fields), ...); },
               TableOf<T>::kFields);
    return ConfigValue(std::move(fields));
  } else {
    return ConfigValue(value);
  }
}

}  // namespace berth::config
