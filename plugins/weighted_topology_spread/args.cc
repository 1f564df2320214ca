// SPDX-License-Identifier: Apache-2.0
#include "plugins/weighted_topology_spread/args.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "berth/api/meta.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kWeightedConstraints = "constraints";
constexpr std::string_view kWeightedSelector = "labelSelector";
constexpr std::string_view kNamespaces = "namespaces";
constexpr std::string_view kMatchLabelKeys = "matchLabelKeys";
constexpr std::string_view kTopologyKey = "topologyKey";
constexpr std::string_view kWeights = "weights";
constexpr std::string_view kOrder = "order";
constexpr std::string_view kMaxSkew = "maxSkew";
constexpr std::string_view kWhenUnsatisfiable = "whenUnsatisfiable";

constexpr size_t kMaxValues = 100;
// With these a share of 2^31 pods is counted in 64 bits.
constexpr int32_t kMaxWeight = 1'000'000;

// A constraint as the file has it.
struct RawConstraint {
  std::optional<api::LabelSelector> selector;
  std::vector<std::string> namespaces;
  std::vector<std::string> match_label_keys;
  std::string topology_key;
  std::vector<std::string> weighted_values;
  std::vector<int32_t> weights;
  std::vector<std::string> order;
  std::optional<int32_t> max_skew;
  std::string when_unsatisfiable;

  bool hard() const { return when_unsatisfiable == kWhenUnsatisfiableActions[0]; }
};

api::StringMap ReadLabels(FieldReader& fields, std::string_view field) {
  api::StringMap labels;
  const ConfigValue* value = fields.Get(field);
  if (value == nullptr) return labels;
  FieldReader entries(*value, fields.PathOf(field));
  if (value->map() != nullptr) {
    for (const auto& [key, entry] : *value->map()) {
      std::string text;
      entries.Read(key, text);
      labels.emplace_back(key, std::move(text));
    }
    std::ranges::sort(labels);
  }
  fields.Merge(entries);
  return labels;
}

std::optional<api::LabelSelector> ReadSelector(FieldReader& fields) {
  api::LabelSelector selector;
  const bool found = ReadNested(fields, kWeightedSelector, [&](FieldReader& nested) {
    selector.match_labels = ReadLabels(nested, "matchLabels");
    ReadEach(nested, "matchExpressions", [&](FieldReader& entry) {
      api::LabelSelectorRequirement& requirement = selector.match_expressions.emplace_back();
      entry.Read("key", requirement.key);
      entry.Read("operator", requirement.operator_);
      entry.Read("values", requirement.values);
    });
  });
  return found ? std::optional(std::move(selector)) : std::nullopt;
}

RawConstraint ReadWeightedConstraint(FieldReader& fields) {
  RawConstraint constraint;
  constraint.selector = ReadSelector(fields);
  fields.Read(kNamespaces, constraint.namespaces);
  fields.Read(kMatchLabelKeys, constraint.match_label_keys);
  fields.Read(kTopologyKey, constraint.topology_key);
  ReadEach(fields, kWeights, [&](FieldReader& entry) {
    entry.Read("value", constraint.weighted_values.emplace_back());
    entry.Read("weight", constraint.weights.emplace_back(0));
  });
  fields.Read(kOrder, constraint.order);
  int32_t max_skew = 0;
  if (fields.Read(kMaxSkew, max_skew)) constraint.max_skew = max_skew;
  fields.Read(kWhenUnsatisfiable, constraint.when_unsatisfiable);
  return constraint;
}

std::vector<RawConstraint> ReadWeightedArgs(FieldReader& fields) {
  std::vector<RawConstraint> constraints;
  ReadEach(fields, kWeightedConstraints,
           [&](FieldReader& entry) { constraints.push_back(ReadWeightedConstraint(entry)); });
  return constraints;
}

// `path_of(i)` is where the i-th value stands.
template <typename PathOf>
void CheckValues(std::span<const std::string> values, const PathOf& path_of,
                 std::vector<std::string>& problems) {
  for (size_t i = 0; i < values.size(); ++i) {
    for (const std::string& problem : LabelValueProblems(values[i])) {
      problems.push_back(InvalidField(path_of(i), Quoted(values[i]), problem));
    }
    const auto earlier = values.first(i);
    if (std::ranges::find(earlier, values[i]) != earlier.end()) {
      problems.push_back(DuplicateField(path_of(i), Quoted(values[i])));
    }
  }
}

void CheckWeights(const std::string& path, const RawConstraint& constraint,
                  std::vector<std::string>& problems) {
  const std::string list = FieldPath(path, kWeights);
  CheckValues(
      constraint.weighted_values, [&](size_t i) { return IndexedPath(list, i) + ".value"; },
      problems);
  for (size_t i = 0; i < constraint.weights.size(); ++i) {
    CheckRange(constraint.weights[i], 1, kMaxWeight, IndexedPath(list, i) + ".weight", problems);
  }
}

