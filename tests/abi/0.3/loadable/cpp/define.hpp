// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "berth/loadable/cpp/args.hpp"
#include "berth/loadable/cpp/points.hpp"

BERTH_NAMESPACE_BEGIN

// What a plugin says of itself besides its extension points.
struct PluginOptions {
  // Threads for PreBind, Bind and PostBind of a plugin that blocks; 0: 4, if it has a Blocking...
  // extension point, else none.
  uint32_t max_workers = 0;
  // PreBind may run at the same time as its neighbours'.
  bool pre_bind_in_parallel = false;
  // With `declares_inputs`: Filter and Score depend on nothing else; BERTH_READS_POD_... and
  // BERTH_REACH_... bits.
  bool declares_inputs = false;
  uint32_t pod_parts = 0;
  uint32_t reach = 0;
  // What Filter says depends on what belongs to one pod; see BERTH_PLUGIN_EACH_POD.
  bool each_pod = false;
  // The error of Filter where a profile does not call PreFilter; a literal, "": it does without.
  const char* filter_without_pre_filter = "";
};

namespace internal {

inline berth_code Report(berth_verdict* verdict, const Status& status) {
  if (verdict != nullptr && !status.reason().empty()) {
    host->verdict_reason(verdict, C(status.reason()));
  }
  return static_cast<berth_code>(status.code());
}

// Calls the plugin; what it throws becomes an Error status.
template <typename Call>
Status Guard(Call call) noexcept {
  try {
    return call();
  } catch (const std::exception& e) {
    return Status::Error(std::string("plugin threw: ") + e.what());
  } catch (...) {
    return Status::Error("plugin threw");
  }
}

// C arguments as what the methods of an extension point take.
struct OwnState {  // binds to CycleState&
  CycleState state;
  operator CycleState&() { return state; }
};
inline OwnState Cpp(berth_state* state) { return {CycleState(state)}; }
inline CycleState Cpp(const berth_state* state) { return CycleState(state); }
inline PodView Cpp(const berth_pod* pod) { return PodView(*pod); }
inline NodeView Cpp(const berth_node* node) { return NodeView(*node); }
inline Snapshot Cpp(const berth_nodes* nodes) { return Snapshot(nodes); }
inline const uint32_t* Cpp(const uint32_t* rows) { return rows; }
inline int64_t* Cpp(int64_t* scores) { return scores; }
inline size_t Cpp(size_t n) { return n; }

// One instance, and the hints that it registered.
template <typename T>
struct Instance {
  Instance(const ConfigValue& args, Handle of) : handle(of), plugin(args, of) {}

  Handle handle;
  T plugin;
  std::deque<QueueingHintFn> hints;
};

// The functions of berth_plugin for the class T.
template <typename T>
class Functions {
 public:
  static berth_plugin Table(const char* name, const PluginOptions& options) {
    berth_plugin table{};
    table.size = sizeof(table);
    table.name = C(name);
    table.create = Create;
    table.destroy = [](void* self) { delete static_cast<Instance<T>*>(self); };
    SetOptions(options, table);
    SetDeciding(table);
    SetCommitting(table);
    return table;
  }

 private:
  template <typename Interface>
  static constexpr bool kIs = std::is_base_of_v<Interface, T>;

  static T& Of(void* self) { return static_cast<Instance<T>*>(self)->plugin; }

  static void SetOptions(const PluginOptions& options, berth_plugin& table) {
    constexpr bool kBlocks = kIs<BlockingPreBindPlugin> || kIs<BlockingBindPlugin>;
    if (kBlocks || options.max_workers > 0) table.flags |= BERTH_PLUGIN_BLOCKS;
    if (options.pre_bind_in_parallel) table.flags |= BERTH_PLUGIN_PRE_BIND_IN_PARALLEL;
    if (options.declares_inputs) table.flags |= BERTH_PLUGIN_DECLARES_INPUTS;
    if (options.each_pod) table.flags |= BERTH_PLUGIN_EACH_POD;
    table.filter_without_pre_filter = C(options.filter_without_pre_filter);
    table.max_workers = options.max_workers;
    table.pod_parts = options.pod_parts;
    table.reach = options.reach;
  }

