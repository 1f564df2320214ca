// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/serving/router.h"

namespace berth::app {

// /debug/flags/v: the log's verbosity can be read, and set by PUT, while the daemon runs. Nothing
// else of the log's set-up changes.
void InstallDebugFlags(serving::Router& router);

}  // namespace berth::app
