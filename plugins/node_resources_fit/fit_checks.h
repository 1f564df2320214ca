// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "berth/resources.h"
#include "berth/snapshot.h"
#include "berth/status.h"

namespace berth::plugins {

// One comparison of Fit: the node must have `amount` of the resource left.
struct FitCheck {
  ResourceId id = 0;
  int64_t amount = 0;  // above 0
  // Devices may stand for the resource: a node that offers none of it is left to DynamicResources.
  bool or_devices = false;
};

// Which checks a node fails: bit 0 is "too many pods", bit i + 1 the i-th check. Checks past the
// 63rd have no bit.
using FitFailures = uint64_t;

struct FitResult {
  bool fits = true;
  // A failed check asks for more than the node could ever give.
  bool unresolvable = false;
  FitFailures failures = 0;
};

// Runs the checks on one node, the overlay included.
FitResult RunFitChecks(std::span<const FitCheck> checks, const NodeView& node);
// What the node is short of: "Too many pods", then "Insufficient <resource>" in the checks' order.
ReasonSet ReasonsOnNode(std::span<const FitCheck> checks, const NodeView& node,
                        const ResourceNames& names);

// Takes the rows that fail any check out of `nodes`: 64 rows at a time, check by check, without a
// branch per row.
void FilterByFitChecks(std::span<const FitCheck> checks, const Snapshot& snapshot, NodeSet& nodes);

// The reasons for every combination of failures of one list of checks. Statuses made of them are
// good while it lives.
struct FitReasons {
  ReasonTable table;
  std::vector<const ReasonSet*> by_failures;
};

// The reasons for the lists of resources that pods ask for, each made once, so that a rejection
// allocates nothing. When there are many lists, all are forgotten.
//
// Thread safety: Find on the scheduling thread; what it returns is immutable.
class FitReasonMemo {
 public:
  // `names` must outlive the memo.
  explicit FitReasonMemo(const ResourceNames& names) : names_(&names) {}

  // To be held as long as the statuses made of it. nullptr when the checks are too many.
  std::shared_ptr<const FitReasons> Find(std::span<const FitCheck> checks);

  size_t size() const { return tables_.size(); }

 private:
  const ResourceNames* names_;
  std::map<std::vector<ResourceId>, std::shared_ptr<const FitReasons>> tables_;
};

}  // namespace berth::plugins
