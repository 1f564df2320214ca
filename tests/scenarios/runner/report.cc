// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/runner/report.h"

namespace berth::scenarios {

std::string Report(const Scenario& scenario, const Outcome& outcome) {
  std::string out = outcome.ok() ? "ok    " : "FAIL  ";
  out += scenario.file + ": " + scenario.name + "\n";
  if (outcome.ok()) return out;
  int line = 0;
  if (outcome.step < scenario.steps.size()) {
    const Step& step = scenario.steps[outcome.step];
    line = step.line;
    out += "  step " + std::to_string(outcome.step + 1) + " of " +
           std::to_string(scenario.steps.size());
    if (!step.note.empty()) out += " (" + step.note + ")";
    out += "\n";
  }
  if (!outcome.error.empty()) {
    out += "  " + scenario.file + ":" + std::to_string(line) + ": " + outcome.error + "\n";
  }
  for (const Mismatch& mismatch : outcome.mismatches) {
    out += "  " + scenario.file + ":" + std::to_string(mismatch.line) + ": " + mismatch.what +
           "\n    expected " + mismatch.expected + "\n    found    " + mismatch.found + "\n";
  }
  return out;
}

}  // namespace berth::scenarios
