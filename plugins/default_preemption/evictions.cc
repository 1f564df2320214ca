// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/evictions.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace berth::plugins {

void Evictions::Start(Preemptor preemptor, std::string_view place,
                      std::vector<EvictedPod> victims) {
  // Pods of lower priority that were promised the room must look elsewhere.
  handle_.ForEachNominatedPod(place, [&](const PodInfoPtr& nominated) {
    if (nominated->priority() < preemptor.priority) handle_.ClearNominatedNode(*nominated);
  });
  if (victims.empty()) return;
  const auto [it, added] = runs_.try_emplace(preemptor.uid);
  Run& run = it->second;
  if (!added) {
    AwaitNoMore(run);
    run = Run();
  }
  run.id = ++last_run_;
  run.preemptor = std::move(preemptor);
  run.started = handle_.stopwatch().Now();
  run.place = place;
  run.victims = std::move(victims);
  EvictMore(run);
  Advance(it);
}

void Evictions::EvictMore(Run& run) {
  // As many as kube-scheduler has workers for (its parallelism).
  constexpr size_t kMostAtOnce = 16;
  while (!run.failed && run.unanswered < kMostAtOnce && run.asked + 1 < run.victims.size()) {
    Evict(run, run.victims[run.asked++]);
  }
}

bool Evictions::Running(std::string_view preemptor_uid) const {
  const auto it = runs_.find(preemptor_uid);
  if (it == runs_.end()) return false;
  // The deletion of the last victim may be seen before the answer to the request for it.
  return !it->second.last_asked || StillOnNode(it->second.victims.back());
}

void Evictions::Await(Run& run) {
  run.awaited_on = handle_.snapshot().FindNode(run.victims.back().node_name);
  awaiting_[run.awaited_on].push_back(run.preemptor.uid);
}

void Evictions::AwaitNoMore(const Run& run) {
  const auto waiting = awaiting_.find(run.awaited_on);
  if (!run.last_asked || waiting == awaiting_.end()) return;
  std::erase(waiting->second, run.preemptor.uid);
  if (waiting->second.empty()) awaiting_.erase(waiting);
}

void Evictions::TellOf(const Run& run) {
  moved_.insert(moved_.end(), run.preemptor.pod_keys.begin(), run.preemptor.pod_keys.end());
}

Status Evictions::Gate(const PodInfo& pod, const Status& waiting,
                       const Status& group_waiting) const {
  const std::string* group_name =
      handle_.features().pod_groups() ? PodGroupNameOf(*pod.pod) : nullptr;
  const api::ObjectMeta& metadata = pod.pod->metadata;
  if (group_name == nullptr) return Running(metadata.uid) ? waiting : Status();
  const PodGroupNode* group = handle_.pod_group_forest().Find(metadata.namespace_, *group_name);
  const PodGroupNode* root = group == nullptr ? nullptr : RootOf(*group);
  const bool wait = root != nullptr && Running(root->object.metadata().uid);
  return wait ? group_waiting : Status();
}

std::vector<ClusterEventWithHint> Evictions::EventsToRegister() {
  return {{{EventResource::kAssignedPod, action::kDelete},
           [](const api::Pod&, const api::ObjectPtr&, const api::ObjectPtr&) {
             return Result<QueueingHint>(QueueingHint::kQueueSkip);
           }}};
}

void Evictions::TakeMoved(std::vector<std::string>& pod_keys) {
  std::move(moved_.begin(), moved_.end(), std::back_inserter(pod_keys));
  moved_.clear();
  const Snapshot& snapshot = handle_.snapshot();
  const uint64_t before = std::exchange(generation_, snapshot.generation());
  if (awaiting_.empty() || before == generation_) return;
  changed_.clear();
  if (snapshot.RowsChangedSince(before, changed_)) {
    changed_.push_back(kNoRow);  // the node may be there again
  } else {
    changed_.clear();
    for (const auto& [row, preemptors] : awaiting_) changed_.push_back(row);
  }
  for (const NodeRow row : changed_) {
    const auto waiting = awaiting_.find(row);
    if (waiting == awaiting_.end()) continue;
    const std::vector<std::string> preemptors = std::move(waiting->second);
    awaiting_.erase(waiting);
    for (const std::string& uid : preemptors) {
      Run& run = runs_.find(uid)->second;
      pod_keys.insert(pod_keys.end(), run.preemptor.pod_keys.begin(), run.preemptor.pod_keys.end());
      Await(run);
    }
  }
}

void Evictions::Ask(const Preemptor& preemptor, const std::shared_ptr<const api::Pod>& victim,
                    AsyncDone done) {
  handle_.EvictPod(victim,
                   std::string(handle_.scheduler_name()) +
                       ": preempting to accommodate a higher priority " +
                       std::string(preemptor.kind),
                   std::move(done));
}

void Evictions::Tell(const api::Pod& victim, const std::string& note,
                     const api::Boxed<api::ObjectReference>& related) {
  handle_.RecordEvent(victim, PodEventType::kNormal, "Preempted", "Preempting", note, related);
}

