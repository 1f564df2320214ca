// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "berth/in_tree/plugin_message.h"
#include "berth/result.h"
#include "src/binding/binder.h"
#include "src/config/types.h"
#include "src/informers/informer_event.h"

namespace berth::scheduler {

// The pod's PreBind is over: from now on it counts as awaiting the answer to its Bind.
struct PreBindDone {
  std::string pod_uid;
};

// The answer to the pod's Bind is late, or the Bind has ended without a verdict and its outcome is
// read. Either may take long: from now on the pod does not count as awaiting an answer.
struct BindUnconfirmed {
  std::string pod_uid;
};

// Stop popping pods; see the bindings under way through.
struct StopRequested {
  Duration patience{};
};

// Every binding cycle has reported, or `given_up` of them never will.
struct BinderClosed {
  size_t given_up = 0;
};

// This process leads: from now on it may schedule. These pods were being tried when an earlier one
// ended.
struct LeadingBegan {
  std::vector<std::string> unfinished_uids{};
};

// The profiles' plugins, weights and args become those of `next`: see Profiles::Replace. All parked
// pods are tried again. `done` is called on the scheduling thread.
struct ReloadRequested {
  std::shared_ptr<const config::SchedulerConfiguration> next;
  std::function<void(Result<void>)> done;
};

// A question that needs the scheduling state, such as a dump. No recording has it.
struct Query {
  std::function<void()> run;
};

// All that reaches the scheduling thread from outside. Plugins post their PluginMessages.
using Message = std::variant<informers::InformerEvent, binding::BindOutcome, PreBindDone,
                             BindUnconfirmed, StopRequested, BinderClosed, LeadingBegan,
                             ReloadRequested, PodsActivated, ClaimWritten, ClaimsSettled,
                             VolumeWritten, EvictionAnswered, NodesMeasured, Query>;

}  // namespace berth::scheduler
