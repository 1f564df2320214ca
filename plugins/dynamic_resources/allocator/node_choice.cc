// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/allocator/node_choice.h"

#include <vector>

namespace berth::plugins::dra {
namespace {

void AppendRequirements(const std::vector<api::NodeSelectorRequirement>& requirements,
                        std::string& text) {
  text += "[]NodeSelectorRequirement{";
  for (const api::NodeSelectorRequirement& requirement : requirements) {
    text += "NodeSelectorRequirement{Key:" + requirement.key +
            ",Operator:" + requirement.operator_ + ",Values:[";
    for (size_t i = 0; i < requirement.values.size(); ++i)
      text += (i == 0 ? "" : " ") + requirement.values[i];
    text += "],},";
  }
  text += "},";
}

// As Kubernetes prints the object.
std::string Printed(const api::NodeSelector& selector) {
  std::string text = "&NodeSelector{NodeSelectorTerms:[]NodeSelectorTerm{";
  for (const api::NodeSelectorTerm& term : selector.node_selector_terms) {
    text += "NodeSelectorTerm{MatchExpressions:";
    AppendRequirements(term.match_expressions, text);
    text += "MatchFields:";
    AppendRequirements(term.match_fields, text);
    text += "},";
  }
  return text + "},}";
}

}  // namespace

NodeChoice::NodeChoice(const std::optional<std::string>& node_name,
                       const std::optional<bool>& all_nodes,
                       const api::Boxed<api::NodeSelector>& selector)
    : node_name_(node_name ? std::string_view(*node_name) : std::string_view()),
      all_nodes_(all_nodes.value_or(false)) {
  if (!node_name_.empty() || all_nodes_ || !selector.has_value()) return;
  selector_ = &*selector;
  matcher_ = std::make_unique<NodeSelectorMatcher>(NodeSelectorMatcher::Make(*selector));
}

bool NodeChoice::Matches(const api::Node& node) const {
  if (!node_name_.empty()) return node.metadata.name == node_name_;
  return all_nodes_ || (matcher_ != nullptr && matcher_->Matches(node));
}

std::string NodeChoice::Problem() const {
  if (matcher_ == nullptr || matcher_->errors().empty()) return "";
  const std::vector<Error>& errors = matcher_->errors();
  std::string text = "failed to parse node selector " + Printed(*selector_) + ": ";
  if (errors.size() == 1) return text + errors.front().message;
  text += '[';
  for (size_t i = 0; i < errors.size(); ++i) text += (i == 0 ? "" : ", ") + errors[i].message;
  return text + ']';
}

}  // namespace berth::plugins::dra