void Evictions::Count(const Preemptor& preemptor, bool failed, Duration took) {
  const std::string_view result = failed ? "error" : "success";
  const double seconds = std::chrono::duration<double>(took).count();
  handle_.CountMetric("preemption_goroutines_execution_total", {result}, 1);
  handle_.ObserveMetric("preemption_goroutines_duration_seconds", {result}, seconds);
  if (handle_.features().generic_workload) {
    handle_.ObserveMetric("preemption_execution_duration_seconds", {preemptor.kind, result},
                          seconds);
  }
}

void Evictions::Evict(Run& run, const EvictedPod& evicted) {
  ++run.unanswered;
  const std::shared_ptr<const api::Pod>& victim = evicted.pod;
  const std::string& preemptor_uid = run.preemptor.uid;
  const std::string kind(run.preemptor.kind);
  std::string note = evicted.note;
  if (note.empty()) note = "Preempted by " + kind + " " + preemptor_uid + " on node " + run.place;
  const std::string& uid = victim->metadata.uid;
  std::vector<Asked>& asked = asked_[uid];
  const uint64_t number = asked.empty() ? first_number_ : asked.back().number + 1;
  asked.push_back({number, run.id, preemptor_uid, std::move(note), run.preemptor.related, victim});
  EvictionAnswered answered{
      .scheduler_name = std::string(handle_.scheduler_name()), .victim_uid = uid, .number = number};
  // A pod that has its place only in memory gives it up without being deleted.
  WaitingPod* waiting = handle_.FindWaitingPod(uid);
  if (waiting != nullptr) waiting->Preempt(plugin_, "preempted");
  answered.in_memory = waiting != nullptr || handle_.CancelPreBind(uid, "preempted by " + plugin_);
  if (answered.in_memory) {
    handle_.Post(std::move(answered));
    return;
  }
  Ask(run.preemptor, victim, [handle = &handle_, answered](AsyncStatus answer) mutable {
    answered.answer = std::move(answer);
    handle->Post(std::move(answered));
  });
}

bool Evictions::TakeAnswer(const EvictionAnswered& answered) {
  const auto of_victim = asked_.find(answered.victim_uid);
  if (of_victim == asked_.end()) return false;
  const auto found = std::ranges::find(of_victim->second, answered.number, &Asked::number);
  if (found == of_victim->second.end()) return false;
  const Asked asked = std::move(*found);
  of_victim->second.erase(found);
  if (of_victim->second.empty()) asked_.erase(of_victim);
  const bool going = answered.answer.ok() || answered.answer.code == Code::kSkip;
  NoteAnswer(asked.preemptor_uid, answered.victim_uid, answered.answer);
  // A pod that had gone was not preempted.
  if (answered.answer.ok()) {
    Tell(*asked.victim, asked.note + (answered.in_memory ? " (in kube-scheduler memory)." : ""),
         asked.related);
  }
  const auto it = runs_.find(asked.preemptor_uid);
  if (it == runs_.end() || it->second.id != asked.run) return true;
  Run& run = it->second;
  --run.unanswered;
  if (going) {
    run.last_in_memory = run.last_asked && answered.in_memory;
  } else {
    run.failed = true;
  }
  EvictMore(run);
  Advance(it);
  return true;
}

void Evictions::Advance(Runs::iterator it) {
  Run& run = it->second;
  if (run.unanswered > 0) return;
  if (run.failed) {
    handle_.Activate(Finish(it).pod_keys);
  } else if (!run.last_asked) {
    run.last_asked = true;
    Await(run);
    // It may be going already, and then nothing more will change.
    if (!StillOnNode(run.victims.back())) TellOf(run);
    // Others may have evicted all of them, too: then no deletion comes that would wake its pods,
    // which waited at the gate when the last one came.
    if (std::ranges::none_of(run.victims, [this](const auto& pod) { return OnNode(pod); })) {
      handle_.Activate(run.preemptor.pod_keys);
    }
    Evict(run, run.victims.back());
  } else {
    const bool activate = run.last_in_memory;
    const Preemptor preemptor = Finish(it);
    if (activate) handle_.Activate(preemptor.pod_keys);
  }
}

Preemptor Evictions::Finish(Runs::iterator it) {
  Count(it->second.preemptor, it->second.failed, handle_.stopwatch().Now() - it->second.started);
  AwaitNoMore(it->second);
  TellOf(it->second);
  Preemptor preemptor = std::move(it->second.preemptor);
  runs_.erase(it);
  return preemptor;
}

const api::Pod* Evictions::OnNode(const EvictedPod& victim) const {
  const Snapshot& snapshot = handle_.snapshot();
  const NodeRow row = snapshot.FindNode(victim.node_name);
  if (row == kNoRow) return nullptr;
  const auto pods = snapshot.pods(row);
  const auto found = std::ranges::find_if(
      pods, [&](const PodInfo* pod) { return pod->pod->metadata.uid == victim.pod->metadata.uid; });
  return found == pods.end() ? nullptr : (*found)->pod.get();
}

bool Evictions::StillOnNode(const EvictedPod& victim) const {
  const api::Pod* const pod = OnNode(victim);
  return pod != nullptr && !pod->metadata.deletion_timestamp;
}

}  // namespace berth::plugins
