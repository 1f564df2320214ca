// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/app/daemon/in_tree_plugins.h"

namespace berth::app {

// `berth run`: the daemon. `arguments` follow the command; `program` is its name for messages.
// Returns the exit code: 0 after SIGINT or SIGTERM and a clean end, and where only a text or a
// file was asked for; 1 when it cannot start (the reason is on standard error) or got a
// second signal to end.
int Run(const std::vector<std::string>& arguments, const std::string& program,
        const InTreePlugins& plugins);

}  // namespace berth::app
