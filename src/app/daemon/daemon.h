// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/plugin.h"
#include "berth/result.h"
#include "src/app/daemon/loop_watch.h"
#include "src/app/daemon/metrics_setup.h"
#include "src/base/clock.h"
#include "src/base/thread.h"
#include "src/client/api_client.h"
#include "src/client/curl_client.h"
#include "src/config/types.h"
#include "src/election/leader_elector.h"
#include "src/informers/informers.h"
#include "src/metrics/registry.h"
#include "src/node_metrics/reader.h"
#include "src/packing/live_figures.h"
#include "src/recording/recorder.h"
#include "src/scheduler/scheduler.h"
#include "src/shadow/comparison.h"

namespace berth::app {

struct DaemonOptions {
  config::SchedulerConfiguration configuration;
  Features features;
  std::string master;       // --master
  std::string config_file;  // for messages; "" where there is none
  Duration pod_max_in_unschedulable_pods_duration = std::chrono::minutes(5);
  uint64_t seed = 0;
  metrics::RegistryOptions metrics;
  std::string record;  // the folder to record to; "": nowhere
  recording::FileLimits record_limits;
  bool shadow = false;  // --shadow
};

// Client, informers, scheduler and leader election, wired together:
//
//   API server <-> CurlClient ("berth-io") -> Informers -> Scheduler's inbox ("berth-sched")
//                      ^        |
//                      |        +-> LeaderElector: lets the scheduler begin, and holds back every
//                      +----------- write while the lease may be another's
//
// Where a plugin scores by what nodes use, a ReaderThread ("berth-measure") asks for that.
//
// A standby watches and fills its cache and its queue like a leader, unless delayCacheUntilActive.
//
// Thread safety: one owner, which is neither of the two threads; leading(), CheckLoop() and
// CheckLeaderElection() from any thread.
class Daemon {
 public:
  // `registry` lists the plugins. Errors: no API server to be found, a profile that cannot be
  // built.
  static Result<std::unique_ptr<Daemon>> Make(DaemonOptions options,
                                              const std::vector<PluginRegistration>& registry);
  // Stops at once, without waiting for bindings in hand.
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // Begins to watch and, once it leads, to schedule. `ended` is called on one of the two threads,
  // last: once Stop() has done its work, or the lease is lost.
  void Start(std::function<void()> ended);
  // Starts no further scheduling cycle, waits for the bindings in hand, gives the lease up and
  // waits for the events that are still unsent; up to `patience` for bindings and events together.
  // Does not block.
  void Stop(Duration patience);

  // Logs the scheduler's state and where it differs from what the informers hold. Does not block.
  void LogState();
  // See scheduler::ReloadRequested.
  void Reload(config::SchedulerConfiguration next, std::function<void(Result<void>)> done);
  // Of use as long as the daemon; see each for the threads that may use it.
  scheduler::Scheduler& scheduler() { return *scheduler_; }
  const informers::Informers& informers() const { return *informers_; }
  // Asked for an exposition only before the destructor has begun.
  metrics::Registry& metrics() { return metrics_; }
  const Clock& clock() const { return clock_; }
  // The client's, "berth-io".
  base::Executor& executor() { return client_->executor(); }

  // With --shadow, what it came to; of use once `ended` was called.
  std::optional<shadow::Summary> SummarizeShadow() const;

  // Always, without leader election.
  bool leading() const { return elector_ == nullptr || elector_->leading(); }
  // It was ours and is not any more: nothing may be done but to end the process.
  bool lost_lease() const { return lost_lease_; }

  // For /livez: what is wrong, when the scheduling loop does not turn.
  std::optional<std::string> CheckLoop() const { return loop_watch_->Problem(); }
  // For /healthz and /readyz: what is wrong, when the lease is long overdue.
  std::optional<std::string> CheckLeaderElection() const;

 private:
  explicit Daemon(metrics::RegistryOptions metrics);
  // Lets the scheduler decide beside another one.
  void EnterShadow(scheduler::SchedulerOptions& options);
  void MakeLoopWatch();
  // From now on these are read. Before Start() on the owner's thread, then on the scheduler's.
  void WatchNodeMetrics(std::vector<NodeMetricsSource> sources);
  void MakeElector(const config::LeaderElection& election, std::string component, uint64_t seed);

  base::RealClock clock_;
  metrics::Registry metrics_;
  RequestMetrics request_metrics_{metrics_};
  packing::LiveFigures packing_{clock_, metrics_};
  std::unique_ptr<recording::Recorder> recorder_;  // nullptr: nothing is recorded
  std::unique_ptr<client::CurlClient> client_;
  std::optional<client::ReadOnlyClient> read_only_;  // with --shadow
  std::optional<shadow::Comparison> comparison_;     // the same
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  std::unique_ptr<informers::Informers> informers_;
  std::vector<NodeMetricsSource> node_metrics_sources_;              // until Start()
  std::unique_ptr<node_metrics::ReaderThread> node_metrics_reader_;  // nullptr: none was wanted yet
  bool started_ = false;
  std::shared_ptr<LoopWatch> loop_watch_;
  std::unique_ptr<election::LeaderElector> elector_;  // nullptr without leader election
  std::vector<informers::Kind> kinds_;
  bool delay_cache_ = false;
  std::function<void()> ended_;
  std::atomic<bool> lost_lease_ = false;
  std::atomic<Time> stop_by_{Time()};  // when patience ends, once it stops
  base::NamedThread thread_;
};

}  // namespace berth::app