void CheckListOfValues(const std::string& path, const RawConstraint& constraint,
                       std::vector<std::string>& problems) {
  const bool weighted = !constraint.weighted_values.empty();
  if (weighted == !constraint.order.empty()) {
    problems.push_back(weighted ? ForbiddenField(FieldPath(path, kOrder), "there are weights")
                                : RequiredField(path, "weights or order must name values"));
  }
  CheckWeights(path, constraint, problems);
  const std::string list = FieldPath(path, kOrder);
  CheckValues(constraint.order, [&](size_t i) { return IndexedPath(list, i); }, problems);
  const std::pair<std::string_view, size_t> lists[] = {
      {kWeights, constraint.weighted_values.size()}, {kOrder, constraint.order.size()}};
  for (const auto& [field, count] : lists) {
    if (count <= kMaxValues) continue;
    problems.push_back(InvalidField(FieldPath(path, field), std::to_string(count) + " values",
                                    "must have at most " + std::to_string(kMaxValues)));
  }
}

void CheckMaxSkew(const std::string& path, const RawConstraint& constraint,
                  std::vector<std::string>& problems) {
  if (!constraint.max_skew) return;
  if (*constraint.max_skew <= 0) {
    problems.push_back(
        InvalidField(path, std::to_string(*constraint.max_skew), "not in valid range (0, inf)"));
  }
  if (constraint.weights.empty() || !constraint.hard()) {
    problems.push_back(ForbiddenField(path, "only weights with DoNotSchedule have a skew"));
  }
}

std::vector<std::string> WeightedProblems(const std::vector<RawConstraint>& constraints,
                                          const std::string& parent) {
  std::vector<std::string> problems;
  for (size_t i = 0; i < constraints.size(); ++i) {
    const RawConstraint& constraint = constraints[i];
    const std::string path = IndexedPath(FieldPath(parent, kWeightedConstraints), i);
    if (!constraint.selector) {
      problems.push_back(RequiredField(FieldPath(path, kWeightedSelector), "{} selects every pod"));
    } else if (const auto made = LabelSelectorMatcher::Make(constraint.selector); !made) {
      problems.push_back(FieldPath(path, kWeightedSelector) + ": " + made.error().message);
    }
    for (size_t key = 0; key < constraint.match_label_keys.size(); ++key) {
      CheckLabelKey(IndexedPath(FieldPath(path, kMatchLabelKeys), key),
                    constraint.match_label_keys[key], problems);
    }
    CheckLabelKey(FieldPath(path, kTopologyKey), constraint.topology_key, problems);
    CheckListOfValues(path, constraint, problems);
    CheckMaxSkew(FieldPath(path, kMaxSkew), constraint, problems);
    CheckWhenUnsatisfiable(FieldPath(path, kWhenUnsatisfiable), constraint.when_unsatisfiable,
                           problems);
  }
  return problems;
}

// `raw` is valid.
WeightedConstraint ConstraintOf(RawConstraint raw) {
  WeightedConstraint constraint;
  constraint.selector = *LabelSelectorMatcher::Make(raw.selector);
  constraint.namespaces = std::move(raw.namespaces);
  std::ranges::sort(constraint.namespaces);
  const auto repeated = std::ranges::unique(constraint.namespaces);
  constraint.namespaces.erase(repeated.begin(), repeated.end());
  constraint.match_label_keys = std::move(raw.match_label_keys);
  constraint.topology_key = std::move(raw.topology_key);
  constraint.values = std::move(raw.weights.empty() ? raw.order : raw.weighted_values);
  constraint.weights.assign(raw.weights.begin(), raw.weights.end());
  constraint.max_skew = raw.max_skew.value_or(1);
  constraint.do_not_schedule = raw.hard();
  return constraint;
}

WeightedTopologySpreadArgs WeightedArgsOf(std::vector<RawConstraint> raw) {
  WeightedTopologySpreadArgs args;
  for (RawConstraint& constraint : raw) {
    args.constraints.push_back(ConstraintOf(std::move(constraint)));
  }
  return args;
}

ConfigValue WithWeightedDefaults(const ConfigValue& args, const ArgsFeatures&) {
  const ConfigValue* given = args.Find(kWeightedConstraints);
  if (given == nullptr || given->list() == nullptr) return args;
  ConfigValue::List constraints = *given->list();
  for (ConfigValue& constraint : constraints) {
    const ConfigValue* weights = constraint.Find(kWeights);
    const ConfigValue* what = constraint.Find(kWhenUnsatisfiable);
    const bool has_skew = weights != nullptr && weights->list() != nullptr &&
                          !weights->list()->empty() && what != nullptr &&
                          what->string() != nullptr &&
                          *what->string() == kWhenUnsatisfiableActions[0];
    if (has_skew) constraint = WithDefault(constraint, kMaxSkew, ConfigValue(int64_t{1}));
  }
  return WithField(args, kWeightedConstraints, ConfigValue(std::move(constraints)));
}

}  // namespace

constexpr ArgsKind<WeightedTopologySpreadArgs> kWeightedTopologySpreadArgs =
    MakeArgsKind<"WeightedTopologySpread", ReadWeightedArgs, WeightedProblems, WeightedArgsOf>(
        WithWeightedDefaults);

}  // namespace berth::plugins
