// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/report.h"

#include <string_view>

#include "src/explain/json_text.h"

namespace berth::simulator {
namespace {

std::string MessageOf(const api::Pod& pod) {
  for (const api::PodCondition& condition : pod.status.conditions) {
    if (condition.type == "PodScheduled") return condition.message;
  }
  return "";
}

int64_t Signed(uint64_t count) { return static_cast<int64_t>(count); }

}  // namespace

void AppendDecision(const scheduler::CycleOutcome& outcome, std::string& out) {
  explain::JsonObject line(out);
  line.Add("pod", outcome.pod.metadata.Key());
  if (outcome.node_name.empty()) {
    line.Key("node");
    out += "null";
    line.Add("message", outcome.message);
  } else {
    line.Add("node", outcome.node_name);
  }
  line.Close();
  out += '\n';
}

Report MakeReport(const std::vector<std::string>& pending, const RunFacts& facts,
                  Simulation& simulation) {
  Report report;
  report.facts = facts;
  report.pods = pending.size();
  report.nodes = simulation.api().Count(informers::Kind::kNode);
  report.evicted = simulation.api().evicted();
  for (const std::string& key : pending) {
    const auto pod = simulation.FindPod(key);
    if (pod == nullptr) continue;
    if (!pod->spec.node_name.empty()) {
      report.placed[pod->spec.node_name].push_back(key);
      ++report.bound;
      continue;
    }
    const queue::QueuedPod* queued = simulation.scheduler().queue().Find(key);
    const queue::Place place = simulation.scheduler().queue().WhereIs(key);
    if (queued != nullptr && queued->gated()) {
      report.gated.push_back(key);
    } else if (place == queue::Place::kUnschedulable) {
      report.unschedulable.push_back({key, MessageOf(*pod)});
    } else if (place == queue::Place::kNowhere &&
               simulation.scheduler().binding_cycles().size() == 0) {
      report.ignored.push_back(key);
    } else {
      report.unfinished.push_back({key, MessageOf(*pod)});
    }
  }
  return report;
}

void AppendSummary(const Report& report, std::string& out) {
  using std::chrono::duration_cast;
  explain::JsonObject line(out);
  line.Key("summary");
  explain::JsonObject summary(out);
  summary.Add("attempts", Signed(report.facts.attempts));
  summary.Add("bound", Signed(report.bound));
  summary.Add("evicted", Signed(report.evicted.size()));
  summary.Add("gated", Signed(report.gated.size()));
  summary.Add("ignored", Signed(report.ignored.size()));
  summary.Add("nodes", Signed(report.nodes));
  summary.Add("pods", Signed(report.pods));
  summary.Key("seed");
  out += std::to_string(report.facts.seed);
  summary.Add("unfinished", Signed(report.unfinished.size()));
  summary.Add("unschedulable", Signed(report.unschedulable.size()));
  summary.Add("virtualSeconds",
              std::chrono::ceil<std::chrono::seconds>(report.facts.virtual_time).count());
  summary.Add("wallMicroseconds",
              duration_cast<std::chrono::microseconds>(report.facts.wall_time).count());
  summary.Close();
  line.Close();
  out += '\n';
}

}  // namespace berth::simulator
