// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/args.h"

#include <algorithm>
#include <span>

namespace berth::plugins {
namespace {

constexpr std::string_view kSystem = "System";
constexpr std::string_view kList = "List";
constexpr std::string_view kDefaultingType = "defaultingType";
constexpr std::string_view kConstraints = "defaultConstraints";

using Constraints = std::vector<api::TopologySpreadConstraint>;

std::optional<std::string> ReadOptionalText(FieldReader& fields, std::string_view field) {
  std::string text;
  if (!fields.Read(field, text)) return std::nullopt;
  return text;
}

api::TopologySpreadConstraint ReadConstraint(FieldReader& fields) {
  api::TopologySpreadConstraint constraint;
  fields.Read("maxSkew", constraint.max_skew);
  fields.Read("topologyKey", constraint.topology_key);
  fields.Read("whenUnsatisfiable", constraint.when_unsatisfiable);
  // Whatever it holds, it is forbidden.
  if (fields.Get("labelSelector") != nullptr) constraint.label_selector.emplace();
  int32_t min_domains = 0;
  if (fields.Read("minDomains", min_domains)) constraint.min_domains = min_domains;
  constraint.node_affinity_policy = ReadOptionalText(fields, "nodeAffinityPolicy");
  constraint.node_taints_policy = ReadOptionalText(fields, "nodeTaintsPolicy");
  fields.Read("matchLabelKeys", constraint.match_label_keys);
  return constraint;
}

void CheckDefaultingType(const std::string& path, std::string_view type,
                         const Constraints& constraints, std::vector<std::string>& problems) {
  if (type != kSystem && type != kList) {
    constexpr std::string_view kTypes[] = {kSystem, kList};
    problems.push_back(UnsupportedField(path, Quoted(type), kTypes));
  } else if (type == kSystem && !constraints.empty()) {
    problems.push_back(InvalidField(path, Quoted(type), "when .defaultConstraints are not empty"));
  }
}

void CheckConstraint(const std::string& list, const Constraints& constraints, size_t index,
                     std::vector<std::string>& problems) {
  const api::TopologySpreadConstraint& constraint = constraints[index];
  const std::string path = IndexedPath(list, index);
  if (constraint.max_skew <= 0) {
    problems.push_back(InvalidField(path + ".maxSkew", std::to_string(constraint.max_skew),
                                    "not in valid range (0, inf)"));
  }
  CheckLabelKey(path + ".topologyKey", constraint.topology_key, problems);
  CheckWhenUnsatisfiable(path + ".whenUnsatisfiable", constraint.when_unsatisfiable, problems);
  if (constraint.label_selector) {
    problems.push_back(
        ForbiddenField(path + ".labelSelector",
                       "constraint must not define a selector, as they deduced for each pod"));
  }
  const auto earlier = std::span(constraints).first(index);
  const bool repeated = std::ranges::any_of(earlier, [&](const auto& other) {
    return other.topology_key == constraint.topology_key &&
           other.when_unsatisfiable == constraint.when_unsatisfiable;
  });
  if (repeated) {
    problems.push_back(DuplicateField(
        path, Quoted("{" + constraint.topology_key + ", " + constraint.when_unsatisfiable + "}")));
  }
}

// The args as the file has them: the type as text.
struct RawSpreadArgs {
  std::string type;
  Constraints constraints;
};

RawSpreadArgs ReadSpreadArgs(FieldReader& fields) {
  RawSpreadArgs args;
  fields.Read(kDefaultingType, args.type);
  if (args.type.empty()) args.type = kSystem;
  ReadEach(fields, kConstraints,
           [&](FieldReader& entry) { args.constraints.push_back(ReadConstraint(entry)); });
  return args;
}

std::vector<std::string> SpreadProblems(const RawSpreadArgs& args, const std::string& path) {
  std::vector<std::string> problems;
  CheckDefaultingType(FieldPath(path, kDefaultingType), args.type, args.constraints, problems);
  for (size_t i = 0; i < args.constraints.size(); ++i) {
    CheckConstraint(FieldPath(path, kConstraints), args.constraints, i, problems);
  }
  return problems;
}

PodTopologySpreadArgs SpreadArgsOf(RawSpreadArgs raw) {
  return {raw.type == kSystem, std::move(raw.constraints)};
}

ConfigValue WithSpreadDefaults(const ConfigValue& args, const ArgsFeatures&) {
  const ConfigValue* type = args.Find(kDefaultingType);
  const bool given = type != nullptr && type->string() != nullptr && !type->string()->empty();
  return given ? args : WithField(args, kDefaultingType, ConfigValue(std::string(kSystem)));
}

}  // namespace

constexpr ArgsKind<PodTopologySpreadArgs> kPodTopologySpreadArgs =
    MakeArgsKind<"PodTopologySpread", ReadSpreadArgs, SpreadProblems, SpreadArgsOf>(
        WithSpreadDefaults);

}  // namespace berth::plugins
