// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "src/scheduler/scheduler.h"

namespace berth::recording {

// What the scheduler, before it decides about the pod, makes of the node that the recording has for
// it: who rejects it and why, or what it scores beside the best. With "" for the node: why it is
// that there is one now, or still is none. Changes nothing.
std::string WhyNot(scheduler::Scheduler& scheduler, const std::shared_ptr<const api::Pod>& pod,
                   std::string_view recorded_node);

}  // namespace berth::recording
