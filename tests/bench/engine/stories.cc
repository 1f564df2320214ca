// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/engine/stories.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <numeric>
#include <utility>

#include "src/app/daemon/in_tree_plugins.h"
#include "src/base/clock.h"
#include "src/config/load.h"
#include "src/simulator/simulation.h"
#include "tests/support/builders.h"

namespace berth::bench {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;

double Microseconds(Duration time) { return duration<double, std::micro>(time).count(); }

std::string Numbered(std::string_view name, size_t i) {
  return std::string(name) + "-" + std::to_string(i);
}

simulator::SimulationOptions Options(std::function<void(const scheduler::CycleOutcome&)> on_cycle) {
  simulator::SimulationOptions options;
  options.scheduler.configuration =
      config::DefaultConfiguration(app::KnownTo(app::FindInTreePlugins(), config::FeatureGates()));
  options.scheduler.configuration.client_connection.burst = 5000;
  options.scheduler.seed = 1;
  options.scheduler.on_cycle = std::move(on_cycle);
  options.keep_events = false;
  return options;
}

std::unique_ptr<simulator::Simulation> MakeSimulation(simulator::SimulationOptions options) {
  auto made = simulator::Simulation::Make(std::move(options), app::FindInTreePlugins().registry);
  if (!made) {
    std::cerr << made.error().message << '\n';
    std::exit(2);
  }
  return std::move(*made);
}

void AddNodes(simulator::Simulation& sim, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    sim.Apply(test::MakeNode(Numbered("node", i))
                  .Label("topology.kubernetes.io/zone", Numbered("zone", i % 3))
                  .Label("kubernetes.io/hostname", Numbered("node", i))
                  .Allocatable({{"cpu", "4"}, {"memory", "32Gi"}, {"pods", "110"}})
                  .Ptr());
  }
}

test::PodBuilder Pod(const std::string& name, std::string_view cpu) {
  test::PodBuilder pod = test::MakePod();
  pod.Name(name).SchedulerName("default-scheduler").Req({{"cpu", cpu}, {"memory", "500Mi"}});
  return pod;
}

double Percentile(std::vector<double> values, double rank) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto at = static_cast<size_t>(rank * static_cast<double>(values.size() - 1));
  return values[at];
}

}  // namespace

std::vector<Figure> Preemption(const Sizes& sizes) {
  // The first cycle of a pod finds its victims.
  Duration begin{};
  bool decided = true;
  std::vector<double> decisions;
  const auto sim = MakeSimulation(Options([&](const scheduler::CycleOutcome&) {
    if (!std::exchange(decided, true))
      decisions.push_back(Microseconds(base::ThreadCpuTime() - begin));
  }));
  AddNodes(*sim, sizes.nodes);
  for (size_t i = 0; i < sizes.pods; ++i) {
    sim->Apply(Pod(Numbered("low", i), "900m")
                   .OnNode(Numbered("node", i % sizes.nodes))
                   .Priority(static_cast<int32_t>(i % 5))
                   .StartedAt(sim->now() - milliseconds(1000 * (i % 1000)))
                   .Ptr());
  }
  sim->Start();
  sim->RunDue();
  std::vector<std::shared_ptr<const api::Pod>> pods;
  for (size_t i = 0; i < sizes.arrive; ++i) {
    pods.push_back(Pod(Numbered("high", i), "900m").Priority(1000).Ptr());
  }
  std::vector<double> each;
  const Duration start = base::ThreadCpuTime();
  for (auto& pod : pods) {
    begin = base::ThreadCpuTime();
    decided = false;
    sim->Apply(std::move(pod));
    sim->RunDue();
    each.push_back(Microseconds(base::ThreadCpuTime() - begin));
  }
  const double total = duration<double>(base::ThreadCpuTime() - start).count();
  size_t bound = 0;
  for (size_t i = 0; i < sizes.arrive; ++i) {
    const auto pod = sim->FindPod("default/" + Numbered("high", i));
    if (pod != nullptr && !pod->spec.node_name.empty()) ++bound;
  }
  const auto count = static_cast<double>(sizes.arrive);
  const double deciding = std::accumulate(decisions.begin(), decisions.end(), 0.0);
  return {{"Preemption", "decisions for whom to evict", 1e6 * count / deciding, "1/s"},
          {"Preemption", "decision, median", Percentile(decisions, 0.5), "us"},
          {"Preemption", "decision, p99", Percentile(decisions, 0.99), "us"},
          {"Preemption", "whole loop, until the pod is bound", count / total, "1/s"},
          {"Preemption", "whole loop, median", Percentile(each, 0.5), "us"},
          {"Preemption", "bound", static_cast<double>(bound), "pods"},
          {"Preemption", "evicted", static_cast<double>(sim->api().evicted().size()), "pods"}};
}

namespace {

// What each request takes, and each object on its way from the API server.
constexpr Duration kApiLatency = milliseconds(5);

// From the creation of pods that fit to their decision, in microseconds; `crowd` others for each of
// them do not fit.
std::vector<double> Waits(const Sizes& sizes, size_t crowd, uint64_t& reused) {
  std::map<std::string, Time, std::less<>> created;
  std::vector<double> waits;
  simulator::Simulation* running = nullptr;
  simulator::SimulationOptions options = Options([&](const scheduler::CycleOutcome& outcome) {
    const auto it = created.find(outcome.pod.metadata.name);
    if (it == created.end() || outcome.code != Code::kSuccess) return;
    waits.push_back(duration<double, std::micro>(running->now() - it->second).count());
  });
  options.timed = true;
  const auto sim = MakeSimulation(std::move(options));
  running = sim.get();
  sim->api().set_latency(kApiLatency);
  AddNodes(*sim, sizes.nodes);
  sim->Start();
  sim->RunDue();
  // Each pod that fits comes at the same time with the crowd and without it.
  constexpr Duration kBetween = milliseconds(3);
  const Time start = sim->now() + kApiLatency;
  size_t unfit = 0;
  for (size_t i = 0; i < sizes.arrive; ++i) {
    const Time arrives = start + kBetween * static_cast<int64_t>(i);
    if (arrives > sim->now()) sim->Advance(arrives - sim->now());
    for (size_t n = 0; n < crowd; ++n) {
      sim->Apply(Pod(Numbered("unfit", unfit++), "64").Ptr());
    }
    const std::string name = Numbered("fits", i);
    created[name] = arrives - kApiLatency;
    sim->Apply(Pod(name, "100m").Ptr());
    sim->RunDue();
  }
  while (waits.size() < sizes.arrive) sim->Advance(kBetween);
  reused = sim->scheduler().num_reused_refusals();
  return waits;
}

}  // namespace

std::vector<Figure> Starvation(const Sizes& sizes) {
  uint64_t reused = 0;
  const std::vector<double> alone = Waits(sizes, 0, reused);
  const std::vector<double> crowded = Waits(sizes, sizes.pods / sizes.arrive, reused);
  const double p99_alone = Percentile(alone, 0.99);
  const double p99_crowded = Percentile(crowded, 0.99);
  return {{"Starvation", "median, alone", Percentile(alone, 0.5), "us"},
          {"Starvation", "median, in the crowd", Percentile(crowded, 0.5), "us"},
          {"Starvation", "p99, alone", p99_alone, "us"},
          {"Starvation", "p99, in the crowd", p99_crowded, "us"},
          {"Starvation", "p99 ratio", p99_crowded / p99_alone, ""},
          {"Starvation", "attempts that shared an evaluation", static_cast<double>(reused), ""}};
}

}  // namespace berth::bench
