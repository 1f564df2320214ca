// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/app/daemon/in_tree_plugins.h"

namespace berth::app {

// `berth config`: checks a configuration file without a cluster, down to the making of its
// profiles, and prints the effective configuration. `arguments` follow the command; `program` is
// its name for messages. Returns the exit code: 0, or 2 for bad input, which standard error names
// with file, line or field.
int ShowConfig(const std::vector<std::string>& arguments, const std::string& program,
               const InTreePlugins& plugins);

}  // namespace berth::app
