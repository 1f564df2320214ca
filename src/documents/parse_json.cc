// SPDX-License-Identifier: Apache-2.0
#include <absl/functional/function_ref.h>
#include <simdjson.h>

#include <functional>
#include <string>
#include <utility>

#include "berth/field_errors.h"
#include "src/api/json_parser.h"
#include "src/api/json_scan.h"
#include "src/documents/duplicates.h"
#include "src/documents/parse.h"

namespace berth::documents {
namespace {

using simdjson::dom::element_type;

using OnRepeatedKey = absl::FunctionRef<void(std::string_view key)>;

ConfigValue Build(simdjson::dom::element element, OnRepeatedKey on_repeated_key) {
  switch (element.type()) {
    case element_type::ARRAY: {
      ConfigValue::List list;
      list.reserve(simdjson::dom::array(element).size());
      for (const simdjson::dom::element member : simdjson::dom::array(element)) {
        list.push_back(Build(member, on_repeated_key));
      }
      return ConfigValue(std::move(list));
    }
    case element_type::OBJECT: {
      ConfigValue::Map map;
      map.reserve(simdjson::dom::object(element).size());
      for (const auto& [key, member] : simdjson::dom::object(element)) {
        map.emplace_back(key, Build(member, on_repeated_key));
      }
      ForEachDuplicate(map,
                       [&](const auto& member, const auto&) { on_repeated_key(member.first); });
      return ConfigValue(std::move(map));
    }
    case element_type::STRING:
      return ConfigValue(std::string(std::string_view(element)));
    case element_type::INT64:
      return ConfigValue(int64_t(element));
    case element_type::UINT64:
      return ConfigValue(static_cast<double>(uint64_t(element)));
    case element_type::DOUBLE:
      return ConfigValue(double(element));
    case element_type::BOOL:
      return ConfigValue(bool(element));
    case element_type::NULL_VALUE:
      break;
  }
  return ConfigValue();
}

Result<ConfigValue> Parse(std::string_view text, std::string_view file_name,
                          OnRepeatedKey on_repeated_key) {
  const auto fail = [&](const Error& error) {
    return Fail(file_name.empty() ? error : error.Within(file_name));
  };
  if (text.empty()) return fail(api::DescribeJsonError(text, "empty"));  // may have no data()
  api::ParserFor parser(text);
  simdjson::dom::element root;
  if (const auto error = (*parser).parse(text.data(), text.size()).get(root))
    return fail(api::DescribeJsonError(text, simdjson::error_message(error)));
  return Build(root, on_repeated_key);
}

}  // namespace

Result<ConfigValue> ParseJson(std::string_view text, std::string_view file_name) {
  std::string problem;
  auto value = Parse(text, file_name, [&problem](std::string_view key) {
    if (problem.empty()) problem = "duplicate field " + Quoted(key);
  });
  if (value && !problem.empty()) {
    const Error error{problem};
    return Fail(file_name.empty() ? error : error.Within(file_name));
  }
  return value;
}

Result<ConfigValue> ParseJson(std::string_view text, std::string_view file_name,
                              const std::function<void(std::string_view key)>& on_repeated_key) {
  bool repeated = false;
  auto value = Parse(text, file_name, [&](std::string_view key) {
    repeated = true;
    if (on_repeated_key) on_repeated_key(key);
  });
  return value && repeated ? KeepLastOfEachKey(*value) : value;
}

}  // namespace berth::documents
