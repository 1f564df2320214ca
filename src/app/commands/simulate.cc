// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/app/commands/commands.h"
#include "src/app/commands/input_summary.h"
#include "src/app/commands/offline_cluster.h"
#include "src/app/commands/output.h"
#include "src/app/commands/terminal.h"
#include "src/app/daemon/in_tree_plugins.h"
#include "src/app/flags/offline_flags.h"
#include "src/base/clock.h"
#include "src/base/logging.h"
#include "src/explain/text_table.h"
#include "src/questions/difference.h"
#include "src/questions/what_if.h"
#include "src/simulator/cluster_files.h"
#include "src/simulator/report.h"
#include "src/simulator/simulation.h"

namespace berth::app {
namespace {

// Answers what `berth simulate` was asked by what-if flags about a simulation that has its objects
// and has not started, and prints it; `beside` is what the cluster has for it. Returns the exit
// code: kDone, kNegative or kBadInput.
int AnswerWhatIf(const OfflineFlags& flags, const InTreePlugins& plugins,
                 const BesideObjects& beside, RecordedSimulation& made);

using simulator::Simulation;

// Another simulation of the same objects and feature gates, with the new configuration.
Result<RecordedSimulation> MakeOther(const OfflineFlags& flags, const InTreePlugins& plugins,
                                     const RecordedSimulation& like) {
  OfflineFlags other = flags;
  other.run.config = flags.what_if.new_config;
  other.run.feature_gates = like.feature_gates;
  other.run.record.clear();
  auto made = MakeSimulation(other, plugins, {});
  if (!made) return made;
  made->simulation->StartControllers();
  simulator::CopyObjects(*like.simulation, *made->simulation);
  return made;
}

Result<simulator::Cluster> ReadNewObjects(const std::vector<std::string>& files,
                                          const std::string& default_namespace) {
  auto cluster = simulator::LoadNewObjects(files, default_namespace);
  if (!cluster) return cluster;
  PrintWarnings(WarningsOf(*cluster));
  const std::string input = InputOf(*cluster).ToString();
  if (cluster->objects.empty() && cluster->controllers.empty()) {
    return Fail("nothing that scheduling reads is there: " + input);
  }
  PrintNote("In the question: " + input + ".");
  return cluster;
}

// Whether the object is one of the workloads, some kinds of which are read both ways.
bool IsOneOf(const std::vector<simulator::PodController>& controllers,
             const api::ObjectPtr& object) {
  const bool of_kind = api::As<api::ReplicaSet>(object) != nullptr ||
                       api::As<api::StatefulSet>(object) != nullptr ||
                       api::As<api::ReplicationController>(object) != nullptr;
  return of_kind && std::ranges::any_of(controllers, [&](const auto& controller) {
           return controller.metadata.Key() == api::MetaOf(object)->Key();
         });
}

// Reads what is to fill the cluster: a pod, or the pod of a workload.
Result<void> ReadFill(const std::string& file, const std::string& default_namespace,
                      questions::WhatIf& question) {
  auto read = ReadNewObjects({file}, default_namespace);
  if (!read) return Fail(read.error());
  std::vector<std::shared_ptr<const api::Pod>> pods;
  size_t others = 0;
  for (const api::ObjectPtr& object : read->objects) {
    if (const auto* pod = std::get_if<std::shared_ptr<const api::Pod>>(&object)) {
      pods.push_back(*pod);
    } else if (!IsOneOf(read->controllers, object)) {
      ++others;
    }
  }
  for (const simulator::PodController& controller : read->controllers) {
    auto pod = std::make_shared<api::Pod>(*controller.pod);
    const std::string& name = controller.metadata.name;
    pod->metadata.name = name.empty() ? controller.generate_name + "1" : name;
    pod->metadata.uid = "Pod/" + pod->metadata.Key();
    pods.push_back(std::move(pod));
  }
  if (pods.size() != 1) return Fail(Error{"must hold one pod, or one workload"}.Within(file));
  if (others > 0) {
    PrintNote("Warning: --fill: " + file + ": without " + explain::Counted(others, "other object") +
              ", which --add would bring");
  }
  question.fill = std::move(pods.front());
  question.admission.Append(read->admission);
  return {};
}

constexpr questions::PartNames kFlagNames = {.add = "--add",
                                             .like = "--like",
                                             .remove_nodes = "--remove-node",
                                             .scale = "--scale",
                                             .cordon = "--cordon",
                                             .drain = "--drain",
                                             .fill = "--fill"};

// The question, with what its files hold.
Result<questions::WhatIf> ReadQuestion(const WhatIfFlags& flags, const BesideObjects& beside) {
  questions::WhatIf question;
  question.admission = beside.admission;
  question.idle = beside.idle;
  if (!flags.add.empty()) {
    auto objects = ReadNewObjects(flags.add, flags.default_namespace);
    if (!objects) return Fail(objects.error().Within("--add"));
    question.add = std::move(objects->objects);
    question.controllers = std::move(objects->controllers);
    question.generated_pods = std::move(objects->generated_pods);
    question.admission.Append(objects->admission);
  }
  if (!flags.fill.empty()) {
    if (auto read = ReadFill(flags.fill, flags.default_namespace, question); !read)
      return Fail(read.error().Within("--fill"));
  }
  question.add_nodes = flags.add_nodes;
  question.like = flags.like;
  question.remove_nodes = flags.remove_nodes;
  question.scale = flags.scale;
  for (questions::Scale& scale : question.scale) {
    if (scale.namespace_.empty()) scale.namespace_ = flags.default_namespace;
  }
  question.cordon = flags.cordon;
  question.drain = flags.drain;
  question.reschedule = flags.reschedule;
  return question;
}

int AnswerWhatIf(const OfflineFlags& flags, const InTreePlugins& plugins,
                 const BesideObjects& beside, RecordedSimulation& made_today) {
  Simulation& today = *made_today.simulation;
  auto question = ReadQuestion(flags.what_if, beside);
  if (!question) return FailWith(question.error().message);
  if (flags.live()) question->find_workload = LiveWorkloads(flags);
  RecordedSimulation other;
  if (!flags.what_if.new_config.empty()) {
    auto made = MakeOther(flags, plugins, made_today);
    if (!made) return FailWith(made.error().message);
    other = *std::move(made);
  }
  auto answer = questions::AskWhatIf(*question, today, other.simulation.get(), kFlagNames);
  if (!answer) return FailWith(answer.error().message);
  PrintWarnings(answer->warnings);
  answer->namespace_ = flags.namespace_;
  std::string text;
  IsDocument(flags.output) ? questions::AppendAnswer(*answer, text)
                           : questions::AppendAnswerTable(*answer, text);
  Print(text, flags.output);
  return answer->ok() ? kDone : kNegative;
}

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
    const int code = AnswerWhatIf(*flags, plugins, *beside, *made);
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
  simulator::Report report = simulator::MakeReport(
      pending,
      {flags->seed, listener.attempts, simulation.now() - virtual_began, clock.Now() - began},
      simulation);
  report.namespace_ = flags->namespace_;
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
