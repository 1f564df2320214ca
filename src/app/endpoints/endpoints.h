// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "berth/time.h"
#include "src/app/endpoints/live_questions.h"
#include "src/app/endpoints/zpages.h"
#include "src/base/executor.h"
#include "src/base/mutex.h"
#include "src/config/types.h"
#include "src/informers/informers.h"
#include "src/metrics/registry.h"
#include "src/scheduler/scheduler.h"
#include "src/serving/router.h"

namespace berth::app {

// /debug/flags/v: the log's verbosity can be read, and set by PUT, while the daemon runs. Nothing
// else of the log's set-up changes.
void InstallDebugFlags(serving::Router& router);

// The configuration in use, as /configz shows it: without keys, and with what the last reload
// changed.
//
// Thread safety: any thread.
class Configz {
 public:
  explicit Configz(const config::SchedulerConfiguration& configuration) { Set(configuration); }

  void Set(const config::SchedulerConfiguration& configuration);
  std::string Json() const;

 private:
  mutable base::Mutex mutex_;
  std::string json_ BERTH_GUARDED_BY(mutex_);
};

// What the endpoints tell about. References and functions must hold until the server has stopped;
// the functions may be called from any thread.
struct EndpointSources {
  using Check = std::function<std::optional<std::string>()>;

  const Clock& clock;
  base::Executor& executor;  // that waits between two reads of the scheduling state
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

// In each answer of /debug: whether the replica leads, "true" or "false".
inline constexpr const char* kLeadingHeader = "Berth-Leading";

// All endpoints; docs/endpoints.md has the list. What needs the scheduling state asks for it by way
// of LiveReads, and waits without a thread.
std::shared_ptr<const serving::Router> MakeEndpoints(EndpointSources sources);

// How long /debug/pprof/profile may sample, in seconds, and the server waits for its answer.
inline constexpr int kMostProfileSeconds = 60;
inline constexpr std::string_view kProfilePath = "/debug/pprof/profile";

// /debug/pprof, as far as a program that is not Go's has it: `profile` (CPU time, by default of 30
// seconds), `heap`, `cmdline`, and a list of them. For `go tool pprof`. `executor` and `clock`
// outlive the server.
//
// Thread safety: what is installed is for the server's thread.
void InstallPprof(serving::Router& router, base::Executor& executor, const Clock& clock);

}  // namespace berth::app
