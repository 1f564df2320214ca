// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/app/daemon/in_tree_plugins.h"

namespace berth::app {

// `berth explain`: judges the pending pods of a cluster dump, or of a live cluster, each alone, and
// prints the verdicts; or asks the daemon for its verdict of one (--daemon). `arguments` follow the
// command; `program` is its name for messages. Returns the exit code: kDone, kNegative or
// kBadInput.
int Explain(const std::vector<std::string>& arguments, const std::string& program,
            const InTreePlugins& plugins);

// `berth why POD`, in kubectl's terms: `berth explain` of one pod of a live cluster.
int Why(const std::vector<std::string>& arguments, const std::string& program,
        const InTreePlugins& plugins);

}  // namespace berth::app
