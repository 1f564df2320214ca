// SPDX-License-Identifier: Apache-2.0
#include "src/questions/difference.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "src/base/json.h"
#include "src/explain/text_table.h"
#include "src/packing/figures.h"
#include "src/packing/survey.h"
#include "src/simulator/report.h"

namespace berth::questions {
namespace {

using base::JsonObject;

void AppendUsage(const Picture::Usage& usage, std::string& out) {
  JsonObject object(out);
  object.Add("allocatable", usage.allocatable);
  object.Add("requested", usage.requested);
  object.Add("stranded", usage.stranded);
}

void AppendPicture(const Picture& picture, std::string& out) {
  JsonObject object(out);
  object.Add("evicted", picture.evicted);
  AppendUsage(picture.memory, object.Key("memory"));
  AppendUsage(picture.milli_cpu, object.Key("milliCPU"));
  object.Add("nodes", picture.nodes);
  object.Add("pending", picture.pending);
  object.Add("pods", picture.pods.size());
  object.Add("usedNodes", picture.used_nodes);
  object.Add("usedNodesLowerBound", picture.lower_bound);
}

// How many of a drain's pods are not named.
struct Unnamed {
  Unnamed(const Drained& drained, const WhatIfAnswer& answer)
      : homeless(Count(drained.homeless, answer)),
        moved(Count(drained.moved, answer)),
        stopped(static_cast<size_t>(std::ranges::count_if(
            drained.stopped,
            [&answer](const Drained::Stopped& pod) { return !answer.Names(pod.pod); }))),
        unmanaged(Count(drained.unmanaged, answer)),
        with_empty_dir(Count(drained.with_empty_dir, answer)) {}

  static size_t Count(const std::vector<std::string>& pods, const WhatIfAnswer& answer) {
    return pods.size() - answer.Named(pods).size();
  }

  size_t homeless;
  size_t moved;
  size_t stopped;
  size_t unmanaged;
  size_t with_empty_dir;
};

void AppendUnnamed(const Unnamed& counts, std::string& out) {
  JsonObject object(out);
  object.Add("fitNowhere", counts.homeless);
  object.Add("moved", counts.moved);
  object.Add("stopped", counts.stopped);
  object.Add("unmanaged", counts.unmanaged);
  object.Add("withEmptyDir", counts.with_empty_dir);
}

void AppendDrained(const Drained& drained, const WhatIfAnswer& answer, std::string& out) {
  JsonObject object(out);
  base::AppendJsonList(answer.Named(drained.homeless), object.Key("fitNowhere"));
  base::AppendJsonList(answer.Named(drained.moved), object.Key("moved"));
  object.Add("node", drained.node);
  if (!answer.namespace_.empty())
    AppendUnnamed(Unnamed(drained, answer), object.Key("otherNamespaces"));
  base::JsonList stopped(object.Key("stopped"));
  for (const Drained::Stopped& pod : drained.stopped) {
    if (!answer.Names(pod.pod)) continue;
    JsonObject one(stopped.Next());
    base::AppendJsonList(pod.budgets, one.Key("budgets"));
    one.Add("pod", pod.pod);
  }
  stopped.Close();
  base::AppendJsonList(answer.Named(drained.unmanaged), object.Key("unmanaged"));
  base::AppendJsonList(answer.Named(drained.with_empty_dir), object.Key("withEmptyDir"));
}

void AppendFilled(const Filled& filled, std::string& out) {
  JsonObject object(out);
  object.AddIfNotEmpty("message", filled.stopped_by);
  JsonObject nodes(object.Key("nodes"));
  for (const auto& [node, count] : filled.by_node) nodes.Add(node, count);
  nodes.Close();
  object.Add("pods", filled.pods);
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
    const auto& pod = std::get<PodPtr>(object);
    const std::string& node = pod->spec.node_name;
    picture.pods[pod->metadata.Key()] = {
        node, node.empty() ? simulator::WhyWaiting(pod, simulation) : ""};
    if (node.empty()) ++picture.pending;
    if (!node.empty() && !IsDaemon(*pod)) used[node] = true;
  });
  const Snapshot& snapshot = simulation.scheduler().cache();
  picture.nodes = snapshot.num_nodes();
  snapshot.nodes().ForEach([&](NodeRow row) {
    if (used.contains(snapshot.node(row).metadata.name)) ++picture.used_nodes;
    const auto add = [&](ResourceId id, Picture::Usage& usage) {
      usage.allocatable = SumSaturated(usage.allocatable, snapshot.allocatable(id)[row]);
      usage.requested = SumSaturated(usage.requested, snapshot.requested(id)[row]);
    };
    add(kCpu, picture.milli_cpu);
    add(kMemory, picture.memory);
  });
  AddPacking(
      packing::Measure(simulation.scheduler().cache(), simulation.scheduler().pending_pods(), ""),
      picture);
  picture.evicted = simulation.api().evicted().size();
  return picture;
}

