// SPDX-License-Identifier: Apache-2.0
#include <simdjson.h>

#include <optional>
#include <utility>

#include "src/api/decode.h"
#include "src/api/json_error.h"
#include "src/api/json_object_reader.h"
#include "src/api/json_parser.h"
#include "src/api/tree_reader.h"

namespace berth::api {
namespace {

struct JsonTree {
  using Node = simdjson::dom::element;

  static bool IsNull(Node node) { return node.is_null(); }
  static bool IsObject(Node node) { return node.is_object(); }
  static bool IsList(Node node) { return node.is_array(); }
  static std::optional<bool> Bool(Node node) {
    bool value = false;
    if (node.get(value) != simdjson::SUCCESS) return std::nullopt;
    return value;
  }
  static std::optional<std::string_view> String(Node node) {
    std::string_view value;
    if (node.get(value) != simdjson::SUCCESS) return std::nullopt;
    return value;
  }
  static std::optional<int64_t> Integer(Node node) {
    int64_t value = 0;
    if (!node.is_int64() || node.get(value) != simdjson::SUCCESS) return std::nullopt;
    return value;
  }
  static std::optional<std::string> NumberText(Node node) {
    if (const auto integer = Integer(node)) return std::to_string(*integer);
    uint64_t large = 0;
    if (node.is_uint64() && node.get(large) == simdjson::SUCCESS) return std::to_string(large);
    double real = 0;
    if (node.is_double() && node.get(real) == simdjson::SUCCESS) return FormatNumber(real);
    return std::nullopt;
  }
  static std::string_view TypeName(Node node) {
    switch (node.type()) {
      case simdjson::dom::element_type::ARRAY:
        return "a list";
      case simdjson::dom::element_type::OBJECT:
        return "an object";
      case simdjson::dom::element_type::STRING:
        return "a string";
      case simdjson::dom::element_type::BOOL:
        return "a boolean";
      case simdjson::dom::element_type::NULL_VALUE:
        return "null";
      default:
        return "a number";
    }
  }

  template <typename F>
  static bool ForEachMember(Node node, F f) {
    for (const auto& [key, value] : simdjson::dom::object(node))
      if (!f(key, value)) return false;
    return true;
  }
  template <typename F>
  static bool ForEachElement(Node node, F f) {
    for (const Node element : simdjson::dom::array(node))
      if (!f(element)) return false;
    return true;
  }
};

// The root lives as long as the parser.
Result<simdjson::dom::element> Parse(simdjson::dom::parser& parser, std::string_view text,
                                     std::string_view before = {}) {
  if (text.empty()) return Fail(DescribeJsonError(text, "empty"));  // may have no data()
  simdjson::dom::element root;
  if (const auto error = parser.parse(text.data(), text.size()).get(root))
    return Fail(DescribeJsonError(text, simdjson::error_message(error), before));
  return root;
}

template <typename T>
Result<void> ReadRoot(simdjson::dom::element root, T& out) {
  TreeReader<JsonTree> reader(UnknownFields::kSkip);
  if (!root.is_object())
    return Fail("expected an object, got " + std::string(JsonTree::TypeName(root)));
  if (!reader.Read(root, out)) return Fail(reader.TakeError(""));
  return {};
}

}  // namespace

template <typename T>
Result<void> ReadJson(std::string_view text, T& out) {
  ParserFor parser(text);
  const auto root = Parse(*parser, text);
  if (!root) return Fail(root.error());
  return ReadRoot(*root, out);
}

struct JsonObjectReader::Impl {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
};

JsonObjectReader::JsonObjectReader() : impl_(std::make_unique<Impl>()) {}
JsonObjectReader::~JsonObjectReader() = default;

Result<TypeMeta> JsonObjectReader::Parse(std::string_view text, std::string_view before) {
  const auto root = api::Parse(impl_->parser, text, before);
  if (!root) return Fail(root.error());
  impl_->root = *root;
  TypeMeta type;
  if (auto read = ReadRoot(*root, type); !read) return Fail(read.error());
  return type;
}

template <typename T>
Result<void> JsonObjectReader::Read(T& out) const {
  return ReadRoot(impl_->root, out);
}

template <typename T>
Result<T> DecodeJson(std::string_view text) {
  JsonObjectReader reader;
  const auto type = reader.Parse(text);
  if (!type) return Fail(type.error());
  if (auto same = CheckType(*type, KindOf<T>::kApiVersion, KindOf<T>::kKind); !same)
    return Fail(same.error());
  Result<T> object;
  if (auto read = reader.Read(*object); !read) return Fail(read.error());
  return object;
}

#define BERTH_INSTANTIATE(type)                             \
  template Result<type> DecodeJson<type>(std::string_view); \
  template Result<void> JsonObjectReader::Read<type>(type&) const;
BERTH_API_KINDS(BERTH_INSTANTIATE)
#undef BERTH_INSTANTIATE

template Result<void> ReadJson(std::string_view, TypeMeta&);
template Result<void> ReadJson(std::string_view, ListMeta&);
template Result<void> ReadJson(std::string_view, ObjectHead&);
template Result<void> ReadJson(std::string_view, BindingMessage&);
template Result<void> ReadJson(std::string_view, EventMessage&);
template Result<void> ReadJson(std::string_view, MetadataOnly&);

}  // namespace berth::api
