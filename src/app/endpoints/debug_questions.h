// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "src/app/endpoints/live_questions.h"
#include "src/app/endpoints/live_reads.h"
#include "src/scheduler/scheduler.h"
#include "src/serving/reviews.h"
#include "src/serving/router.h"

namespace berth::app {

inline constexpr std::string_view kSimulatePath = "/debug/simulate";
// How large a question may be.
inline constexpr size_t kMostQuestionBytes = size_t{1} << 20;

// Where too many wait for the scheduling thread, to be tried again.
serving::Response TooManyReads();

// What is asked of the running cluster. All must outlive the router; its handlers run on the
// server's thread.

// POST /debug/simulate: what if, or a plan, asked of the running cluster. docs/explain.md and
// docs/plan.md describe the documents.
void InstallSimulate(serving::Router& router, const scheduler::Scheduler& scheduler,
                     LiveQuestions& questions);

// GET /debug/explain?pod=namespace/name: the verdict of a pending pod. The scheduling thread tells
// where the pod stands, and the verdict is made on the questions' thread, from the mirror. Only
// where a profile has plugins of libraries, which the mirror has not, the scheduling thread makes
// it, as a large read. Where the pod stands is in the answer only while `leads` says that we lead.
// Without a pod: questions::PendingPods of all that wait, from the mirror alone.
void InstallExplain(serving::Router& router, std::shared_ptr<LiveReads> reads,
                    scheduler::Scheduler& scheduler, LiveQuestions& questions,
                    std::function<bool()> leads);

// What a caller must be allowed who has no right to the path of the request: to get the pod that it
// asks the plain verdict of. nullopt where it asks for more: fixes, evictions and claims name other
// objects.
std::optional<serving::ResourceAttributes> PodAskedAbout(const serving::Request& request);

}  // namespace berth::app
