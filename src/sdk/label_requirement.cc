// SPDX-License-Identifier: Apache-2.0
#include "src/sdk/label_requirement.h"

#include <charconv>

#include "berth/field_errors.h"

namespace berth {
namespace {

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) {
    if (!joined.empty()) joined += "; ";
    joined += text;
  }
  return joined;
}

}  // namespace

std::optional<int64_t> ParseInt64(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void CheckRequirement(const std::string& path, std::string_view key, std::string_view op,
                      const std::vector<std::string>& values, std::vector<Error>& errors) {
  if (const auto problems = LabelKeyProblems(key); !problems.empty()) {
    errors.push_back({InvalidField(path + "key", Quoted(key), Joined(problems))});
  }
  const std::string values_path = path + "values";
  const auto invalid = [&](std::string_view detail) {
    errors.push_back({InvalidField(values_path, QuotedList(values), detail)});
  };
  if (op == "In" || op == "NotIn") {
    if (values.empty()) invalid("for 'in', 'notin' operators, values set can't be empty");
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!values.empty()) invalid("values set must be empty for exists and does not exist");
  } else {
    if (values.size() != 1) invalid("for 'Gt', 'Lt' operators, exactly one value is required");
    for (size_t i = 0; i < values.size(); ++i) {
      if (!ParseInt64(values[i])) {
        errors.push_back(
            {InvalidField(values_path + "[" + std::to_string(i) + "]", Quoted(values[i]),
                          "for 'Gt', 'Lt' operators, the value must be an integer")});
      }
    }
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (const auto problems = LabelValueProblems(values[i]); !problems.empty()) {
      const std::string value_path =
          values_path + "[" + std::to_string(i) + "][" + std::string(key) + "]";
      errors.push_back({InvalidField(value_path, Quoted(values[i]), Joined(problems))});
    }
  }
}

}  // namespace berth
