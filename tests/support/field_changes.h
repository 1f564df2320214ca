// SPDX-License-Identifier: Apache-2.0
// Objects of the API as their field tables (src/api/tables_*.h) tell of them: with something in
// each field, and with each field changed in turn. What must not forget a field is held by these,
// so that a new one need not be added to a test.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "berth/api/boxed.h"
#include "berth/api/quantity.h"
#include "src/api/field_table.h"

namespace berth::test {

// Puts something into each field of the value, and one element into each list and map.
template <typename T>
void Fill(T& value);

// Calls visit(path) with the value changed in one field, for each field and each change that its
// type allows, and leaves the value as it was. The paths are those of JSON:
// "spec.tolerations[0].key".
template <typename T, typename Visit>
void ForEachChange(T& value, const std::string& path, const Visit& visit);

namespace field_changes {

template <typename T, typename Do, typename... Fields>
void ForEachField(T& value, const api::FieldList<Fields...>& fields, const Do& act) {
  const auto one = [&]<typename FieldOrNested>(const FieldOrNested& field) {
    if constexpr (api::kIsNested<FieldOrNested>) {
      ForEachField(value, field.fields, act);
    } else {
      act(std::string(field.name), value.*FieldOrNested::kMember);
    }
  };
  fields.Apply([&](const auto&... field) { (one(field), ...); });
}

inline std::string Join(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

}  // namespace field_changes

template <typename T>
void Fill(T& value) {
  if constexpr (api::Optional<T>) {
    Fill(value.emplace());
  } else if constexpr (api::kIsMap<T>) {
    value.resize(1);
    value[0].first = "key";
    Fill(value[0].second);
  } else if constexpr (api::kIsList<T>) {
    value.resize(1);
    Fill(value[0]);
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = "text";
  } else if constexpr (std::is_same_v<T, api::Quantity>) {
    value = *api::Quantity::Parse("3");
  } else if constexpr (std::is_same_v<T, Time>) {
    value = Time{std::chrono::seconds(3)};
  } else if constexpr (std::is_integral_v<T>) {
    value = static_cast<T>(1);
  } else {
    static_assert(api::Struct<T>, "a type of field that Fill() does not know");
    field_changes::ForEachField(value, api::kFieldsOf<T>,
                                [](const std::string&, auto& member) { Fill(member); });
  }
}

template <typename T, typename Visit>
void ForEachChange(T& value, const std::string& path, const Visit& visit) {
  const auto with = [&](T changed) {
    T before = std::exchange(value, std::move(changed));
    visit(path);
    value = std::move(before);
  };
  if constexpr (api::Optional<T>) {
    if (!value.has_value()) return;
    with(T());
    ForEachChange(*value, path, visit);
  } else if constexpr (api::kIsMap<T> || api::kIsList<T>) {
    with(T());
    T longer = value;
    longer.push_back(value.at(0));
    with(std::move(longer));
    if constexpr (api::kIsMap<T>) {
      ForEachChange(value[0].first, path + "[key]", visit);
      ForEachChange(value[0].second, path + "[" + value[0].first + "]", visit);
    } else {
      ForEachChange(value[0], path + "[0]", visit);
    }
  } else if constexpr (std::is_same_v<T, std::string>) {
    with(value + "x");
    with("");
  } else if constexpr (std::is_same_v<T, api::Quantity>) {
    with(*api::Quantity::Parse("5"));
  } else if constexpr (std::is_same_v<T, Time>) {
    with(value + std::chrono::seconds(1));
  } else if constexpr (std::is_same_v<T, bool>) {
    with(!value);
  } else if constexpr (std::is_integral_v<T>) {
    with(static_cast<T>(value + 1));
  } else {
    field_changes::ForEachField(value, api::kFieldsOf<T>,
                                [&](const std::string& name, auto& member) {
                                  ForEachChange(member, field_changes::Join(path, name), visit);
                                });
  }
}

}  // namespace berth::test
