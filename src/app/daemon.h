// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/handle.h"
#include "berth/plugin.h"
#include "berth/result.h"
#include "src/app/request_metrics.h"
#include "src/base/clock.h"
#include "src/base/thread.h"
#include "src/client/curl_client.h"
#include "src/config/types.h"
#include "src/informers/informers.h"
#include "src/metrics/registry.h"
#include "src/scheduler/scheduler.h"

namespace berth::app {

struct DaemonOptions {
  config::SchedulerConfiguration configuration;
  Features features;
  std::string master;       // --master
  std::string config_file;  // for messages; "" where there is none
  Duration pod_max_in_unschedulable_pods_duration = std::chrono::minutes(5);
  uint64_t seed = 0;
  metrics::RegistryOptions metrics;
};

// Client, informers and scheduler, wired together:
//
//   API server <-> CurlClient ("berth-io") -> Informers -> Scheduler's inbox ("berth-sched")
//
// Thread safety: one owner, which is neither of the two threads.
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

  // Begins to watch and to schedule. `finished` is called on the scheduling thread, last, once
  // Stop() has done its work.
  void Start(std::function<void()> finished);
  // Starts no further scheduling cycle and waits up to `patience` for the bindings in hand. Does
  // not block.
  void Stop(Duration patience);

  // Of use as long as the daemon; see each for the threads that may use it.
  scheduler::Scheduler& scheduler() { return *scheduler_; }
  const informers::Informers& informers() const { return *informers_; }
  // Asked for an exposition only before the destructor has begun.
  metrics::Registry& metrics() { return metrics_; }
  const Clock& clock() const { return clock_; }

 private:
  explicit Daemon(metrics::RegistryOptions metrics) : metrics_(std::move(metrics)) {}

  base::RealClock clock_;
  metrics::Registry metrics_;
  RequestMetrics request_metrics_{metrics_};
  std::unique_ptr<client::CurlClient> client_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  std::unique_ptr<informers::Informers> informers_;
  base::NamedThread thread_;
};

}  // namespace berth::app
