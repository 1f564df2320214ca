// SPDX-License-Identifier: Apache-2.0
#include <simdjson.h>

#include <optional>
#include <string>
#include <utility>

#include "berth/field_errors.h"
#include "src/api/json_error.h"
#include "src/api/json_parser.h"
#include "src/documents/duplicates.h"
#include "src/documents/parse.h"

namespace berth::documents {
namespace {

using simdjson::dom::element_type;

// Empty: `problem` tells why.
std::optional<ConfigValue> Build(simdjson::dom::element element, std::string& problem) {
  switch (element.type()) {
    case element_type::ARRAY: {
      ConfigValue::List list;
      list.reserve(simdjson::dom::array(element).size());
      for (const simdjson::dom::element member : simdjson::dom::array(element)) {
        auto value = Build(member, problem);
        if (!value) return std::nullopt;
        list.push_back(*std::move(value));
      }
      return ConfigValue(std::move(list));
    }
    case element_type::OBJECT: {
      ConfigValue::Map map;
      map.reserve(simdjson::dom::object(element).size());
      for (const auto& [key, member] : simdjson::dom::object(element)) {
        auto value = Build(member, problem);
        if (!value) return std::nullopt;
        map.emplace_back(key, *std::move(value));
      }
      ForEachDuplicate(
          map, [&](const auto& member) { problem = "duplicate field " + Quoted(member.first); });
      if (!problem.empty()) return std::nullopt;
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

}  // namespace

Result<ConfigValue> ParseJson(std::string_view text, std::string_view file_name) {
  const auto fail = [&](const Error& error) {
    return Fail(file_name.empty() ? error : error.Within(file_name));
  };
  if (text.empty()) return fail(api::DescribeJsonError(text, "empty"));  // may have no data()
  api::ParserFor parser(text);
  simdjson::dom::element root;
  if (const auto error = (*parser).parse(text.data(), text.size()).get(root))
    return fail(api::DescribeJsonError(text, simdjson::error_message(error)));
  std::string problem;
  auto value = Build(root, problem);
  if (!value) return fail(Error{problem});
  return *std::move(value);
}

}  // namespace berth::documents
