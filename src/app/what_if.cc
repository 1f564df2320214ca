// SPDX-License-Identifier: Apache-2.0
#include "src/app/what_if.h"

#include <cstdio>
#include <string>
#include <utility>

#include "src/app/offline_cluster.h"
#include "src/simulator/cluster_files.h"
#include "src/what_if/difference.h"
#include "src/what_if/replicas.h"

namespace berth::app {
namespace {

using informers::Kind;
using simulator::Simulation;

// Another simulation of the same objects, with the new configuration.
Result<RecordedSimulation> MakeOther(const OfflineFlags& flags, const InTreePlugins& plugins,
                                     const Simulation& like) {
  OfflineFlags other = flags;
  other.run.config = flags.what_if.new_config;
  other.run.record.clear();
  auto made = MakeSimulation(other, plugins, {});
  if (!made) return made;
  Simulation& simulation = *made->simulation;
  simulation.StartControllers();
  const auto copy = [&](Kind kind) {
    like.api().ForEach(kind, [&](const api::ObjectPtr& object) { simulation.Apply(object); });
  };
  for (const Kind kind : informers::AllKinds()) {
    if (kind != Kind::kPod) copy(kind);
  }
  copy(Kind::kPod);
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

Result<void> Carry(const WhatIfFlags& flags, Simulation& simulation, what_if::Answer& answer) {
  if (!flags.add.empty()) {
    auto cluster = simulator::LoadCluster(flags.add);
    if (!cluster) return Fail(cluster.error().Within("--add"));
    for (api::ObjectPtr& object : cluster->objects) simulation.Apply(std::move(object));
    what_if::Settle(simulation);
  }
  if (flags.add_nodes > 0) {
    if (auto added = what_if::AddNodes(flags.add_nodes, flags.like, simulation); !added) {
      return Fail(added.error().Within("--like"));
    }
  }
  for (const std::string& node : flags.remove_nodes) {
    if (auto removed = what_if::RemoveNode(node, simulation); !removed) {
      return Fail(removed.error().Within("--remove-node"));
    }
  }
  for (const what_if::Scale& scale : flags.scale) {
    if (auto scaled = what_if::Carry(scale, simulation); !scaled) {
      return Fail(scaled.error().Within("--scale"));
    }
  }
  for (const std::string& node : flags.drain) {
    auto drained = what_if::Drain(node, simulation);
    if (!drained) return Fail(drained.error().Within("--drain"));
    answer.drained.push_back(*std::move(drained));
  }
  if (!flags.fill.empty()) {
    const auto pod = ReadPod(flags.fill);
    if (!pod) return Fail(pod.error().Within("--fill"));
    answer.filled = what_if::Fill(what_if::WithDefaults(**pod), simulation);
  }
  return {};
}

}  // namespace

int AnswerWhatIf(const OfflineFlags& flags, const InTreePlugins& plugins, Simulation& today) {
  RecordedSimulation other;
  if (!flags.what_if.new_config.empty()) {
    auto made = MakeOther(flags, plugins, today);
    if (!made) return FailWith(made.error().message);
    other = *std::move(made);
  }
  Simulation& changed = other.simulation == nullptr ? today : *other.simulation;
  what_if::Answer answer;
  what_if::Settle(today);
  answer.before = what_if::Take(today);
  if (&changed != &today) what_if::Settle(changed);
  // What the new configuration evicts counts as part of the difference.
  const size_t evicted = &changed == &today ? answer.before.evicted : 0;
  if (auto carried = Carry(flags.what_if, changed, answer); !carried) {
    return FailWith(carried.error().message);
  }
  answer.after = what_if::Take(changed);
  const std::vector<std::string>& all = changed.api().evicted();
  answer.evicted.assign(all.begin() + static_cast<std::ptrdiff_t>(evicted), all.end());
  std::string text;
  if (flags.output == OutputFormat::kJson) {
    what_if::AppendAnswer(answer, text);
  } else {
    what_if::AppendAnswerTable(answer, text);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return answer.ok() ? kDone : kNegative;
}

}  // namespace berth::app
