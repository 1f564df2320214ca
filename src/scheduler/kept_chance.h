// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/engine/engine.h"
#include "src/framework/profile.h"
#include "src/scheduler/state.h"

namespace berth::scheduler {

// Decisions made during its life draw as ever, but later ones draw as if they had not been made.
//
// Thread safety: the scheduling thread. All must outlive it.
class KeptChance {
 public:
  // `profile` is that of the pods decided about.
  KeptChance(SchedulerState& state, engine::Engine& engine, const framework::Profile& profile)
      : state_(state),
        engine_(engine),
        profile_(profile),
        of_state_(state.random),
        of_plugins_(profile.handle().random()),
        of_engine_(engine.chance()) {}
  ~KeptChance() {
    state_.random = of_state_;
    profile_.handle().random() = of_plugins_;
    engine_.SetChance(of_engine_);
  }
  KeptChance(const KeptChance&) = delete;
  KeptChance& operator=(const KeptChance&) = delete;

 private:
  SchedulerState& state_;
  engine::Engine& engine_;
  const framework::Profile& profile_;
  const Random of_state_;
  const Random of_plugins_;
  const engine::Engine::Chance of_engine_;
};

}  // namespace berth::scheduler
