// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/loadable/cpp/async.hpp"
#include "berth/loadable/cpp/handle.hpp"
#include "berth/loadable/cpp/views.hpp"

// The extension points. A plugin is a class that derives from some of them. What each is for, and
// on which thread it runs: see the function of the same name in struct berth_plugin.
BERTH_NAMESPACE_BEGIN

enum class QueueingHint : int32_t { kQueueSkip = BERTH_QUEUE_SKIP, kQueue = BERTH_QUEUE };

// Whether an event can make `pod`, which the plugin rejected, schedulable.
using QueueingHintFn = std::function<QueueingHint(const PodView& pod, const ObjectView& old_object,
                                                  const ObjectView& new_object)>;

struct ClusterEventWithHint {
  int32_t kind = BERTH_KIND_WILDCARD;
  uint32_t action = BERTH_ACTION_ALL;
  QueueingHintFn hint = nullptr;  // nullptr: every such event queues the pod
};

// A plugin that does not implement this gets every event.
class EnqueueExtensions {
 public:
  virtual ~EnqueueExtensions() = default;
  virtual std::vector<ClusterEventWithHint> EventsToRegister() const = 0;
};

class PreEnqueuePlugin {
 public:
  virtual ~PreEnqueuePlugin() = default;
  virtual Status PreEnqueue(const PodView& pod) = 0;
};

class QueueSortPlugin {
 public:
  virtual ~QueueSortPlugin() = default;
  // Times are those of entering the queue.
  virtual bool Less(const PodView& a, Time a_time, const PodView& b, Time b_time) const = 0;
};

struct PreFilterResult {
  Status status;
  // Only these nodes can pass; nullopt: no restriction.
  std::optional<std::vector<std::string>> node_names = std::nullopt;
};

class PreFilterPlugin {
 public:
  virtual ~PreFilterPlugin() = default;
  virtual PreFilterResult PreFilter(CycleState& state, const PodView& pod,
                                    const Snapshot& snapshot) = 0;
};

// Besides PreFilterPlugin: keeps the state true when pods are imagined on nodes, or away.
class PreFilterExtensions {
 public:
  virtual ~PreFilterExtensions() = default;
  virtual Status AddPod(CycleState& state, const PodView& pod, const PodView& added,
                        const NodeView& node) = 0;
  virtual Status RemovePod(CycleState& state, const PodView& pod, const PodView& removed,
                           const NodeView& node) = 0;
  // From now on the state is to change by these two alone: counts in it must be copied.
  virtual void Detach(CycleState& /*state*/) {}
};

class FilterPlugin {
 public:
  virtual ~FilterPlugin() = default;
  virtual Status Filter(const CycleState& state, const PodView& pod,
                        const NodeView& node) const = 0;
};

// The same for many nodes at once; must agree with Filter.
class ColumnFilterPlugin : public FilterPlugin {
 public:
  virtual void FilterNodes(const CycleState& state, const PodView& pod, const Snapshot& snapshot,
                           NodeSet& nodes) const = 0;
};

// Why nodes were rejected.
class NodeToStatus {
 public:
  explicit NodeToStatus(const berth_statuses* statuses) : statuses_(statuses) {}
  // Success: it was not.
  Code Get(uint32_t row) const {
    return static_cast<Code>(internal::host->statuses_code(statuses_, row));
  }

 private:
  const berth_statuses* statuses_;
};

struct PostFilterResult {
  Status status;
  // With success: where there will be room. "" clears the nomination that the pod has.
  std::optional<std::string> nominated_node_name = std::nullopt;
};

// Tries to make room after no node passed Filter.
class PostFilterPlugin {
 public:
  virtual ~PostFilterPlugin() = default;
  virtual PostFilterResult PostFilter(CycleState& state, const PodView& pod,
                                      const Snapshot& snapshot, const NodeToStatus& statuses) = 0;
};

class PreScorePlugin {
 public:
  virtual ~PreScorePlugin() = default;
  virtual Status PreScore(CycleState& state, const PodView& pod, const Snapshot& snapshot,
                          const ConstNodeSet& feasible) = 0;
};

struct ScoreResult {
  int64_t score = 0;
  Status status = {};
};

class ScorePlugin {
 public:
  virtual ~ScorePlugin() = default;
  virtual ScoreResult Score(const CycleState& state, const PodView& pod,
                            const NodeView& node) const = 0;
};

// The same for many nodes at once: scores[i] belongs to rows[i]. Must agree with Score.
class ColumnScorePlugin : public ScorePlugin {
 public:
  virtual void ScoreNodes(const CycleState& state, const PodView& pod, const Snapshot& snapshot,
                          const uint32_t* rows, int64_t* scores, size_t n) const = 0;
};

// Besides ScorePlugin: brings scores to 0..100.
class NormalizeScorePlugin {
 public:
  virtual ~NormalizeScorePlugin() = default;
  virtual Status NormalizeScore(const CycleState& state, const PodView& pod,
                                const Snapshot& snapshot, const uint32_t* rows, int64_t* scores,
                                size_t n) const = 0;
};

class ReservePlugin {
 public:
  virtual ~ReservePlugin() = default;
  virtual Status Reserve(CycleState& state, const PodView& pod, std::string_view node_name) = 0;
  virtual void Unreserve(CycleState& state, const PodView& pod, std::string_view node_name) = 0;
};

struct PermitResult {
  Status status;
  Duration timeout{};

  // Waits for an approval, at most 15 minutes.
  static PermitResult Wait(Duration timeout, std::string reason = "") {
    return {Status(Code::kWait, std::move(reason)), timeout};
  }
};

class PermitPlugin {
 public:
  virtual ~PermitPlugin() = default;
  virtual PermitResult Permit(CycleState& state, const PodView& pod,
                              std::string_view node_name) = 0;
};

class PreBindPlugin {
 public:
  virtual ~PreBindPlugin() = default;
  virtual Status PreBindPreFlight(CycleState& state, const PodView& pod,
                                  std::string_view node_name) = 0;
  // `pod`, `state` and `node_name` are good until async.Done().
  virtual void PreBind(CycleState state, PodView pod, std::string_view node_name, Async async) = 0;
};

// The same on a thread of the plugin's own, which may block.
class BlockingPreBindPlugin {
 public:
  virtual ~BlockingPreBindPlugin() = default;
  virtual Status PreBindPreFlight(CycleState& state, const PodView& pod,
                                  std::string_view node_name) = 0;
  virtual Status PreBind(CycleState& state, const PodView& pod, std::string_view node_name,
                         const Cancellation& cancellation) = 0;
};

class BindPlugin {
 public:
  virtual ~BindPlugin() = default;
  virtual void Bind(CycleState state, PodView pod, std::string_view node_name, Async async) = 0;
};

// The same on a thread of the plugin's own, which may block.
class BlockingBindPlugin {
 public:
  virtual ~BlockingBindPlugin() = default;
  virtual Status Bind(CycleState& state, const PodView& pod, std::string_view node_name,
                      const Cancellation& cancellation) = 0;
};

// On the binding thread; of a plugin that blocks, on a thread of its own.
class PostBindPlugin {
 public:
  virtual ~PostBindPlugin() = default;
  virtual void PostBind(CycleState& state, const PodView& pod, std::string_view node_name) = 0;
};

BERTH_NAMESPACE_END
