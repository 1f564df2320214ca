// SPDX-License-Identifier: Apache-2.0
#include "src/plan/plan.h"

#include <string>

#include "src/app/commands/apply_plan.h"
#include "src/app/commands/commands.h"
#include "src/app/commands/offline_cluster.h"
#include "src/app/flags/offline_flags.h"
#include "src/base/clock.h"
#include "src/base/logging.h"

namespace berth::app {

int Plan(const std::vector<std::string>& arguments, const std::string& program,
         const InTreePlugins& plugins) {
  const auto flags = BeginOffline(OfflineCommand::kPlan, arguments, program);
  if (!flags) return flags.error();
  if (!flags->apply.empty()) return ApplyPlan(*flags, plugins);
  auto picture = MakePicture(*flags, plugins);
  if (!picture) return FailWith(picture.error().message);
  plan::Goal goal = *flags->goal;
  if (goal.kind == plan::Goal::Kind::kPending) goal.namespace_ = flags->namespace_;
  auto plan = plan::FindPlan(goal, *picture->simulation, flags->plan_limits);
  if (!plan) return FailWith(plan.error().message);
  if (flags->live()) plan->made = base::RealClock().WallNow();
  std::string text;
  IsDocument(flags->output) ? plan::AppendJson(*plan, text) : plan::AppendTable(*plan, text);
  Print(text, flags->output);
  base::FlushLogs();
  return plan->outcome == plan::Plan::Outcome::kFound ? kDone : kNegative;
}

}  // namespace berth::app
