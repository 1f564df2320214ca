// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/functional/function_ref.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "berth/api/boxed.h"
#include "berth/api/meta.h"
#include "berth/api/quantity.h"
#include "berth/result.h"

// What a field table is. Every reader and writer walks these tables at compile time, so a new
// struct needs a table and nothing else:
//
//   template <>
//   inline constexpr auto kFieldsOf<Taint> = Table(Field<1, &Taint::key>("key"), ...);
namespace berth::api {

// One member: its number in protobuf, its place in the struct, its name in JSON.
template <uint32_t number, auto member>
struct Field {
  static constexpr uint32_t kNumber = number;
  static constexpr auto kMember = member;

  explicit constexpr Field(std::string_view json_name) : name(json_name) {}
  std::string_view name;
};

// The members of one struct. Each is a base: with a few hundred of them a std::tuple takes the
// compiler minutes, and this seconds.
template <typename... Fields>
struct FieldList : Fields... {
  explicit constexpr FieldList(Fields... fields) : Fields(fields)... {}

  // visit(field...), as std::apply().
  template <typename Visit>
  constexpr decltype(auto) Apply(Visit&& visit) const {
    return visit(static_cast<const Fields&>(*this)...);
  }
};

template <typename... Fields>
constexpr FieldList<Fields...> Table(Fields... fields) {
  return FieldList<Fields...>(fields...);
}

// Members that protobuf keeps in a message of their own, `number`, and JSON beside the others.
template <uint32_t number, typename... Fields>
struct NestedFields {
  static constexpr uint32_t kNumber = number;
  FieldList<Fields...> fields;
};

template <uint32_t number, typename... Fields>
constexpr NestedFields<number, Fields...> Nested(Fields... fields) {
  return {Table(fields...)};
}

// The table of most kinds of objects.
template <typename T>
constexpr auto ObjectTable() {
  return Table(Field<1, &T::metadata>("metadata"), Field<2, &T::spec>("spec"));
}
template <typename T>
constexpr auto ObjectTableWithStatus() {
  return Table(Field<1, &T::metadata>("metadata"), Field<2, &T::spec>("spec"),
               Field<3, &T::status>("status"));
}

struct NoTable {};
template <typename T>
inline constexpr auto kFieldsOf = NoTable();

template <typename... Fields>
constexpr size_t CountFields(const FieldList<Fields...>& fields);

namespace field_table {

template <typename FieldOrNested>
constexpr size_t CountOf(const FieldOrNested& field) {
  if constexpr (requires { field.fields; }) {
    return CountFields(field.fields);
  } else {
    return 1;
  }
}

}  // namespace field_table

// Those of nested messages counted in.
template <typename... Fields>
constexpr size_t CountFields(const FieldList<Fields...>& fields) {
  return fields.Apply(
      [](const auto&... field) { return (size_t{0} + ... + field_table::CountOf(field)); });
}

template <typename T>
concept Struct = !std::is_same_v<decltype(kFieldsOf<T>), const NoTable>;

template <typename T>
inline constexpr bool kIsNested = false;
template <uint32_t number, typename... Fields>
inline constexpr bool kIsNested<NestedFields<number, Fields...>> = true;

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsOptional<Boxed<T>> = true;

template <typename T>
concept Optional = kIsOptional<T>;

template <typename T>
inline constexpr bool kIsList = false;
template <typename T>
inline constexpr bool kIsList<std::vector<T>> = true;

// Maps are sorted vectors of pairs.
template <typename T>
inline constexpr bool kIsMap = false;
template <typename T>
inline constexpr bool kIsMap<std::vector<std::pair<std::string, T>>> = true;

// Where a decoder stands when it fails. The path is put together from the inside out while the
// failure travels up, so that success costs nothing.
//
// A decoder that is to read all it can is run once more for each damaged field, with one more
// failure forgiven: it meets the same ones in the same order.
class Trail {
 public:
  explicit Trail(size_t forgiven = 0) : forgiven_(forgiven) {}

  // Records why; for `return trail.Fail(...)`. True, and nothing is recorded, where this failure
  // is forgiven: the decoder goes on behind the value, as though it were absent.
  bool Fail(std::string reason);
  bool InField(std::string_view name);
  bool InElement(size_t index) { return InBrackets(std::to_string(index)); }
  bool InKey(std::string_view key);

  // "path: reason"; `root` stands before the path.
  Error ToError(std::string_view root) &&;
  FieldDamage ToDamage() && { return {std::move(path_), std::move(reason_)}; }

 private:
  bool InBrackets(std::string_view text);

  size_t forgiven_;
  std::string path_;
  std::string reason_;
};

// The reason of a failure at a quantity.
std::string BadQuantity(std::string_view text, const Error& why);

// Sorts the entries as they were read by key; of equal keys the last one stays.
template <typename Map>
void SortMap(Map& map) {
  const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
  const auto out_of_order = [&](const auto& a, const auto& b) { return !before(a, b); };
  if (std::adjacent_find(map.begin(), map.end(), out_of_order) == map.end()) return;
  std::stable_sort(map.begin(), map.end(), before);
  // unique keeps the first of equals; backwards that is the last one read.
  const auto kept = std::unique(map.rbegin(), map.rend(),
                                [](const auto& a, const auto& b) { return a.first == b.first; });
  map.erase(map.begin(), kept.base());
}

// What `read(forgiven)` returns one by one, as a Trail that forgives so many failures lets it read;
// each time after `clear()`. More than 16 are one: they cost a reading each.
std::vector<FieldDamage> ReadInSpiteOfDamage(
    absl::FunctionRef<std::optional<FieldDamage>(size_t forgiven)> read,
    absl::FunctionRef<void()> clear);

// Fills `object`, which is as it was made, with what can be read of it, and lists the rest in its
// metadata.damage. `read(forgiven)` reads it as a Trail that forgives so many failures lets it, and
// returns the next one.
template <typename T, typename Read>
void ReadAllThatCanBe(T& object, Read read) {
  auto damage = ReadInSpiteOfDamage(read, [&object] { object = T(); });
  if (!damage.empty()) object.metadata.damage = std::move(damage);
}

}  // namespace berth::api
