// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "berth/api/decode_value.h"
#include "src/api/tables.h"
#include "src/api/time_format.h"
#include "src/api/wire_types.h"
#include "src/base/json.h"

namespace berth::api {

// A number as JSON writes it.
std::string FormatNumber(double number);

// Fills structs from a document tree, such as parsed JSON, by their field tables. Null leaves a
// member as it is.
//
// `Tree` names the nodes of the tree:
//   using Node = ...;                                       // cheap to copy
//   static bool IsNull(Node);
//   static std::optional<bool> Bool(Node);                  // and so on: nullopt when the node
//   static std::optional<std::string_view> String(Node);    // is of another type
//   static std::optional<int64_t> Integer(Node);
//   static std::optional<std::string> NumberText(Node);     // of any number, as JSON writes it
//   static std::string_view TypeName(Node);                 // "a string", ...
//   static bool ForEachMember(Node, F);                     // false when it is no object, or when
//   static bool ForEachElement(Node, F);                    // F(key, node) or F(node) was false
//   static bool IsObject(Node); static bool IsList(Node);
template <typename Tree>
class TreeReader {
 public:
  using Node = typename Tree::Node;

  explicit TreeReader(UnknownFields unknown) : unknown_(unknown) {}

  template <Struct T>
  bool Read(Node node, T& out) {
    if (Tree::IsNull(node)) return true;
    if (!Tree::IsObject(node)) return WrongType("an object", node);
    return Tree::ForEachMember(node, [&](std::string_view key, Node value) {
      bool ok = true;
      if (ReadMember(key, value, out, FieldsOf<T>::kFields, ok)) return ok;
      if (unknown_ == UnknownFields::kSkip || IsTypeMember<T>(key)) return true;
      trail_.Fail("unknown field");
      return trail_.InField(key);
    });
  }

  // Why the last Read failed.
  Error TakeError(std::string_view root) { return std::move(trail_).ToError(root); }

 private:
  template <typename T>
  static bool IsTypeMember(std::string_view key) {
    return requires { KindOf<T>::kKind; } && (key == "apiVersion" || key == "kind");
  }

  bool WrongType(std::string_view wanted, Node node) {
    return trail_.Fail("expected " + std::string(wanted) + ", got " +
                       std::string(Tree::TypeName(node)));
  }

  // Whether one of `fields` is `key`; then `ok` tells whether it could be read.
  template <typename T, typename... Fields>
  bool ReadMember(std::string_view key, Node value, T& out, const std::tuple<Fields...>& fields,
                  bool& ok) {
    return std::apply(
        [&](const auto&... field) { return (... || ReadIfNamed(key, value, out, field, ok)); },
        fields);
  }

  template <typename T, typename FieldOrNested>
  bool ReadIfNamed(std::string_view key, Node value, T& out, const FieldOrNested& field, bool& ok) {
    if constexpr (kIsNested<FieldOrNested>) {
      return ReadMember(key, value, out, field.fields, ok);
    } else {
      if (key != field.name) return false;
      ok = Read(value, out.*FieldOrNested::kMember) || trail_.InField(field.name);
      return true;
    }
  }

  bool Read(Node node, bool& out) {
    if (Tree::IsNull(node)) return true;
    const auto value = Tree::Bool(node);
    if (!value) return WrongType("true or false", node);
    out = *value;
    return true;
  }

  bool Read(Node node, std::string& out) {
    if (Tree::IsNull(node)) return true;
    const auto value = Tree::String(node);
    if (!value) return WrongType("a string", node);
    out = *value;
    return true;
  }

  template <typename Integer>
    requires std::is_same_v<Integer, int32_t> || std::is_same_v<Integer, int64_t>
  bool Read(Node node, Integer& out) {
    if (Tree::IsNull(node)) return true;
    const auto value = Tree::Integer(node);
    if (!value) {
      const auto number = Tree::NumberText(node);
      if (!number) return WrongType("an integer", node);
      return trail_.Fail("expected an integer, got " + *number);
    }
    if (*value < std::numeric_limits<Integer>::min() ||
        *value > std::numeric_limits<Integer>::max())
      return trail_.Fail(std::to_string(*value) + " is out of range");
    out = static_cast<Integer>(*value);
    return true;
  }

