// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/volume_affinity.h"

#include <algorithm>
#include <utility>

namespace berth::plugins {
namespace {

// Few rows are matched one by one: cheaper than building the set of all matching nodes.
constexpr size_t kFewRows = 8;

// What a term may say of a field; one that says anything else matches no node.
bool IsValid(const api::NodeSelectorRequirement& field) {
  return (field.operator_ == "In" || field.operator_ == "NotIn") && field.values.size() == 1;
}

}  // namespace

VolumeAffinity::VolumeAffinity(const std::optional<api::VolumeNodeAffinity>& affinity) {
  if (!affinity || !affinity->required) return;
  api::NodeSelector by_labels;
  for (api::NodeSelectorTerm term : affinity->required->node_selector_terms) {
    if (!term.match_fields.empty()) {
      if (!std::ranges::all_of(term.match_fields, IsValid)) continue;
      if (term.match_expressions.empty()) return;
      term.match_fields.clear();
    }
    by_labels.node_selector_terms.push_back(std::move(term));
  }
  selector_ = NodeSelectorMatcher::Make(by_labels);
}

void VolumeAffinity::FilterNodes(const Snapshot& snapshot, NodeSet& nodes) const {
  if (everywhere()) return;
  if (nodes.Count() <= kFewRows) {
    nodes.Filter([&](NodeRow row) { return selector_->Matches(snapshot.node(row)); });
    return;
  }
  NodeSet matching(snapshot.num_rows());
  selector_->MatchNodes(snapshot, matching);
  nodes &= matching;
}

}  // namespace berth::plugins
