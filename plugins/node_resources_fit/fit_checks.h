// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
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
ReasonSet FitReasons(std::span<const FitCheck> checks, const NodeView& node,
                     const ResourceNames& names);

// Takes the rows that fail any check out of `nodes`: 64 rows at a time, check by check, without a
// branch per row.
void FilterByFitChecks(std::span<const FitCheck> checks, const Snapshot& snapshot, NodeSet& nodes);

// The reasons for every combination of failures, interned once for each list of resources that
// pods ask for, so that a rejection allocates nothing.
//
// Thread safety: Find on the scheduling thread; what it returns is immutable and lives as long as
// the memo.
class FitReasonMemo {
 public:
  using Table = std::vector<const ReasonSet*>;  // by FitFailures

  // Both must outlive the memo.
  FitReasonMemo(ReasonTable& reasons, const ResourceNames& names)
      : reasons_(&reasons), names_(&names) {}

  // nullptr when the checks are too many for a table.
  const Table* Find(std::span<const FitCheck> checks);

 private:
  ReasonTable* reasons_;
  const ResourceNames* names_;
  // A node-based map: tables stay where they are.
  std::map<std::vector<ResourceId>, Table> tables_;
};

}  // namespace berth::plugins
