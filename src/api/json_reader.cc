// SPDX-License-Identifier: Apache-2.0
#include <simdjson.h>

#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/api/decode.h"
#include "src/api/field_table.h"
#include "src/api/json_known.h"
#include "src/api/json_object_reader.h"
#include "src/api/json_parser.h"
#include "src/api/json_scan.h"
#include "src/api/tables.h"
#include "src/api/tree_reader.h"
#include "src/api/wire_types.h"

namespace berth::api {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

// Elements are two words, which is what nodes are.
class JsonTree final : public Tree {
 public:
  // `raw`: what a KnownJson has beside its text.
  explicit JsonTree(const std::vector<std::string_view>& raw) : raw_(raw) {}

  static Node ToNode(element value) { return std::bit_cast<Node>(value); }

  Value Get(Node node) const override {
    const element value = ToElement(node);
    switch (value.type()) {
      case element_type::ARRAY:
        return {.type = Type::kList};
      case element_type::OBJECT:
        return {.type = Type::kObject};
      case element_type::STRING:
        return {.type = Type::kString, .string = value.get_string().value_unsafe()};
      case element_type::BOOL:
        return {.type = Type::kBoolean, .boolean = value.get_bool().value_unsafe()};
      case element_type::INT64:
        return {.type = Type::kInteger, .integer = value.get_int64().value_unsafe()};
      case element_type::NULL_VALUE:
        return {};
      case element_type::UINT64:
      case element_type::DOUBLE:
        break;
    }
    return {.type = Type::kOtherNumber};
  }

  std::string NumberText(Node node) const override {
    const element value = ToElement(node);
    switch (value.type()) {
      case element_type::INT64:
        return std::to_string(value.get_int64().value_unsafe());
      case element_type::UINT64:
        return std::to_string(value.get_uint64().value_unsafe());
      default:
        return FormatNumber(value.get_double().value_unsafe());
    }
  }

  std::string_view TypeName(Node node) const override {
    switch (Get(node).type) {
      case Type::kList:
        return "a list";
      case Type::kObject:
        return "an object";
      case Type::kString:
        return "a string";
      case Type::kBoolean:
        return "a boolean";
      case Type::kNull:
        return "null";
      default:
        return "a number";
    }
  }

  std::optional<std::string_view> RawText(Node node) const override {
    const Value value = Get(node);
    if (value.type != Type::kString) return std::nullopt;
    const std::optional<size_t> index = RawIndex(value.string);
    if (!index || *index >= raw_.size()) return std::nullopt;
    return raw_[*index];
  }

  bool ForEachMember(Node node,
                     absl::FunctionRef<bool(std::string_view, Node)> visit) const override {
    // Named: what a range-based for takes from a temporary outlives it.
    const simdjson::dom::object members = ToElement(node).get_object().value_unsafe();
    for (const auto& [key, value] : members)
      if (!visit(key, ToNode(value))) return false;
    return true;
  }
  bool ForEachElement(Node node, absl::FunctionRef<bool(Node)> visit) const override {
    const simdjson::dom::array elements = ToElement(node).get_array().value_unsafe();
    for (const element value : elements)
      if (!visit(ToNode(value))) return false;
    return true;
  }

 private:
  static element ToElement(Node node) { return std::bit_cast<element>(node); }

  const std::vector<std::string_view>& raw_;
};

// A parsed object; good as long as its parser and its text.
struct ParsedJson {
  element root;
  KnownJson known;  // what was parsed instead of the text, where that was needed
};

// What is read of T. It is cut out of the text first where T holds something opaque, for a parsed
// value cannot be written as it was, and where the parser does not take the text.
template <typename T>
const JsonShape& ShapeOf() {
  return JsonShapeOf<T>::kShape;
}

tl::unexpected<Error> NoJson(std::string_view text, simdjson::error_code error,
                             std::string_view before = {}) {
  return Fail(DescribeJsonError(text, simdjson::error_message(error), before));
}

// False: the parser does not take what is known of the text.
bool ParseKnown(simdjson::dom::parser& parser, std::string_view text, const JsonShape& shape,
                ParsedJson& out) {
  auto known = KeepKnown(text, shape);
  if (!known) return false;
  out.known = *std::move(known);
  return !parser.parse(out.known.text.data(), out.known.text.size()).get(out.root);
}

Result<void> Parse(simdjson::dom::parser& parser, std::string_view text, const JsonShape& shape,
                   bool holds_raw, ParsedJson& out) {
  if (text.empty()) return NoJson(text, simdjson::EMPTY);  // may have no data()
  if (holds_raw && ParseKnown(parser, text, shape, out)) return {};
  out.known = {};
  const auto error = parser.parse(text.data(), text.size()).get(out.root);
  if (!error || (!holds_raw && ParseKnown(parser, text, shape, out))) return {};
  return NoJson(text, error);
}

Result<void> CheckIsObject(const ParsedJson& json) {
  if (json.root.is_object()) return {};
  const JsonTree tree(json.known.raw);
  return Fail("expected an object, got " + std::string(tree.TypeName(JsonTree::ToNode(json.root))));
}

template <typename T>
Result<void> ReadRoot(const ParsedJson& json, T& out) {
  if (auto checked = CheckIsObject(json); !checked) return checked;
  const JsonTree tree(json.known.raw);
  TreeReader reader(tree, UnknownFields::kSkip);
  if (!reader.Read(JsonTree::ToNode(json.root), out)) return Fail(reader.TakeError(""));
  return {};
}

// The same, but for what is damaged.
template <typename T>
Result<void> ReadRootParts(const ParsedJson& json, T& out) {
  if (auto checked = CheckIsObject(json); !checked) return checked;
  ReadAllThatCanBe(out, [&](size_t forgiven) -> std::optional<FieldDamage> {
    const JsonTree tree(json.known.raw);
    TreeReader reader(tree, UnknownFields::kSkip, forgiven);
    if (reader.Read(JsonTree::ToNode(json.root), out)) return std::nullopt;
    return reader.TakeDamage();
  });
  return {};
}

Result<void> ParseAs(std::string_view api_version, std::string_view kind, const JsonShape& shape,
                     bool holds_raw, simdjson::dom::parser& parser, std::string_view text,
                     ParsedJson& out) {
  if (auto parsed = Parse(parser, text, shape, holds_raw, out); !parsed) return parsed;
  TypeMeta type;
  if (auto read = ReadRoot(out, type); !read) return read;
  return CheckType(type, api_version, kind);
}

template <typename T>
Result<void> ParseAs(simdjson::dom::parser& parser, std::string_view text, ParsedJson& out) {
  constexpr bool kHoldsRaw = HoldsRaw(JsonShapeOf<T>::kShape);
  return ParseAs(KindOf<T>::kApiVersion, KindOf<T>::kKind, ShapeOf<T>(), kHoldsRaw, parser, text,
                 out);
}

// The shape of a kind that is watched, else one of nothing.
const JsonShape& ShapeOfKind(std::string_view kind) {
#define BERTH_SHAPE(type) \
  if (kind == KindOf<type>::kKind) return ShapeOf<type>();
  BERTH_WATCHED_KINDS(BERTH_SHAPE)
#undef BERTH_SHAPE
  static constexpr JsonShape kNothing{.type = JsonShape::Type::kObject};
  return kNothing;
}

}  // namespace

