// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/app/daemon/in_tree_plugins.h"

namespace berth::app {

// `berth ui`: serves the page (src/ui) of a dump, a live cluster or a recording, prints its
// address, and ends with SIGINT or SIGTERM. `arguments` follow the command; `program` is its name
// for messages. Returns the exit code: kDone or kBadInput.
int Ui(const std::vector<std::string>& arguments, const std::string& program,
       const InTreePlugins& plugins);

}  // namespace berth::app
