// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_affinity/preferred_terms.h"

#include "berth/field_errors.h"

namespace berth::plugins {
namespace {

bool Counts(const api::PreferredSchedulingTerm& term) {
  return term.weight != 0 &&
         !(term.preference.match_expressions.empty() && term.preference.match_fields.empty());
}

NodeSelectorMatcher MatcherOf(const api::PreferredSchedulingTerm& term) {
  return NodeSelectorMatcher::Make({{term.preference}});
}

}  // namespace

std::vector<std::string> PreferredTerms::Problems(
    std::span<const api::PreferredSchedulingTerm> terms) {
  // The matcher counts terms of its own; what comes after its index is the same.
  constexpr std::string_view kOwnIndex = "nodeSelectorTerms[0]";
  std::vector<std::string> problems;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (!Counts(terms[i])) continue;
    const NodeSelectorMatcher matcher = MatcherOf(terms[i]);
    for (const Error& error : matcher.errors()) {
      problems.push_back("[" + std::to_string(i) + "]" + error.message.substr(kOwnIndex.size()));
    }
  }
  return problems;
}

Result<PreferredTerms> PreferredTerms::Make(std::span<const api::PreferredSchedulingTerm> terms) {
  PreferredTerms result;
  bool failed = false;
  for (const api::PreferredSchedulingTerm& term : terms) {
    if (!Counts(term)) continue;
    result.terms_.push_back({MatcherOf(term), term.weight});
    failed = failed || !result.terms_.back().matcher.errors().empty();
  }
  if (failed) return Fail(*AggregateProblems(Problems(terms)));
  return result;
}

int64_t PreferredTerms::Score(const api::Node& node) const {
  int64_t score = 0;
  for (const Term& term : terms_) {
    if (term.matcher.Matches(node)) score += term.weight;
  }
  return score;
}

void PreferredTerms::AddScores(const Snapshot& snapshot, std::span<const NodeRow> nodes,
                               std::span<int64_t> scores) const {
  NodeSet matching;
  for (const Term& term : terms_) {
    matching.Assign(snapshot.num_rows(), false);
    term.matcher.MatchNodes(snapshot, matching);
    for (size_t i = 0; i < nodes.size(); ++i) {
      scores[i] += matching.Test(nodes[i]) ? term.weight : 0;
    }
  }
}

}  // namespace berth::plugins
