// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include "src/framework/loadable/async_work.h"
#include "src/framework/loadable/loaded_plugin.h"
#include "src/framework/loadable/plugin_state.h"

// What a loaded plugin does once a node is chosen: Reserve to PostBind.
namespace berth::framework::loadable {

Status LoadedPlugin::Reserve(CycleState& state, const PodInfo& pod, std::string_view node_name) {
  berth_verdict verdict;
  berth_host_state own(this, state);
  const berth_pod view = View(pod);
  return ToStatus(table_.reserve(self_, &verdict, &own, &view, View(node_name)), verdict,
                  state.reasons());
}

void LoadedPlugin::Unreserve(CycleState& state, const PodInfo& pod, std::string_view node_name) {
  berth_host_state own(this, state);
  const berth_pod view = View(pod);
  table_.unreserve(self_, &own, &view, View(node_name));
}

PermitResult LoadedPlugin::Permit(CycleState& state, const PodInfo& pod,
                                  std::string_view node_name) {
  berth_verdict verdict;
  berth_host_state own(this, state);
  const berth_pod view = View(pod);
  int64_t timeout = 0;
  const berth_code code = table_.permit(self_, &verdict, &own, &view, View(node_name), &timeout);
  return {ToStatus(code, verdict, state.reasons()), Duration(std::max<int64_t>(timeout, 0))};
}

Status LoadedPlugin::PreBindPreFlight(CycleState& state, const PodInfo& pod,
                                      std::string_view node_name) {
  if (table_.pre_bind_pre_flight == nullptr) return Status::Success();
  berth_verdict verdict;
  berth_host_state own(this, state);
  const berth_pod view = View(pod);
  return ToStatus(table_.pre_bind_pre_flight(self_, &verdict, &own, &view, View(node_name)),
                  verdict, state.reasons());
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

}  // namespace berth::framework::loadable