  // The points that decide, on the scheduling thread or in evaluation.
  static void SetDeciding(berth_plugin& table) {
    if constexpr (kIs<EnqueueExtensions>) table.events_to_register = RegisterEvents;
    if constexpr (kIs<PreEnqueuePlugin>) table.pre_enqueue = Verdict<&PreEnqueuePlugin::PreEnqueue>;
    if constexpr (kIs<QueueSortPlugin>) table.queue_sort = QueueSort;
    if constexpr (kIs<PreFilterPlugin>) table.pre_filter = PreFilter;
    if constexpr (kIs<PreFilterExtensions>) {
      static_assert(kIs<PreFilterPlugin>, "PreFilterExtensions go with PreFilterPlugin");
      table.add_pod = Verdict<&PreFilterExtensions::AddPod>;
      table.remove_pod = Verdict<&PreFilterExtensions::RemovePod>;
      table.detach = Detach;
    }
    if constexpr (kIs<FilterPlugin>) table.filter = Verdict<&FilterPlugin::Filter>;
    if constexpr (kIs<ColumnFilterPlugin>) table.filter_nodes = FilterNodes;
    if constexpr (kIs<PostFilterPlugin>) table.post_filter = PostFilter;
    if constexpr (kIs<PreScorePlugin>) table.pre_score = PreScore;
    if constexpr (kIs<ScorePlugin>) table.score = Score;
    if constexpr (kIs<ColumnScorePlugin>) table.score_nodes = ScoreNodes;
    if constexpr (kIs<NormalizeScorePlugin>) {
      static_assert(kIs<ScorePlugin>, "NormalizeScorePlugin goes with ScorePlugin");
      table.normalize_score = Verdict<&NormalizeScorePlugin::NormalizeScore>;
    }
  }

  // The points that follow the choice of a node.
  static void SetCommitting(berth_plugin& table) {
    if constexpr (kIs<ReservePlugin>) {
      table.reserve = Verdict<&ReservePlugin::Reserve>;
      table.unreserve = Unreserve;
    }
    if constexpr (kIs<PermitPlugin>) table.permit = Permit;
    if constexpr (kIs<PreBindPlugin>) {
      table.pre_bind_pre_flight = Verdict<&PreBindPlugin::PreBindPreFlight>;
      table.pre_bind = Begin<&PreBindPlugin::PreBind>;
    } else if constexpr (kIs<BlockingPreBindPlugin>) {
      table.pre_bind_pre_flight = Verdict<&BlockingPreBindPlugin::PreBindPreFlight>;
      table.pre_bind = Block<&BlockingPreBindPlugin::PreBind>;
    }
    if constexpr (kIs<BindPlugin>) {
      table.bind = Begin<&BindPlugin::Bind>;
    } else if constexpr (kIs<BlockingBindPlugin>) {
      table.bind = Block<&BlockingBindPlugin::Bind>;
    }
    if constexpr (kIs<PostBindPlugin>) table.post_bind = PostBind;
  }

  static void* Create(const berth_handle* handle, const berth_value* args, berth_text* error) {
    Instance<T>* made = nullptr;
    const Status status = Guard([&] {
      try {
        made = new Instance<T>(ConfigValue(args), Handle(handle));
        return Status::Success();
      } catch (const std::invalid_argument& e) {
        return Status::Error(e.what());
      }
    });
    if (!status.ok()) host->text_set(error, C(status.reason()));
    return made;
  }

  // Calls `method`, whose Status is the verdict.
  template <auto method, typename... Args>
  static berth_code Verdict(void* self, berth_verdict* verdict, Args... args) {
    return Report(verdict, Guard([&] { return (Of(self).*method)(Cpp(args)...); }));
  }

