// SPDX-License-Identifier: Apache-2.0
#include "src/app/commands/input_summary.h"

#include <string_view>

#include "src/app/commands/output.h"

namespace berth::app {
namespace {

using informers::Kind;

// "20,120".
std::string Grouped(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string Counted(uint64_t count, std::string_view noun) {
  return Grouped(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

// Whose pods a controller would make.
bool IsWorkload(std::string_view kind) {
  return kind == "Deployment.apps" || kind == "DaemonSet.apps" || kind == "Job.batch" ||
         kind == "CronJob.batch";
}

}  // namespace

std::string Input::ToString() const {
  std::string text = Counted(nodes, "node") + ", " + Counted(pods, "pod");
  if (pending_pods > 0) text += " (" + Grouped(pending_pods) + " pending)";
  if (others > 0) text += ", " + Counted(others, "other object");
  const char* separator = "; expanded ";
  for (const auto& [kind, count] : expanded) {
    text += separator + Grouped(count) + " " + kind;
    separator = ", ";
  }
  separator = "; skipped ";
  if (ended_pods > 0) {
    text += separator + Counted(ended_pods, "ended pod");
    separator = ", ";
  }
  for (const auto& [kind, count] : skipped) {
    const bool workload = IsWorkload(kind);
    text += separator + Grouped(count) + " " +
            (workload ? kind.substr(0, kind.find('.')) + " (not expanded)" : kind);
    separator = ", ";
  }
  return text;
}

Input InputOf(const simulator::Simulation& simulation) {
  Input input;
  for (const Kind kind : informers::AllKinds()) {
    const uint64_t count = simulation.api().Count(kind);
    if (kind == Kind::kNode) {
      input.nodes = count;
    } else if (kind == Kind::kPod) {
      input.pods = count;
    } else {
      input.others += count;
    }
  }
  simulation.api().ForEach(Kind::kPod, [&input](const api::ObjectPtr& object) {
    if (api::As<api::Pod>(object)->spec.node_name.empty()) ++input.pending_pods;
  });
  return input;
}

Input InputOf(const std::vector<api::ObjectPtr>& objects) {
  Input input;
  for (const api::ObjectPtr& object : objects) {
    if (const auto* pod = api::As<api::Pod>(object)) {
      ++input.pods;
      if (pod->spec.node_name.empty()) ++input.pending_pods;
    } else if (api::As<api::Node>(object) != nullptr) {
      ++input.nodes;
    } else {
      ++input.others;
    }
  }
  return input;
}

Input InputOf(const simulator::Cluster& cluster) {
  Input input = InputOf(cluster.objects);
  input.ended_pods = cluster.ended_pods;
  input.expanded = cluster.expanded;
  for (const simulator::PodController& controller : cluster.controllers) {
    ++input.expanded[controller.kind];
  }
  input.skipped = cluster.skipped;
  return input;
}

void TellInput(const Input& input) { PrintNote("Read " + input.ToString() + "."); }

}  // namespace berth::app
