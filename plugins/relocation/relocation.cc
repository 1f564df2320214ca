// SPDX-License-Identifier: Apache-2.0
#include "plugins/relocation/relocation.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>

namespace berth::plugins {
namespace {

constexpr std::string_view kMinPendingSeconds = "minPendingSeconds";
constexpr std::string_view kMaxMovesPerHour = "maxMovesPerHour";
constexpr std::string_view kMaxMovesPerPod = "maxMovesPerPod";

RelocationArgs ReadRelocationArgs(FieldReader& fields) {
  RelocationArgs args;
  fields.Read(kMinPendingSeconds, args.min_pending_seconds);
  fields.Read(kMaxMovesPerHour, args.max_moves_per_hour);
  fields.Read(kMaxMovesPerPod, args.max_moves_per_pod);
  return args;
}

std::vector<std::string> RelocationProblems(const RelocationArgs& args, const std::string& path) {
  std::vector<std::string> problems;
  CheckRange(args.min_pending_seconds, 0, 86'400, FieldPath(path, kMinPendingSeconds), problems);
  CheckRange(args.max_moves_per_hour, 1, 10'000, FieldPath(path, kMaxMovesPerHour), problems);
  CheckRange(args.max_moves_per_pod, 1, 100, FieldPath(path, kMaxMovesPerPod), problems);
  return problems;
}

ConfigValue WithRelocationDefaults(const ConfigValue& args, const ArgsFeatures&) {
  const RelocationArgs defaults;
  ConfigValue with =
      WithDefault(args, kMinPendingSeconds, ConfigValue(defaults.min_pending_seconds));
  with = WithDefault(with, kMaxMovesPerHour, ConfigValue(defaults.max_moves_per_hour));
  return WithDefault(with, kMaxMovesPerPod, ConfigValue(defaults.max_moves_per_pod));
}

constexpr std::string_view kPrefix = "relocation: ";
constexpr Duration kHour = std::chrono::hours(1);
// After a search, or moves that came to nothing, a pod waits at least so long.
constexpr Duration kAgain = std::chrono::seconds(10);
// After each step of a search none begins for so long, so that searches take a small part of the
// scheduling thread's time, however many pods wait.
constexpr Duration kPauseAfterStep = std::chrono::microseconds(1);
// Of EvictionAnswered: DefaultPreemption's begin at 0.
constexpr uint64_t kFirstNumber = uint64_t{1} << 32;

// Waits that end by themselves.
class NeverCancelled final : public Cancellation {
 public:
  bool cancelled() const override { return false; }
  void OnCancel(std::function<void()>) override {}
};
NeverCancelled never_cancelled;

// Why no pods are moved for this one, whatever there is in the cluster; "": they may be.
std::string_view WhyNotAtAll(const PodInfo& pod) {
  if (pod.resize_deferred) return "not eligible: the pod runs already.";
  if (pod.pod->spec.preemption_policy == "Never") {
    return "not eligible due to preemptionPolicy=Never.";
  }
  return "";
}

}  // namespace

constexpr ArgsKind<RelocationArgs> kRelocationArgs =
    MakeArgsKind<"Relocation", ReadRelocationArgs, RelocationProblems>(WithRelocationDefaults);

RelocationBooks::RelocationBooks(Handle& handle)
    : Evictions(handle, Relocation::kName, kFirstNumber) {}

void RelocationBooks::Ask(const Preemptor&, const std::shared_ptr<const api::Pod>& victim,
                          AsyncDone done) {
  handle().AskForEviction(victim, std::move(done));
}

void RelocationBooks::Tell(const api::Pod& victim, const std::string& note,
                           const api::Boxed<api::ObjectReference>& related) {
  handle().RecordEvent(victim, PodEventType::kNormal, "Relocated", "Relocating", note, related);
}

void RelocationBooks::NoteAnswer(const std::string& preemptor_uid, const std::string& victim_uid,
                                 const AsyncStatus& answer) {
  std::string_view result = "failed";
  if (answer.ok()) result = "evicted";
  if (answer.code == Code::kSkip) result = "gone";
  if (answer.code == Code::kUnschedulable) result = "refused";
  handle().CountMetric("berth_relocation_evictions_total", {result}, 1);
  const auto waiting = waiting_.find(preemptor_uid);
  const bool going = answer.ok() || answer.code == Code::kSkip;
  if (going && waiting != waiting_.end() && waiting->second.unmoved > 0) --waiting->second.unmoved;
  for (Moving& one : moving_) {
    if (one.uid == victim_uid) one.going = one.going || going;
  }
}

void RelocationBooks::Count(const Preemptor& preemptor, bool failed, Duration) {
  handle().CountMetric("berth_relocations_total", {failed ? "given_up" : "moved"}, 1);
  // The next pods of those that are going need their places still.
  std::erase_if(moving_, [&](const Moving& one) {
    if (one.for_uid != preemptor.uid) return false;
    if (!one.going) handle().GiveBackPlace(one.uid);
    return true;
  });
  if (!failed) return;
  const auto found = waiting_.find(preemptor.uid);
  if (found == waiting_.end()) return;
  Waiting& waiting = found->second;
  // What did not move is no move.
  const size_t unmoved = std::min(waiting.unmoved, moved_.size());
  moved_.erase(moved_.end() - static_cast<std::ptrdiff_t>(unmoved), moved_.end());
  waiting.moves -= static_cast<int64_t>(std::exchange(waiting.unmoved, 0));
  waiting.given_up = true;
  WakeAtNextSearch(waiting);
}

RelocationBooks::Waiting& RelocationBooks::Note(const api::Pod& pod, Duration min_pending) {
  const api::ObjectMeta& metadata = pod.metadata;
  return Note(metadata.uid, {{metadata.namespace_, metadata.name, metadata.uid}}, min_pending);
}

RelocationBooks::Waiting& RelocationBooks::Note(const std::string& uid,
                                                std::vector<Waiting::PodName> pods,
                                                Duration min_pending) {
  if (waiting_.size() >= forget_at_) ForgetSettled();
  const auto [it, added] = waiting_.try_emplace(uid);
  Waiting& waiting = it->second;
  waiting.pods = std::move(pods);
  if (added) {
    waiting.since = handle().clock().Now();
    waiting.next_search = waiting.since + min_pending;
  }
  return waiting;
}

void RelocationBooks::WakeAtNextSearch(Waiting& waiting) {
  if (std::exchange(waiting.wakes, true)) return;
  ObjectWait wait;
  wait.check = [] { return std::optional<AsyncStatus>(); };
  wait.timeout = std::max(waiting.next_search - handle().clock().Now(), Duration());
  std::vector<std::string> keys;
  for (const Waiting::PodName& pod : waiting.pods) {
    keys.push_back(api::NamespacedKey(pod.namespace_, pod.name));
  }
  handle().WaitFor(std::move(wait), never_cancelled,
                   [handle = &handle(), keys = std::move(keys)](const AsyncStatus&) {
                     handle->Post(PodsActivated{keys});
                   });
}

int64_t RelocationBooks::MovesLeft(int64_t most) {
  const Time since = handle().clock().Now() - kHour;
  while (!moved_.empty() && moved_.front() <= since) moved_.pop_front();
  return most - static_cast<int64_t>(moved_.size());
}

bool RelocationBooks::Waits(const Waiting& waiting) {
  return std::ranges::any_of(waiting.pods, [this](const Waiting::PodName& one) {
    const auto pod = handle().FindPendingPod(one.namespace_, one.name);
    return pod != nullptr && pod->metadata.uid == one.uid;
  });
}

void RelocationBooks::ForgetSettled() {
  std::erase_if(waiting_, [this](const auto& one) { return !Waits(one.second); });
  forget_at_ = std::max<size_t>(64, 2 * waiting_.size());
}

void RelocationBooks::Begin(const api::Pod& pod, Waiting& waiting, const Room& room,
                            const Snapshot& snapshot) {
  const std::string& node = snapshot.node(room.row).metadata.name;
  const api::ObjectMeta& metadata = pod.metadata;
  waiting.node = node;
  BeginMoves({metadata.uid, "pod", pod.spec.priority.value_or(0), {metadata.Key()}}, node, waiting,
             room.moves, "pod " + metadata.Key() + " has room on node " + node, snapshot);
}

void RelocationBooks::Begin(const PodGroupInfo& group, Waiting& waiting, const GroupRoom& room,
                            const Snapshot& snapshot) {
  waiting.nodes.clear();
  for (const auto& nomination : room.nominations) {
    waiting.nodes.emplace(nomination.pod_uid, nomination.node_name);
  }
  Preemptor preemptor = PreemptorOf(group);
  const std::string name =
      api::NamespacedKey(group.object.metadata().namespace_, preemptor.related->name);
  BeginMoves(std::move(preemptor), "cluster", waiting, room.moves,
             "pod group " + name + " has room", snapshot);
}

void RelocationBooks::BeginMoves(Preemptor preemptor, std::string_view place, Waiting& waiting,
                                 const std::vector<PodMove>& moves, const std::string& for_whom,
                                 const Snapshot& snapshot) {
  waiting.moves += static_cast<int64_t>(moves.size());
  waiting.unmoved = moves.size();
  waiting.given_up = false;
  std::erase_if(moving_, [&](const Moving& one) { return one.for_uid == preemptor.uid; });
  std::vector<EvictedPod> evicted;
  for (const PodMove& move : moves) {
    const std::string& to = snapshot.node(move.to).metadata.name;
    moved_.push_back(handle().clock().Now());
    moving_.push_back({.uid = move.pod->pod->metadata.uid, .for_uid = preemptor.uid});
    handle().HoldPlace(move.pod->pod, to);
    evicted.push_back(
        {move.pod->pod, move.pod->pod->spec.node_name,
         "Evicted so that " + for_whom + "; the pod in its place fits on node " + to});
  }
  Start(std::move(preemptor), place, std::move(evicted));
}

Relocation::Relocation(const RelocationArgs& args, Handle& handle)
    : handle_(handle),
      args_(args),
      books_(std::make_shared<RelocationBooks>(handle)),
      waiting_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable,
                                     "waiting for the pods that are moved for this pod")),
      group_waiting_(
          handle.reasons().Make(Code::kUnschedulableAndUnresolvable,
                                "waiting for the pods that are moved for this pod group")) {}

PostFilterResult Relocation::Reject(const CycleState& state, std::string_view message) const {
  return {state.reasons().Make(Code::kUnschedulable, std::string(kPrefix) + std::string(message))};
}

size_t Relocation::MovesLeft(const RelocationBooks::Waiting& waiting, size_t pods,
                             std::string_view& why) {
  const int64_t of_pods = args_.max_moves_per_pod * static_cast<int64_t>(pods) - waiting.moves;
  const int64_t of_hour = books_->MovesLeft(args_.max_moves_per_hour);
  if (of_pods <= 0) {
    why = "maxMovesPerPod pods have moved for this pod";
  } else if (of_hour <= 0) {
    why = "maxMovesPerHour pods have moved within an hour";
  }
  return static_cast<size_t>(std::max<int64_t>(std::min(of_pods, of_hour), 0));
}

Relocation::When Relocation::WhenToSearch(RelocationBooks::Waiting& waiting) {
  const Time now = handle_.clock().Now();
  if (now >= waiting.next_search) return now < books_->next_search ? When::kPaused : When::kNow;
  books_->WakeAtNextSearch(waiting);
  const bool is_young = now < waiting.since + std::chrono::seconds(args_.min_pending_seconds);
  return is_young ? When::kYoung : When::kPaused;
}

void Relocation::NoteSearch(RelocationBooks::Waiting& waiting, uint64_t steps) {
  const Time now = handle_.clock().Now();
  const Duration min_pending = std::chrono::seconds(args_.min_pending_seconds);
  waiting.next_search = now + std::max(min_pending, kAgain);
  waiting.wakes = false;
  books_->next_search = now + static_cast<int64_t>(steps) * kPauseAfterStep;
}

PostFilterResult Relocation::PostFilter(CycleState& state, const PodInfo& pod,
                                        const Snapshot& snapshot, const NodeToStatus& statuses) {
  if (const auto why = WhyNotAtAll(pod); !why.empty()) return Reject(state, why);
  const api::ObjectMeta& metadata = pod.pod->metadata;
  const Duration min_pending = std::chrono::seconds(args_.min_pending_seconds);
  RelocationBooks::Waiting& waiting = books_->Note(*pod.pod, min_pending);
  // Where this plugin has nominated the pod: others find no victims there.
  const auto nominate = [&](PostFilterResult result, std::string_view node) {
    const auto newest = handle_.FindPendingPod(metadata.namespace_, metadata.name);
    if (newest != nullptr && !waiting.node.empty() &&
        newest->status.nominated_node_name == waiting.node) {
      result.nominating = NominatingInfo{NominatingMode::kOverride, std::string(node)};
    }
    return result;
  };
  const auto await = [&](std::string_view why) {
    return nominate(Reject(state, why), waiting.given_up ? "" : waiting.node);
  };
  if (books_->Running(metadata.uid)) return await("pods are being moved for this pod");
  switch (WhenToSearch(waiting)) {
    case When::kNow:
      break;
    case When::kYoung:
      return Reject(state, "the pod has not waited for minPendingSeconds");
    case When::kPaused:
      return await("moves were sought a short time ago");
  }
  RoomSearch search(handle_, state, pod, snapshot, statuses);
  std::string_view why;
  const size_t most = MovesLeft(waiting, 1, why);
  const bool comes = search.RoomComes();
  const std::optional<Room> room = comes || most == 0 ? std::nullopt : search.Find(most);
  NoteSearch(waiting, search.steps());
  if (state.budget().spent()) {
    return {state.reasons().Error(std::string(kPrefix) + state.budget().Message())};
  }
  if (comes) return await("the pod fits once pods that are being deleted have ended");
  if (most == 0) return nominate(Reject(state, why), "");
  if (!room) {
    handle_.CountMetric("berth_relocations_total", {"no_moves"}, 1);
    return nominate(Reject(state, "no moves of other pods make room"), "");
  }
  books_->Begin(*pod.pod, waiting, *room, snapshot);
  const std::string& node = snapshot.node(room->row).metadata.name;
  const std::string message = "found room for pod on node " + node + ", moving " +
                              std::to_string(room->moves.size()) + " pods";
  return {state.reasons().Make(Code::kSuccess, std::string(kPrefix) + message),
          NominatingInfo{NominatingMode::kOverride, node}};
}

PreemptionPreview Relocation::Preview(CycleState& state, const PodInfo& pod,
                                      const Snapshot& snapshot, const NodeToStatus& statuses) {
  PreemptionPreview preview;
  const auto reject = [&](std::string_view why) {
    preview.message = std::string(kPrefix) + std::string(why);
    return preview;
  };
  if (const auto why = WhyNotAtAll(pod); !why.empty()) return reject(why);
  RoomSearch search(handle_, state, pod, snapshot, statuses);
  if (search.RoomComes()) return reject("the pod fits once pods that are being deleted have ended");
  const std::optional<Room> room = search.Find(static_cast<size_t>(args_.max_moves_per_pod));
  if (!room) return reject("no moves of other pods make room");
  PreemptionCandidate& candidate = preview.candidates.emplace_back();
  candidate.row = room->row;
  for (const PodMove& move : room->moves) candidate.victims.push_back(move.pod);
  preview.best = {0};
  preview.moved = true;
  return preview;
}

Status Relocation::PreEnqueue(const PodInfo& pod) {
  return books_->Gate(pod, waiting_, group_waiting_);
}

std::vector<ClusterEventWithHint> Relocation::EventsToRegister() const {
  return Evictions::EventsToRegister();
}

}  // namespace berth::plugins