  // Hands the work over. What throws drops it, and so ends it as an error; the log says why.
  template <auto method>
  static void Begin(void* self, berth_state* state, const berth_pod* pod, berth_string node_name,
                    berth_async* async) {
    constexpr bool kBinds = std::is_same_v<decltype(method), decltype(&BindPlugin::Bind)>;
    Tell(self, kBinds ? "Bind" : "PreBind",
         [&] { (Of(self).*method)(CycleState(state), Cpp(pod), Cpp(node_name), Async(async)); });
  }
  // Does the work here.
  template <auto method>
  static void Block(void* self, berth_state* state, const berth_pod* pod, berth_string node_name,
                    berth_async* async) {
    Async own(async);
    own.Done(Guard([&] {
      return (Of(self).*method)(Cpp(state), Cpp(pod), Cpp(node_name), Cancellation(async));
    }));
  }

  // A call that has no verdict; what it throws is logged.
  template <typename Call>
  static void Tell(void* self, const char* point, Call call) {
    const Status status = Guard([&] {
      call();
      return Status::Success();
    });
    if (status.ok()) return;
    static_cast<Instance<T>*>(self)->handle.LogError(std::string(point) + ": " + status.reason());
  }

  static void RegisterEvents(void* self, berth_events* events,
                             void (*add)(berth_events*, const berth_cluster_event*)) {
    auto& instance = *static_cast<Instance<T>*>(self);
    const Status status = Guard([&] {
      for (ClusterEventWithHint& event : instance.plugin.EventsToRegister()) {
        berth_cluster_event out{};
        out.size = sizeof(out);
        out.kind = event.kind;
        out.action = event.action;
        if (event.hint != nullptr) {
          instance.hints.push_back(std::move(event.hint));
          out.context = &instance.hints.back();
          out.hint = Hint;
        }
        add(events, &out);
      }
      return Status::Success();
    });
    if (status.ok()) return;
    instance.handle.LogError("EventsToRegister: " + status.reason());
    // Better too many events than a pod that is never tried again.
    berth_cluster_event all{};
    all.size = sizeof(all);
    all.action = BERTH_ACTION_ALL;
    add(events, &all);
  }
  static int32_t Hint(void*, void* context, const berth_pod* pod, const berth_object* old_object,
                      const berth_object* new_object) {
    int32_t hint = BERTH_QUEUE;
    (void)Guard([&] {
      hint = static_cast<int32_t>((*static_cast<QueueingHintFn*>(context))(
          PodView(*pod), ObjectView(old_object), ObjectView(new_object)));
      return Status::Success();
    });
    return hint;
  }

  static bool QueueSort(void* self, const berth_pod* a, int64_t a_time, const berth_pod* b,
                        int64_t b_time) {
    bool less = false;
    (void)Guard([&] {
      less = Of(self).Less(Cpp(a), ToTime(a_time), Cpp(b), ToTime(b_time));
      return Status::Success();
    });
    return less;
  }

  static berth_code PreFilter(void* self, berth_verdict* verdict, berth_state* state,
                              const berth_pod* pod, const berth_nodes* nodes, berth_names* names) {
    return Report(verdict, Guard([&] {
                    PreFilterResult result = Of(self).PreFilter(Cpp(state), Cpp(pod), Cpp(nodes));
                    if (result.node_names) {
                      host->names_restrict(names, nullptr, 0);
                      for (const std::string& name : *result.node_names) {
                        const berth_string one = C(name);
                        host->names_restrict(names, &one, 1);
                      }
                    }
                    return std::move(result.status);
                  }));
  }

  static void Detach(void* self, berth_state* state) {
    Tell(self, "Detach", [&] { Of(self).Detach(Cpp(state)); });
  }

  static berth_code FilterNodes(void* self, const berth_state* state, const berth_pod* pod,
                                const berth_nodes* nodes, uint64_t* words, size_t num_words) {
    return Report(nullptr, Guard([&] {
                    NodeSet set(words, num_words);
                    Of(self).FilterNodes(Cpp(state), Cpp(pod), Cpp(nodes), set);
                    return Status::Success();
                  }));
  }

