// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loadable/cpp/views.hpp"

BERTH_NAMESPACE_BEGIN

namespace internal {
// A function as a task; freed with it.
inline berth_task ToTask(std::function<void()> work) {
  using Work = std::function<void()>;
  return {[](void* work_pointer) {
            try {
              (*static_cast<Work*>(work_pointer))();
              // NOLINTNEXTLINE(bugprone-empty-catch): nothing waits for the work.
            } catch (...) {
            }
          },
          [](void* work_pointer) { delete static_cast<Work*>(work_pointer); },
          new Work(std::move(work))};
}

inline std::vector<berth_string> ToStrings(std::initializer_list<std::string_view> texts) {
  std::vector<berth_string> strings;
  for (const std::string_view text : texts) strings.push_back(C(text));
  return strings;
}
}  // namespace internal

// A pod that waits at Permit. Scheduling thread.
class WaitingPod {
 public:
  WaitingPod(berth_waiting_pod* waiting, const berth_handle* handle)
      : waiting_(waiting), handle_(handle) {}

  PodView pod() const {
    berth_pod pod{};
    internal::host->waiting_pod(waiting_, &pod);
    return PodView(pod);
  }
  std::string_view node_name() const {
    return internal::Cpp(internal::host->waiting_pod_node(waiting_));
  }
  // This plugin objects no more.
  void Allow() { internal::host->waiting_pod_allow(waiting_, handle_); }
  void Reject(std::string_view reason) {
    internal::host->waiting_pod_reject(waiting_, handle_, internal::C(reason));
  }

 private:
  berth_waiting_pod* waiting_;
  const berth_handle* handle_;
};

// A metric of the plugin's own; label values in the order of its labels. Thread safety: any thread.
class Metric {
 public:
  Metric() = default;
  explicit Metric(berth_metric* metric) : metric_(metric) {}

  void Add(double by = 1, std::initializer_list<std::string_view> labels = {}) {
    const auto values = internal::ToStrings(labels);
    internal::host->metric_add(metric_, values.data(), values.size(), by);
  }
  void Set(double value, std::initializer_list<std::string_view> labels = {}) {
    const auto values = internal::ToStrings(labels);
    internal::host->metric_set(metric_, values.data(), values.size(), value);
  }
  void Observe(double value, std::initializer_list<std::string_view> labels = {}) {
    const auto values = internal::ToStrings(labels);
    internal::host->metric_observe(metric_, values.data(), values.size(), value);
  }

 private:
  berth_metric* metric_ = nullptr;  // counts nothing
};

// What the scheduler offers one instance of a plugin; copy it freely. Scheduling thread only,
// except Now(), the logs, Post() and metrics.
class Handle {
 public:
  explicit Handle(const berth_handle* handle) : handle_(handle) {}

  std::string_view scheduler_name() const {
    return internal::Cpp(internal::host->scheduler_name(handle_));
  }
  Time Now() const { return internal::ToTime(internal::host->now(handle_)); }
  // Of the scheduler's seed.
  uint64_t Random() const { return internal::host->random(handle_); }
  void LogInfo(std::string_view text) const { Log(BERTH_LOG_INFO, text); }
  void LogWarning(std::string_view text) const { Log(BERTH_LOG_WARNING, text); }
  void LogError(std::string_view text) const { Log(BERTH_LOG_ERROR, text); }

