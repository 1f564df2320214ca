// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "src/recording/file_sink.h"
#include "src/recording/header.h"
#include "src/recording/recorder.h"
#include "src/scheduler/options.h"

namespace berth::recording {

// The header of a recording of a scheduler that is made with these options, from `start` on.
Header MakeHeader(const scheduler::SchedulerOptions& options, std::string_view berth_version,
                  std::string id, Time start);

// Starts a recording in the folder, of a scheduler that is to be made with `options`: sets its
// tape, and wraps its extenders. The recorder must outlive the scheduler. `random` is not the
// scheduler's seed, and is not written down. Errors: the files cannot be made.
Result<std::unique_ptr<Recorder>> Record(const std::string& folder, const FileLimits& limits,
                                         std::string_view berth_version, const Clock& clock,
                                         uint64_t random, scheduler::SchedulerOptions& options);

}  // namespace berth::recording
