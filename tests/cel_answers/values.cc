// SPDX-License-Identifier: Apache-2.0
#include "tests/cel_answers/values.h"

#include <utility>
#include <vector>

#include "berth/check.h"
#include "src/cel/go_text.h"

namespace berth::cel_answers {

using cel::Kind;
using cel::Value;
using Json = nlohmann::json;

std::string ToHex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 0xF];
  }
  return hex;
}

std::string FromHex(const Json& hex) {
  const auto text = hex.get<std::string>();
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return bytes;
}

Json ToJson(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return {{"null", true}};
    case Kind::kBool:
      return {{"bool", value.boolean()}};
    case Kind::kInt:
      return {{"int", std::to_string(value.integer())}};
    case Kind::kUint:
      return {{"uint", std::to_string(value.natural())}};
    case Kind::kDouble:
      return {{"double", cel::FormatDouble(value.real())}};
    case Kind::kString:
      return {{"string", ToHex(value.text())}};
    case Kind::kBytes:
      return {{"bytes", ToHex(value.text())}};
    case Kind::kDuration:
      return {{"duration", std::to_string(value.integer())}};
    case Kind::kTimestamp:
      return {{"timestamp", cel::FormatTimestamp(value.time())}};
    case Kind::kType:
      return {{"type", value.text()}};
    case Kind::kOptional:
      if (value.held() == nullptr) return {{"none", true}};
      return {{"optional", ToJson(*value.held())}};
    case Kind::kList: {
      Json items = Json::array();
      for (const Value& item : value.list().items) items.push_back(ToJson(item));
      return {{"list", std::move(items)}};
    }
    case Kind::kMap: {
      Json entries = Json::array();
      for (const auto& [key, held] : value.map().entries())
        entries.push_back(Json::array({ToJson(key), ToJson(held)}));
      return {{"map", std::move(entries)}};
    }
    default:
      return {{"other", ToHex(DebugText(value))}};
  }
}

Value FromJson(const Json& json) {
  const std::string kind = json.begin().key();
  const Json& held = json.begin().value();
  if (kind == "null") return Value();
  if (kind == "bool") return Value::Bool(held.get<bool>());
  if (kind == "int") return Value::Int(*cel::ParseInt(held.get<std::string>()));
  if (kind == "uint") return Value::Uint(*cel::ParseUint(held.get<std::string>()));
  if (kind == "double") return Value::Double(*cel::ParseDouble(held.get<std::string>()));
  if (kind == "string") return Value::String(FromHex(held));
  if (kind == "bytes") return Value::Bytes(FromHex(held));
  if (kind == "duration") return Value::Duration(*cel::ParseInt(held.get<std::string>()));
  if (kind == "timestamp") return Value::Time(*cel::ParseTimestamp(held.get<std::string>()));
  if (kind == "type") return Value::TypeNamed(held.get<std::string>());
  if (kind == "none") return Value::None();
  if (kind == "optional") return Value::Some(FromJson(held));
  if (kind == "list") {
    std::vector<Value> items;
    for (const Json& item : held) items.push_back(FromJson(item));
    return Value::ListOf(std::move(items));
  }
  BERTH_CHECK(kind == "map", "no kind of value");
  auto map = std::make_shared<cel::Map>();
  for (const Json& entry : held) map->Put(FromJson(entry.at(0)), FromJson(entry.at(1)));
  return Value::Of(std::shared_ptr<const cel::Map>(std::move(map)));
}

}  // namespace berth::cel_answers