template <typename T>
Result<void> ReadJson(std::string_view text, T& out) {
  ParserFor parser(text);
  ParsedJson json;
  if (auto parsed = Parse(*parser, text, ShapeOf<T>(), false, json); !parsed) return parsed;
  return ReadRoot(json, out);
}

template <typename T>
void ReadJsonParts(std::string_view text, T& out) {
  ParserFor parser(text);
  ParsedJson json;
  if (!Parse(*parser, text, ShapeOf<T>(), false, json) || !json.root.is_object()) return;
  const JsonTree tree(json.known.raw);
  TreeReader reader(tree, UnknownFields::kSkip, std::numeric_limits<size_t>::max());
  static_cast<void>(reader.Read(JsonTree::ToNode(json.root), out));
}

struct JsonObjectReader::Impl {
  simdjson::dom::parser parser;
  ParsedJson json;
};

JsonObjectReader::JsonObjectReader() : impl_(std::make_unique<Impl>()) {}
JsonObjectReader::~JsonObjectReader() = default;

Result<TypeMeta> JsonObjectReader::Parse(std::string_view text, std::string_view before,
                                         std::string_view kind_around) {
  if (text.empty()) return NoJson(text, simdjson::EMPTY, before);
  ParsedJson& json = impl_->json;
  json.known = {};
  TypeMeta type;
  if (const auto error = impl_->parser.parse(text.data(), text.size()).get(json.root)) {
    // What kind it is tells what of it matters.
    if (!ParseKnown(impl_->parser, text, ShapeOfKind(""), json)) return NoJson(text, error, before);
    if (auto read = ReadRoot(json, type); !read) return Fail(read.error());
    const JsonShape& shape = ShapeOfKind(type.kind.empty() ? kind_around : type.kind);
    if (!ParseKnown(impl_->parser, text, shape, json)) return NoJson(text, error, before);
  }
  if (auto read = ReadRoot(json, type); !read) return Fail(read.error());
  return type;
}

template <typename T>
Result<void> JsonObjectReader::Read(T& out) const {
  return ReadRootParts(impl_->json, out);
}

template <typename T>
Result<T> DecodeJson(std::string_view text) {
  simdjson::dom::parser parser;
  ParsedJson json;
  if (auto parsed = ParseAs<T>(parser, text, json); !parsed) return Fail(parsed.error());
  Result<T> object;
  if (auto read = ReadRoot(json, *object); !read) return Fail(read.error());
  return object;
}

template <typename T>
Result<void> ReadJsonObject(std::string_view text, T& object) {
  simdjson::dom::parser parser;
  ParsedJson json;
  if (auto parsed = ParseAs<T>(parser, text, json); !parsed) return parsed;
  return ReadRootParts(json, object);
}

#define BERTH_INSTANTIATE(type) template Result<type> DecodeJson<type>(std::string_view);
BERTH_API_KINDS(BERTH_INSTANTIATE)
#undef BERTH_INSTANTIATE

#define BERTH_INSTANTIATE(type)                                  \
  template Result<void> ReadJsonObject(std::string_view, type&); \
  template Result<void> JsonObjectReader::Read<type>(type&) const;
BERTH_WATCHED_KINDS(BERTH_INSTANTIATE)
#undef BERTH_INSTANTIATE

template Result<void> ReadJson(std::string_view, TypeMeta&);
template Result<void> ReadJson(std::string_view, ListMeta&);
template Result<void> ReadJson(std::string_view, ObjectHead&);
template void ReadJsonParts(std::string_view, ObjectHead&);
template Result<void> ReadJson(std::string_view, BindingMessage&);
template Result<void> ReadJson(std::string_view, EventMessage&);
template Result<void> ReadJson(std::string_view, MetadataOnly&);

}  // namespace berth::api
