// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/recording/header.h"
#include "src/recording/replay.h"

// What a replay came to, for people and for programs.
//
// Thread safety: any thread.
namespace berth::app {

// A summary, and a table of the first differences.
void AppendReplayTable(const std::string& id, const recording::Header& header,
                       const recording::ReplayReport& report, std::string& out);

// One line of JSON.
void AppendReplayJson(const std::string& id, const recording::Header& header,
                      const recording::ReplayReport& report, std::string& out);

}  // namespace berth::app
