// SPDX-License-Identifier: Apache-2.0
#include "src/explain/selector_text.h"

#include <absl/strings/str_join.h>

#include <string_view>
#include <vector>

namespace berth::explain {
namespace {

std::string ToText(const std::string& key, std::string_view op,
                   const std::vector<std::string>& values) {
  if (op == "Exists") return key;
  if (op == "DoesNotExist") return "!" + key;
  if (op == "Gt" || op == "Lt") {
    return key + (op == "Gt" ? ">" : "<") + absl::StrJoin(values, ",");
  }
  return key + (op == "NotIn" ? " notin (" : " in (") + absl::StrJoin(values, ",") + ")";
}

}  // namespace

std::string ToText(const std::optional<api::LabelSelector>& selector) {
  if (!selector) return "<none>";
  std::vector<std::string> parts;
  for (const auto& [key, value] : selector->match_labels) parts.push_back(key + "=" + value);
  for (const api::LabelSelectorRequirement& requirement : selector->match_expressions) {
    parts.push_back(ToText(requirement.key, requirement.operator_, requirement.values));
  }
  return parts.empty() ? "<all>" : absl::StrJoin(parts, ",");
}

std::string ToText(const api::NodeSelectorRequirement& requirement) {
  return ToText(requirement.key, requirement.operator_, requirement.values);
}

}  // namespace berth::explain
