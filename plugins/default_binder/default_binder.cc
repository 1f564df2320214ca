// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_binder/default_binder.h"

namespace berth::plugins {

void DefaultBinder::Bind(CycleState&, const PodInfo& pod, std::string_view node_name,
                         Cancellation& cancellation, AsyncDone done) {
  handle_->BindPod(pod, node_name, cancellation, std::move(done));
}

}  // namespace berth::plugins
