// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/evictions.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "plugins/default_preemption/default_preemption.h"

namespace berth::plugins {

Evictions::Evictions(Handle& handle) : handle_(handle), self_(std::make_shared<Evictions*>(this)) {}

void Evictions::Start(const PodInfo& preemptor, std::string_view node_name,
                      std::vector<std::shared_ptr<const api::Pod>> victims) {
  // Pods of lower priority that were promised the room must look elsewhere.
  handle_.ForEachNominatedPod(node_name, [&](const PodInfoPtr& nominated) {
    if (nominated->priority() < preemptor.priority()) handle_.ClearNominatedNode(*nominated);
  });
  if (victims.empty()) return;
  const std::string& uid = preemptor.pod->metadata.uid;
  const auto [it, added] = runs_.insert_or_assign(uid, Run());
  Run& run = it->second;
  run.id = ++last_run_;
  run.preemptor_key = preemptor.pod->metadata.Key();
  run.started = handle_.clock().Now();
  run.node_name = node_name;
  run.victims = std::move(victims);
  for (size_t i = 0; i + 1 < run.victims.size(); ++i) Evict(uid, run, run.victims[i]);
  Advance(it);
}

bool Evictions::Running(const api::Pod& preemptor) const {
  const auto it = runs_.find(preemptor.metadata.uid);
  if (it == runs_.end()) return false;
  // The deletion of the last victim may be seen before the answer to the request for it.
  return !it->second.last_asked || StillOnNode(*it->second.victims.back(), it->second.node_name);
}

void Evictions::Evict(const std::string& preemptor_uid, Run& run,
                      const std::shared_ptr<const api::Pod>& victim) {
  ++run.unanswered;
  const auto answered = [handle = &handle_, self = std::weak_ptr<Evictions*>(self_),
                         asked = Asked{run.id, preemptor_uid, run.node_name, victim}](
                            Place place, AsyncStatus answer) {
    handle->Post([self, asked, place, answer = std::move(answer)] {
      if (const auto evictions = self.lock()) (*evictions)->OnAnswer(asked, place, answer);
    });
  };
  // A pod that has its place only in memory gives it up without being deleted.
  const std::string& uid = victim->metadata.uid;
  if (WaitingPod* waiting = handle_.FindWaitingPod(uid)) {
    waiting->Preempt(DefaultPreemption::kName, "preempted");
    answered(Place::kInMemory, {});
    return;
  }
  if (handle_.CancelPreBind(uid, "preempted by " + std::string(DefaultPreemption::kName))) {
    answered(Place::kInMemory, {});
    return;
  }
  handle_.EvictPod(
      victim,
      std::string(handle_.scheduler_name()) + ": preempting to accommodate a higher priority pod",
      [answered](AsyncStatus answer) { answered(Place::kOnNode, std::move(answer)); });
}

void Evictions::OnAnswer(const Asked& asked, Place place, const AsyncStatus& answer) {
  if (answer.ok()) {
    std::string note = "Preempted by pod " + asked.preemptor_uid + " on node " + asked.node_name;
    if (place == Place::kInMemory) note += " (in kube-scheduler memory).";
    handle_.RecordEvent(*asked.victim, PodEventType::kNormal, "Preempted", "Preempting",
                        std::move(note));
  }
  const auto it = runs_.find(asked.preemptor_uid);
  if (it == runs_.end() || it->second.id != asked.run) return;
  Run& run = it->second;
  --run.unanswered;
  if (answer.ok()) {
    run.last_in_memory = run.last_asked && place == Place::kInMemory;
  } else {
    run.failed = true;
  }
  Advance(it);
}

void Evictions::Advance(Runs::iterator it) {
  Run& run = it->second;
  if (run.unanswered > 0) return;
  if (run.failed) {
    handle_.Activate({Finish(it)});
  } else if (!run.last_asked) {
    run.last_asked = true;
    Evict(it->first, run, run.victims.back());
  } else {
    const bool activate = run.last_in_memory;
    const std::string preemptor = Finish(it);
    if (activate) handle_.Activate({preemptor});
  }
}

std::string Evictions::Finish(Runs::iterator it) {
  const std::string_view result = it->second.failed ? "error" : "success";
  handle_.CountMetric("preemption_goroutines_execution_total", {result}, 1);
  const std::chrono::duration<double> took = handle_.clock().Now() - it->second.started;
  handle_.ObserveMetric("preemption_goroutines_duration_seconds", {result}, took.count());
  std::string key = std::move(it->second.preemptor_key);
  runs_.erase(it);
  return key;
}

bool Evictions::StillOnNode(const api::Pod& victim, std::string_view node_name) const {
  const Snapshot& snapshot = handle_.snapshot();
  const NodeRow row = snapshot.FindNode(node_name);
  if (row == kNoRow) return false;
  const auto pods = snapshot.pods(row);
  return std::any_of(pods.begin(), pods.end(), [&](const PodInfo* pod) {
    return pod->pod->metadata.uid == victim.metadata.uid && !pod->pod->metadata.deletion_timestamp;
  });
}

}  // namespace berth::plugins
