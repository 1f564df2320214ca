// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "berth/api/node.h"
#include "berth/api/pod.h"
#include "berth/node_set.h"
#include "berth/result.h"
#include "berth/snapshot.h"

namespace berth {

// The features that a node must declare (status.declaredFeatures) to run a pod with this spec; by
// name, ascending.
std::vector<std::string_view> RequiredNodeFeatures(const api::Pod& pod);

// Whether `toleration` tolerates `taint`: effect and key empty or equal, and the operator holds
// (Exists; Equal or "" on the value). Lt and Gt hold only with `comparison_operators`.
bool Tolerates(const api::Toleration& toleration, const api::Taint& taint,
               bool comparison_operators);
bool Tolerates(std::span<const api::Toleration> tolerations, const api::Taint& taint,
               bool comparison_operators);

// A node selector (required node affinity), checked once and then matched often.
//
// Terms are ORed, a term's expressions and fields ANDed. A term without any, or with one that
// cannot be parsed, matches nothing. matchFields knows metadata.name with In and NotIn.
//
// Thread safety: immutable after Make.
class NodeSelectorMatcher {
 public:
  static NodeSelectorMatcher Make(const api::NodeSelector& selector);

  bool Matches(const api::Node& node) const;
  // The same for all nodes at once: adds the matching nodes to `out` (snapshot.num_rows() rows).
  void MatchNodes(const Snapshot& snapshot, NodeSet& out) const;
  // Why terms could not be parsed, in order.
  const std::vector<Error>& errors() const& { return errors_; }
  const std::vector<Error>& errors() && = delete;

 private:
  struct Term {
    std::vector<api::NodeSelectorRequirement> expressions;
    std::vector<api::NodeSelectorRequirement> fields;
  };
  static bool TermMatches(const Term& term, const api::Node& node);

  std::vector<Term> terms_;
  std::vector<Error> errors_;
};

// spec.nodeSelector and required node affinity of a pod together.
class RequiredNodeAffinity {
 public:
  static RequiredNodeAffinity Make(const api::Pod& pod);
  // Neither part is there: every node matches.
  bool empty() const { return node_selector_.empty() && !affinity_.has_value(); }
  bool Matches(const api::Node& node) const;
  // Why terms of the affinity could not be parsed, in order.
  std::span<const Error> errors() const {
    return affinity_ ? std::span<const Error>(affinity_->errors()) : std::span<const Error>();
  }
  // Takes the nodes that do not match out of `nodes`.
  void FilterNodes(const Snapshot& snapshot, NodeSet& nodes) const;

 private:
  api::StringMap node_selector_;
  std::optional<NodeSelectorMatcher> affinity_;
};

}  // namespace berth
