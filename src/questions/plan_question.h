// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "berth/config_value.h"
#include "berth/result.h"
#include "src/plan/plan.h"

namespace berth::questions {

// A plan that is asked for by a document (docs/plan.md), not by flags.
struct PlanQuestion {
  plan::Goal goal;
  plan::Limits limits;
};

// Reads {"goal": "fit=shop/web-3"}; the goal as the command line takes it. Errors: all problems
// with the fields, unknown ones included; each with the field's path.
Result<PlanQuestion> ParsePlanQuestion(const ConfigValue& document);
Result<PlanQuestion> ParsePlanQuestion(std::string_view json);

}  // namespace berth::questions
