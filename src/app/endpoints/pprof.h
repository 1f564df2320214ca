// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/time.h"
#include "src/base/executor.h"
#include "src/serving/router.h"

namespace berth::app {

// How long /debug/pprof/profile may sample, in seconds, and the server waits for its answer.
inline constexpr int kMostProfileSeconds = 60;
inline constexpr std::string_view kProfilePath = "/debug/pprof/profile";

// /debug/pprof, as far as a program that is not Go's has it: `profile` (CPU time, by default of 30
// seconds), `heap`, `cmdline`, and a list of them. For `go tool pprof`. `executor` and `clock`
// outlive the server.
//
// Thread safety: what is installed is for the server's thread.
void InstallPprof(serving::Router& router, base::Executor& executor, const Clock& clock);

}  // namespace berth::app
