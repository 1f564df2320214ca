// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/plugin_args.h"
#include "berth/result.h"

namespace berth::plugins {

// Those of scheduler-plugins 0.34, and how many decisions a search may take.
struct CoschedulingArgs {
  // How long a pod that has a node waits for the others of its group, where the group does not say
  // it. 0: a minute.
  int64_t permit_waiting_time_seconds = 60;
  // How long a group that was rejected backs off at least; the scheduler heeds it.
  int64_t pod_group_backoff_seconds = 0;
  // Taken, and of no effect: a group is rejected only once none of its pods hold anything.
  int32_t pod_group_reject_percentage = 10;
  // As that of GangSchedulingArgs.
  int32_t search_steps = 1000;

  friend bool operator==(const CoschedulingArgs&, const CoschedulingArgs&) = default;
};

// Errors: unknown fields, values out of range; with the field's path.
Result<CoschedulingArgs> ParseCoschedulingArgs(const ConfigValue& value);
// The args with what they leave out.
ConfigValue CoschedulingArgsWithDefaults(const ConfigValue& args, const ArgsFeatures& features);
// What is wrong with them; empty: nothing.
std::vector<std::string> CoschedulingArgsProblems(const ConfigValue& args, const std::string& path,
                                                  const ArgsFeatures& features);

}  // namespace berth::plugins
