// SPDX-License-Identifier: Apache-2.0
#include "src/what_if/difference.h"

#include <algorithm>

#include "src/base/json.h"
#include "src/packing/survey.h"
#include "src/what_if/replicas.h"

namespace berth::what_if {
namespace {

using base::JsonObject;

void AppendUsage(const Picture::Usage& usage, std::string& out) {
  JsonObject object(out);
  object.Add("allocatable", usage.allocatable);
  object.Add("requested", usage.requested);
  object.Add("stranded", usage.stranded);
  object.Close();
}

void AppendPicture(const Picture& picture, std::string& out) {
  JsonObject object(out);
  AppendUsage(picture.memory, object.Key("memory"));
  AppendUsage(picture.milli_cpu, object.Key("milliCPU"));
  object.Add("nodes", picture.nodes);
  object.Add("pending", picture.pending);
  object.Add("pods", picture.pods.size());
  object.Add("usedNodes", picture.used_nodes);
  object.Add("usedNodesLowerBound", picture.lower_bound);
  object.Close();
}

void AppendDrained(const Drained& drained, std::string& out) {
  JsonObject object(out);
  base::AppendJsonList(drained.homeless, object.Key("fitNowhere"));
  base::AppendJsonList(drained.moved, object.Key("moved"));
  object.Add("node", drained.node);
  base::JsonList stopped(object.Key("stopped"));
  for (const Drained::Stopped& pod : drained.stopped) {
    JsonObject one(stopped.Next());
    base::AppendJsonList(pod.budgets, one.Key("budgets"));
    one.Add("pod", pod.pod);
    one.Close();
  }
  stopped.Close();
  base::AppendJsonList(drained.unmanaged, object.Key("unmanaged"));
  base::AppendJsonList(drained.with_empty_dir, object.Key("withEmptyDir"));
  object.Close();
}

void AppendFilled(const Filled& filled, std::string& out) {
  JsonObject object(out);
  object.AddIfNotEmpty("message", filled.stopped_by);
  JsonObject nodes(object.Key("nodes"));
  for (const auto& [node, count] : filled.by_node) nodes.Add(node, count);
  nodes.Close();
  object.Add("pods", filled.pods);
  object.Close();
}

// Left out: no such pod. null: it is pending.
void AppendPlace(std::string_view name, const std::optional<std::string>& node, JsonObject& out) {
  if (!node) return;
  if (node->empty()) {
    out.AddNull(name);
  } else {
    out.Add(name, *node);
  }
}

void AddPacking(const packing::Figures& figures, Picture& picture) {
  for (const packing::PoolFigures& pool : figures.pools) {
    picture.lower_bound += pool.lower_bound;
    for (const packing::ResourceFigures& of : pool.resources) {
      if (of.resource == "cpu") picture.milli_cpu.stranded += of.stranded;
      if (of.resource == "memory") picture.memory.stranded += of.stranded;
    }
  }
}

}  // namespace

Picture Take(simulator::Simulation& simulation) {
  Picture picture;
  std::map<std::string_view, bool> used;
  simulation.api().ForEach(informers::Kind::kPod, [&](const api::ObjectPtr& object) {
    const api::Pod& pod = *api::As<api::Pod>(object);
    const std::string& node = pod.spec.node_name;
    picture.pods[pod.metadata.Key()] = {node, node.empty() ? WhyPending(pod) : ""};
    if (node.empty()) ++picture.pending;
    if (!node.empty() && !IsDaemon(pod)) used[node] = true;
  });
  const Snapshot& snapshot = simulation.scheduler().cache();
  picture.nodes = snapshot.num_nodes();
  snapshot.nodes().ForEach([&](NodeRow row) {
    if (used.contains(snapshot.node(row).metadata.name)) ++picture.used_nodes;
    picture.milli_cpu.allocatable += snapshot.allocatable(kCpu)[row];
    picture.milli_cpu.requested += snapshot.requested(kCpu)[row];
    picture.memory.allocatable += snapshot.allocatable(kMemory)[row];
    picture.memory.requested += snapshot.requested(kMemory)[row];
  });
  AddPacking(
      packing::Measure(simulation.scheduler().cache(), simulation.scheduler().pending_pods()),
      picture);
  picture.evicted = simulation.api().evicted().size();
  return picture;
}

std::vector<MovedPod> Answer::Moved() const {
  std::vector<MovedPod> moved;
  for (const auto& [key, pod] : before.pods) {
    const auto then = after.pods.find(key);
    if (then == after.pods.end()) {
      moved.push_back({key, pod.node, std::nullopt, ""});
    } else if (then->second.node != pod.node) {
      moved.push_back({key, pod.node, then->second.node, then->second.message});
    }
  }
  for (const auto& [key, pod] : after.pods) {
    if (before.pods.contains(key) || (filled && filled->keys.contains(key))) continue;
    moved.push_back({key, std::nullopt, pod.node, pod.message});
  }
  std::ranges::sort(moved, {}, &MovedPod::pod);
  return moved;
}

bool Answer::ok() const { return std::ranges::all_of(drained, &Drained::ok); }

void AppendAnswer(const Answer& answer, std::string& out) {
  JsonObject document(out);
  AppendPicture(answer.after, document.Key("after"));
  AppendPicture(answer.before, document.Key("before"));
  base::JsonList drained(document.Key("drained"));
  for (const Drained& node : answer.drained) AppendDrained(node, drained.Next());
  drained.Close();
  base::AppendJsonList(answer.evicted, document.Key("evicted"));
  if (answer.filled) AppendFilled(*answer.filled, document.Key("filled"));
  base::JsonList pods(document.Key("pods"));
  for (const MovedPod& pod : answer.Moved()) {
    JsonObject one(pods.Next());
    AppendPlace("after", pod.after, one);
    AppendPlace("before", pod.before, one);
    one.AddIfNotEmpty("message", pod.message);
    one.Add("pod", pod.pod);
    one.Close();
  }
  pods.Close();
  document.Close();
  out += '\n';
}

}  // namespace berth::what_if
