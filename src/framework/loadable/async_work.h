// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "berth/in_tree/handle.h"
#include "berth/loadable/abi.h"
#include "src/framework/loadable/plugin_state.h"
#include "src/framework/loadable/views.h"

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

// Ends the work and frees it.
void Finish(berth_async* async, AsyncStatus status);
// The status of a code and a message that a plugin gave.
AsyncStatus StatusOf(berth_code code, std::string_view message);

}  // namespace berth::framework::loadable
