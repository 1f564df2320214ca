// SPDX-License-Identifier: Apache-2.0
#include "src/framework/loadable/loaded_plugin.h"

#include <algorithm>
#include <utility>

#include "src/base/logging.h"
#include "src/framework/loadable/host_table.h"
#include "src/framework/loadable/plugin_state.h"

// A PreBind or Bind of a loaded plugin for one pod. Made for the call, freed when it is done.
//
// Thread safety: one owner, the plugin; but cancellation may be asked about on any thread.
struct berth_host_async {
  berth_host_async(const void* plugin, berth::Handle& of, berth::CycleState& cycle,
                   const berth::PodInfo& of_pod, std::string_view node, berth::Cancellation& cancel,
                   berth::AsyncDone when_done)
      : handle(of),
        state(plugin, cycle),
        info(of_pod),
        pod(berth::framework::loadable::View(of_pod)),
        node_name(node),
        cancellation(cancel),
        done(std::move(when_done)) {}

  berth::Handle& handle;
  berth_host_state state;
  const berth::PodInfo& info;
  const berth_pod pod;
  const std::string node_name;
  berth::Cancellation& cancellation;
  berth::AsyncDone done;
  bool binds = false;  // a Bind, not a PreBind
};

namespace berth::framework::loadable {
namespace {

constexpr uint32_t kDefaultWorkers = 4;
constexpr uint32_t kMaxWorkers = 64;
// The parts that abi.h offers.
constexpr uint32_t kOfferedParts =
    BERTH_READS_POD_NODE_NAME | BERTH_READS_POD_TOLERATIONS | BERTH_READS_POD_NODE_AFFINITY |
    BERTH_READS_POD_HOST_PORTS | BERTH_READS_POD_REQUESTS | BERTH_READS_POD_IMAGES |
    BERTH_READS_POD_LABELS | BERTH_READS_POD_NAMESPACE | BERTH_READS_POD_PRIORITY |
    BERTH_READS_POD_TOPOLOGY_SPREAD | BERTH_READS_POD_OWNER | BERTH_READS_POD_SELECTED_LABELS;

static_assert(BERTH_READS_POD_NODE_NAME == pod_part::kNodeName &&
              BERTH_READS_POD_TOLERATIONS == pod_part::kTolerations &&
              BERTH_READS_POD_NODE_AFFINITY == pod_part::kNodeAffinity &&
              BERTH_READS_POD_HOST_PORTS == pod_part::kHostPorts &&
              BERTH_READS_POD_REQUESTS == pod_part::kRequests &&
              BERTH_READS_POD_IMAGES == pod_part::kImages &&
              BERTH_READS_POD_NAMESPACE == pod_part::kNamespace &&
              BERTH_READS_POD_PRIORITY == pod_part::kPriority &&
              BERTH_READS_POD_OWNER == pod_part::kOwner &&
              BERTH_READS_POD_LABELS == pod_part::kLabels &&
              BERTH_READS_POD_TOPOLOGY_SPREAD == pod_part::kTopologySpread &&
              BERTH_READS_POD_SELECTED_LABELS == pod_part::kTestedLabels);
static_assert(BERTH_KIND_COMPOSITE_POD_GROUP ==
                  static_cast<int>(EventResource::kCompositePodGroup) &&
              BERTH_KIND_NODE == static_cast<int>(EventResource::kNode) &&
              BERTH_ACTION_ALL == action::kAll &&
              BERTH_ACTION_UPDATE_POD_LABEL == action::kUpdatePodLabel &&
              BERTH_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED ==
                  action::kUpdatePodSchedulingGatesEliminated);
static_assert(BERTH_PENDING == static_cast<int>(Code::kPending) &&
              BERTH_SKIP == static_cast<int>(Code::kSkip) &&
              BERTH_UNSCHEDULABLE == static_cast<int>(Code::kUnschedulable));
static_assert(BERTH_CPU == kCpu && BERTH_MEMORY == kMemory &&
              BERTH_EPHEMERAL_STORAGE == kEphemeralStorage);

int64_t Nanos(Time time) { return time.time_since_epoch().count(); }

// `plugin`, which offers everything, without what the library's does not have.
Plugin OfTable(const berth_plugin& table, Plugin plugin) {
  const auto keep_if = [](bool has, auto*& point) {
    if (!has) point = nullptr;
  };
#define BERTH_KEEP_POINT(Name, member, ...) keep_if(table.member != nullptr, plugin.member);
  BERTH_EXTENSION_POINTS(BERTH_KEEP_POINT)
#undef BERTH_KEEP_POINT
  keep_if(table.events_to_register != nullptr || table.num_own_kinds > 0,
          plugin.enqueue_extensions);
  keep_if(table.add_pod != nullptr, plugin.pre_filter_extensions);
  keep_if(table.filter_nodes != nullptr, plugin.column_filter);
  keep_if(table.score_nodes != nullptr, plugin.column_score);
  keep_if(table.normalize_score != nullptr, plugin.score_extensions);
  plugin.filter_without_pre_filter = Text(table.filter_without_pre_filter);
  return plugin;
}

// A plugin's verdict; a code that does not exist is an Error.
Status ToStatus(berth_code code, const berth_verdict& verdict, ReasonTable& reasons) {
  if (code == BERTH_SUCCESS) return Status::Success();
  if (code < BERTH_SUCCESS || code > BERTH_PENDING) {
    return reasons.Error("the plugin returned the unknown code " + std::to_string(code));
  }
  if (verdict.reasons.empty()) return Status(static_cast<Code>(code));
  return reasons.Make(static_cast<Code>(code), verdict.reasons);
}

// Ends the work and frees it.
void Finish(berth_async* async, AsyncStatus status) {
  const std::unique_ptr<berth_async> owned(async);
  // The pod and its state may be gone with the last copy of this.
  const AsyncDone done = std::move(owned->done);
  done(std::move(status));
}

// The status of a code and a message that a plugin gave.
AsyncStatus StatusOf(berth_code code, std::string_view message) {
  if (code < BERTH_SUCCESS || code > BERTH_PENDING) {
    return {Code::kError, "the plugin returned the unknown code " + std::to_string(code)};
  }
  return {static_cast<Code>(code), std::string(message)};
}

void BindByDefault(berth_async* async) {
  if (!async->binds) {
    Finish(async, {Code::kError, "async_bind_by_default is for bind only"});
    return;
  }
  const std::unique_ptr<berth_async> owned(async);
  owned->handle.BindPod(owned->info, owned->node_name, owned->cancellation, std::move(owned->done));
}

}  // namespace

template <typename Call, typename State, typename... Rest>
Status LoadedPlugin::Ask(Call call, State& state, const PodInfo& pod, Rest... rest) const {
  berth_verdict verdict;
  berth_host_state own(this, state);
  const berth_pod view = View(pod);
  return ToStatus(call(self_, &verdict, &own, &view, rest...), verdict, state.reasons());
}

LoadedPlugin::LoadedPlugin(const berth_plugin& table, std::vector<api::PluginKindId> kinds,
                           Handle& handle)
    : table_(table), handle_(handle, std::string(Text(table.name)), std::move(kinds)) {
  if ((table_.flags & BERTH_PLUGIN_BLOCKS) == 0) return;
  const uint32_t workers = table_.max_workers == 0 ? kDefaultWorkers : table_.max_workers;
  workers_ = std::make_unique<WorkerPool>("berth-plugin", std::min(workers, kMaxWorkers));
}

Result<Plugin> LoadedPlugin::Make(const berth_plugin& table, std::vector<api::PluginKindId> kinds,
                                  const ConfigValue& args, Handle& handle) {
  std::unique_ptr<LoadedPlugin> plugin(new LoadedPlugin(table, std::move(kinds), handle));
  berth_text error;
  try {
    plugin->self_ = table.create(&plugin->handle_, View(args), &error);
  } catch (...) {
    return Fail("an exception left the plugin's create()");
  }
  if (plugin->self_ == nullptr) {
    return Fail(error.text.empty() ? "the plugin gave no reason" : error.text);
  }
  const std::string_view name = Text(table.name);
  return OfTable(table, AsPlugin(name, std::move(plugin)));
}

LoadedPlugin::~LoadedPlugin() {
  workers_.reset();
  if (self_ != nullptr) table_.destroy(self_);
}

Inputs LoadedPlugin::DeclaredInputs() const {
  if ((table_.flags & BERTH_PLUGIN_EACH_POD) != 0) return Inputs::EachPod();
  if ((table_.flags & BERTH_PLUGIN_DECLARES_INPUTS) == 0) return Inputs::Undeclared();
  std::vector<Input> inputs;
  const std::pair<uint32_t, Reach> reaches[] = {
      {BERTH_REACH_NODE, Reach::kNode},          {BERTH_REACH_USAGE, Reach::kUsage},
      {BERTH_REACH_CLUSTER, Reach::kCluster},    {BERTH_REACH_OTHER_OBJECTS, Reach::kOtherObjects},
      {BERTH_REACH_ALL_NODES, Reach::kAllNodes},
  };
  for (const auto& [bit, reach] : reaches) {
    if ((table_.reach & bit) != 0) inputs.push_back({reach});
  }
  return Inputs::Of(table_.pod_parts & kOfferedParts, std::move(inputs));
}

EventObject LoadedPlugin::Describe(const api::ObjectPtr& object) const {
  const auto* pod = std::get_if<std::shared_ptr<const api::Pod>>(&object);
  if (pod == nullptr) return {&object, nullptr};
  return {&object, PodInfo::Make(*pod, handle_.handle.resource_names())};
}

Result<QueueingHint> LoadedPlugin::Hint(const berth_cluster_event& event, const api::Pod& pod,
                                        const api::ObjectPtr& old_object,
                                        const api::ObjectPtr& new_object) const {
  // The caller keeps the pod for as long as this takes.
  const std::shared_ptr<const api::Pod> borrowed(std::shared_ptr<void>(), &pod);
  const auto info = PodInfo::Make(borrowed, handle_.handle.resource_names());
  const berth_pod view = View(*info);
  const EventObject before = Describe(old_object);
  const EventObject after = Describe(new_object);
  const berth_object old_view = View(before);
  const berth_object new_view = View(after);
  const auto given = [](const api::ObjectPtr& object, const berth_object& of) {
    return std::holds_alternative<std::monostate>(object) ? nullptr : &of;
  };
  try {
    const int32_t hint = event.hint(self_, event.context, &view, given(old_object, old_view),
                                    given(new_object, new_view));
    return hint == BERTH_QUEUE_SKIP ? QueueingHint::kQueueSkip : QueueingHint::kQueue;
  } catch (...) {
    return Fail("an exception left the plugin's queueing hint");
  }
}

std::optional<EventResource> LoadedPlugin::ResourceOf(int32_t kind) const {
  if (const auto own = handle_.OwnKind(kind)) return berth::EventResourceOf(*own);
  if (kind < BERTH_KIND_WILDCARD || kind > BERTH_KIND_COMPOSITE_POD_GROUP) return std::nullopt;
  return static_cast<EventResource>(kind);
}

std::vector<ClusterEventWithHint> LoadedPlugin::EventsToRegister() const {
  if (table_.events_to_register == nullptr) {
    auto all = AllClusterEvents(handle_.handle.features().generic_workload);
    for (const api::PluginKindId kind : handle_.own_kinds) {
      all.push_back({{berth::EventResourceOf(kind), action::kAll}, nullptr});
    }
    return all;
  }
  berth_events sink;
  table_.events_to_register(self_, &sink,
                            [](berth_events* events, const berth_cluster_event* event) {
                              events->events.push_back(Grown(event));
                            });
  std::vector<ClusterEventWithHint> registered;
  for (const berth_cluster_event& event : sink.events) {
    const auto resource = ResourceOf(event.kind);
    if (!resource) {
      base::LogWarning("A plugin registers for a kind of object that does not exist",
                       {{"plugin", handle_.plugin_name}, {"kind", event.kind}});
      continue;
    }
    ClusterEventWithHint& out = registered.emplace_back();
    out.event = {*resource, event.action & action::kAll};
    if (event.hint == nullptr) continue;
    out.hint = [this, event](const api::Pod& pod, const api::ObjectPtr& old_object,
                             const api::ObjectPtr& new_object) {
      return Hint(event, pod, old_object, new_object);
    };
  }
  return registered;
}

Status LoadedPlugin::PreEnqueue(const PodInfo& pod) {
  berth_verdict verdict;
  const berth_pod view = View(pod);
  const berth_code code = table_.pre_enqueue(self_, &verdict, &view);
  // There is no cycle whose end frees the text.
  for (const std::string& reason : verdict.reasons) {
    base::LogV(
        4, "PreEnqueue",
        {{"plugin", handle_.plugin_name}, {"pod", pod.pod->metadata.Key()}, {"reason", reason}});
  }
  return ToStatus(code, {}, handle_.handle.reasons());
}

bool LoadedPlugin::Less(const QueueSortKey& a, const QueueSortKey& b) const {
  const berth_pod first = View(*a.pod);
  const berth_pod second = View(*b.pod);
  return table_.queue_sort(self_, &first, Nanos(a.timestamp), &second, Nanos(b.timestamp));
}

PreFilterResult LoadedPlugin::PreFilter(CycleState& state, const PodInfo& pod,
                                        const Snapshot& snapshot) {
  berth_names names;
  PreFilterResult result{Ask(table_.pre_filter, state, pod, View(snapshot), &names),
                         std::move(names.names)};
  if (result.node_names) {
    std::sort(result.node_names->begin(), result.node_names->end());
    result.node_names->erase(std::unique(result.node_names->begin(), result.node_names->end()),
                             result.node_names->end());
  }
  return result;
}

Status LoadedPlugin::AddPod(CycleState& state, const PodInfo& pod, const PodInfo& added,
                            const NodeView& node) {
  const berth_pod other = View(added);
  const berth_node at = View(node);
  return Ask(table_.add_pod, state, pod, &other, &at);
}

Status LoadedPlugin::RemovePod(CycleState& state, const PodInfo& pod, const PodInfo& removed,
                               const NodeView& node) {
  const berth_pod other = View(removed);
  const berth_node at = View(node);
  return Ask(table_.remove_pod, state, pod, &other, &at);
}

void LoadedPlugin::Detach(CycleState& state) {
  if (table_.detach == nullptr) return;
  berth_host_state own(this, state);
  table_.detach(self_, &own);
}

Status LoadedPlugin::Filter(const CycleState& state, const PodInfo& pod,
                            const NodeView& node) const {
  const berth_node at = View(node);
  return Ask(table_.filter, state, pod, &at);
}

Status LoadedPlugin::FilterNodes(const CycleState& state, const PodInfo& pod,
                                 const Snapshot& snapshot, NodeSet& nodes) const {
  const NodeSet before = nodes;
  const berth_host_state own(this, state);
  const berth_pod view = View(pod);
  const std::span<uint64_t> words = nodes.words();
  if (table_.filter_nodes(self_, &own, &view, View(snapshot), words.data(), words.size()) ==
      BERTH_SUCCESS) {
    nodes &= before;  // it may only take rows out
    return {};
  }
  nodes = before;
  return FilterEach(nodes,
                    [&](NodeRow row) { return Filter(state, pod, NodeView(snapshot, row)); });
}

PostFilterResult LoadedPlugin::PostFilter(CycleState& state, const PodInfo& pod,
                                          const Snapshot& snapshot, const NodeToStatus& statuses) {
  berth_text nominated;
  PostFilterResult result{
      Ask(table_.post_filter, state, pod, View(snapshot), View(statuses), &nominated)};
  if (nominated.set) result.nominating = {NominatingMode::kOverride, std::move(nominated.text)};
  return result;
}

Status LoadedPlugin::PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                              const NodeSet& feasible) {
  const std::span<const uint64_t> words = feasible.words();
  return Ask(table_.pre_score, state, pod, View(snapshot), words.data(), words.size());
}

