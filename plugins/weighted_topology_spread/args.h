// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/label_selector.h"
#include "plugins/shared/args_kind.h"

namespace berth::plugins {

// How pods are to stand over some values of a node label.
struct WeightedConstraint {
  // The pods that it holds for and that it counts, each with those of its own namespace.
  LabelSelectorMatcher selector;
  std::vector<std::string> namespaces;  // sorted, unique; empty: all
  // Pods that differ in one of these labels are counted apart.
  std::vector<std::string> match_label_keys;
  std::string topology_key;
  std::vector<std::string> values;  // each once, at least one
  // By value, from 1; a value's share of the pods is its part of the sum. Empty: the values are in
  // order, and a later one is for pods that find no room in those before it.
  std::vector<int64_t> weights;
  // By how many pods a value may exceed its share.
  int64_t max_skew = 1;
  bool do_not_schedule = false;

  bool ordered() const { return weights.empty(); }
};

struct WeightedTopologySpreadArgs {
  std::vector<WeightedConstraint> constraints;
};

// Errors: a constraint without selector, topologyKey, whenUnsatisfiable or values, with both
// weights and order, with more than 100 values or one of them twice, a weight outside 1 to 1000000,
// maxSkew where it has no effect.
extern const ArgsKind<WeightedTopologySpreadArgs> kWeightedTopologySpreadArgs;

}  // namespace berth::plugins
