// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/app/daemon/in_tree_plugins.h"

namespace berth::app {

// `berth packing`: how full a dump or a live cluster is, and what still fits (docs/packing.md).
// Returns the exit code.
int Packing(const std::vector<std::string>& arguments, const std::string& program,
            const InTreePlugins& plugins);

}  // namespace berth::app
