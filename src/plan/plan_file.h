// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "berth/result.h"
#include "berth/time.h"
#include "src/plan/plan.h"

namespace berth::plan {

// Reads what `berth plan -o yaml` or `-o json` of a live cluster wrote, and perhaps a person has
// edited: `file` is its name for messages. Errors, all of them at once, each with its field: one
// that a plan does not have, or that is missing or of no use; a plan that reaches nothing; one that
// names a pod twice.
Result<Plan> ReadPlan(std::string_view text, std::string_view file);

// Errors: the plan is older than this, or of the future.
Result<void> CheckAge(const Plan& plan, Time now, Duration most);

// As events have it, in microseconds.
std::string EventTime(Time time);

// What tells the texts of two plans apart.
std::string DigestOf(std::string_view text);

}  // namespace berth::plan