ScoreResult LoadedPlugin::Score(const CycleState& state, const PodInfo& pod,
                                const NodeView& node) const {
  const berth_node at = View(node);
  ScoreResult result;
  result.status = Ask(table_.score, state, pod, &at, &result.score);
  return result;
}

void LoadedPlugin::ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                              std::span<const NodeRow> nodes, std::span<int64_t> scores) const {
  const berth_host_state own(this, state);
  const berth_pod view = View(pod);
  if (table_.score_nodes(self_, &own, &view, View(snapshot), nodes.data(), scores.data(),
                         nodes.size()) == BERTH_SUCCESS) {
    return;
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    scores[i] = Score(state, pod, NodeView(snapshot, nodes[i])).score;
  }
}

Status LoadedPlugin::NormalizeScore(const CycleState& state, const PodInfo& pod,
                                    std::span<const NodeRow> nodes,
                                    std::span<int64_t> scores) const {
  return Ask(table_.normalize_score, state, pod, View(handle_.handle.snapshot()), nodes.data(),
             scores.data(), nodes.size());
}

Status LoadedPlugin::Reserve(CycleState& state, const PodInfo& pod, std::string_view node_name) {
  return Ask(table_.reserve, state, pod, View(node_name));
}

void LoadedPlugin::Unreserve(CycleState& state, const PodInfo& pod, std::string_view node_name) {
  berth_host_state own(this, state);
  const berth_pod view = View(pod);
  table_.unreserve(self_, &own, &view, View(node_name));
}

