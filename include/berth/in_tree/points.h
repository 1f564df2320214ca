// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/cluster_event.h"
#include "berth/in_tree/async.h"
#include "berth/in_tree/cycle_state.h"
#include "berth/in_tree/extension_points.h"
#include "berth/in_tree/inputs.h"
#include "berth/node_set.h"
#include "berth/pod_info.h"
#include "berth/snapshot.h"
#include "berth/status.h"
#include "berth/time.h"

// The extension points of a scheduling profile, under Kubernetes' own names. A plugin is a class
// that implements some of them. For plugins built together with Berth: no ABI promise.
//
// Threads: everything up to Permit, and Unreserve, is called on the scheduling thread; Filter,
// Score and their column forms are const and may also run on evaluation workers, several at once.
// PreBind, Bind and PostBind are called on the binding thread and must not touch what the
// scheduling thread owns.
namespace berth::inline in_tree {

inline constexpr int64_t kMaxNodeScore = 100;
inline constexpr int64_t kMinNodeScore = 0;

// Which of its points a profile calls a plugin at.
struct CalledPoints {
#define BERTH_CALLED(Name, member, ...) bool member = false;
  BERTH_EXTENSION_POINTS(BERTH_CALLED)
#undef BERTH_CALLED
};

// Gets its places in its profile, once, before any other call.
class PointsAwarePlugin {
 public:
  virtual ~PointsAwarePlugin() = default;
  virtual void SetCalledPoints(const CalledPoints& points) = 0;
};

// Tells what it keeps from pod to pod besides its data in CycleStates.
class MemoryPlugin {
 public:
  virtual ~MemoryPlugin() = default;
  // About how many bytes. They count in the limit on all that is kept (docs/engine.md); asked for
  // after each decision.
  virtual size_t kept_bytes() const = 0;
};

// Which cluster events may make a pod that this plugin rejected schedulable. A plugin that does
// not implement this gets every event.
class EnqueueExtensions {
 public:
  virtual ~EnqueueExtensions() = default;
  virtual std::vector<ClusterEventWithHint> EventsToRegister() const = 0;
};

// Decides whether a pod may enter activeQ. A rejection gates the pod: no attempt, no event.
class PreEnqueuePlugin {
 public:
  virtual ~PreEnqueuePlugin() = default;
  virtual Status PreEnqueue(const PodInfo& pod) = 0;
};

// A pod as QueueSort sees it.
struct QueueSortKey {
  const PodInfo* pod = nullptr;
  Time timestamp;
};

// Orders activeQ. Less must be a strict weak ordering.
class QueueSortPlugin {
 public:
  virtual ~QueueSortPlugin() = default;
  virtual bool Less(const QueueSortKey& a, const QueueSortKey& b) const = 0;
};

// Keeps a PreFilter's data true when pods are imagined on a node or away from it.
class PreFilterExtensions {
 public:
  virtual ~PreFilterExtensions() = default;
  virtual Status AddPod(CycleState& state, const PodInfo& pod, const PodInfo& added,
                        const NodeView& node) = 0;
  virtual Status RemovePod(CycleState& state, const PodInfo& pod, const PodInfo& removed,
                           const NodeView& node) = 0;
  // From now on pods come and go in the snapshot, and the data are to change by AddPod and
  // RemovePod alone: what is read in the snapshot's counts must be copied.
  virtual void Detach(CycleState& /*state*/) {}
};

struct PreFilterResult {
  Status status;
  // Only these nodes can pass; sorted, unique. nullopt: no restriction.
  std::optional<std::vector<std::string>> node_names = std::nullopt;
};

// Looks at the pod and the cluster once. Skip: this plugin's Filter has nothing to say.
class PreFilterPlugin {
 public:
  virtual ~PreFilterPlugin() = default;
  virtual PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                                    const Snapshot& snapshot) = 0;
};

// Brings what PreFilter left in the state up to date, where asking again would cost more. For
// plugins that reach beyond the node; those that do not implement it are asked again about every
// node whenever something has changed.
class UpdatablePreFilterPlugin : public PreFilterPlugin {
 public:
  // `state` is what PreFilter, for a pod alike in the parts that this plugin reads, and earlier
  // calls made of it; empty when PreFilter said Skip. Since then pods were added to or removed from
  // `rows` (which may repeat), and nothing else has changed. Adds to `touched` the rows whose
  // verdict may differ now. False: PreFilter must be asked again, also where it would not say Skip
  // any more.
  virtual bool UpdatePreFilter(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                               std::span<const NodeRow> rows, NodeSet& touched) = 0;
};

// Whether a pod can run on a node.
class FilterPlugin {
 public:
  virtual ~FilterPlugin() = default;
  virtual Status Filter(const CycleState& state, const PodInfo& pod,
                        const NodeView& node) const = 0;
};

// The same verdict for many nodes in one call, without reasons. Must agree with Filter on every
// row; it is never used on overlays.
class ColumnFilterPlugin : public FilterPlugin {
 public:
  // Takes the rows that Filter rejects out of `nodes`. Error where Filter fails on one of them,
  // with its words: what is left in `nodes` says nothing then.
  virtual Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                             NodeSet& nodes) const = 0;
};

// Keeps the rows of `nodes` for which ask(row) is Success; ends with the first Error.
template <typename Ask>
Status FilterEach(NodeSet& nodes, Ask ask) {
  Status failure;
  nodes.Filter([&](NodeRow row) {
    if (!failure.ok()) return false;
    const Status status = ask(row);
    if (status.code() == Code::kError) failure = status;
    return status.ok();
  });
  return failure;
}

