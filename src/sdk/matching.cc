// SPDX-License-Identifier: Apache-2.0
#include "berth/matching.h"

#include <algorithm>

#include "berth/field_errors.h"
#include "src/sdk/label_requirement.h"

namespace berth {
namespace {

constexpr std::string_view kNodeNameField = "metadata.name";
constexpr std::string_view kExpressionOperators[] = {"In",           "NotIn", "Exists",
                                                     "DoesNotExist", "Gt",    "Lt"};
constexpr std::string_view kFieldOperators[] = {"In", "NotIn"};

// No '+', no leading zeros, no "-0".
bool IsCanonicalInteger(std::string_view text) {
  if (text == "0") return true;
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.front() != '0' &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool CompareIntegers(const api::Toleration& toleration, const api::Taint& taint) {
  if (!IsCanonicalInteger(toleration.value) || !IsCanonicalInteger(taint.value)) return false;
  const auto limit = ParseInt64(toleration.value);
  const auto value = ParseInt64(taint.value);
  if (!limit || !value) return false;
  return toleration.operator_ == "Lt" ? *value < *limit : *value > *limit;
}

bool Contains(const std::vector<std::string>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

void CheckExpression(const std::string& path, const api::NodeSelectorRequirement& requirement,
                     std::vector<Error>& errors) {
  if (std::find(std::begin(kExpressionOperators), std::end(kExpressionOperators),
                requirement.operator_) == std::end(kExpressionOperators)) {
    errors.push_back(
        {UnsupportedField(path + "operator", Quoted(requirement.operator_), kExpressionOperators)});
    return;
  }
  CheckRequirement(path, requirement.key, requirement.operator_, requirement.values, errors);
}

void CheckField(const std::string& path, const api::NodeSelectorRequirement& requirement,
                std::vector<Error>& errors) {
  if (requirement.operator_ != "In" && requirement.operator_ != "NotIn") {
    errors.push_back(
        {UnsupportedField(path + "operator", Quoted(requirement.operator_), kFieldOperators)});
  } else if (requirement.values.size() != 1) {
    errors.push_back(
        {InvalidField(path + "values", QuotedList(requirement.values), "must have one element")});
  }
}

bool IntegerHolds(const api::NodeSelectorRequirement& requirement, std::string_view label) {
  const auto value = ParseInt64(label);
  const auto limit = ParseInt64(requirement.values.front());
  if (!value || !limit) return false;
  return requirement.operator_ == "Gt" ? *value > *limit : *value < *limit;
}

bool ExpressionHolds(const api::NodeSelectorRequirement& requirement,
                     const api::StringMap& labels) {
  const std::string* label = api::Find(labels, requirement.key);
  if (requirement.operator_ == "In") return label && Contains(requirement.values, *label);
  if (requirement.operator_ == "NotIn") return !label || !Contains(requirement.values, *label);
  if (requirement.operator_ == "Exists") return label != nullptr;
  if (requirement.operator_ == "DoesNotExist") return label == nullptr;
  return label && IntegerHolds(requirement, *label);
}

// A field other than metadata.name reads as "".
bool FieldHolds(const api::NodeSelectorRequirement& requirement, std::string_view node_name) {
  const std::string_view value = requirement.key == kNodeNameField ? node_name : "";
  return (value == requirement.values.front()) == (requirement.operator_ == "In");
}

// Takes the nodes for which the expression does not hold out of `nodes`. `scratch` is any set.
void KeepExpression(const api::NodeSelectorRequirement& requirement, const Snapshot& snapshot,
                    NodeSet& nodes, NodeSet& scratch) {
  scratch.Assign(snapshot.num_rows(), false);
  if (requirement.operator_ == "In" || requirement.operator_ == "NotIn") {
    for (const std::string& value : requirement.values) {
      snapshot.NodesWithLabel(requirement.key, value, scratch);
    }
  } else {
    snapshot.NodesWithLabelKey(requirement.key, scratch);
  }
  if (requirement.operator_ == "NotIn" || requirement.operator_ == "DoesNotExist") {
    nodes -= scratch;
    return;
  }
  nodes &= scratch;
  if (requirement.operator_ == "Gt" || requirement.operator_ == "Lt") {
    nodes.Filter([&](NodeRow row) {
      return ExpressionHolds(requirement, snapshot.node(row).metadata.labels);
    });
  }
}

void KeepField(const api::NodeSelectorRequirement& requirement, const Snapshot& snapshot,
               NodeSet& nodes) {
  if (requirement.key != kNodeNameField) {
    if (!FieldHolds(requirement, "")) nodes.Assign(nodes.size(), false);
    return;
  }
  const NodeRow row = snapshot.FindNode(requirement.values.front());
  if (requirement.operator_ == "NotIn") {
    if (row != kNoRow) nodes.Clear(row);
    return;
  }
  const bool keep = row != kNoRow && nodes.Test(row);
  nodes.Assign(nodes.size(), false);
  if (keep) nodes.Set(row);
}

}  // namespace

bool Tolerates(const api::Toleration& toleration, const api::Taint& taint,
               bool comparison_operators) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  const std::string& op = toleration.operator_;
  if (op.empty() || op == "Equal") return toleration.value == taint.value;
  if (op == "Exists") return true;
  if (op == "Lt" || op == "Gt") return comparison_operators && CompareIntegers(toleration, taint);
  return false;
}

bool Tolerates(std::span<const api::Toleration> tolerations, const api::Taint& taint,
               bool comparison_operators) {
  return std::any_of(tolerations.begin(), tolerations.end(), [&](const auto& toleration) {
    return Tolerates(toleration, taint, comparison_operators);
  });
}

NodeSelectorMatcher NodeSelectorMatcher::Make(const api::NodeSelector& selector) {
  NodeSelectorMatcher matcher;
  for (size_t i = 0; i < selector.node_selector_terms.size(); ++i) {
    const api::NodeSelectorTerm& term = selector.node_selector_terms[i];
    if (term.match_expressions.empty() && term.match_fields.empty()) continue;
    const size_t errors_before = matcher.errors_.size();
    const std::string path = "nodeSelectorTerms[" + std::to_string(i) + "].";
    for (size_t j = 0; j < term.match_expressions.size(); ++j) {
      CheckExpression(path + "matchExpressions[" + std::to_string(j) + "].",
                      term.match_expressions[j], matcher.errors_);
    }
    for (size_t j = 0; j < term.match_fields.size(); ++j) {
      CheckField(path + "matchFields[" + std::to_string(j) + "].", term.match_fields[j],
                 matcher.errors_);
    }
    if (matcher.errors_.size() == errors_before) {
      matcher.terms_.push_back({term.match_expressions, term.match_fields});
    }
  }
  return matcher;
}

bool NodeSelectorMatcher::TermMatches(const Term& term, const api::Node& node) {
  return std::all_of(term.expressions.begin(), term.expressions.end(),
                     [&](const auto& requirement) {
                       return ExpressionHolds(requirement, node.metadata.labels);
                     }) &&
         std::all_of(term.fields.begin(), term.fields.end(), [&](const auto& requirement) {
           return FieldHolds(requirement, node.metadata.name);
         });
}

bool NodeSelectorMatcher::Matches(const api::Node& node) const {
  return std::any_of(terms_.begin(), terms_.end(),
                     [&](const Term& term) { return TermMatches(term, node); });
}

void NodeSelectorMatcher::MatchNodes(const Snapshot& snapshot, NodeSet& out) const {
  NodeSet matching;
  NodeSet scratch;
  for (const Term& term : terms_) {
    matching = snapshot.nodes();
    for (const auto& requirement : term.fields) KeepField(requirement, snapshot, matching);
    for (const auto& requirement : term.expressions) {
      KeepExpression(requirement, snapshot, matching, scratch);
    }
    out |= matching;
  }
}

RequiredNodeAffinity RequiredNodeAffinity::Make(const api::Pod& pod) {
  RequiredNodeAffinity required;
  required.node_selector_ = pod.spec.node_selector;
  if (pod.spec.affinity && pod.spec.affinity->node_affinity) {
    const auto& affinity = *pod.spec.affinity->node_affinity;
    if (affinity.required_during_scheduling_ignored_during_execution) {
      required.affinity_ =
          NodeSelectorMatcher::Make(*affinity.required_during_scheduling_ignored_during_execution);
    }
  }
  return required;
}

bool RequiredNodeAffinity::Matches(const api::Node& node) const {
  for (const auto& [key, value] : node_selector_) {
    const std::string* label = api::Find(node.metadata.labels, key);
    if (label == nullptr || *label != value) return false;
  }
  return !affinity_ || affinity_->Matches(node);
}

void RequiredNodeAffinity::FilterNodes(const Snapshot& snapshot, NodeSet& nodes) const {
  NodeSet matching;
  for (const auto& [key, value] : node_selector_) {
    matching.Assign(snapshot.num_rows(), false);
    snapshot.NodesWithLabel(key, value, matching);
    nodes &= matching;
  }
  if (affinity_) {
    matching.Assign(snapshot.num_rows(), false);
    affinity_->MatchNodes(snapshot, matching);
    nodes &= matching;
  }
}

}  // namespace berth
