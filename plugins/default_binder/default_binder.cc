// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_binder/default_binder.h"

namespace berth::plugins {

Result<std::unique_ptr<Plugin>> DefaultBinder::Make(const ConfigValue& args, Handle& handle) {
  (void)args;
  return std::make_unique<DefaultBinder>(handle);
}

void DefaultBinder::Bind(CycleState& state, const PodInfo& pod, std::string_view node_name,
                         Cancellation& cancellation, AsyncDone done) {
  (void)state;
  handle_->BindPod(pod, node_name, cancellation, std::move(done));
}

}  // namespace berth::plugins
