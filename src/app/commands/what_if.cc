// SPDX-License-Identifier: Apache-2.0
#include "src/app/commands/what_if.h"

#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "src/app/commands/input_summary.h"
#include "src/app/commands/offline_cluster.h"
#include "src/questions/difference.h"
#include "src/questions/what_if.h"
#include "src/simulator/cluster_files.h"
#include "src/simulator/missing_references.h"

namespace berth::app {
namespace {

using simulator::Simulation;

// Another simulation of the same objects, with the new configuration.
Result<RecordedSimulation> MakeOther(const OfflineFlags& flags, const InTreePlugins& plugins,
                                     const Simulation& like) {
  OfflineFlags other = flags;
  other.run.config = flags.what_if.new_config;
  other.run.record.clear();
  auto made = MakeSimulation(other, plugins, {});
  if (!made) return made;
  made->simulation->StartControllers();
  simulator::CopyObjects(like, *made->simulation);
  return made;
}

Result<simulator::Cluster> ReadNewObjects(const std::vector<std::string>& files) {
  auto cluster = simulator::LoadNewObjects(files);
  if (!cluster) return cluster;
  PrintWarnings(*cluster);
  const std::string input = InputOf(*cluster).ToString();
  if (cluster->objects.empty() && cluster->controllers.empty()) {
    return Fail("nothing that scheduling reads is there: " + input);
  }
  std::fputs(("In the question: " + input + ".\n").c_str(), stderr);
  return cluster;
}

// Reads what is to fill the cluster: a pod, or the pod of a workload.
Result<void> ReadFill(const std::string& file, questions::WhatIf& question) {
  auto read = ReadNewObjects({file});
  if (!read) return Fail(read.error());
  std::vector<std::shared_ptr<const api::Pod>> pods;
  for (const api::ObjectPtr& object : read->objects) {
    if (const auto* pod = std::get_if<std::shared_ptr<const api::Pod>>(&object))
      pods.push_back(*pod);
  }
  for (const simulator::PodController& controller : read->controllers) {
    auto pod = std::make_shared<api::Pod>(*controller.pod);
    pod->metadata.name = controller.metadata.name;
    pod->metadata.uid = "Pod/" + pod->metadata.Key();
    pods.push_back(std::move(pod));
  }
  if (pods.size() != 1) return Fail(Error{"must hold one pod, or one workload"}.Within(file));
  question.fill = std::move(pods.front());
  question.admission.Append(read->admission);
  return {};
}

void WarnOfMissingRuntimeClasses(const questions::WhatIf& question) {
  std::set<std::string> names;
  for (const api::ObjectPtr& object : question.add) {
    if (const auto* pod = api::As<api::Pod>(object))
      names.emplace(simulator::NotedRuntimeClass(*pod));
  }
  for (const simulator::PodController& controller : question.controllers)
    names.emplace(simulator::NotedRuntimeClass(*controller.pod));
  if (question.fill != nullptr) names.emplace(simulator::NotedRuntimeClass(*question.fill));
  for (const std::string& text :
       simulator::MissingRuntimeClasses(std::move(names), question.admission)) {
    std::fputs(("Warning: " + text + "\n").c_str(), stderr);
  }
}

constexpr questions::PartNames kFlagNames = {.add = "--add",
                                             .like = "--like",
                                             .remove_nodes = "--remove-node",
                                             .scale = "--scale",
                                             .drain = "--drain",
                                             .fill = "--fill"};

// The question, with what its files hold.
Result<questions::WhatIf> ReadQuestion(const WhatIfFlags& flags,
                                       const simulator::AdmissionObjects& admission) {
  questions::WhatIf question;
  question.admission = admission;
  if (!flags.add.empty()) {
    auto objects = ReadNewObjects(flags.add);
    if (!objects) return Fail(objects.error().Within("--add"));
    question.add = std::move(objects->objects);
    question.controllers = std::move(objects->controllers);
    question.admission.Append(objects->admission);
  }
  if (!flags.fill.empty()) {
    if (auto read = ReadFill(flags.fill, question); !read)
      return Fail(read.error().Within("--fill"));
  }
  question.add_nodes = flags.add_nodes;
  question.like = flags.like;
  question.remove_nodes = flags.remove_nodes;
  question.scale = flags.scale;
  question.drain = flags.drain;
  question.reschedule = flags.reschedule;
  return question;
}

}  // namespace

int AnswerWhatIf(const OfflineFlags& flags, const InTreePlugins& plugins,
                 const simulator::AdmissionObjects& admission, Simulation& today) {
  const auto question = ReadQuestion(flags.what_if, admission);
  if (!question) return FailWith(question.error().message);
  WarnOfMissingRuntimeClasses(*question);
  RecordedSimulation other;
  if (!flags.what_if.new_config.empty()) {
    auto made = MakeOther(flags, plugins, today);
    if (!made) return FailWith(made.error().message);
    other = *std::move(made);
  }
  auto answer = questions::AskWhatIf(*question, today, other.simulation.get(), kFlagNames);
  if (!answer) return FailWith(answer.error().message);
  answer->namespace_ = flags.namespace_;
  std::string text;
  if (IsDocument(flags.output)) {
    questions::AppendAnswer(*answer, text);
    PrintDocuments(text, flags.output);
  } else {
    questions::AppendAnswerTable(*answer, text);
    PrintTable(text, flags.output);
  }
  return answer->ok() ? kDone : kNegative;
}

}  // namespace berth::app
