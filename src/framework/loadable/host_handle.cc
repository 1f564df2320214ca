// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "src/base/logging.h"
#include "src/framework/loadable/host_table.h"
#include "src/framework/loadable/plugin_handle.h"
#include "src/framework/loadable/views.h"

namespace berth::framework::loadable {
namespace {

Handle& HandleOf(const berth_handle* handle) { return handle->handle; }

void Log(const berth_handle* handle, int32_t level, berth_string text) {
  const std::string_view message = Text(text);
  switch (level) {
    case BERTH_LOG_ERROR:
      base::LogError(message, {{"plugin", handle->plugin_name}});
      return;
    case BERTH_LOG_WARNING:
      base::LogWarning(message, {{"plugin", handle->plugin_name}});
      return;
    default:
      base::LogInfo(message, {{"plugin", handle->plugin_name}});
  }
}

void RecordEvent(const berth_handle* handle, const berth_pod* pod, bool warning,
                 berth_string reason, berth_string action, berth_string note) {
  HandleOf(handle).RecordEvent(PodOf(pod), warning ? PodEventType::kWarning : PodEventType::kNormal,
                               Text(reason), Text(action), std::string(Text(note)), {});
}

void Activate(const berth_handle* handle, const berth_string* pods, size_t n) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < n; ++i) keys.emplace_back(Text(pods[i]));
  HandleOf(handle).Activate(keys);
}

bool FindPendingPod(const berth_handle* handle, berth_string namespace_, berth_string name,
                    void (*visit)(void*, const berth_pod*), void* context) {
  const auto pod = HandleOf(handle).FindPendingPod(Text(namespace_), Text(name));
  if (pod == nullptr) return false;
  const auto info = PodInfo::Make(pod, HandleOf(handle).resource_names());
  const berth_pod view = View(*info);
  visit(context, &view);
  return true;
}

void EachWaitingPod(const berth_handle* handle, bool (*visit)(void*, berth_waiting_pod*),
                    void* context) {
  bool more = true;
  HandleOf(handle).ForEachWaitingPod([&](WaitingPod& pod) {
    if (more) more = visit(context, View(pod));
  });
}

berth_metric* DefineMetric(const berth_handle* const_handle, const berth_metric_spec* given) {
  const berth_metric_spec spec = Grown(given);
  // The handle is const to plugins, which cannot tell that it keeps their metrics.
  auto* handle = const_cast<berth_handle*>(const_handle);
  PluginMetricSpec own;
  if (spec.type < BERTH_COUNTER || spec.type > BERTH_HISTOGRAM) return nullptr;
  own.type = static_cast<PluginMetricSpec::Type>(spec.type);
  own.name = Text(spec.name);
  own.help = Text(spec.help);
  for (size_t i = 0; i < spec.num_labels; ++i) own.labels.emplace_back(Text(spec.labels[i]));
  if (spec.num_buckets > 0) own.buckets.assign(spec.buckets, spec.buckets + spec.num_buckets);
  PluginMetrics& metrics = handle->handle.plugin_metrics();
  const auto id = metrics.Define(handle->plugin_name, std::move(own));
  if (!id) {
    base::LogWarning("A plugin's metric cannot be made",
                     {{"plugin", handle->plugin_name}, {"err", id.error().message}});
    return nullptr;
  }
  base::MutexLock lock(handle->mutex);
  for (berth_metric& metric : handle->metrics)
    if (metric.id == *id) return &metric;
  return &handle->metrics.emplace_back(berth_metric{&metrics, *id});
}

using Change = void (PluginMetrics::*)(PluginMetrics::Id, PluginMetrics::Labels, double);

template <Change change>
void ChangeMetric(berth_metric* metric, const berth_string* labels, size_t n, double value) {
  if (metric == nullptr) return;
  std::vector<std::string_view> values;
  for (size_t i = 0; i < n; ++i) values.push_back(Text(labels[i]));
  (metric->metrics->*change)(metric->id, values, value);
}

void FillWaitingPods(berth_host& host) {
  host.each_waiting_pod = EachWaitingPod;
  host.find_waiting_pod = [](const berth_handle* handle, berth_string uid) {
    WaitingPod* pod = HandleOf(handle).FindWaitingPod(Text(uid));
    return pod == nullptr ? nullptr : View(*pod);
  };
  host.waiting_pod = [](const berth_waiting_pod* waiting, berth_pod* pod) {
    *pod = View(WaitingPodOf(const_cast<berth_waiting_pod*>(waiting)).pod());
  };
  host.waiting_pod_node = [](const berth_waiting_pod* waiting) {
    return View(WaitingPodOf(const_cast<berth_waiting_pod*>(waiting)).node_name());
  };
  host.waiting_pod_allow = [](berth_waiting_pod* waiting, const berth_handle* handle) {
    WaitingPodOf(waiting).Allow(handle->plugin_name);
  };
  host.waiting_pod_reject = [](berth_waiting_pod* waiting, const berth_handle* handle,
                               berth_string reason) {
    WaitingPodOf(waiting).Reject(handle->plugin_name, Text(reason));
  };
}

}  // namespace

void FillHandle(berth_host& host) {
  host.scheduler_name = [](const berth_handle* handle) {
    return View(HandleOf(handle).scheduler_name());
  };
  host.now = [](const berth_handle* handle) -> int64_t {
    return HandleOf(handle).clock().Now().time_since_epoch().count();
  };
  host.random = [](const berth_handle* handle) { return HandleOf(handle).random().Next(); };
  host.log = Log;
  host.handle_number = [](const berth_handle* handle, int32_t name) -> int64_t {
    return name == BERTH_HANDLE_MAX_PD_VOLUMES ? HandleOf(handle).features().max_pd_volumes : 0;
  };
  host.resource_id = [](const berth_handle* handle, berth_string name) -> uint32_t {
    return HandleOf(handle).resource_names().Intern(Text(name));
  };
  host.nodes = [](const berth_handle* handle) { return View(HandleOf(handle).snapshot()); };
  host.record_event = RecordEvent;
  host.activate = Activate;
  host.find_pending_pod = FindPendingPod;
  host.post = [](const berth_handle* handle, berth_task task) {
    HandleOf(handle).RunLater(Task(task));
  };
  FillWaitingPods(host);
  host.metric = DefineMetric;
  host.metric_add = ChangeMetric<&PluginMetrics::Add>;
  host.metric_set = ChangeMetric<&PluginMetrics::Set>;
  host.metric_observe = ChangeMetric<&PluginMetrics::Observe>;
}

}  // namespace berth::framework::loadable
