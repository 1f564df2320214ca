// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "berth/api/decode_value.h"
#include "berth/config_value.h"
#include "src/api/decode.h"
#include "src/api/field_table.h"
#include "src/api/kinds.h"
#include "src/api/tree_reader.h"
#include "src/api/wire_types.h"

namespace berth::api {
namespace {

class ValueTree final : public Tree {
 public:
  static Node ToNode(const ConfigValue& value) { return {.place = &value}; }

  Value Get(Node node) const override {
    const ConfigValue& value = ToValue(node);
    if (value.is_null()) return {};
    if (value.map() != nullptr) return {.type = Type::kObject};
    if (value.list() != nullptr) return {.type = Type::kList};
    if (value.boolean() != nullptr) return {.type = Type::kBoolean, .boolean = *value.boolean()};
    if (value.string() != nullptr) return {.type = Type::kString, .string = *value.string()};
    if (value.integer() != nullptr) return {.type = Type::kInteger, .integer = *value.integer()};
    return {.type = Type::kOtherNumber};
  }

  std::string NumberText(Node node) const override {
    const ConfigValue& value = ToValue(node);
    return value.integer() != nullptr ? std::to_string(*value.integer())
                                      : FormatNumber(*value.real());
  }

  std::string_view TypeName(Node node) const override { return ToValue(node).TypeName(); }

  bool ForEachMember(Node node,
                     absl::FunctionRef<bool(std::string_view, Node)> visit) const override {
    for (const auto& [key, value] : *ToValue(node).map())
      if (!visit(key, ToNode(value))) return false;
    return true;
  }
  bool ForEachElement(Node node, absl::FunctionRef<bool(Node)> visit) const override {
    for (const ConfigValue& element : *ToValue(node).list())
      if (!visit(ToNode(element))) return false;
    return true;
  }

 private:
  static const ConfigValue& ToValue(Node node) {
    return *static_cast<const ConfigValue*>(node.place);
  }
};

template <typename T>
Result<void> CheckTypeOf(const ConfigValue& value) {
  if constexpr (requires { KindOf<T>::kKind; }) {
    TypeMeta type;
    const ValueTree tree;
    TreeReader reader(tree, UnknownFields::kSkip);
    if (!reader.Read(ValueTree::ToNode(value), type)) return Fail(reader.TakeError(""));
    return CheckType(type, KindOf<T>::kApiVersion, KindOf<T>::kKind);
  }
  return {};
}

}  // namespace

template <typename T>
Result<T> DecodeValue(const ConfigValue& value, std::string_view path, UnknownFields unknown) {
  if (auto same = CheckTypeOf<T>(value); !same)
    return Fail(path.empty() ? same.error() : same.error().Within(path));
  Result<T> out;
  const ValueTree tree;
  TreeReader reader(tree, unknown);
  if (!reader.Read(ValueTree::ToNode(value), *out)) return Fail(reader.TakeError(path));
  return out;
}

template <typename T>
Result<void> ReadValue(const ConfigValue& value, T& object) {
  if (auto same = CheckTypeOf<T>(value); !same) return same;
  const ValueTree tree;
  ReadAllThatCanBe(object, [&](size_t forgiven) -> std::optional<FieldDamage> {
    TreeReader reader(tree, UnknownFields::kSkip, forgiven);
    if (reader.Read(ValueTree::ToNode(value), object)) return std::nullopt;
    return reader.TakeDamage();
  });
  return {};
}

#define BERTH_INSTANTIATE(type) template Result<void> ReadValue(const ConfigValue&, type&);
BERTH_WATCHED_KINDS(BERTH_INSTANTIATE)
#undef BERTH_INSTANTIATE

#define BERTH_INSTANTIATE(type) \
  template Result<type> DecodeValue(const ConfigValue&, std::string_view, UnknownFields);
BERTH_API_KINDS(BERTH_INSTANTIATE)
BERTH_INSTANTIATE(NodeAffinity)
BERTH_INSTANTIATE(LabelSelector)
BERTH_INSTANTIATE(TopologySpreadConstraint)
BERTH_INSTANTIATE(Toleration)
#undef BERTH_INSTANTIATE

}  // namespace berth::api
