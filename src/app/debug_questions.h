// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "berth/time.h"
#include "src/app/live_questions.h"
#include "src/scheduler/scheduler.h"
#include "src/serving/router.h"

namespace berth::app {

inline constexpr std::string_view kSimulatePath = "/debug/simulate";
// How large a question may be.
inline constexpr size_t kMostQuestionBytes = size_t{1} << 20;

// What is asked of the running cluster. All must outlive the router; its handlers run on the
// server's thread.

// POST /debug/simulate: what if, asked of the running cluster. docs/explain.md describes the
// documents.
void InstallSimulate(serving::Router& router, const scheduler::Scheduler& scheduler,
                     LiveQuestions& questions);

// GET /debug/explain?pod=namespace/name: the verdict of a pending pod. The scheduling thread tells
// where the pod stands, and the verdict is made on the questions' thread, from the mirror. Only
// where a profile has plugins of libraries, which the mirror has not, the scheduling thread makes
// it, and gives that a fiftieth of its time: a question that comes too early is answered with 429.
// Without a pod: ui::PendingPods of all that wait, from the mirror alone.
void InstallExplain(serving::Router& router, const Clock& clock, scheduler::Scheduler& scheduler,
                    LiveQuestions& questions);

}  // namespace berth::app
