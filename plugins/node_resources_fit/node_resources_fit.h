// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/placement_points.h"
#include "berth/in_tree/points.h"
#include "berth/resources.h"
#include "berth/snapshot.h"
#include "berth/status.h"
#include "plugins/dynamic_resources/device_counts.h"
#include "plugins/node_resources_fit/args.h"
#include "plugins/shared/allocation.h"
#include "plugins/shared/allocation_strategy.h"
#include "plugins/shared/extended_resource_classes.h"

namespace berth::plugins {

// One comparison of Fit: the node must have `amount` of the resource left, or `amount` more where
// the pod runs there already.
struct FitCheck {
  ResourceId id = 0;
  int64_t amount = 0;  // above 0, but for a pod that runs there
  // Devices may stand for the resource: a node that offers none of it is left to DynamicResources.
  bool or_devices = false;
  // What the pod asks for in all, where `amount` is only what it has not got yet.
  int64_t total = 0;
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

// Keeps a pod off nodes that have not enough left of what it requests, and prefers nodes by how
// full they are (LeastAllocated, MostAllocated or RequestedToCapacityRatio).
//
// The rejection is Unschedulable, since evicting pods makes room, but
// UnschedulableAndUnresolvable where the pod asks for more than the node has in all.
//
// Where a node has none of an extended resource that is scored, but a device class stands for it,
// the class's devices on the node count (DeviceCounts).
//
// A pod whose resize is deferred is counted on its node with what it wants. There it fits where the
// node has what all its pods ask for.
//
// Thread safety: the scheduling thread.
class NodeResourcesFit final : public PreFilterPlugin,
                               public ColumnFilterPlugin,
                               public PreScorePlugin,
                               public ColumnScorePlugin,
                               public ScoreExtensions,
                               public PlacementScorePlugin,
                               public EnqueueExtensions,
                               public MemoryPlugin {
 public:
  static constexpr std::string_view kName = "NodeResourcesFit";

  // `args` are valid; `handle` outlives the plugin.
  NodeResourcesFit(const NodeResourcesFitArgs& args, Handle& handle);

  Inputs DeclaredInputs() const {
    return Inputs::Of(pod_part::kRequests, {{Reach::kNode}, {Reach::kUsage}});
  }

  // Never skips: the number of pods is always checked.
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  // Names every resource that is short; scalars by name.
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override;

  // Never skips.
  Status PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  const NodeSet& feasible) override;
  // From 0 to 100.
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;

  // Changes nothing.
  Status NormalizeScore(const CycleState&, const PodInfo&, std::span<const NodeRow>,
                        std::span<int64_t>) const override {
    return Status::Success();
  }
  // False where devices count: claims take and release these without any change to the node.
  bool NormalizesByValue(const CycleState& state) const override;

  // How full the placement's nodes would be all together, whatever the strategy: from 0 to 100 for
  // the fullest.
  ScoreResult ScorePlacement(CycleState& state, const PodGroupInfo& group, const Snapshot& snapshot,
                             const PodGroupAssignments& placement) override;

  // Queues the pod when a placed pod goes or asks for less, when a node comes or grows that could
  // hold the pod, when a device class may stand for a resource of the pod, and when the pod itself
  // asks for less. One whose resize is deferred looks at its own node alone, and is queued too when
  // a pod there asks for more.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

  size_t kept_bytes() const override { return device_counts_->kept_bytes(); }

 private:
  std::vector<FitCheck> ChecksFor(const PodInfo& pod) const;
  // The same for the node on which the pod runs.
  std::vector<FitCheck> ChecksOnItsNode(const PodInfo& pod) const;
  bool IsIgnored(std::string_view resource) const;
  // What the score counts of the pod, by resource.
  std::vector<int64_t> AmountsOf(const PodInfo& pod) const;
  std::vector<AllocationTerm> TermsFor(const PodInfo& pod) const;

  Handle* handle_;
  std::set<std::string, std::less<>> ignored_resources_;
  std::set<std::string, std::less<>> ignored_resource_groups_;
  FitReasonMemo reason_memo_;
  const ExtendedResourceClasses classes_;
  AllocationStrategy strategy_;
  ScoredResources scored_;
  const std::unique_ptr<DeviceCounts> device_counts_;
};

}  // namespace berth::plugins
