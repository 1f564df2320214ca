// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/in_tree/plugin.h"
#include "berth/result.h"
#include "src/base/virtual_time.h"
#include "src/metrics/registry.h"
#include "src/scheduler/scheduler.h"
#include "src/simulator/controllers.h"
#include "src/simulator/memory_api.h"

namespace berth::simulator {

struct SimulationOptions {
  scheduler::SchedulerOptions scheduler;
  Time start = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);
  // Off: the events that the scheduler writes are not kept.
  bool keep_events = true;
  // The clock runs while the scheduler does, as fast as the machine: what the scheduler takes is
  // seen as latency, what the API in memory takes is not. For benchmarks; nothing repeats itself.
  bool timed = false;
};

// The scheduler of the daemon, over an API server in memory and a clock that its caller moves.
// One thread does everything, so a simulation repeats itself: the same options and the same calls
// give the same decisions.
//
//   Apply, Delete -> MemoryApi --watch events--> Scheduler --binds, patches, events--> MemoryApi
//
// Nothing is decided before Start(), which says that the first lists are in; until then the
// simulation is a picture of a cluster that pods can be judged against.
//
// Thread safety: one owner.
class Simulation {
 public:
  // Errors: the profiles cannot be built.
  static Result<std::unique_ptr<Simulation>> Make(const SimulationOptions& options,
                                                  const std::vector<PluginRegistration>& registry);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Changes of the cluster, as others make them: see MemoryApi. The scheduler takes them in with
  // the next RunDue(), or whatever else lets it run.
  void Apply(api::ObjectPtr object) { api_.Apply(std::move(object)); }
  bool Delete(informers::Kind kind, std::string_view key) { return api_.Delete(kind, key); }
  // Tells the scheduler what an informer saw that the API in memory has not.
  void Post(informers::InformerEvent&& event) { scheduler_->Post(std::move(event)); }

  // From now on a cluster's controllers are at work, too: VolumeControllers and ClaimController.
  // Before the first object comes.
  void StartControllers(ControllersOf of = ControllersOf::kAll);
  // They are no more. After RunDue().
  void EndControllers();
  // The first lists are in: from now on pods are decided. Does nothing the second time.
  void Start();

  // Runs until nothing is left to do without time passing.
  void RunDue();
  // Starts; then lets time pass, from one due time to the next, until no pod is active, backing off
  // or on its way to a node: what is left is parked or gated. False: `limit` passed before that, or
  // for `patience` no object changed and no pod was on its way, so that those which still back off
  // fail in the same way again and again.
  bool RunUntilQuiet(Duration limit, Duration patience = std::chrono::minutes(1));
  // Lets this much time pass, running all that falls due meanwhile.
  void Advance(Duration by);
  bool quiet() const;
  // `interrupt` is asked between two turns. As soon as it says yes nothing runs any more, and time
  // stands still: what was under way is left so, and the simulation is of no more use.
  void set_interrupt(std::function<bool()> interrupt) { interrupt_ = std::move(interrupt); }
  bool interrupted() const { return interrupt_ && interrupt_(); }
  Time now() const { return clock_.Now(); }

  MemoryApi& api() { return api_; }
  const MemoryApi& api() const { return api_; }
  scheduler::Scheduler& scheduler() { return *scheduler_; }
  // CPU time that the scheduler's turns took so far: what the daemon's scheduling thread would
  // have spent, without the ends of binds and the API server.
  Duration scheduler_time() const { return scheduler_time_; }
  std::shared_ptr<const api::Pod> FindPod(std::string_view key) const { return api_.FindPod(key); }
  // The same for a pod that a person names. Errors: there is none; says in which other namespaces
  // there is one of that name, or that it has ended.
  Result<std::shared_ptr<const api::Pod>> NamedPod(std::string_view key) const;
  // Pods that have ended, which no scheduler sees: their phases, by key.
  void NameEndedPods(std::map<std::string, std::string> phases) { ended_pods_ = std::move(phases); }
  // Whether the pod waits for a node, or on its node for room for its resize, as the scheduler
  // knows it.
  bool IsWaiting(const api::Pod& pod) const {
    return pod.spec.node_name.empty() || scheduler_->FindPendingPod(pod.metadata.Key()) != nullptr;
  }
  // Those that do, by key.
  std::vector<std::shared_ptr<const api::Pod>> WaitingPods() const;

 private:
  explicit Simulation(Time start);
  // Sets the clock to what is due next, but not past `end`, and runs that.
  void Step(Time end);

  base::VirtualClock clock_;
  base::VirtualExecutor executor_{clock_};
  metrics::Registry metrics_;
  MemoryApi api_;
  // Both or neither.
  std::unique_ptr<VolumeControllers> volume_controllers_;
  std::unique_ptr<ClaimController> claim_controller_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  Time loop_due_;
  Duration scheduler_time_{};
  bool timed_ = false;
  bool started_ = false;
  std::function<bool()> interrupt_;                // may be empty
  std::map<std::string, std::string> ended_pods_;  // their phases, by key
};

// Applies all objects of one simulation to another, pods last, and these by their creation.
void CopyObjects(const Simulation& from, Simulation& to);

}  // namespace berth::simulator
