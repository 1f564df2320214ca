// SPDX-License-Identifier: Apache-2.0
#include "src/plan/apply.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "src/base/text.h"
#include "src/explain/pod_list.h"
#include "src/plan/measure.h"
#include "src/plan/plan_run.h"
#include "src/plan/trial.h"

namespace berth::plan {
namespace {

using base::Concat;

// How often a pod is evicted for one move, where its successor goes back to the node that it left.
constexpr size_t kMostEvictions = 5;

}  // namespace

PodPtr FindByUid(const std::vector<PodPtr>& pods, std::string_view uid) {
  const auto found =
      std::ranges::find_if(pods, [uid](const PodPtr& pod) { return pod->metadata.uid == uid; });
  return found == pods.end() ? nullptr : *found;
}

std::vector<PodPtr> HoldersOf(const std::string& node, const simulator::Simulation& simulation) {
  std::vector<PodPtr> pods = simulator::PodsOn(simulation, node);
  std::erase_if(pods, [](const PodPtr& pod) { return IsDaemon(*pod) || IsMirror(*pod); });
  return pods;
}

bool PlanRun::Stop(size_t move, const std::string& why) {
  const Move& one = plan_.moves[move];
  AppliedMove& failed = applied_.moves[move];
  if (failed.state != State::kSkipped) failed.state = State::kFailed;
  failed.why = why;
  return Stop(Concat("wave ", std::to_string(one.wave), ", ", one.pod, ": ", why));
}

bool PlanRun::Stop(std::string why) {
  applied_.why = std::move(why);
  GiveBack();
  return false;
}

void PlanRun::Settle(size_t move, State state, std::string node, std::string why) {
  const Move& one = plan_.moves[move];
  const std::string done = node.empty() ? ": is evicted" : ": is on " + node;
  edge_.Say(Concat(one.pod, state == State::kDone ? done : ": is skipped: " + why));
  AppliedMove& settled = applied_.moves[move];
  settled.state = state;
  settled.node = std::move(node);
  settled.why = std::move(why);
}

void PlanRun::Placed(size_t move, const std::string& node) {
  const std::string& planned = plan_.moves[move].to;
  if (node != leaving_[move].to) checked_ = false;
  if (node != planned) deviated_ = true;
  const std::string why = planned.empty() ? "was to wait" : "was to go to " + planned;
  Settle(move, State::kDone, node, node == planned ? "" : why);
}

// What is still to be done with the pod is about the one in its place.
void PlanRun::Follow(size_t move, const std::string& uid, const std::string& key) {
  for (size_t i = move + 1; i < plan_.moves.size(); ++i) {
    if (plan_.moves[i].uid != plan_.moves[move].uid) continue;
    leaving_[i].uid = uid;
    if (!key.empty()) leaving_[i].key = key;
  }
}

// The move is about this pod from now on; nullptr: it is gone.
void PlanRun::GoOnWith(size_t move, std::string uid, const PodPtr& pod) {
  leaving_[move] = {.key = pod == nullptr ? leaving_[move].key : pod->metadata.Key(),
                    .uid = std::move(uid),
                    .to = leaving_[move].to,
                    .evictions = leaving_[move].evictions + 1,
                    .before = leaving_[move].before};
}

// What an earlier run has begun ends first.
bool PlanRun::Begin() {
  resumes_ = true;
  for (size_t i = 0; i < plan_.moves.size(); ++i) {
    const std::vector<PodPtr> pods = PodsBeside(i);
    const auto is_of_move = [i](const Progress::Eviction* eviction) {
      return eviction != nullptr && (!eviction->move || *eviction->move == static_cast<int64_t>(i));
    };
    const Progress::Eviction* begun = Begun(i);
    while (is_of_move(begun) && is_of_move(progress_->Find(begun->successor))) {
      GoOnWith(i, begun->successor, FindByUid(pods, begun->successor));
      begun = Begun(i);
    }
    if (!is_of_move(begun)) continue;
    if (progress_->Find(begun->successor) != nullptr) {
      // A later move has evicted it since.
      const PodPtr successor = FindByUid(pods, begun->successor);
      Follow(i, begun->successor, successor == nullptr ? "" : successor->metadata.Key());
      applied_.moves[i].evictions = leaving_[i].evictions;
      Settle(i, State::kDone, plan_.moves[i].to, "");
      continue;
    }
    const PodPtr pod = FindByUid(pods, leaving_[i].uid);
    if (pod != nullptr && !pod->metadata.deletion_timestamp) {
      if (!GoOnByRequest(i, *pod)) return false;
      continue;
    }
    if (pod != nullptr) leaving_[i].pod = pod;
    // The run that evicted it may have ended before it said so.
    if (!options_.dry_run && begun->successor.empty()) RecordEviction(i);
    if (options_.dry_run) {
      const PodPtr successor = FindByUid(pods, begun->successor);
      Follow(i, begun->successor, successor == nullptr ? "" : successor->metadata.Key());
      Settle(i, State::kSkipped, "", "is done already");
    } else if (!AwaitSuccessor(i)) {
      return false;
    }
  }
  resumes_ = false;
  return true;
}

bool PlanRun::Carry() {
  size_t wave = 0;
  for (size_t i = 0; i < plan_.moves.size(); ++i) {
    const Move& move = plan_.moves[i];
    if (move.wave != wave) {
      if (!AwaitReady(wave)) return false;
      wave = move.wave;
      checked_ = false;
    }
    if (!IsSettled(i) && !IsWanted(i)) checked_ = false;
    while (!IsSettled(i)) {
      if (!checked_ && !Check(i)) return false;
      if (IsSettled(i)) break;
      if (options_.dry_run) {
        // All that is left has been judged.
        for (AppliedMove& left : applied_.moves) {
          if (left.state == State::kNotBegun) left.state = State::kAllowed;
        }
        return true;
      }
      if (move.from.empty()) {
        Hold(i);
        if (!AwaitNode(i)) return false;
      } else if (!CordonFirst() || !Relocate(i)) {
        return false;
      }
    }
  }
  // No move was left to do.
  if (!options_.dry_run && !CordonFirst()) return false;
  return AwaitReady(wave) && AwaitEmpty() && CheckMeasure();
}

// Whether a goal that is measured is reached: where the pods went decides, not where they were to
// go.
bool PlanRun::CheckMeasure() {
  if (options_.dry_run || !plan_.goal.is_measured()) return true;
  const auto simulation = edge_.Read();
  if (!simulation) return Stop(simulation.error().message);
  std::string why = WhyNotReached(plan_.goal, **simulation);
  return why.empty() || Stop(Concat("the end: ", why));
}

// Whether the node of the goal is empty once what is being deleted there has ended.
bool PlanRun::AwaitEmpty() {
  if (options_.dry_run || plan_.goal.kind != Goal::Kind::kEmpty) return true;
  const Time begun = edge_.Now();
  for (Duration pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    const auto simulation = edge_.Read();
    if (!simulation) return Stop(simulation.error().message);
    std::string left;
    bool stays = false;
    for (const PodPtr& pod : HoldersOf(plan_.goal.name, **simulation)) {
      left = pod->metadata.Key();
      stays = !pod->metadata.deletion_timestamp;
      if (stays) break;
    }
    if (left.empty()) return true;
    if (stays) return Stop(Concat(plan_.goal.name, " still has ", left));
    if (edge_.Now() - begun >= options_.patience) {
      return Stop(Concat("after ", FormatGoDuration(options_.patience), " ", left, " on ",
                         plan_.goal.name, " has not ended"));
    }
    edge_.Say(Concat(left, ": waits for its end"));
    edge_.Wait(pause);
  }
}

bool PlanRun::CordonFirst() {
  if (plan_.goal.kind != Goal::Kind::kEmpty || applied_.cordoned) return true;
  const Answer answer = edge_.Cordon(plan_.goal.name);
  if (answer.kind != Answer::Kind::kDone) {
    return Stop(Concat("the cordon of ", plan_.goal.name, ": ", answer.message));
  }
  edge_.Say(plan_.goal.name + ": is cordoned");
  applied_.cordoned = true;
  return true;
}

// The pod is gone, or going, before this run has asked.
bool PlanRun::TakeAsGone(size_t move) {
  if (Begun(move) != nullptr) {
    // It may have been done, and the answer lost.
    RecordEviction(move);
    return AwaitSuccessor(move);
  }
  Settle(move, State::kSkipped, "", "the pod went by itself");
  checked_ = false;
  return true;
}

// Writes down what is begun. `pods` is one picture: as long as the pod is in it, no successor is.
bool PlanRun::NoteBegun(size_t move, const PodPtr& pod, const std::vector<PodPtr>& pods) {
  const api::OwnerReference* owner = ControllerOf(pod->metadata);
  if (owner == nullptr) return Stop(move, "no controller makes it again");
  Progress::Eviction eviction{.owner = owner->uid, .move = static_cast<int64_t>(move)};
  for (const PodPtr& other : pods) {
    const api::OwnerReference* its = ControllerOf(other->metadata);
    if (its != nullptr && its->uid == owner->uid) eviction.before.insert(other->metadata.uid);
  }
  if (auto written = progress_->Begin(pod->metadata.uid, eviction); !written) {
    return Stop(move, written.error().message);
  }
  return true;
}

bool PlanRun::Relocate(size_t move) {
  if (options_.evict_by == EvictBy::kRequest) return RelocateByRequest(move);
  const Move& one = plan_.moves[move];
  const Time begun = edge_.Now();
  for (Duration pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    const std::vector<PodPtr> pods = PodsBeside(move);
    const PodPtr pod = FindByUid(pods, leaving_[move].uid);
    if (pod == nullptr || pod->metadata.deletion_timestamp) return TakeAsGone(move);
    if (!NoteBegun(move, pod, pods)) return false;
    leaving_[move].pod = pod;
    Hold(move);
    const Answer answer = edge_.Evict(*pod);
    switch (answer.kind) {
      case Answer::Kind::kDone:
        edge_.Say(Concat(leaving_[move].key, ": is evicted from ", one.from));
        RecordEviction(move);
        return AwaitSuccessor(move);
      case Answer::Kind::kGone:
        return AwaitSuccessor(move);
      case Answer::Kind::kRefused:
        return Stop(move, "the eviction is refused: " + answer.message);
      case Answer::Kind::kLater:
        break;
    }
    if (edge_.Now() - begun >= options_.patience) {
      return Stop(move, Concat("it could not be evicted within ",
                               FormatGoDuration(options_.patience), ": ", answer.message));
    }
    edge_.Say(Concat(one.pod, ": waits: ", answer.message));
    edge_.Wait(pause);
    const PodPtr still = FindByUid(PodsBeside(move), leaving_[move].uid);
    if (still == nullptr || still->metadata.deletion_timestamp) continue;
    if (!Check(move)) return false;
    if (IsSettled(move)) return true;
  }
}

// The pod that the controller made in the place of the evicted one; nullptr: there is none yet.
PodPtr PlanRun::SuccessorOf(size_t move, const std::vector<PodPtr>& pods) const {
  const Progress::Eviction& eviction = *Begun(move);
  const Leaving& leaving = leaving_[move];
  if (PodPtr known = FindByUid(pods, eviction.successor); known != nullptr) return known;
  for (const PodPtr& pod : pods) {
    const api::ObjectMeta& meta = pod->metadata;
    const api::OwnerReference* owner = ControllerOf(pod->metadata);
    if (owner == nullptr || owner->uid != eviction.owner) continue;
    if (eviction.before.contains(meta.uid) || progress_->IsSuccessor(meta.uid)) continue;
    if (meta.deletion_timestamp || pod->status.phase == "Failed") continue;
    if (owner->kind == "StatefulSet" && meta.Key() != leaving.key) continue;
    if (leaving.pod != nullptr && !MayReplace(*leaving.pod, *pod)) continue;
    return pod;
  }
  return nullptr;
}

bool PlanRun::AwaitSuccessor(size_t move) {
  const Move& one = plan_.moves[move];
  applied_.moves[move].evictions = leaving_[move].evictions;
  const Time begun = edge_.Now();
  for (;;) {
    const std::vector<PodPtr> pods = PodsBeside(move);
    const bool gone = FindByUid(pods, leaving_[move].uid) == nullptr;
    const PodPtr successor = SuccessorOf(move, pods);
    const bool placed = successor != nullptr && !successor->spec.node_name.empty();
    if (!placed) Hold(0);  // its scheduler may have taken a nomination away
    const bool stays_away = one.to.empty();
    HoldFor(move, successor);
    if (gone && (placed || (stays_away && successor != nullptr))) {
      const std::string& uid = successor->metadata.uid;
      if (auto written = progress_->End(leaving_[move].uid, uid); !written) {
        return Stop(move, written.error().message);
      }
      const bool is_back = successor->spec.node_name == one.from;
      if (is_back && leaving_[move].evictions >= kMostEvictions &&
          plan_.goal.kind == Goal::Kind::kEmpty) {
        applied_.moves[move].node = one.from;
        return Stop(move, Concat("the pod in its place went back to ", one.from, " each of ",
                                 std::to_string(kMostEvictions), " times"));
      }
      if (!is_back || leaving_[move].evictions >= kMostEvictions) {
        Follow(move, uid, successor->metadata.Key());
        Placed(move, successor->spec.node_name);
        return true;
      }
      // The move is not done: the place that it left was not held at that moment.
      edge_.Say(Concat(successor->metadata.Key(), ": went back to ", one.from));
      GoOnWith(move, uid, successor);
      checked_ = false;
      return true;
    }
    // An earlier run saw it placed, and it went since.
    if (gone && successor == nullptr && !Begun(move)->successor.empty()) {
      Settle(move, State::kDone, one.to, "its successor is gone since");
      return true;
    }
    if (edge_.Now() - begun >= options_.patience) {
      if (stays_away && gone) {
        Settle(move, State::kDone, "", "its controller has made no pod like it in its place");
        checked_ = false;
        return true;
      }
      // It may have come and gone, or be wanted no more: the rest is judged without it.
      if (resumes_ && gone && successor == nullptr) {
        Settle(move, State::kSkipped, "", "its controller has made no pod like it in its place");
        checked_ = false;
        return true;
      }
      const std::string_view why = !gone ? "it has not ended"
                                   : successor == nullptr
                                       ? "its controller has made no pod like it in its place"
                                       : "the pod in its place has no node";
      return Stop(move, Concat("after ", FormatGoDuration(options_.patience), " ", why));
    }
    edge_.AwaitNews(kLook);
  }
}

bool PlanRun::AwaitNode(size_t move) {
  const Time begun = edge_.Now();
  for (;;) {
    const PodPtr pod = FindByUid(PodsBeside(move), leaving_[move].uid);
    if (pod == nullptr) {
      Settle(move, State::kSkipped, "", "the pod is gone");
      return true;
    }
    if (!pod->spec.node_name.empty()) {
      Placed(move, pod->spec.node_name);
      return true;
    }
    if (edge_.Now() - begun >= options_.patience) {
      return Stop(move, Concat("after ", FormatGoDuration(options_.patience),
                               " it has no node: ", explain::WhyPending(*pod)));
    }
    edge_.AwaitNews(kLook);
  }
}

bool PlanRun::AwaitReady(size_t wave) {
  if (options_.dry_run) return true;
  const Time begun = edge_.Now();
  for (size_t i = 0; i < plan_.moves.size(); ++i) {
    if (plan_.moves[i].wave != wave || applied_.moves[i].state != State::kDone) continue;
    if (plan_.moves[i].to.empty()) continue;  // what waits does not become ready
    const Progress::Eviction* eviction = Begun(i);
    if (eviction == nullptr) continue;
    for (;;) {
      const PodPtr successor = FindByUid(PodsBeside(i), eviction->successor);
      if (successor == nullptr || IsReady(*successor)) break;
      if (edge_.Now() - begun >= options_.patience) {
        return Stop(i, Concat("after ", FormatGoDuration(options_.patience), " ",
                              successor->metadata.Key(), ", which took its place, is not ready"));
      }
      edge_.AwaitNews(kLook);
    }
  }
  return true;
}

void PlanRun::Nominate(const PodPtr& pod, const std::string& node) {
  if (!may_nominate_) return;
  const Answer answer = edge_.Nominate(*pod, node);
  if (answer.kind == Answer::Kind::kRefused) {
    may_nominate_ = false;
    edge_.Say("No place is held: " + answer.message);
  } else if (answer.kind == Answer::Kind::kDone) {
    held_.insert_or_assign(pod->metadata.uid, pod->metadata.namespace_);
  }
}

void PlanRun::RecordEviction(size_t move) {
  const Move& one = plan_.moves[move];
  api::Pod pod;
  const std::string& key = leaving_[move].key;
  pod.metadata.namespace_ = NamespaceOf(key);
  pod.metadata.name = key.substr(key.find('/') + 1);
  pod.metadata.uid = leaving_[move].uid;
  const std::string what = one.to.empty() ? "pods of higher priority need its room on " + one.from
                                          : Concat("the pod in its place is to go from ", one.from,
                                                   " to ", leaving_[move].to);
  edge_.RecordEvent(pod, Concat("Evicted by berth plan for ", plan_.goal.ToString(), ": ", what));
}

// Whether the pod that the move makes room for still waits.
bool PlanRun::IsWanted(size_t move) {
  if (!plan_.goal.serves_pods()) return true;
  size_t next = move;
  while (next < plan_.moves.size() && !plan_.moves[next].from.empty()) ++next;
  if (next == plan_.moves.size() || IsSettled(next)) return false;
  if (IsToCome(next)) return true;
  const PodPtr pod = FindByUid(PodsBeside(next), leaving_[next].uid);
  return pod != nullptr && pod->spec.node_name.empty() && !pod->metadata.deletion_timestamp;
}

// Holds the places of the pending pods that are still to come. One whose node a moved pod is still
// to go to waits for that: its nomination would keep that pod out.
void PlanRun::Hold(size_t first) {
  for (size_t i = first; i < plan_.moves.size(); ++i) {
    const Move& move = plan_.moves[i];
    if (!move.from.empty() || IsSettled(i) || IsToCome(i)) continue;
    const PodPtr pod = FindByUid(PodsBeside(i), leaving_[i].uid);
    if (pod == nullptr || !pod->spec.node_name.empty()) continue;
    const auto goes_there = [&](size_t j) {
      return !plan_.moves[j].from.empty() && !IsSettled(j) && leaving_[j].to == move.to;
    };
    if (std::ranges::any_of(std::views::iota(size_t{0}, i), goes_there)) continue;
    if (pod->status.nominated_node_name != move.to) Nominate(pod, move.to);
  }
}

// Holds the target for the pod in the place of the evicted one, where that is there and waits.
void PlanRun::HoldFor(size_t move, const PodPtr& successor) {
  // A pod that is evicted for good is to wait.
  if (successor != nullptr && successor->spec.node_name.empty() && !leaving_[move].to.empty() &&
      !held_.contains(successor->metadata.uid)) {
    Nominate(successor, leaving_[move].to);
  }
}

void PlanRun::GiveBack() {
  for (const auto& [uid, pod_namespace] : held_) {
    const PodPtr pod = FindByUid(edge_.PodsOf(pod_namespace), uid);
    if (pod != nullptr && pod->spec.node_name.empty()) (void)edge_.Nominate(*pod, "");
  }
  held_.clear();
}

Applied Apply(const Plan& plan, const ApplyOptions& options, Edge& edge, Progress* progress) {
  return PlanRun(plan, options, edge, progress).Execute();
}

}  // namespace berth::plan
