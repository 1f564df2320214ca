// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/app/daemon/in_tree_plugins.h"

namespace berth::app {

// `berth dump`: prints the live cluster, or dumps that are read again. `arguments` follow the
// command; `program` is its name for messages. Returns the exit code: kDone or kBadInput.
int Dump(const std::vector<std::string>& arguments, const std::string& program,
         const InTreePlugins& plugins);

}  // namespace berth::app
