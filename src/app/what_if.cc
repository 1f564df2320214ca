// SPDX-License-Identifier: Apache-2.0
#include "src/app/what_if.h"

#include <cstdio>
#include <string>
#include <utility>

#include "src/app/offline_cluster.h"
#include "src/simulator/cluster_files.h"
#include "src/what_if/difference.h"
#include "src/what_if/question.h"

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

Result<std::shared_ptr<const api::Pod>> ReadPod(const std::string& file) {
  auto cluster = simulator::LoadCluster({file});
  if (!cluster) return Fail(cluster.error());
  if (cluster->objects.size() != 1 || api::As<api::Pod>(cluster->objects.front()) == nullptr) {
    return Fail(Error{"must hold one pod"}.Within(file));
  }
  return std::get<std::shared_ptr<const api::Pod>>(cluster->objects.front());
}

constexpr what_if::PartNames kFlagNames = {.add = "--add",
                                           .like = "--like",
                                           .remove_nodes = "--remove-node",
                                           .scale = "--scale",
                                           .drain = "--drain",
                                           .fill = "--fill"};

// The question, with what its files hold.
Result<what_if::Question> ReadQuestion(const WhatIfFlags& flags) {
  what_if::Question question;
  if (!flags.add.empty()) {
    auto cluster = simulator::LoadCluster(flags.add);
    if (!cluster) return Fail(cluster.error().Within("--add"));
    question.add = std::move(cluster->objects);
  }
  if (!flags.fill.empty()) {
    auto pod = ReadPod(flags.fill);
    if (!pod) return Fail(pod.error().Within("--fill"));
    question.fill = *std::move(pod);
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

int AnswerWhatIf(const OfflineFlags& flags, const InTreePlugins& plugins, Simulation& today) {
  const auto question = ReadQuestion(flags.what_if);
  if (!question) return FailWith(question.error().message);
  RecordedSimulation other;
  if (!flags.what_if.new_config.empty()) {
    auto made = MakeOther(flags, plugins, today);
    if (!made) return FailWith(made.error().message);
    other = *std::move(made);
  }
  const auto answer = what_if::Ask(*question, today, other.simulation.get(), kFlagNames);
  if (!answer) return FailWith(answer.error().message);
  std::string text;
  if (flags.output == OutputFormat::kJson) {
    what_if::AppendAnswer(*answer, text);
  } else {
    what_if::AppendAnswerTable(*answer, text);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return answer->ok() ? kDone : kNegative;
}

}  // namespace berth::app
