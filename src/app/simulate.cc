// SPDX-License-Identifier: Apache-2.0
#include "src/app/simulate.h"

#include <unistd.h>

#include <cstdio>
#include <optional>
#include <utility>

#include "src/app/offline_cluster.h"
#include "src/app/offline_flags.h"
#include "src/app/progress.h"
#include "src/app/what_if.h"
#include "src/base/clock.h"
#include "src/base/logging.h"
#include "src/simulator/report.h"

namespace berth::app {
namespace {

// Longer than anything may wait in a binding cycle; a pod that fails again and again ends here.
constexpr Duration kLimit = std::chrono::minutes(30);
constexpr size_t kFlushBytes = 64 * 1024;

void Print(std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  text.clear();
}

// What hears of the decisions.
struct Listener {
  bool json = false;
  std::string lines;  // not printed yet
  uint64_t attempts = 0;
  uint64_t bound = 0;
  size_t pods = 0;
  size_t evictions = 0;  // told of
  std::optional<Progress> progress;
  const simulator::Simulation* simulation = nullptr;

  void OnCycle(const scheduler::CycleOutcome& outcome) {
    ++attempts;
    if (!outcome.node_name.empty()) ++bound;
    if (progress) progress->Show(bound, pods);
    if (!json) return;
    TellEvictions();
    simulator::AppendDecision(outcome, lines);
    if (lines.size() > kFlushBytes) Print(lines);
  }
  void OnPodGroup(const scheduler::PodGroupOutcome& outcome) {
    if (json) simulator::AppendDecision(outcome, lines);
  }
  void TellEvictions() {
    const std::vector<std::string>& evicted = simulation->api().evicted();
    for (; evictions < evicted.size(); ++evictions) {
      simulator::AppendEviction(evicted[evictions], lines);
    }
  }
};

}  // namespace

int Simulate(const std::vector<std::string>& arguments, const std::string& program,
             const InTreePlugins& plugins) {
  const auto flags = BeginOffline(OfflineCommand::kSimulate, arguments, program);
  if (!flags) return flags.error();
  Listener listener;
  listener.json = flags->output == OutputFormat::kJson;
  auto made = MakeSimulation(
      *flags, plugins,
      {[&listener](const scheduler::CycleOutcome& outcome) { listener.OnCycle(outcome); },
       [&listener](const scheduler::PodGroupOutcome& outcome) { listener.OnPodGroup(outcome); }});
  if (!made) return FailWith(made.error().message);
  simulator::Simulation& simulation = *made->simulation;
  listener.simulation = &simulation;
  simulation.StartControllers();
  if (auto filled = FillSimulation(*flags, simulation); !filled) {
    return FailWith(filled.error().message);
  }
  if (flags->what_if.any()) {
    listener.json = false;
    const int code = AnswerWhatIf(*flags, plugins, simulation);
    base::FlushLogs();
    return code;
  }
  const std::vector<std::string> pending = PendingPods(simulation);
  simulation.RunDue();
  // The lines of the decisions would mix with a bar on the same terminal.
  if (!listener.json || isatty(STDOUT_FILENO) != 1) listener.progress.emplace("Scheduling");
  listener.pods = pending.size();

  const base::RealClock clock;
  const Time began = clock.Now();
  const Time virtual_began = simulation.now();
  simulation.RunUntilQuiet(kLimit);
  listener.progress.reset();
  const simulator::Report report = simulator::MakeReport(
      pending,
      {flags->seed, listener.attempts, simulation.now() - virtual_began, clock.Now() - began},
      simulation);
  if (listener.json) {
    listener.TellEvictions();
    simulator::AppendSummary(report, listener.lines);
  } else {
    simulator::AppendReportTable(report, simulation, listener.lines);
  }
  Print(listener.lines);
  base::FlushLogs();
  return kDone;
}

}  // namespace berth::app