  static berth_code PostFilter(void* self, berth_verdict* verdict, berth_state* state,
                               const berth_pod* pod, const berth_nodes* nodes,
                               const berth_statuses* statuses, berth_text* nominated) {
    return Report(verdict, Guard([&] {
                    PostFilterResult result = Of(self).PostFilter(Cpp(state), Cpp(pod), Cpp(nodes),
                                                                  NodeToStatus(statuses));
                    if (result.nominated_node_name) {
                      host->text_set(nominated, C(*result.nominated_node_name));
                    }
                    return std::move(result.status);
                  }));
  }

  static berth_code PreScore(void* self, berth_verdict* verdict, berth_state* state,
                             const berth_pod* pod, const berth_nodes* nodes, const uint64_t* words,
                             size_t num_words) {
    return Report(verdict, Guard([&] {
                    return Of(self).PreScore(Cpp(state), Cpp(pod), Cpp(nodes),
                                             ConstNodeSet(words, num_words));
                  }));
  }

  static berth_code Score(void* self, berth_verdict* verdict, const berth_state* state,
                          const berth_pod* pod, const berth_node* node, int64_t* score) {
    return Report(verdict, Guard([&] {
                    ScoreResult result = Of(self).Score(Cpp(state), Cpp(pod), Cpp(node));
                    *score = result.score;
                    return std::move(result.status);
                  }));
  }
  static berth_code ScoreNodes(void* self, const berth_state* state, const berth_pod* pod,
                               const berth_nodes* nodes, const uint32_t* rows, int64_t* scores,
                               size_t n) {
    return Report(nullptr, Guard([&] {
                    Of(self).ScoreNodes(Cpp(state), Cpp(pod), Cpp(nodes), rows, scores, n);
                    return Status::Success();
                  }));
  }

  static void Unreserve(void* self, berth_state* state, const berth_pod* pod,
                        berth_string node_name) {
    Tell(self, "Unreserve", [&] { Of(self).Unreserve(Cpp(state), Cpp(pod), Cpp(node_name)); });
  }

  static berth_code Permit(void* self, berth_verdict* verdict, berth_state* state,
                           const berth_pod* pod, berth_string node_name, int64_t* timeout) {
    return Report(verdict, Guard([&] {
                    PermitResult result = Of(self).Permit(Cpp(state), Cpp(pod), Cpp(node_name));
                    *timeout = result.timeout.count();
                    return std::move(result.status);
                  }));
  }

  static void PostBind(void* self, berth_state* state, const berth_pod* pod,
                       berth_string node_name) {
    Tell(self, "PostBind", [&] { Of(self).PostBind(Cpp(state), Cpp(pod), Cpp(node_name)); });
  }
};

// `tables` must live for ever.
template <size_t n>
const berth_library* Library(const berth_host* offered, const char* version,
                             const berth_plugin (&tables)[n]) {
  host = offered;
  static const berth_plugin* plugins[n];
  static berth_library library{};
  for (size_t i = 0; i < n; ++i) plugins[i] = &tables[i];
  library.size = sizeof(library);
  library.abi_major = BERTH_ABI_MAJOR;
  library.abi_minor = BERTH_ABI_MINOR;
  library.version = C(version);
  library.plugins = plugins;
  library.num_plugins = n;
  return &library;
}

}  // namespace internal

// The plugin of class T under a name, which must be a literal.
template <typename T>
berth_plugin Define(const char* name, const PluginOptions& options = {}) {
  return internal::Functions<T>::Table(name, options);
}

BERTH_NAMESPACE_END

// What the library has: its version, then a berth::Define<...>(...) for each plugin. Once in a
// library, outside any namespace.
#define BERTH_PLUGINS(version, ...)                                                            \
  extern "C" BERTH_EXPORT const berth_library* berth_plugin_entry(const berth_host* offered) { \
    static const berth_plugin tables[] = {__VA_ARGS__};                                        \
    return ::berth::internal::Library(offered, version, tables);                               \
  }
