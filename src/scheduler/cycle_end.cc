// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/cycle_end.h"

#include <utility>

#include "src/scheduler/cycle_steps.h"

namespace berth::scheduler {

void CycleEnd::Bind(Attempt attempt, std::string node_name) {
  framework::PermitVerdict permit =
      framework::RunPermit(*attempt.profile, attempt.cycle, *attempt.info(), node_name);
  const Status& verdict = permit.verdict.status;
  if (verdict.ok() || verdict.wait()) {
    Report(attempt, verdict.code(), node_name, "");
    parts_.binding_cycles.Begin(std::move(attempt), std::move(node_name), std::move(permit),
                                parts_.state.step_clock.Now());
    return;
  }
  Failure failure = FailureOf(permit.verdict);
  UnreserveAndForget(parts_.state, attempt, node_name);
  Fail(std::move(attempt), std::move(failure));
}

void CycleEnd::Fail(Attempt attempt, Failure failure) {
  Report(attempt, failure.code, "", failure.message);
  parts_.failures.Handle(std::move(attempt), std::move(failure), parts_.state.step_clock.Now());
}

void CycleEnd::Report(const Attempt& attempt, Code code, std::string_view node_name,
                      std::string_view message) const {
  const CycleOutcome outcome{attempt.pod(), code, node_name, message, attempt.decision_took};
  if (on_cycle_) on_cycle_(outcome);
  if (parts_.state.tape != nullptr) parts_.state.tape->Decided(outcome);
}

}  // namespace berth::scheduler
