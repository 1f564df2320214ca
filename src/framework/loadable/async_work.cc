// SPDX-License-Identifier: Apache-2.0
#include "src/framework/loadable/async_work.h"

#include <memory>

#include "src/framework/loadable/host_table.h"

namespace berth::framework::loadable {
namespace {

void BindByDefault(berth_async* async) {
  if (!async->binds) {
    Finish(async, {Code::kError, "async_bind_by_default is for bind only"});
    return;
  }
  const std::unique_ptr<berth_async> owned(async);
  owned->handle.BindPod(owned->info, owned->node_name, owned->cancellation, std::move(owned->done));
}

}  // namespace

void Finish(berth_async* async, AsyncStatus status) {
  const std::unique_ptr<berth_async> owned(async);
  // The pod and its state may be gone with the last copy of this.
  const AsyncDone done = std::move(owned->done);
  done(std::move(status));
}

AsyncStatus StatusOf(berth_code code, std::string_view message) {
  if (code < BERTH_SUCCESS || code > BERTH_PENDING) {
    return {Code::kError, "the plugin returned the unknown code " + std::to_string(code)};
  }
  return {static_cast<Code>(code), std::string(message)};
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