PermitResult LoadedPlugin::Permit(CycleState& state, const PodInfo& pod,
                                  std::string_view node_name) {
  int64_t timeout = 0;
  return {Ask(table_.permit, state, pod, View(node_name), &timeout),
          Duration(std::max<int64_t>(timeout, 0))};
}

Status LoadedPlugin::PreBindPreFlight(CycleState& state, const PodInfo& pod,
                                      std::string_view node_name) {
  if (table_.pre_bind_pre_flight == nullptr) return Status::Success();
  return Ask(table_.pre_bind_pre_flight, state, pod, View(node_name));
}

bool LoadedPlugin::AllowParallel() const {
  return (table_.flags & BERTH_PLUGIN_PRE_BIND_IN_PARALLEL) != 0;
}

void LoadedPlugin::PreBind(CycleState& state, const PodInfo& pod, std::string_view node_name,
                           Cancellation& cancellation, AsyncDone done) {
  Start(table_.pre_bind, std::make_unique<berth_async>(this, handle_.handle, state, pod, node_name,
                                                       cancellation, std::move(done)));
}

void LoadedPlugin::Bind(CycleState& state, const PodInfo& pod, std::string_view node_name,
                        Cancellation& cancellation, AsyncDone done) {
  auto async = std::make_unique<berth_async>(this, handle_.handle, state, pod, node_name,
                                             cancellation, std::move(done));
  async->binds = true;
  Start(table_.bind, std::move(async));
}

