// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "src/base/logging.h"
#include "src/scheduler/scheduler.h"

namespace berth::scheduler {
namespace {

// One cycle in ten also times each plugin.
constexpr uint64_t kPluginSampling = 10;
const NominatingInfo kClearNominatedNode{NominatingMode::kOverride, ""};

}  // namespace

void Scheduler::ScheduleOne() {
  std::unique_ptr<queue::QueuedPod> queued = queue_->Pop();
  if (queued == nullptr) return;
  const Time started = clock_.Now();
  const framework::Profile* profile = ProfileOf(queued->pod().spec.scheduler_name);
  if (profile == nullptr || Skip(*queued)) {
    queue_->Done(queued->pod().metadata.uid);
    return;
  }
  base::LogV(3, "Attempting to schedule pod", {{"pod", queued->pod().metadata.Key()}});

  decision_began_ = Stopwatch();
  queued->info = cache_.Reclass(std::move(queued->info));
  if (auto verdict = FindVerdict(*queued)) {
    FailAlike(std::move(queued), *profile, std::move(verdict), started);
    return;
  }
  extender_calls_ = extenders_.num_calls();
  framework::Cycle cycle;
  cycle.observer = &observer_;
  cycle.observe_plugins = random_.Below(kPluginSampling) == 0;
  const engine::World world{cache_, *nominated_, objects_.generation(),
                            extenders_.empty() ? nullptr : &extenders_, &cache_.node_order()};
  const engine::Decision decision =
      engine_.Schedule(*profile, cycle, *queued->info, world,
                       profile->percentage_of_nodes_to_score().value_or(
                           options_.configuration.percentage_of_nodes_to_score));
  if (decision.kind == engine::Decision::Kind::kScheduled) {
    if (decision.kept) metrics_.Add(series_.reused_decisions);
    decision_took_ = Stopwatch() - decision_began_;
    metrics_.Observe(series_.algorithm_duration, clock_.Now() - started);
    Commit(std::move(queued), *profile, std::move(cycle), decision.node, started);
  } else {
    FailCycle(std::move(queued), *profile, cycle, decision, started);
  }
  ActivatePods();
}

// Pods that need no node any more: being deleted, or assumed since they were queued.
bool Scheduler::Skip(const queue::QueuedPod& queued) {
  const api::Pod& pod = queued.pod();
  if (pod.metadata.deletion_timestamp) {
    RecordEvent(pod, *ProfileOf(pod.spec.scheduler_name), true, "FailedScheduling", "Scheduling",
                "skip schedule deleting pod: " + pod.metadata.Key());
    return true;
  }
  return cache_.IsAssumed(pod.metadata.uid);
}

// Assume, Reserve and Permit; then the pod enters its binding cycle.
void Scheduler::Commit(std::unique_ptr<queue::QueuedPod> queued, const framework::Profile& profile,
                       framework::Cycle cycle, NodeRow node, Time started) {
  const PodInfoPtr info = queued->info;
  const std::string& uid = info->pod->metadata.uid;
  const std::string node_name = cache_.node(node).metadata.name;
  if (auto assumed = cache_.AssumePod(info, node); !assumed) {
    ReportCycle(*info->pod, Code::kError, "", assumed.error().message);
    HandleFailure(std::move(queued), profile,
                  {.code = Code::kError,
                   .message = assumed.error().message,
                   .unschedulable_plugins = {},
                   .pending_plugins = {},
                   .nominating = kClearNominatedNode},
                  started);
    return;
  }
  ++num_assumes_;
  nominator_.DeleteNominatedPodIfExists(*info->pod);

  framework::PluginStatus verdict = framework::RunReserve(profile, cycle, *info, node_name);
  framework::PermitVerdict permit;
  if (verdict.status.ok()) {
    permit = framework::RunPermit(profile, cycle, *info, node_name);
    verdict = permit.verdict;
  }
  if (!verdict.status.ok() && !verdict.status.wait()) {
    Failure failure{.code = verdict.status.code(),
                    .message = verdict.status.message(),
                    .unschedulable_plugins = {},
                    .pending_plugins = {},
                    .nominating = kClearNominatedNode};
    if (verdict.status.rejected()) {
      failure.message = engine::FitErrorMessage(verdict.status);
      failure.unschedulable_plugins.emplace_back(verdict.plugin);
      if (verdict.status.code() == Code::kPending) {
        failure.pending_plugins.emplace_back(verdict.plugin);
      }
    }
    framework::RunUnreserve(profile, cycle, *info, node_name);
    cache_.ForgetPod(uid);
    ReportCycle(*info->pod, failure.code, "", failure.message);
    HandleFailure(std::move(queued), profile, std::move(failure), started);
    return;
  }

  InHand& in_hand = in_hand_[uid];
  in_hand.queued = std::move(queued);
  in_hand.profile = &profile;
  in_hand.node_name = node_name;
  in_hand.cycle = std::move(cycle);
  in_hand.started = started;
  const bool waits = verdict.status.wait();
  ReportCycle(*info->pod, verdict.status.code(), node_name, "");
  if (waits) waiting_pods_.Add(info, node_name, std::move(permit.waits), now_);
  EnterBindingCycle(uid, waits);
}

// The cycle ended without a node.
void Scheduler::FailCycle(std::unique_ptr<queue::QueuedPod> queued,
                          const framework::Profile& profile, framework::Cycle& cycle,
                          const engine::Decision& decision, Time started) {
  Failure failure;
  failure.nominating = kClearNominatedNode;
  switch (decision.kind) {
    case engine::Decision::Kind::kNoNodes:
      failure.code = Code::kUnschedulableAndUnresolvable;
      failure.message = engine::kNoNodesMessage;
      break;
    case engine::Decision::Kind::kUnfit: {
      engine::Diagnosis& diagnosis = engine_.diagnosis();
      bool preempted = false;
      if (!profile.plugins().post_filter.empty()) {
        framework::PostFilterVerdict post_filter =
            framework::RunPostFilter(profile, cycle, *queued->info, cache_, diagnosis.statuses);
        diagnosis.post_filter_message = std::move(post_filter.message);
        failure.nominating = post_filter.nominating.value_or(NominatingInfo{});
        preempted = !post_filter.verdict.status.rejected();
      }
      failure.code = Code::kUnschedulable;
      failure.message = engine::FitErrorMessage(diagnosis);
      failure.unschedulable_plugins = diagnosis.unschedulable_plugins;
      failure.pending_plugins = diagnosis.pending_plugins;
      if (!preempted) failure.verdict = ShareVerdict(*queued, profile, failure);
      break;
    }
    default:
      failure.message = decision.error;
  }
  decision_took_ = Stopwatch() - decision_began_;
  metrics_.Observe(series_.algorithm_duration, clock_.Now() - started);
  ReportCycle(queued->pod(), failure.code, "", failure.message);
  HandleFailure(std::move(queued), profile, std::move(failure), started);
}

void Scheduler::ReportCycle(const api::Pod& pod, Code code, std::string_view node_name,
                            std::string_view message) const {
  if (options_.on_cycle) options_.on_cycle({pod, code, node_name, message, decision_took_});
}

std::unique_ptr<engine::Judgement> Scheduler::Judge(const std::shared_ptr<const api::Pod>& pod) {
  BERTH_ON_THREAD(owner_);
  return std::make_unique<engine::Judgement>(ProfileOf(pod->spec.scheduler_name),
                                             cache_.MakePodInfo(pod),
                                             engine::World{cache_, *nominated_});
}

void Scheduler::ActivatePods() {
  if (pods_to_activate_.empty()) return;
  const std::vector<std::string> keys = std::exchange(pods_to_activate_, {});
  queue_->Activate(keys, now_);
}

}  // namespace berth::scheduler
