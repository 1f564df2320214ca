// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/tolerated_taints.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "berth/matching.h"

namespace berth::plugins {

bool ToleratesRepellingTaints(std::span<const api::Toleration> tolerations,
                              std::span<const api::Taint> taints, bool comparison_operators) {
  return std::all_of(taints.begin(), taints.end(), [&](const api::Taint& taint) {
    const bool repels =
        taint.effect == api::kTaintEffectNoSchedule || taint.effect == api::kTaintEffectNoExecute;
    return !repels || Tolerates(tolerations, taint, comparison_operators);
  });
}

void FilterTolerated(std::span<const api::Toleration> tolerations, bool comparison_operators,
                     const Snapshot& snapshot, NodeSet& nodes) {
  const std::span<const TaintSetId> taint_set_of = snapshot.taint_sets();
  enum class Verdict : uint8_t { kUnknown, kTolerated, kUntolerated };
  std::vector<Verdict> verdicts(snapshot.num_taint_sets(), Verdict::kUnknown);
  nodes.Filter([&](NodeRow row) {
    Verdict& verdict = verdicts[taint_set_of[row]];
    if (verdict == Verdict::kUnknown) {
      verdict = ToleratesRepellingTaints(tolerations, snapshot.taints(taint_set_of[row]),
                                         comparison_operators)
                    ? Verdict::kTolerated
                    : Verdict::kUntolerated;
    }
    return verdict == Verdict::kTolerated;
  });
}

}  // namespace berth::plugins
