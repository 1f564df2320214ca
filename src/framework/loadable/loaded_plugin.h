// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "berth/in_tree/plugin.h"
#include "berth/in_tree/points.h"
#include "berth/loadable/abi.h"
#include "src/framework/loadable/plugin_handle.h"
#include "src/framework/loadable/views.h"
#include "src/framework/loadable/worker_pool.h"

namespace berth::framework::loadable {

// One instance of a plugin from a library: each interface of an extension point on top of a
// function of berth_plugin. Make() leaves out the points that the plugin does not have.
//
// Thread safety: that of the interfaces; the plugin keeps to what abi.h says.
class LoadedPlugin final : public EnqueueExtensions,
                           public PreEnqueuePlugin,
                           public QueueSortPlugin,
                           public PreFilterPlugin,
                           public PreFilterExtensions,
                           public ColumnFilterPlugin,
                           public PostFilterPlugin,
                           public PreScorePlugin,
                           public ColumnScorePlugin,
                           public ScoreExtensions,
                           public ReservePlugin,
                           public PermitPlugin,
                           public PreBindPlugin,
                           public BindPlugin,
                           public PostBindPlugin {
 public:
  // `table` has passed the loader's checks. Errors: what the plugin says of its args.
  // `kinds` are the table's own kinds.
  static Result<Plugin> Make(const berth_plugin& table, std::vector<api::PluginKindId> kinds,
                             const ConfigValue& args, Handle& handle);
  ~LoadedPlugin() override;

  Inputs DeclaredInputs() const;
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

  Status PreEnqueue(const PodInfo& pod) override;
  bool Less(const QueueSortKey& a, const QueueSortKey& b) const override;
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  Status AddPod(CycleState& state, const PodInfo& pod, const PodInfo& added,
                const NodeView& node) override;
  Status RemovePod(CycleState& state, const PodInfo& pod, const PodInfo& removed,
                   const NodeView& node) override;
  void Detach(CycleState& state) override;
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override;
  PostFilterResult PostFilter(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                              const NodeToStatus& statuses) override;
  Status PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  const NodeSet& feasible) override;
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;
  Status NormalizeScore(const CycleState& state, const PodInfo& pod, std::span<const NodeRow> nodes,
                        std::span<int64_t> scores) const override;
  Status Reserve(CycleState& state, const PodInfo& pod, std::string_view node_name) override;
  void Unreserve(CycleState& state, const PodInfo& pod, std::string_view node_name) override;
  PermitResult Permit(CycleState& state, const PodInfo& pod, std::string_view node_name) override;
  Status PreBindPreFlight(CycleState& state, const PodInfo& pod,
                          std::string_view node_name) override;
  bool AllowParallel() const override;
  void PreBind(CycleState& state, const PodInfo& pod, std::string_view node_name,
               Cancellation& cancellation, AsyncDone done) override;
  void Bind(CycleState& state, const PodInfo& pod, std::string_view node_name,
            Cancellation& cancellation, AsyncDone done) override;
  void PostBind(CycleState& state, const PodInfo& pod, std::string_view node_name) override;

 private:
  using AsyncCall = void (*)(void*, berth_state*, const berth_pod*, berth_string, berth_async*);

  LoadedPlugin(const berth_plugin& table, std::vector<api::PluginKindId> kinds, Handle& handle);
  // nullopt: there is no such kind.
  std::optional<EventResource> ResourceOf(int32_t kind) const;
  // What `call` of the table says of the pod; `rest` is what it takes behind self, verdict, state
  // and pod.
  template <typename Call, typename State, typename... Rest>
  Status Ask(Call call, State& state, const PodInfo& pod, Rest... rest) const;
  void Start(AsyncCall call, std::unique_ptr<berth_async> async);
  Result<QueueingHint> Hint(const berth_cluster_event& event, const api::Pod& pod,
                            const api::ObjectPtr& old_object,
                            const api::ObjectPtr& new_object) const;
  EventObject Describe(const api::ObjectPtr& object) const;

  const berth_plugin table_;
  mutable berth_host_handle handle_;
  void* self_ = nullptr;
  std::unique_ptr<WorkerPool> workers_;  // nullptr: the plugin does not block
};

}  // namespace berth::framework::loadable