  // The id of a resource such as nvidia.com/gpu; it never changes.
  ResourceId resource(std::string_view name) const {
    return internal::host->resource_id(handle_, internal::C(name));
  }
  // What the environment lets a node have of disks; 0: it does not say.
  int64_t max_pd_volumes() const {
    return internal::host->handle_number(handle_, BERTH_HANDLE_MAX_PD_VOLUMES);
  }
  // Whether a resource is none of those that every node has.
  static bool IsScalarResource(std::string_view name) {
    return internal::host->is_scalar_resource(internal::C(name));
  }
  // What belongs together with the pod, by services and controllers; nullopt: nothing selects it.
  std::optional<Selector> SelectorOf(const PodView& pod) const {
    berth_selector* selector = internal::host->selector_of_pod(handle_, &pod.c());
    if (selector == nullptr) return std::nullopt;
    return Selector(selector);
  }
  // The cluster as it is now.
  Snapshot snapshot() const { return Snapshot(internal::host->nodes(handle_)); }
  void RecordEvent(const PodView& pod, bool warning, std::string_view reason,
                   std::string_view action, std::string_view note) const {
    internal::host->record_event(handle_, &pod.c(), warning, internal::C(reason),
                                 internal::C(action), internal::C(note));
  }
  // Moves pods, named "namespace/name", to activeQ when the running cycle is over.
  void Activate(const std::vector<std::string>& pods) const {
    std::vector<berth_string> keys;
    for (const std::string& pod : pods) keys.push_back(internal::C(pod));
    internal::host->activate(handle_, keys.data(), keys.size());
  }
  // Calls visit(PodView) with the newest version of a pod that waits to be scheduled. False: there
  // is none.
  template <typename Visit>
  bool FindPendingPod(std::string_view namespace_, std::string_view name, Visit visit) const {
    return internal::host->find_pending_pod(
        handle_, internal::C(namespace_), internal::C(name),
        [](void* context, const berth_pod* pod) { (*static_cast<Visit*>(context))(PodView(*pod)); },
        &visit);
  }
  // Calls visit(ObjectView) with the object of a BERTH_KIND_... that is neither pod nor node, or of
  // a kind of the plugin's own (KindOf). False: there is none.
  template <typename Visit>
  bool FindObject(int32_t kind, std::string_view namespace_, std::string_view name,
                  Visit visit) const {
    return internal::host->find_object(
        handle_, kind, internal::C(namespace_), internal::C(name),
        [](void* context, const berth_object* object) {
          (*static_cast<Visit*>(context))(ObjectView(object));
        },
        &visit);
  }
  // Calls visit(ObjectView) for each PersistentVolume or CSIStorageCapacity of storage class `of`,
  // each VolumeAttachment of node `of`, each Service of namespace `of`, or each object of a kind of
  // the plugin's own in namespace `of`, "" for all.
  template <typename Visit>
  void ForEachObject(int32_t kind, std::string_view of, Visit visit) const {
    internal::host->each_object(
        handle_, kind, internal::C(of),
        [](void* context, const berth_object* object) {
          (*static_cast<Visit*>(context))(ObjectView(object));
          return true;
        },
        &visit);
  }
  // Runs `work` on the scheduling thread, between two cycles. Any thread.
  void Post(std::function<void()> work) const {
    internal::host->post(handle_, internal::ToTask(std::move(work)));
  }

  // The pods that wait at Permit, of all plugins.
  template <typename Visit>
  void ForEachWaitingPod(Visit visit) const {
    struct Context {
      const berth_handle* handle;
      Visit& visit;
    } context{handle_, visit};
    internal::host->each_waiting_pod(
        handle_,
        [](void* pointer, berth_waiting_pod* waiting) {
          auto& each = *static_cast<Context*>(pointer);
          WaitingPod pod(waiting, each.handle);
          each.visit(pod);
          return true;
        },
        &context);
  }
  std::optional<WaitingPod> FindWaitingPod(std::string_view uid) const {
    berth_waiting_pod* waiting = internal::host->find_waiting_pod(handle_, internal::C(uid));
    if (waiting == nullptr) return std::nullopt;
    return WaitingPod(waiting, handle_);
  }

  // Metrics of the plugin's own, berth_plugin_<plugin>_<name>. What is made with a bad
  // name, which the log tells of, counts nothing.
  Metric Counter(std::string_view name, std::string_view help,
                 std::initializer_list<std::string_view> labels = {}) const {
    return Make(BERTH_COUNTER, name, help, labels, {});
  }
  Metric Gauge(std::string_view name, std::string_view help,
               std::initializer_list<std::string_view> labels = {}) const {
    return Make(BERTH_GAUGE, name, help, labels, {});
  }
  Metric Histogram(std::string_view name, std::string_view help, const std::vector<double>& buckets,
                   std::initializer_list<std::string_view> labels = {}) const {
    return Make(BERTH_HISTOGRAM, name, help, labels, buckets);
  }

 private:
  void Log(int32_t level, std::string_view text) const {
    internal::host->log(handle_, level, internal::C(text));
  }
  Metric Make(int32_t type, std::string_view name, std::string_view help,
              std::initializer_list<std::string_view> labels,
              const std::vector<double>& buckets) const {
    const auto names = internal::ToStrings(labels);
    berth_metric_spec spec{};
    spec.size = sizeof(spec);
    spec.type = type;
    spec.name = internal::C(name);
    spec.help = internal::C(help);
    spec.labels = names.data();
    spec.num_labels = names.size();
    spec.buckets = buckets.data();
    spec.num_buckets = buckets.size();
    return Metric(internal::host->metric(handle_, &spec));
  }

  const berth_handle* handle_;
};

BERTH_NAMESPACE_END
