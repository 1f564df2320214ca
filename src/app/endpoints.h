// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "berth/time.h"
#include "src/app/configz.h"
#include "src/app/live_questions.h"
#include "src/app/zpages.h"
#include "src/informers/informers.h"
#include "src/metrics/registry.h"
#include "src/scheduler/scheduler.h"
#include "src/serving/router.h"

namespace berth::app {

// What the endpoints tell about. References and functions must hold until the server has stopped;
// the functions may be called from any thread.
struct EndpointSources {
  using Check = std::function<std::optional<std::string>()>;

  const Clock& clock;
  scheduler::Scheduler& scheduler;
  metrics::Registry& metrics;
  const informers::Informers& informers;
  const Configz& configz;
  LiveQuestions& questions;
  ZPages zpages;
  bool debug;  // whether /debug/* is there
  // What is wrong; nullopt: nothing.
  Check scheduling_loop{};
  Check leader_election{};  // empty without leader election
  Check shutdown{};
  std::function<bool()> leading{};
};

// All endpoints; docs/endpoints.md has the list. What needs the scheduling state asks the
// scheduling thread for it and waits without a thread.
std::shared_ptr<const serving::Router> MakeEndpoints(EndpointSources sources);

}  // namespace berth::app
