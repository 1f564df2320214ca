// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/result.h"
#include "src/config/types.h"

namespace berth::config {

// Has NodeResourcesFit pass over the resources that extenders keep the books of
// (managedResources[].ignoredByScheduler): if there are any they become its ignoredResources in
// every profile, in place of those configured, as kube-scheduler has it. Errors: a profile without
// that plugin and its args.
Result<void> LeaveManagedResources(SchedulerConfiguration& configuration);

}  // namespace berth::config