bool WhatIfAnswer::Names(std::string_view pod) const {
  return namespace_.empty() || pod.substr(0, pod.find('/')) == namespace_;
}

std::vector<std::string> WhatIfAnswer::Named(const std::vector<std::string>& pods) const {
  std::vector<std::string> named;
  std::ranges::copy_if(pods, std::back_inserter(named),
                       [this](const std::string& pod) { return Names(pod); });
  return named;
}

std::vector<MovedPod> WhatIfAnswer::Moved() const {
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
  std::erase_if(moved, [this](const MovedPod& pod) { return !Names(pod.pod); });
  std::ranges::sort(moved, {}, &MovedPod::pod);
  return moved;
}

bool WhatIfAnswer::ok() const { return std::ranges::all_of(drained, &Drained::ok); }

void AppendAnswer(const WhatIfAnswer& answer, std::string& out) {
  JsonObject document(out);
  AppendPicture(answer.after, document.Key("after"));
  AppendPicture(answer.before, document.Key("before"));
  base::JsonList drained(document.Key("drained"));
  for (const Drained& node : answer.drained) AppendDrained(node, answer, drained.Next());
  drained.Close();
  base::AppendJsonList(answer.Named(answer.evicted), document.Key("evicted"));
  base::AppendJsonList(answer.Named(answer.evicted_before), document.Key("evictedBefore"));
  if (answer.filled) AppendFilled(*answer.filled, document.Key("filled"));
  AppendPicture(answer.now, document.Key("now"));
  base::JsonList pods(document.Key("pods"));
  for (const MovedPod& pod : answer.Moved()) {
    JsonObject one(pods.Next());
    AppendPlace("after", pod.after, one);
    AppendPlace("before", pod.before, one);
    one.AddIfNotEmpty("message", pod.message);
    one.Add("pod", pod.pod);
  }
  pods.Close();
  if (!answer.warnings.empty()) base::AppendJsonList(answer.warnings, document.Key("warnings"));
  document.Close();
  out += '\n';
}

