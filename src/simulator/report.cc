// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/report.h"

#include <algorithm>
#include <utility>

#include "src/base/json.h"
#include "src/explain/pod_list.h"
#include "src/queue/scheduling_queue.h"
#include "src/scheduler/binding_cycles.h"
#include "src/scheduler/profiles.h"

namespace berth::simulator {
std::vector<std::string> DevicesGiven(const api::Pod& pod, Simulation& simulation) {
  std::vector<std::string> devices;
  const ClaimTracker& claims = simulation.scheduler().claims();
  const auto add = [&](const std::string& name) {
    const ClaimPtr claim = claims.Find(pod.metadata.namespace_, name);
    const api::AllocationResult* given =
        claim == nullptr ? nullptr : claims.FindPending(claim->metadata.uid);
    if (given == nullptr) return;
    for (const api::DeviceRequestAllocationResult& result : given->devices.results) {
      devices.push_back(result.request + ": " + result.driver + "/" + result.pool + "/" +
                        result.device);
    }
  };
  for (const api::PodResourceClaim& entry : pod.spec.resource_claims) {
    if (entry.resource_claim_name) add(*entry.resource_claim_name);
    for (const api::PodResourceClaimStatus& status : pod.status.resource_claim_statuses) {
      if (status.name == entry.name && status.resource_claim_name) add(*status.resource_claim_name);
    }
  }
  return devices;
}

void AppendDecision(const scheduler::CycleOutcome& outcome, std::string& out,
                    std::span<const std::string> devices) {
  base::JsonObject line(out);
  line.Add("pod", outcome.pod.metadata.Key());
  if (outcome.node_name.empty()) {
    line.AddNull("node");
    line.AddIfNotEmpty("tried", outcome.tried_node);
    line.AddIfNotEmpty("nominated", outcome.nominated_node);
    line.Add("message", outcome.message);
  } else {
    line.Add("node", outcome.node_name);
    if (!devices.empty()) base::AppendJsonList(devices, line.Key("devices"));
  }
  line.Close();
  out += '\n';
}

void AppendDecision(const scheduler::PodGroupOutcome& outcome, std::string& out) {
  base::JsonObject line(out);
  line.Add("podGroup", outcome.pod_group.metadata.Key());
  if (outcome.composite_pod_group != nullptr) {
    line.Add("compositePodGroup", outcome.composite_pod_group->metadata.Key());
  }
  line.Add("status", outcome.status);
  line.Add("reason", outcome.reason);
  line.AddIfNotEmpty("message", outcome.message);
  line.Close();
  out += '\n';
}

void AppendEviction(std::string_view pod, std::string& out) {
  base::JsonObject line(out);
  line.Add("evicted", pod);
  line.Close();
  out += '\n';
}

std::string WhyWaiting(const std::shared_ptr<const api::Pod>& pod, Simulation& simulation) {
  scheduler::Scheduler& scheduler = simulation.scheduler();
  const std::string key = pod->metadata.Key();
  const queue::Gate gate = scheduler.queue().GateOf(key);
  std::string why;
  // What its last attempt said was so while its group was there.
  if (gate != queue::Gate::kMissingGroup) why = explain::WhyPending(*pod);
  if (!why.empty()) return why;
  const bool has_profile = scheduler.profiles().Find(pod->spec.scheduler_name) != nullptr;
  if (pod->metadata.deletion_timestamp || !has_profile)
    return explain::WhyIgnored(*pod, has_profile);
  switch (gate) {
    case queue::Gate::kNone:
      return "";
    case queue::Gate::kOfGroup:
      return "another pod of its pod group is gated";
    case queue::Gate::kOwn:
    case queue::Gate::kMissingGroup:
      break;
  }
  const auto judgement = scheduler.Judge(pod);
  if (judgement->kind() == engine::Judgement::Kind::kGated) why = judgement->message();
  if (!why.empty()) return why;
  return gate == queue::Gate::kOwn ? "gated by " + scheduler.queue().Find(key)->gating_plugin
                                   : "its pod group is not there";
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
    const queue::Place place = simulation.scheduler().queue().WhereIs(key);
    Report::Left left{.pod = key, .result = "unfinished", .message = WhyWaiting(pod, simulation)};
    if (simulation.scheduler().queue().GateOf(key) != queue::Gate::kNone) {
      left.result = "gated";
    } else if (place == queue::Place::kUnschedulable) {
      left.result = "unschedulable";
    } else if (place == queue::Place::kNowhere &&
               simulation.scheduler().binding_cycles().size() == 0) {
      left.result = "ignored";
      const auto* profile = simulation.scheduler().profiles().Find(pod->spec.scheduler_name);
      left.message = explain::WhyIgnored(*pod, profile != nullptr);
    }
    report.left.push_back(std::move(left));
  }
  return report;
}

size_t Report::Count(std::string_view result) const {
  return static_cast<size_t>(std::ranges::count(left, result, &Left::result));
}

void AppendSummary(const Report& report, std::string& out) {
  using std::chrono::duration_cast;
  base::JsonObject line(out);
  base::JsonObject summary(line.Key("summary"));
  summary.Add("attempts", report.facts.attempts);
  summary.Add("bound", report.bound);
  summary.Add("evicted", report.evicted.size());
  summary.Add("gated", report.Count("gated"));
  summary.Add("ignored", report.Count("ignored"));
  summary.Add("nodes", report.nodes);
  summary.Add("pods", report.pods);
  summary.Add("seed", report.facts.seed);
  summary.Add("unfinished", report.Count("unfinished"));
  summary.Add("unschedulable", report.Count("unschedulable"));
  summary.Add("virtualSeconds",
              std::chrono::ceil<std::chrono::seconds>(report.facts.virtual_time).count());
  summary.Add("wallMicroseconds",
              duration_cast<std::chrono::microseconds>(report.facts.wall_time).count());
  summary.Close();
  line.Close();
  out += '\n';
}

}  // namespace berth::simulator
