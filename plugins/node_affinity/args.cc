// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_affinity/args.h"

#include "plugins/node_affinity/preferred_terms.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

api::NodeSelectorTerm ReadTerm(FieldReader& fields) {
  api::NodeSelectorTerm term;
  term.match_expressions = ReadNodeRequirements(fields, "matchExpressions");
  term.match_fields = ReadNodeRequirements(fields, "matchFields");
  return term;
}

api::NodeSelector ReadSelector(FieldReader& fields) {
  api::NodeSelector selector;
  ReadEach(fields, "nodeSelectorTerms",
           [&](FieldReader& entry) { selector.node_selector_terms.push_back(ReadTerm(entry)); });
  return selector;
}

api::PreferredSchedulingTerm ReadPreferred(FieldReader& fields) {
  api::PreferredSchedulingTerm term;
  fields.Read("weight", term.weight);
  ReadNested(fields, "preference",
             [&](FieldReader& nested) { term.preference = ReadTerm(nested); });
  return term;
}

api::NodeAffinity ReadAffinity(FieldReader& fields) {
  api::NodeAffinity affinity;
  ReadNested(fields, kRequired, [&](FieldReader& nested) {
    affinity.required_during_scheduling_ignored_during_execution = ReadSelector(nested);
  });
  ReadEach(fields, kPreferred, [&](FieldReader& entry) {
    affinity.preferred_during_scheduling_ignored_during_execution.push_back(ReadPreferred(entry));
  });
  return affinity;
}

std::vector<std::string> AddedAffinityProblems(const NodeAffinityArgs& args,
                                               const std::string& path) {
  std::vector<std::string> problems;
  if (!args.added_affinity) return problems;
  const std::string added = FieldPath(path, "addedAffinity");
  if (const auto& required =
          args.added_affinity->required_during_scheduling_ignored_during_execution) {
    const NodeSelectorMatcher matcher = NodeSelectorMatcher::Make(*required);
    for (const Error& error : matcher.errors()) {
      problems.push_back(added + "." + std::string(kRequired) + "." + error.message);
    }
  }
  const auto& preferred = args.added_affinity->preferred_during_scheduling_ignored_during_execution;
  for (const std::string& problem : PreferredTerms::Problems(preferred)) {
    problems.push_back(added + "." + std::string(kPreferred) + problem);
  }
  return problems;
}

NodeAffinityArgs ReadNodeAffinityArgs(FieldReader& fields) {
  NodeAffinityArgs args;
  ReadNested(fields, "addedAffinity",
             [&](FieldReader& nested) { args.added_affinity = ReadAffinity(nested); });
  return args;
}

}  // namespace

constexpr ArgsKind<NodeAffinityArgs> kNodeAffinityArgs =
    MakeArgsKind<"NodeAffinity", ReadNodeAffinityArgs, AddedAffinityProblems>();

}  // namespace berth::plugins