// From here on the plugin owns `async`, until it calls async_done.
void LoadedPlugin::Start(AsyncCall call, std::unique_ptr<berth_async> async) {
  berth_async* given = async.release();
  if (workers_ == nullptr) {
    call(self_, &given->state, &given->pod, View(given->node_name), given);
    return;
  }
  workers_->Run([this, call, given] {
    if (given->cancellation.cancelled()) {
      Finish(given, {Code::kError, "cancelled before a thread was free"});
      return;
    }
    call(self_, &given->state, &given->pod, View(given->node_name), given);
  });
}

void LoadedPlugin::PostBind(CycleState& state, const PodInfo& pod, std::string_view node_name) {
  if (workers_ == nullptr) {
    berth_host_state own(this, state);
    const berth_pod view = View(pod);
    table_.post_bind(self_, &own, &view, View(node_name));
    return;
  }
  // No caller waits, so pod and state may be gone before a thread is free.
  workers_->Run(
      [this, pod = pod, data = berth_host_state(this, state).Get(), node = std::string(node_name)] {
        berth_host_state own(this, data);
        const berth_pod view = View(pod);
        table_.post_bind(self_, &own, &view, View(node));
      });
}

void FillAsync(berth_host& host) {
  host.async_done = [](berth_async* async, berth_code code, berth_string message) {
    Finish(async, StatusOf(code, Text(message)));
  };
  host.async_cancelled = [](const berth_async* async) { return async->cancellation.cancelled(); };
  host.async_on_cancel = [](berth_async* async, berth_task task) {
    async->cancellation.OnCancel(Task(task));
  };
  host.async_bind_by_default = BindByDefault;
}

}  // namespace berth::framework::loadable
