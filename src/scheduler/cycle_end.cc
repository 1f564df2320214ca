// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/cycle_end.h"

#include <utility>

#include "src/scheduler/cycle_steps.h"

namespace berth::scheduler {

void CycleEnd::Bind(Attempt&& attempt, std::string&& node_name) {
  framework::PermitVerdict permit =
      framework::RunPermit(*attempt.profile, attempt.cycle, *attempt.info(), node_name);
  const Status& verdict = permit.verdict.status;
  if (verdict.ok() || verdict.wait()) {
    Report({.pod = attempt.pod(),
            .code = verdict.code(),
            .node_name = node_name,
            .message = {},
            .tried_node = {},
            .nominated_node = {},
            .took = attempt.decision_took});
    parts_.binding_cycles.Begin(std::move(attempt), std::move(node_name), std::move(permit),
                                parts_.state.step_clock.Now());
    return;
  }
  Failure failure = FailureOf(permit.verdict);
  UnreserveAndForget(parts_.state, attempt, node_name);
  Fail(std::move(attempt), std::move(failure));
}

void CycleEnd::Fail(Attempt attempt, Failure failure, std::string_view tried_node) {
  Report({.pod = attempt.pod(),
          .code = failure.code,
          .node_name = {},
          .message = failure.message,
          .tried_node = tried_node,
          .nominated_node = failure.nominating.nominated_node_name,
          .took = attempt.decision_took});
  parts_.failures.Handle(std::move(attempt), std::move(failure), parts_.state.step_clock.Now());
}

void CycleEnd::Report(const CycleOutcome& outcome) const {
  if (on_cycle_) on_cycle_(outcome);
  if (parts_.state.tape != nullptr) parts_.state.tape->Decided(outcome);
}

}  // namespace berth::scheduler
