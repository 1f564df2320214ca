// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/simulation.h"

#include <algorithm>

#include "src/base/clock.h"
#include "src/base/suggestion.h"
#include "src/queue/scheduling_queue.h"
#include "src/scheduler/binding_cycles.h"

namespace berth::simulator {

Simulation::Simulation(Time start)
    : clock_(start),
      api_(clock_, executor_,
           [this](informers::InformerEvent event) {
             if (volume_controllers_ != nullptr) {
               volume_controllers_->See(event);
               claim_controller_->See(event);
             }
             Post(std::move(event));
           }),
      loop_due_(start) {}

Result<std::unique_ptr<Simulation>> Simulation::Make(
    const SimulationOptions& options, const std::vector<PluginRegistration>& registry) {
  std::unique_ptr<Simulation> simulation(new Simulation(options.start));
  simulation->api_.set_keep_events(options.keep_events);
  simulation->timed_ = options.timed;
  auto scheduler = scheduler::Scheduler::Make(options.scheduler, registry, simulation->clock_,
                                              simulation->api_, simulation->metrics_);
  if (!scheduler) return Fail(scheduler.error());
  simulation->scheduler_ = std::move(*scheduler);
  return simulation;
}

void Simulation::StartControllers(ControllersOf of) {
  volume_controllers_ = std::make_unique<VolumeControllers>(api_, executor_, of);
  claim_controller_ = std::make_unique<ClaimController>(api_, executor_, of);
}

void Simulation::EndControllers() {
  volume_controllers_.reset();
  claim_controller_.reset();
}

void Simulation::Start() {
  if (std::exchange(started_, true)) return;
  for (const informers::Kind kind : informers::AllKinds()) {
    informers::InformerEvent event;
    event.kind = kind;
    event.type = informers::EventType::kSynced;
    Post(std::move(event));
  }
}

void Simulation::RunDue() {
  do {
    if (interrupted()) return;
    if (timed_) clock_.Run();
    const Duration before = base::ThreadCpuTime();
    loop_due_ = scheduler_->Turn(clock_.Now()).value_or(Time::max());
    scheduler_time_ += base::ThreadCpuTime() - before;
    if (timed_) clock_.Halt();
  } while (executor_.RunDue() || scheduler_->has_messages());
}

Result<std::shared_ptr<const api::Pod>> Simulation::NamedPod(std::string_view key) const {
  if (auto pod = FindPod(key); pod != nullptr) return pod;
  if (const auto ended = ended_pods_.find(std::string(key)); ended != ended_pods_.end()) {
    return Fail("pod " + ended->first + " has ended (" + ended->second +
                "): no scheduler looks at it any more");
  }
  const std::string_view name = key.substr(key.find('/') + 1);
  std::string elsewhere;
  base::Suggestion meant(key);
  api_.ForEach(informers::Kind::kPod, [&](const api::ObjectPtr& object) {
    const api::ObjectMeta& metadata = api::As<api::Pod>(object)->metadata;
    meant.Try(metadata.Key());
    if (metadata.name != name) return;
    elsewhere += (elsewhere.empty() ? "; there is " : ", ") + metadata.Key() + " (-n " +
                 metadata.namespace_ + ")";
  });
  return Fail("the cluster has no pod " + std::string(key) +
              (elsewhere.empty() ? meant.ToString() : elsewhere));
}

std::vector<std::shared_ptr<const api::Pod>> Simulation::WaitingPods() const {
  std::vector<std::shared_ptr<const api::Pod>> pods;
  api_.ForEach(informers::Kind::kPod, [&](const api::ObjectPtr& object) {
    const auto& pod = std::get<std::shared_ptr<const api::Pod>>(object);
    if (IsWaiting(*pod)) pods.push_back(pod);
  });
  return pods;
}

bool Simulation::quiet() const {
  const queue::QueueCounts counts = scheduler_->queue().counts();
  return started_ && counts.active == 0 && counts.backoff == 0 && counts.in_flight == 0 &&
         scheduler_->binding_cycles().size() == 0;
}

void Simulation::Step(Time end) {
  const Time next = std::min(loop_due_, executor_.NextDue().value_or(Time::max()));
  // After RunDue() nothing is due now; time must pass all the same.
  clock_.Set(std::clamp(next, std::min(clock_.Now() + Duration(1), end), end));
  RunDue();
}

bool Simulation::RunUntilQuiet(Duration limit, Duration patience) {
  Start();
  RunDue();
  const Time end = clock_.Now() + limit;
  uint64_t changes = api_.changes();
  Time changed = clock_.Now();
  while (!quiet() && !interrupted() && clock_.Now() < std::min(end, changed + patience)) {
    Step(end);
    if (scheduler_->binding_cycles().size() > 0 || api_.changes() != changes)
      changed = clock_.Now();
    changes = api_.changes();
  }
  return quiet();
}

void Simulation::Advance(Duration by) {
  const Time end = clock_.Now() + by;
  RunDue();
  while (clock_.Now() < end && !interrupted()) Step(end);
}

void CopyObjects(const Simulation& from, Simulation& to) {
  const auto apply = [&](const api::ObjectPtr& object) { to.Apply(object); };
  for (const informers::Kind kind : informers::AllKinds()) {
    if (kind != informers::Kind::kPod) from.api().ForEach(kind, apply);
  }
  from.api().ForEachPodByCreation(apply);
}

}  // namespace berth::simulator