  bool Read(Node node, Quantity& out) {
    if (Tree::IsNull(node)) return true;
    std::string number;
    std::optional<std::string_view> text = Tree::String(node);
    if (!text) {
      const auto written = Tree::NumberText(node);
      if (!written) return WrongType("a quantity", node);
      number = *written;
      text = number;
    }
    constexpr std::string_view kSpace = " \t\n\r";
    text->remove_prefix(std::min(text->find_first_not_of(kSpace), text->size()));
    while (!text->empty() && kSpace.find(text->back()) != std::string_view::npos)
      text->remove_suffix(1);
    const auto parsed = Quantity::Parse(*text);
    if (!parsed) return trail_.Fail(BadQuantity(*text, parsed.error()));
    out = *parsed;
    return true;
  }

  bool Read(Node node, Time& out) {
    if (Tree::IsNull(node)) return true;
    const auto text = Tree::String(node);
    if (!text) return WrongType("a time", node);
    const auto parsed = ParseTime(*text);
    if (!parsed) return trail_.Fail(parsed.error().message);
    out = *parsed;
    return true;
  }

  bool Read(Node node, MicroTime& out) { return Read(node, out.time); }

  bool Read(Node node, IntOrString& out) {
    if (Tree::IsNull(node)) return true;
    if (const auto text = Tree::String(node)) {
      out = std::string(*text);
      return true;
    }
    int32_t number = 0;
    if (!Read(node, number)) return false;
    out = number;
    return true;
  }

  bool Read(Node node, RawJson& out) {
    if (Tree::IsNull(node)) return true;
    out.text.clear();
    AppendText(node, out.text);
    return true;
  }

  bool Read(Node node, std::vector<bool>& out) {
    if (Tree::IsNull(node)) return true;
    if (!Tree::IsList(node)) return WrongType("a list", node);
    out.clear();
    return Tree::ForEachElement(node, [&](Node element) {
      bool value = false;
      if (!Read(element, value)) return trail_.InElement(out.size());
      out.push_back(value);
      return true;
    });
  }

  template <Optional T>
  bool Read(Node node, T& out) {
    if (Tree::IsNull(node)) return true;
    if (!out) out.emplace();
    return Read(node, *out);
  }

  template <typename T>
  bool Read(Node node, std::vector<T>& out) {
    if (Tree::IsNull(node)) return true;
    if constexpr (kIsMap<std::vector<T>>) {
      return ReadMap(node, out);
    } else {
      if (!Tree::IsList(node)) return WrongType("a list", node);
      out.clear();
      return Tree::ForEachElement(node, [&](Node element) {
        return Read(element, out.emplace_back()) || trail_.InElement(out.size() - 1);
      });
    }
  }

  template <typename T>
  bool ReadMap(Node node, std::vector<std::pair<std::string, T>>& out) {
    if (!Tree::IsObject(node)) return WrongType("an object", node);
    const bool ok = Tree::ForEachMember(node, [&](std::string_view key, Node value) {
      auto& entry = out.emplace_back();
      entry.first = key;
      if (!Read(value, entry.second)) return trail_.InKey(key);
      if constexpr (std::is_same_v<T, Quantity>) {
        if (entry.second < Quantity()) {
          trail_.Fail("must not be negative");
          return trail_.InKey(key);
        }
      }
      return true;
    });
    SortMap(out);
    return ok;
  }

  static void AppendText(Node node, std::string& out) {
    if (Tree::IsObject(node)) {
      base::JsonObject object(out);
      Tree::ForEachMember(node, [&](std::string_view key, Node value) {
        AppendText(value, object.Key(key));
        return true;
      });
      object.Close();
    } else if (Tree::IsList(node)) {
      base::JsonList list(out);
      Tree::ForEachElement(node, [&](Node element) {
        AppendText(element, list.Next());
        return true;
      });
      list.Close();
    } else if (const auto text = Tree::String(node)) {
      base::AppendJson(*text, out);
    } else if (const auto boolean = Tree::Bool(node)) {
      base::AppendJson(*boolean, out);
    } else if (const auto number = Tree::NumberText(node)) {
      out += *number;
    } else {
      out += "null";
    }
  }

  UnknownFields unknown_;
  Trail trail_;
};

}  // namespace berth::api
