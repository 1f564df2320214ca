// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "src/engine/engine.h"
#include "src/scheduler/options.h"
#include "src/scheduler/pod_group_attempt.h"
#include "src/scheduler/profiles.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

// Tries all pods of a group, one after the other, each with those before it assumed and reserved on
// their nodes, in a trial of the cache: what came of it is kept whole, or nothing is.
//
// Thread safety: the scheduling thread.
class PodGroupTrial {
 public:
  // All must outlive the trial. Of the options it takes what times decisions.
  PodGroupTrial(SchedulerState& state, const Profiles& profiles, engine::Engine& engine,
                const SchedulerOptions& options);

  // Success: the members that are placed are assumed and reserved. Else the cluster is as before,
  // though members may say that they were placed.
  GroupVerdict Run(PodGroupAttempt& group);
  // The same, but nothing is kept of it.
  GroupVerdict Try(PodGroupAttempt& group);

 private:
  enum class Keep { kPlacements, kNothing };
  GroupVerdict Run(PodGroupAttempt& group, Keep keep);
  // Why pods of one class are refused, as long as nothing is assumed meanwhile.
  struct Refused {
    PodClassId pod_class = kNoPodClass;
    uint32_t class_epoch = 0;
    uint64_t cache_generation = 0;
    Failure failure;
  };

  GroupVerdict TryAll(PodGroupAttempt& group);
  void TryOne(MemberAttempt& member);
  void Refuse(MemberAttempt& member, const engine::Decision& decision);
  // What was said of a pod alike, if it still holds.
  const Failure* RefusedAlike(const PodInfo& pod) const;
  void TakeBack(PodGroupAttempt& group);

  SchedulerState& state_;
  const Profiles& profiles_;
  engine::Engine& engine_;
  const std::function<Duration()> stopwatch_;
  std::optional<Refused> refused_;
  // The nodes that members were nominated for before they were assumed, by member.
  std::vector<std::string> nominated_;
  const metrics::SeriesId algorithm_series_;
};

}  // namespace berth::scheduler
