// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "berth/api/decode_value.h"
#include "berth/config_value.h"
#include "src/api/tree_reader.h"

namespace berth::api {
namespace {

struct ValueTree {
  using Node = const ConfigValue&;

  static bool IsNull(Node node) { return node.is_null(); }
  static bool IsObject(Node node) { return node.map() != nullptr; }
  static bool IsList(Node node) { return node.list() != nullptr; }
  static std::optional<bool> Bool(Node node) {
    return node.boolean() == nullptr ? std::nullopt : std::optional(*node.boolean());
  }
  static std::optional<std::string_view> String(Node node) {
    if (node.string() == nullptr) return std::nullopt;
    return std::string_view(*node.string());
  }
  static std::optional<int64_t> Integer(Node node) {
    return node.integer() == nullptr ? std::nullopt : std::optional(*node.integer());
  }
  static std::optional<std::string> NumberText(Node node) {
    if (node.integer() != nullptr) return std::to_string(*node.integer());
    if (node.real() != nullptr) return FormatNumber(*node.real());
    return std::nullopt;
  }
  static std::string_view TypeName(Node node) { return node.TypeName(); }

  template <typename F>
  static bool ForEachMember(Node node, F f) {
    for (const auto& [key, value] : *node.map())
      if (!f(std::string_view(key), value)) return false;
    return true;
  }
  template <typename F>
  static bool ForEachElement(Node node, F f) {
    for (const ConfigValue& element : *node.list())
      if (!f(element)) return false;
    return true;
  }
};

template <typename T>
Result<void> CheckTypeOf(const ConfigValue& value) {
  if constexpr (requires { KindOf<T>::kKind; }) {
    TypeMeta type;
    TreeReader<ValueTree> reader(UnknownFields::kSkip);
    if (!reader.Read(value, type)) return Fail(reader.TakeError(""));
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
  TreeReader<ValueTree> reader(unknown);
  if (!reader.Read(value, *out)) return Fail(reader.TakeError(path));
  return out;
}

#define BERTH_INSTANTIATE(type) \
  template Result<type> DecodeValue(const ConfigValue&, std::string_view, UnknownFields);
BERTH_API_KINDS(BERTH_INSTANTIATE)
BERTH_INSTANTIATE(NodeAffinity)
BERTH_INSTANTIATE(LabelSelector)
BERTH_INSTANTIATE(TopologySpreadConstraint)
BERTH_INSTANTIATE(Toleration)
#undef BERTH_INSTANTIATE

}  // namespace berth::api