namespace {

using explain::Counted;
using explain::TextTable;

constexpr size_t kMostPods = 50;

std::string Percent(const Picture::Usage& usage) {
  if (usage.allocatable <= 0) return "-";
  const auto share =
      static_cast<double>(usage.requested) / static_cast<double>(usage.allocatable) * 100.0;
  return std::to_string(std::lround(share)) + "%";
}

void AppendPictures(const WhatIfAnswer& answer, std::string& out) {
  TextTable table;
  table.AddColumn("");
  for (const char* header : {"NODES", "USED", "AT LEAST", "PODS", "PENDING", "EVICTED", "CPU",
                             "STRANDED", "MEMORY", "STRANDED"}) {
    table.AddColumn(header, TextTable::Align::kRight);
  }
  for (const auto& [name, picture] :
       {std::pair("now", &answer.now), {"placed", &answer.before}, {"then", &answer.after}}) {
    table.AddRow({name, std::to_string(picture->nodes), std::to_string(picture->used_nodes),
                  std::to_string(picture->lower_bound), std::to_string(picture->pods.size()),
                  std::to_string(picture->pending), std::to_string(picture->evicted),
                  Percent(picture->milli_cpu),
                  packing::AmountText("cpu", picture->milli_cpu.stranded), Percent(picture->memory),
                  packing::AmountText("memory", picture->memory.stranded)});
  }
  table.Append("", out);
}

std::string Place(const std::optional<std::string>& node) {
  if (!node) return "-";
  return node->empty() ? "pending" : *node;
}

void AppendMoved(const WhatIfAnswer& answer, std::string& out) {
  const std::vector<MovedPod> moved = answer.Moved();
  if (moved.empty()) {
    out += answer.namespace_.empty() ? "\nNo pod is elsewhere.\n"
                                     : "\nNo pod in " + answer.namespace_ + " is elsewhere.\n";
    return;
  }
  TextTable table;
  table.AddColumn("POD");
  table.AddColumn("PLACED");
  table.AddColumn("THEN");
  table.AddColumn("WHY");
  for (size_t i = 0; i < moved.size() && i < kMostPods; ++i) {
    const MovedPod& pod = moved[i];
    table.AddRow({pod.pod, Place(pod.before), Place(pod.after), pod.message});
  }
  const std::string where = answer.namespace_.empty() ? "" : " in " + answer.namespace_;
  out += '\n' + Counted(moved.size(), "pod") + where + (moved.size() == 1 ? " is" : " are") +
         " elsewhere:\n";
  table.Append("", out);
  if (moved.size() > kMostPods) out += "... and " + Counted(moved.size() - kMostPods, "pod") + '\n';
}

void AppendUnnamedRow(const Unnamed& counts, std::string& out) {
  std::vector<std::string> parts;
  const auto add = [&parts](size_t count, const char* of_one, const char* of_many) {
    if (count > 0) parts.push_back(std::to_string(count) + (count == 1 ? of_one : of_many));
  };
  add(counts.stopped, " stays", " stay");
  add(counts.homeless, " fits nowhere", " fit nowhere");
  add(counts.unmanaged, " is lost", " are lost");
  add(counts.with_empty_dir, " has data in emptyDir volumes", " have data in emptyDir volumes");
  if (!parts.empty()) out += "  of other namespaces " + absl::StrJoin(parts, ", ") + '\n';
}

void AppendDrainedRow(const Drained& drained, const WhatIfAnswer& answer, std::string& out) {
  out += "\nDrain of " + drained.node + ": " +
         (drained.ok() ? "every pod that comes back has a node" : "cannot be done without loss") +
         ". " + std::to_string(drained.moved.size()) + " moved.\n";
  for (const Drained::Stopped& pod : drained.stopped) {
    if (!answer.Names(pod.pod)) continue;
    out += "  stays: " + pod.pod + ", by " +
           (pod.budgets.size() > 1 ? "having several budgets: " : "budget ") +
           absl::StrJoin(pod.budgets, ", ") + '\n';
  }
  for (const std::string& pod : answer.Named(drained.homeless))
    out += "  fits nowhere: " + pod + '\n';
  for (const std::string& pod : answer.Named(drained.unmanaged)) {
    out += "  is lost: " + pod + ", which no controller makes again\n";
  }
  const std::vector<std::string> with_empty_dir = answer.Named(drained.with_empty_dir);
  if (!with_empty_dir.empty()) {
    out += "  " + Counted(with_empty_dir.size(), "pod") +
           " with data in emptyDir volumes, which is lost (kubectl drain wants " +
           "--delete-emptydir-data): " + absl::StrJoin(with_empty_dir, ", ") + '\n';
  }
  AppendUnnamedRow(Unnamed(drained, answer), out);
}

}  // namespace

void AppendAnswerTable(const WhatIfAnswer& answer, std::string& out) {
  AppendPictures(answer, out);
  for (const Drained& drained : answer.drained) AppendDrainedRow(drained, answer, out);
  if (answer.filled) {
    out += '\n' + Counted(answer.filled->pods, "more pod") + " would fit, on " +
           Counted(answer.filled->by_node.size(), "node") + ".\n";
    if (!answer.filled->stopped_by.empty()) {
      out += "  The next one: " + answer.filled->stopped_by + '\n';
    }
  }
  const auto tell = [&out](const char* what, const std::vector<std::string>& pods) {
    if (!pods.empty()) out += what + absl::StrJoin(pods, ", ") + '\n';
  };
  tell("\nEvicted by preemption, for the pods that are pending now: ",
       answer.Named(answer.evicted_before));
  tell("\nEvicted by preemption then: ", answer.Named(answer.evicted));
  AppendMoved(answer, out);
}

}  // namespace berth::questions
