// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "berth/api/pod.h"
#include "berth/time.h"
#include "src/engine/judgement.h"
#include "src/engine/pod_group_preview.h"
#include "src/explain/fix.h"
#include "src/explain/pod_position.h"

namespace berth::explain {

// All that an answer about one pod says: its judgement, and what was asked beside it. VerdictWriter
// makes a document of it, AppendTable() a table.
struct Explanation {
  std::unique_ptr<engine::Judgement> judgement;  // explained
  // Its pod group's; nullptr: it belongs to none.
  std::shared_ptr<const engine::PodGroupPreview> group{};
  // Where they were asked for, and it is unschedulable, or held by its group.
  std::optional<Fixes> fixes{};
  // With a scheduler that runs.
  std::optional<PodPosition> position{};
  // The pod as it is on its node, where it has one: it was judged as if it had none.
  std::shared_ptr<const api::Pod> placed{};
  // What the judgement took, and what its reasons and previews took.
  Duration decision{};
  Duration reasons{};

  // Whether some node is feasible for the pod, and its pod group keeps it from going there: the
  // group cannot start, or its pods that are tried first take the room.
  bool held_by_group() const {
    if (judgement->kind() != engine::Judgement::Kind::kScheduled || placed != nullptr ||
        group == nullptr || !group->exists || !group->tried) {
      return false;
    }
    const auto member = std::ranges::find(group->waiting, judgement->pod().metadata.Key(),
                                          &engine::PodGroupPreview::Member::pod);
    return member != group->waiting.end() &&
           (member->node.empty() || !(group->starts || group->has_started()));
  }
  // Whether the pod has a node, or would get one if it were tried now.
  bool scheduled() const {
    return placed != nullptr ||
           (judgement->kind() == engine::Judgement::Kind::kScheduled && !held_by_group());
  }
};

}  // namespace berth::explain
