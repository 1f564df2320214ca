// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <utility>

#include "src/app/commands/commands.h"
#include "src/app/commands/offline_cluster.h"
#include "src/app/commands/progress.h"
#include "src/app/commands/what_if.h"
#include "src/app/flags/offline_flags.h"
#include "src/base/clock.h"
#include "src/base/logging.h"
#include "src/simulator/report.h"

namespace berth::app {
namespace {

// Longer than anything may wait in a binding cycle; a pod that fails again and again ends here.
constexpr Duration kLimit = std::chrono::minutes(30);
constexpr size_t kFlushBytes = 64 * 1024;

void PrintOut(std::string& lines, OutputFormat format) {
  PrintDocuments(lines, format);
  lines.clear();
}

// What gets the decisions.
struct Listener {
  const OfflineFlags& flags;
  bool json = false;
  std::string lines = {};  // not printed yet
  uint64_t attempts = 0;
  uint64_t bound = 0;
  size_t pods = 0;
  size_t evictions = 0;  // reported so far
  std::optional<Progress> progress = {};
  simulator::Simulation* simulation = nullptr;

  void OnCycle(const scheduler::CycleOutcome& outcome) {
    ++attempts;
    if (!outcome.node_name.empty()) ++bound;
    if (progress) progress->Show(bound, pods);
    if (!json) return;
    TellEvictions();
    if (!flags.Shows(outcome.pod.metadata.namespace_)) return;
    simulator::AppendDecision(outcome, lines, simulator::DevicesGiven(outcome.pod, *simulation));
    if (lines.size() > kFlushBytes) PrintOut(lines, flags.output);
  }
  void OnPodGroup(const scheduler::PodGroupOutcome& outcome) {
    if (json && flags.Shows(outcome.pod_group.metadata.namespace_)) {
      simulator::AppendDecision(outcome, lines);
    }
  }
  void TellEvictions() {
    const std::vector<std::string>& evicted = simulation->api().evicted();
    for (; evictions < evicted.size(); ++evictions) {
      const std::string_view key = evicted[evictions];
      if (flags.Shows(key.substr(0, key.find('/')))) simulator::AppendEviction(key, lines);
    }
  }
};

}  // namespace

int Simulate(const std::vector<std::string>& arguments, const std::string& program,
             const InTreePlugins& plugins) {
  const auto flags = BeginOffline(OfflineCommand::kSimulate, arguments, program);
  if (!flags) return flags.error();
  Listener listener{.flags = *flags, .json = IsDocument(flags->output)};
  auto made = MakeSimulation(
      *flags, plugins,
      {[&listener](const scheduler::CycleOutcome& outcome) { listener.OnCycle(outcome); },
       [&listener](const scheduler::PodGroupOutcome& outcome) { listener.OnPodGroup(outcome); }});
  if (!made) return FailWith(made.error().message);
  simulator::Simulation& simulation = *made->simulation;
  listener.simulation = &simulation;
  simulation.StartControllers();
  auto beside = FillSimulation(*flags, simulation);
  if (!beside) return FailWith(beside.error().message);
  if (flags->what_if.any()) {
    listener.json = false;
    if (flags->live()) beside->admission = LiveAdmission(*flags);
    const int code = AnswerWhatIf(*flags, plugins, *beside, simulation);
    base::FlushLogs();
    return code;
  }
  // Before the scheduler knows of resizes: these have their node.
  const std::vector<std::string> pending = WaitingPods(*flags, simulation);
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
    PrintOut(listener.lines, flags->output);
  } else {
    simulator::AppendReportTable(report, simulation, listener.lines);
    PrintTable(listener.lines, flags->output);
  }
  base::FlushLogs();
  return kDone;
}

}  // namespace berth::app
