// SPDX-License-Identifier: Apache-2.0
#include "berth/label_selector.h"

#include <algorithm>
#include <utility>

#include "berth/field_errors.h"
#include "src/sdk/identity.h"
#include "src/sdk/label_requirement.h"

namespace berth {
namespace {

using Operator = LabelSelectorMatcher::Operator;
using Requirement = LabelSelectorMatcher::Requirement;

std::optional<Operator> ParseOperator(std::string_view text) {
  if (text == "In") return Operator::kIn;
  if (text == "NotIn") return Operator::kNotIn;
  if (text == "Exists") return Operator::kExists;
  if (text == "DoesNotExist") return Operator::kDoesNotExist;
  return std::nullopt;
}

// Why the requirement is bad, as one error; nullopt when it is good.
std::optional<Error> Problem(std::string_view key, std::string_view op,
                             const std::vector<std::string>& values) {
  std::vector<Error> errors;
  CheckRequirement("", key, op, values, errors);
  std::vector<std::string> texts;
  for (Error& error : errors) texts.push_back(std::move(error.message));
  return AggregateProblems(texts);
}

template <typename T>
void SortUnique(std::vector<T>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

bool Holds(const Requirement& requirement, const api::StringMap& labels) {
  const std::string* label = api::Find(labels, requirement.key);
  const auto listed = [&] {
    return std::binary_search(requirement.values.begin(), requirement.values.end(), *label);
  };
  switch (requirement.op) {
    case Operator::kIn:
      return label != nullptr && listed();
    case Operator::kNotIn:
      return label == nullptr || !listed();
    case Operator::kExists:
      return label != nullptr;
    case Operator::kDoesNotExist:
      return label == nullptr;
  }
  return false;
}

}  // namespace

LabelSelectorMatcher LabelSelectorMatcher::Everything() {
  LabelSelectorMatcher matcher;
  matcher.nothing_ = false;
  return matcher;
}

Result<LabelSelectorMatcher> LabelSelectorMatcher::Make(
    const std::optional<api::LabelSelector>& selector) {
  if (!selector) return LabelSelectorMatcher();
  LabelSelectorMatcher matcher = Everything();
  for (const auto& [key, value] : selector->match_labels) {
    if (auto problem = Problem(key, "In", {value})) return Fail(*std::move(problem));
    matcher.requirements_.push_back({key, Operator::kIn, {value}});
  }
  for (const api::LabelSelectorRequirement& expression : selector->match_expressions) {
    const auto op = ParseOperator(expression.operator_);
    if (!op) return Fail(Quoted(expression.operator_) + " is not a valid label selector operator");
    if (auto problem = Problem(expression.key, expression.operator_, expression.values)) {
      return Fail(*std::move(problem));
    }
    matcher.requirements_.push_back({expression.key, *op, expression.values});
    SortUnique(matcher.requirements_.back().values);
  }
  SortUnique(matcher.requirements_);
  return matcher;
}

LabelSelectorMatcher LabelSelectorMatcher::OfLabels(const api::StringMap& labels) {
  LabelSelectorMatcher matcher = Everything();
  for (const auto& [key, value] : labels) {
    matcher.requirements_.push_back({key, Operator::kIn, {value}});
  }
  return matcher;
}

void LabelSelectorMatcher::Require(std::string_view key, std::string_view value) {
  if (nothing_) return;
  requirements_.push_back({std::string(key), Operator::kIn, {std::string(value)}});
  SortUnique(requirements_);
}

void LabelSelectorMatcher::Require(const LabelSelectorMatcher& other) {
  if (nothing_) return;
  if (other.nothing_) {
    *this = {};
    return;
  }
  requirements_.insert(requirements_.end(), other.requirements_.begin(), other.requirements_.end());
  SortUnique(requirements_);
}

bool LabelSelectorMatcher::Matches(const api::StringMap& labels) const {
  if (nothing_) return false;
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const Requirement& requirement) { return Holds(requirement, labels); });
}

void LabelSelectorMatcher::AppendIdentity(std::string& text) const {
  // One more than the number of requirements, so that 0 can stand for nothing.
  AppendNumber(nothing_ ? 0 : requirements_.size() + 1, text);
  for (const Requirement& requirement : requirements_) {
    AppendText(requirement.key, text);
    text += static_cast<char>(requirement.op);
    AppendTexts(requirement.values, text);
  }
}

}  // namespace berth
