// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/app/daemon/in_tree_plugins.h"

namespace berth::app {

// `berth simulate`: schedules the pending pods of a cluster dump in memory, and prints what was
// decided. `arguments` follow the command; `program` is its name for messages. Returns the exit
// code: kDone or kBadInput.
int Simulate(const std::vector<std::string>& arguments, const std::string& program,
             const InTreePlugins& plugins);

}  // namespace berth::app