enum class NominatingMode : uint8_t { kNoop, kOverride };

// What becomes of the pod's nominatedNodeName. kOverride with "" clears it.
struct NominatingInfo {
  NominatingMode mode = NominatingMode::kNoop;
  std::string nominated_node_name;
};

// Why nodes were rejected: the rows that have a status of their own, and what all others have.
class NodeToStatus {
 public:
  virtual ~NodeToStatus() = default;
  virtual Status Get(NodeRow row) const = 0;
};

struct PostFilterResult {
  Status status;
  std::optional<NominatingInfo> nominating = std::nullopt;
};

// Tries to make room after no node passed Filter.
class PostFilterPlugin {
 public:
  virtual ~PostFilterPlugin() = default;
  virtual PostFilterResult PostFilter(CycleState& state, const PodInfo& pod,
                                      const Snapshot& snapshot, const NodeToStatus& statuses) = 0;
};

// Looks at the feasible nodes once before scoring. Skip: this plugin's Score adds nothing.
class PreScorePlugin {
 public:
  virtual ~PreScorePlugin() = default;
  virtual Status PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                          const NodeSet& feasible) = 0;
};

// Nodes in groups that score alike.
struct ScoreGroups {
  std::span<const uint16_t> group_of;  // by row
  std::span<const int64_t> raw;        // by group
};

// The same as UpdatablePreFilterPlugin, for what PreScore left.
class UpdatablePreScorePlugin : public PreScorePlugin {
 public:
  // What Score would say, group by group, where a few numbers say it for all rows; nullopt where
  // that is not so. Must stay one or the other until PreScore is asked again.
  virtual std::optional<ScoreGroups> Groups(const CycleState& /*state*/) const {
    return std::nullopt;
  }
  // `feasible` may differ from that of PreScore and earlier calls. Adds to `touched` the rows whose
  // raw score (with Groups(): whose group) may differ now, feasible or not. False: PreScore must be
  // asked again.
  virtual bool UpdatePreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                              std::span<const NodeRow> rows, const NodeSet& feasible,
                              NodeSet& touched) = 0;
};

struct ScoreResult {
  int64_t score = 0;
  Status status = {};
};

class ScorePlugin {
 public:
  virtual ~ScorePlugin() = default;
  // Any value; it must lie in [kMinNodeScore, kMaxNodeScore] once normalised.
  virtual ScoreResult Score(const CycleState& state, const PodInfo& pod,
                            const NodeView& node) const = 0;
};

// Brings the scores of a ScorePlugin into [kMinNodeScore, kMaxNodeScore].
class ScoreExtensions {
 public:
  virtual ~ScoreExtensions() = default;
  // scores[i] belongs to nodes[i].
  virtual Status NormalizeScore(const CycleState& state, const PodInfo& pod,
                                std::span<const NodeRow> nodes,
                                std::span<int64_t> scores) const = 0;
  // Whether NormalizeScore looks at nothing but which raw scores there are: each may then be given
  // once, however many nodes have it, and nodes[i] may be kNoRow.
  virtual bool NormalizesByValue(const CycleState& /*state*/) const { return false; }
};

// The same scores for many nodes in one call. Must agree with Score on every row.
class ColumnScorePlugin : public ScorePlugin {
 public:
  // Sets scores[i] for nodes[i].
  virtual void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                          std::span<const NodeRow> nodes, std::span<int64_t> scores) const = 0;
};

// Claims and releases what the chosen node gives the pod, in the plugin's own books.
class ReservePlugin {
 public:
  virtual ~ReservePlugin() = default;
  virtual Status Reserve(CycleState& state, const PodInfo& pod, std::string_view node_name) = 0;
  // Must be idempotent: it is also called when Reserve was never reached.
  virtual void Unreserve(CycleState& state, const PodInfo& pod, std::string_view node_name) = 0;
};

struct PermitResult {
  Status status;
  Duration timeout{};  // with Code::kWait: how long to wait, at most 15 minutes
};

// The last word before binding: yes, no, or wait for an approval.
class PermitPlugin {
 public:
  virtual ~PermitPlugin() = default;
  virtual PermitResult Permit(CycleState& state, const PodInfo& pod,
                              std::string_view node_name) = 0;
};

// Work that must be done before the pod is bound, such as binding its volumes. It may take
// minutes and holds no thread meanwhile.
class PreBindPlugin {
 public:
  virtual ~PreBindPlugin() = default;
  // Success: PreBind has work; Skip: it has none and is not called. Scheduling thread.
  virtual Status PreBindPreFlight(CycleState& state, const PodInfo& pod,
                                  std::string_view node_name) = 0;
  // Whether PreBind may run at the same time as its neighbours' in the list.
  virtual bool AllowParallel() const { return false; }
  // `state`, `pod` and `cancellation` outlive the call to `done`.
  virtual void PreBind(CycleState& state, const PodInfo& pod, std::string_view node_name,
                       Cancellation& cancellation, AsyncDone done) = 0;
};

// Tells the API server. Skip passes the pod on to the next Bind plugin.
class BindPlugin {
 public:
  virtual ~BindPlugin() = default;
  virtual void Bind(CycleState& state, const PodInfo& pod, std::string_view node_name,
                    Cancellation& cancellation, AsyncDone done) = 0;
};

// Called once the pod is bound.
class PostBindPlugin {
 public:
  virtual ~PostBindPlugin() = default;
  virtual void PostBind(CycleState& state, const PodInfo& pod, std::string_view node_name) = 0;
};

}  // namespace berth::inline in_tree
