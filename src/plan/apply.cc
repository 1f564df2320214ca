// SPDX-License-Identifier: Apache-2.0
#include "src/plan/apply.h"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

#include "berth/api/node.h"
#include "berth/in_tree/eviction.h"
#include "src/base/json.h"
#include "src/base/text.h"
#include "src/engine/judgement.h"
#include "src/explain/pod_list.h"
#include "src/explain/text_table.h"
#include "src/informers/kinds.h"
#include "src/plan/measure.h"
#include "src/plan/trial.h"
#include "src/simulator/picture.h"

namespace berth::plan {
namespace {

using base::Concat;
using engine::Judgement;
using explain::Counted;
using informers::Kind;
using simulator::Simulation;
using State = AppliedMove::State;

// How long to wait for news before it is looked whether the time is over.
constexpr Duration kLook = std::chrono::milliseconds(200);
// Between two readings of the whole cluster.
constexpr Duration kFirstPause = std::chrono::seconds(1);
constexpr Duration kLongestPause = std::chrono::seconds(15);

// Within this time a controller looks at an EvictionRequest, where there is one in the cluster.
constexpr Duration kMostUnseen = std::chrono::seconds(30);

// How often a pod is evicted for one move, where its successor goes back to the node that it left.
constexpr size_t kMostEvictions = 5;

// What stands in the way of a move.
struct Objection {
  size_t move = 0;
  std::string why;
  bool may_pass = false;  // a budget may allow it later
};

std::string NamespaceOf(const std::string& pod) { return pod.substr(0, pod.find('/')); }

PodPtr FindByUid(const std::vector<PodPtr>& pods, std::string_view uid) {
  const auto found =
      std::ranges::find_if(pods, [uid](const PodPtr& pod) { return pod->metadata.uid == uid; });
  return found == pods.end() ? nullptr : *found;
}

// "" where the pod may go to the node, in the cluster as it is.
std::string WhyNotOn(const PodPtr& pod, const std::string& node, Simulation& simulation) {
  simulation.RunDue();
  const auto judgement = simulation.scheduler().Judge(pod);
  const NodeRow row = judgement->snapshot().FindNode(node);
  if (row == kNoRow) return simulator::NoNode(node, simulation).message;
  if (judgement->kind() == Judgement::Kind::kScheduled &&
      std::ranges::binary_search(judgement->feasible(), row)) {
    return "";
  }
  judgement->Explain();
  std::string why = judgement->message();
  if (judgement->kind() == Judgement::Kind::kScheduled ||
      judgement->kind() == Judgement::Kind::kUnschedulable) {
    why = judgement->statuses().Get(row).message();
  }
  return Concat(node, " does not take it now", why.empty() ? "" : ": ", why);
}

// The best of the nodes that take the pod now and that `may_take` allows. "": there is none.
template <typename MayTake>
std::string BestNodeOf(const PodPtr& pod, Simulation& simulation, MayTake may_take) {
  simulation.RunDue();
  const auto judgement = simulation.scheduler().Judge(pod);
  return judgement->kind() == Judgement::Kind::kScheduled ? BestNode(*judgement, may_take) : "";
}

class Run {
 public:
  Run(const Plan& plan, const ApplyOptions& options, Edge& edge, Progress* progress)
      : plan_(plan), options_(options), edge_(edge), progress_(progress) {
    applied_.moves.resize(plan.moves.size());
    std::map<std::string_view, size_t> last;
    for (size_t i = 0; i < plan.moves.size(); ++i) {
      const Move& move = plan.moves[i];
      leaving_.push_back({.key = move.pod, .uid = move.uid, .to = move.to});
      const auto [known, is_first] = last.try_emplace(move.uid, i);
      if (!is_first) leaving_.back().before = std::exchange(known->second, i);
    }
  }

  Applied Execute() {
    if (Begin() && Carry()) {
      applied_.outcome = options_.dry_run ? Applied::Outcome::kDryRun : Applied::Outcome::kDone;
    }
    return std::move(applied_);
  }

 private:
  // The pod that a move is about: at first the plan's, and its successor where that went back.
  struct Leaving {
    std::string key = {};
    std::string uid = {};
    std::string to = {};   // the plan's, or what Retarget() chose instead
    PodPtr pod = nullptr;  // as it was last before it was evicted
    size_t evictions = 1;  // this one included
    // The move that leaves the pod where this one takes it; nullopt: it is the pod's first.
    std::optional<size_t> before = std::nullopt;
  };

  // Each returns whether to go on; false: the run has stopped, and applied_ says why.
  bool Begin();
  bool Carry();
  bool Check(size_t first);
  bool CordonFirst();
  bool Relocate(size_t move);
  bool RelocateByRequest(size_t move);
  bool GoOnByRequest(size_t move, const api::Pod& pod);
  bool LookAtRequest(size_t move, const PodPtr& pod, const std::vector<PodPtr>& pods,
                     RequestState& request);
  bool TakeAsGone(size_t move);
  bool NoteBegun(size_t move, const PodPtr& pod, const std::vector<PodPtr>& pods);
  bool AwaitSuccessor(size_t move);
  bool AwaitNode(size_t move);
  bool AwaitReady(size_t wave);
  bool AwaitEmpty();
  bool CheckMeasure();
  bool Stop(size_t move, const std::string& why);
  bool Stop(std::string why);
  bool StopRequest(size_t move, const PodPtr& pod, const std::string& why);

  std::optional<Objection> FindObjection(Simulation& simulation, size_t first);
  bool IsGone(size_t move, const Simulation& simulation) const;
  std::string HeldByAnother(const Simulation& simulation) const;
  void SettleWhatIsDone(const Simulation& simulation, size_t first);
  void SkipWhatIsVoid(const Simulation& simulation, size_t first);
  void SkipRest(size_t first, const Simulation& simulation);
  std::optional<Objection> FindObjectionTo(size_t move, size_t wave, EvictionBudgets& budgets,
                                           Simulation& simulation);
  PodPtr SuccessorOf(size_t move, const std::vector<PodPtr>& pods) const;
  void HoldFor(size_t move, const PodPtr& successor);
  bool Retarget(size_t move, const PodPtr& pod, Simulation& simulation);
  bool IsLikeTarget(const std::string& node, const std::string& target,
                    const Simulation& simulation) const;
  void RecordEviction(size_t move);
  void GoOnWith(size_t move, std::string uid, const PodPtr& pod);
  bool IsWanted(size_t move);
  void Hold(size_t first);
  void Nominate(const PodPtr& pod, const std::string& node);
  void GiveBack();
  void Settle(size_t move, State state, std::string node, std::string why);
  void Placed(size_t move, const std::string& node);
  void Follow(size_t move, const std::string& uid, const std::string& key);
  bool SettleLater(size_t move, const api::Pod& pod);
  // Whether the pod it is about is still to come, by an earlier move.
  bool IsToCome(size_t move) const {
    return leaving_[move].before && !IsSettled(*leaving_[move].before);
  }
  bool IsSettled(size_t move) const {
    const State state = applied_.moves[move].state;
    return state == State::kDone || state == State::kSkipped;
  }
  const Progress::Eviction* Begun(size_t move) const {
    return progress_ == nullptr ? nullptr : progress_->Find(leaving_[move].uid);
  }
  std::vector<PodPtr> PodsBeside(size_t move) {
    return edge_.PodsOf(NamespaceOf(plan_.moves[move].pod));
  }

  const Plan& plan_;
  const ApplyOptions& options_;
  Edge& edge_;
  Progress* const progress_;
  Applied applied_;
  // All that is left has been judged in the cluster as it is.
  bool checked_ = false;
  std::vector<Leaving> leaving_;             // by move
  std::map<std::string, std::string> held_;  // the namespaces of the pods nominated, by UID
  bool may_nominate_ = true;
  bool deviated_ = false;  // a pod went elsewhere than planned
  bool resumes_ = false;   // what an earlier run has begun is awaited
};

// The pods that must go before the node is empty.
std::vector<PodPtr> HoldersOf(const std::string& node, const Simulation& simulation) {
  std::vector<PodPtr> pods = simulator::PodsOn(simulation, node);
  std::erase_if(pods, [](const PodPtr& pod) { return IsDaemon(*pod) || IsMirror(*pod); });
  return pods;
}

bool Run::Stop(size_t move, const std::string& why) {
  const Move& one = plan_.moves[move];
  AppliedMove& failed = applied_.moves[move];
  if (failed.state != State::kSkipped) failed.state = State::kFailed;
  failed.why = why;
  return Stop(Concat("wave ", std::to_string(one.wave), ", ", one.pod, ": ", why));
}

bool Run::Stop(std::string why) {
  applied_.why = std::move(why);
  GiveBack();
  return false;
}

void Run::Settle(size_t move, State state, std::string node, std::string why) {
  const Move& one = plan_.moves[move];
  const std::string done = node.empty() ? ": is evicted" : ": is on " + node;
  edge_.Say(Concat(one.pod, state == State::kDone ? done : ": is skipped: " + why));
  AppliedMove& settled = applied_.moves[move];
  settled.state = state;
  settled.node = std::move(node);
  settled.why = std::move(why);
}

void Run::Placed(size_t move, const std::string& node) {
  const std::string& planned = plan_.moves[move].to;
  if (node != leaving_[move].to) checked_ = false;
  if (node != planned) deviated_ = true;
  const std::string why = planned.empty() ? "was to wait" : "was to go to " + planned;
  Settle(move, State::kDone, node, node == planned ? "" : why);
}

// What is still to be done with the pod is about the one in its place.
void Run::Follow(size_t move, const std::string& uid, const std::string& key) {
  for (size_t i = move + 1; i < plan_.moves.size(); ++i) {
    if (plan_.moves[i].uid != plan_.moves[move].uid) continue;
    leaving_[i].uid = uid;
    if (!key.empty()) leaving_[i].key = key;
  }
}

// The move is about this pod from now on; nullptr: it is gone.
void Run::GoOnWith(size_t move, std::string uid, const PodPtr& pod) {
  leaving_[move] = {.key = pod == nullptr ? leaving_[move].key : pod->metadata.Key(),
                    .uid = std::move(uid),
                    .to = leaving_[move].to,
                    .evictions = leaving_[move].evictions + 1,
                    .before = leaving_[move].before};
}

// What an earlier run has begun ends first.
bool Run::Begin() {
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

// Awaits what an EvictionRequest of an earlier run brings. Without one, what was begun never came.
bool Run::GoOnByRequest(size_t move, const api::Pod& pod) {
  if (options_.dry_run || options_.evict_by != EvictBy::kRequest) return true;
  const auto request = edge_.FindRequest(pod);
  if (!request) return Stop(move, request.error().message);
  return request->kind == RequestState::Kind::kNone || RelocateByRequest(move);
}

bool Run::Carry() {
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
bool Run::CheckMeasure() {
  if (options_.dry_run || !plan_.goal.is_measured()) return true;
  const auto simulation = edge_.Read();
  if (!simulation) return Stop(simulation.error().message);
  std::string why = WhyNotReached(plan_.goal, **simulation);
  return why.empty() || Stop(Concat("the end: ", why));
}

// Whether the node of the goal is empty once what is being deleted there has ended.
bool Run::AwaitEmpty() {
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

// Reads the cluster until nothing stands in the way of what is left.
bool Run::Check(size_t first) {
  const Time begun = edge_.Now();
  for (Duration pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    const auto simulation = edge_.Read();
    if (!simulation) return Stop(first, simulation.error().message);
    const auto objection = FindObjection(**simulation, first);
    if (!objection) {
      checked_ = true;
      return true;
    }
    const bool over = edge_.Now() - begun >= options_.patience;
    if (!objection->may_pass || options_.dry_run || over) {
      return Stop(objection->move, objection->why);
    }
    edge_.Say(Concat(plan_.moves[objection->move].pod, ": waits: ", objection->why));
    edge_.Wait(pause);
  }
}

std::optional<Objection> Run::FindObjection(Simulation& simulation, size_t first) {
  const bool is_here = std::ranges::any_of(leaving_, [&](const Leaving& leaving) {
    const PodPtr pod = simulation.FindPod(leaving.key);
    return pod != nullptr && pod->metadata.uid == leaving.uid;
  });
  const auto done = [](const AppliedMove& move) { return move.state == State::kDone; };
  if (!is_here && std::ranges::none_of(applied_.moves, done)) {
    return Objection{first,
                     "none of the plan's pods is in this cluster: is the plan of another one?"};
  }
  if (plan_.goal.kind == Goal::Kind::kEmpty) {
    const auto node = simulator::FindIn<api::Node>(simulation.api(), Kind::kNode, plan_.goal.name);
    if (node == nullptr) {
      return Objection{first, simulator::NoNode(plan_.goal.name, simulation).message};
    }
    applied_.cordoned = node->spec.unschedulable;
    if (std::string pod = HeldByAnother(simulation); !pod.empty()) {
      return Objection{first, Concat(plan_.goal.name, " has ", pod, ", which is not in the plan")};
    }
    simulation.Apply(simulator::Cordoned(*node));
  }
  SettleWhatIsDone(simulation, first);
  SkipWhatIsVoid(simulation, first);
  SettleWhatIsDone(simulation, first);  // of pods that are not moved first any more
  if (plan_.goal.is_measured() && WhyNotReached(plan_.goal, simulation).empty()) {
    SkipRest(first, simulation);
  }
  EvictionBudgets budgets = simulator::EvictionBudgetsOf(simulation);
  for (size_t i = first; i < plan_.moves.size(); ++i) {
    const bool is_there =
        IsToCome(i) ? simulation.FindPod(leaving_[i].key) != nullptr : !IsGone(i, simulation);
    if (IsSettled(i) || !is_there) continue;
    if (auto objection = FindObjectionTo(i, plan_.moves[first].wave, budgets, simulation)) {
      return objection;
    }
  }
  return std::nullopt;
}

// A pod that holds the node that is to be empty, and is none of the plan's; "": there is none.
std::string Run::HeldByAnother(const Simulation& simulation) const {
  for (const PodPtr& pod : HoldersOf(plan_.goal.name, simulation)) {
    if (pod->metadata.deletion_timestamp) continue;
    const std::string& uid = pod->metadata.uid;
    if (std::ranges::find(leaving_, uid, &Leaving::uid) == leaving_.end()) {
      return pod->metadata.Key();
    }
  }
  return "";
}

// Whether the pod that is to be evicted is gone already, or going.
bool Run::IsGone(size_t move, const Simulation& simulation) const {
  const PodPtr pod = simulation.FindPod(leaving_[move].key);
  return pod == nullptr || pod->metadata.uid != leaving_[move].uid ||
         pod->metadata.deletion_timestamp;
}

// What others have done. A pod that is gone after its eviction was begun may be gone by that,
// whatever the answer was: its successor is still to come.
void Run::SettleWhatIsDone(const Simulation& simulation, size_t first) {
  for (size_t i = first; i < plan_.moves.size(); ++i) {
    if (IsSettled(i) || IsToCome(i) || Begun(i) != nullptr) continue;
    const PodPtr pod = simulation.FindPod(leaving_[i].key);
    if (pod != nullptr && pod->metadata.uid == leaving_[i].uid && SettleLater(i, *pod)) continue;
    if (pod == nullptr) {
      Settle(i, State::kSkipped, "", "the pod is gone");
    } else if (pod->metadata.uid != leaving_[i].uid) {
      Settle(i, State::kSkipped, "", "another pod has its name now");
    } else if (plan_.moves[i].from.empty() && !pod->spec.node_name.empty()) {
      Placed(i, pod->spec.node_name);
    } else if (pod->metadata.deletion_timestamp) {
      Settle(i, State::kSkipped, "", "the pod is being deleted");
    }
  }
}

// Of a pod that an earlier move was to bring: one that is not where this move begins, as it was not
// moved or landed elsewhere, has not to leave it.
bool Run::SettleLater(size_t move, const api::Pod& pod) {
  const Move& one = plan_.moves[move];
  if (!leaving_[move].before || one.from.empty() || pod.spec.node_name == one.from) return false;
  Settle(move, State::kSkipped, pod.spec.node_name, "it is not on " + one.from);
  return true;
}

// A pod that was to make room stays where no pod waits for that any more: the moves before that of
// a pending pod, up to the one of another, are for it.
void Run::SkipWhatIsVoid(const Simulation& simulation, size_t first) {
  if (!plan_.goal.serves_pods()) return;
  bool wanted = false;
  for (size_t i = plan_.moves.size(); i > first; --i) {
    const size_t move = i - 1;
    if (plan_.moves[move].from.empty()) {
      wanted = !IsSettled(move);
    } else if (!wanted && !IsSettled(move) && !IsGone(move, simulation)) {
      Settle(move, State::kSkipped, "", "no pod waits for its room any more");
    }
  }
}

// The goal is reached without the rest.
void Run::SkipRest(size_t first, const Simulation& simulation) {
  for (size_t i = first; i < plan_.moves.size(); ++i) {
    if (!IsSettled(i) && !IsGone(i, simulation)) {
      Settle(i, State::kSkipped, "", "the goal is reached already");
    }
  }
}

// Judges one move, and does it in the simulation.
std::optional<Objection> Run::FindObjectionTo(size_t move, size_t wave, EvictionBudgets& budgets,
                                              Simulation& simulation) {
  const Move& one = plan_.moves[move];
  const PodPtr pod = simulation.FindPod(leaving_[move].key);
  const std::string& node = pod->spec.node_name;
  std::shared_ptr<api::Pod> placed;
  if (one.from.empty()) {
    // Where it is nominated must not keep the other nodes from being asked.
    placed = std::make_shared<api::Pod>(*pod);
    placed->status.nominated_node_name.clear();
  } else {
    if (node != one.from) {
      return Objection{move, node.empty() ? "it is on no node, and the plan has it on " + one.from
                                          : Concat("it is on ", node, ", and not on ", one.from)};
    }
    if (const std::string_view why = WhyItStays(*pod); !why.empty()) {
      return Objection{move, Concat("it may not be moved: ", why)};
    }
    if (one.wave == wave) {
      const Leave leave = budgets.Ask(*pod);
      if (leave == Leave::kRefused) {
        std::string names;
        for (const std::string& name : budgets.Of(*pod)) names += ' ' + name;
        return Objection{move, "its PodDisruptionBudget allows no eviction now:" + names, true};
      }
      if (leave == Leave::kCounted) budgets.Count(*pod, -1);
    }
    simulation.Delete(Kind::kPod, leaving_[move].key);
    placed = std::make_shared<api::Pod>(*PendingCopy(*pod, pod->metadata.name));
    if (one.to.empty()) {
      simulation.Apply(PodPtr(std::move(placed)));
      return std::nullopt;
    }
  }
  if (std::string why = WhyNotOn(placed, leaving_[move].to, simulation);
      !why.empty() && !Retarget(move, placed, simulation)) {
    return Objection{move, std::move(why)};
  }
  auto there = std::make_shared<api::Pod>(*placed);
  there->spec.node_name = leaving_[move].to;
  simulation.Apply(PodPtr(std::move(there)));
  return std::nullopt;
}

// Whether a pod of the plan may go to the node in place of its target: where pods are spread,
// within the same domain.
bool Run::IsLikeTarget(const std::string& node, const std::string& target,
                       const Simulation& simulation) const {
  if (plan_.goal.kind != Goal::Kind::kSkew) return true;
  const auto domain_of = [&](const std::string& name) -> std::string_view {
    const auto found = simulator::FindIn<api::Node>(simulation.api(), Kind::kNode, name);
    const std::string* domain =
        found == nullptr ? nullptr : api::Find(found->metadata.labels, plan_.goal.topology_key);
    return domain == nullptr ? std::string_view() : *domain;
  };
  return domain_of(node) == domain_of(target);
}

// Where a pod of this plan has gone elsewhere already, one whose target is taken gets another:
// never the node that it leaves, that is emptied, or that a pending pod of the plan waits for.
bool Run::Retarget(size_t move, const PodPtr& pod, Simulation& simulation) {
  const Move& one = plan_.moves[move];
  if (!deviated_ || one.from.empty()) return false;
  const std::string best = BestNodeOf(pod, simulation, [&](const std::string& node) {
    if (node == one.from || !IsLikeTarget(node, one.to, simulation)) return false;
    if (plan_.goal.kind == Goal::Kind::kEmpty && node == plan_.goal.name) return false;
    for (size_t i = 0; i < plan_.moves.size(); ++i) {
      if (plan_.moves[i].from.empty() && plan_.moves[i].to == node) return false;
    }
    return true;
  });
  if (best.empty()) return false;
  edge_.Say(Concat(leaving_[move].key, ": is to go to ", best, ", as ", leaving_[move].to,
                   " does not take it any more"));
  leaving_[move].to = best;
  return true;
}

bool Run::CordonFirst() {
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
bool Run::TakeAsGone(size_t move) {
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
bool Run::NoteBegun(size_t move, const PodPtr& pod, const std::vector<PodPtr>& pods) {
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

bool Run::Relocate(size_t move) {
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

// Where the pod goes after all, its successor is awaited by a run that is repeated.
bool Run::StopRequest(size_t move, const PodPtr& pod, const std::string& why) {
  const Answer answer = edge_.Withdraw(*pod);
  if (answer.kind == Answer::Kind::kDone || answer.kind == Answer::Kind::kGone) {
    return Stop(move, why + "; it is withdrawn");
  }
  return Stop(move, Concat(why, "; it is not withdrawn: ", answer.message));
}

// Looks at the request, and makes it where it is not there yet.
bool Run::LookAtRequest(size_t move, const PodPtr& pod, const std::vector<PodPtr>& pods,
                        RequestState& request) {
  using Kind = RequestState::Kind;
  const auto found = edge_.FindRequest(*pod);
  if (!found) return Stop(move, found.error().message);
  if (found->kind == Kind::kUnknown) return true;
  const bool is_first = request.kind == Kind::kNone;
  if (!is_first && found->kind == Kind::kNone) {
    // It goes with the pod, whose end the watch may show a moment later.
    if (request.kind == Kind::kUnknown) return Stop(move, "its EvictionRequest was deleted");
    request.kind = Kind::kUnknown;
    return true;
  }
  request = *found;
  if (is_first) {
    // That of an earlier run may have brought a successor already, which is not to be noted as one
    // of those before.
    const bool is_new = request.kind == Kind::kNone;
    if ((is_new || Begun(move) == nullptr) && !NoteBegun(move, pod, pods)) return false;
    leaving_[move].pod = pod;
    Hold(move);
  }
  if (request.kind == Kind::kFailed) return StopRequest(move, pod, request.why);
  if (request.kind != Kind::kNone) return true;
  const Answer answer = edge_.Request(*pod);
  if (answer.kind == Answer::Kind::kDone) {
    request.kind = Kind::kUnseen;
    edge_.Say(leaving_[move].key + ": is requested to go");
  } else if (answer.kind == Answer::Kind::kLater) {
    edge_.Say(Concat(leaving_[move].key, ": waits: ", answer.message));
  } else {
    return Stop(move, "the EvictionRequest is refused: " + answer.message);
  }
  return true;
}

bool Run::RelocateByRequest(size_t move) {
  using Kind = RequestState::Kind;
  const Time begun = edge_.Now();
  Time next_look = begun;
  RequestState request;
  for (;;) {
    const std::vector<PodPtr> pods = PodsBeside(move);
    const PodPtr pod = FindByUid(pods, leaving_[move].uid);
    if (pod == nullptr || pod->metadata.deletion_timestamp) {
      if (request.kind != Kind::kNone) {
        edge_.Say(Concat(leaving_[move].key, ": is evicted from ", plan_.moves[move].from));
      }
      return TakeAsGone(move);
    }
    if (edge_.Now() >= next_look) {
      next_look = edge_.Now() + kFirstPause;
      if (request.kind != Kind::kNone && !IsWanted(move)) {
        (void)edge_.Withdraw(*pod);
        Settle(move, State::kSkipped, "", "no pod waits for its room any more");
        checked_ = false;
        return true;
      }
      if (!LookAtRequest(move, pod, pods, request)) return false;
    }
    if (request.kind != Kind::kNone) {
      Hold(move);  // its scheduler may have taken a nomination away
      HoldFor(move, SuccessorOf(move, pods));
    }
    const Duration waited = edge_.Now() - begun;
    if (request.kind == Kind::kUnseen && waited >= kMostUnseen) {
      return StopRequest(move, pod,
                         Concat("no controller has looked at its EvictionRequest within ",
                                FormatGoDuration(kMostUnseen)));
    }
    if (waited >= options_.patience) {
      return StopRequest(move, pod,
                         Concat("after ", FormatGoDuration(options_.patience),
                                " its EvictionRequest has not made it go"));
    }
    edge_.AwaitNews(kLook);
  }
}

// The pod that the controller made in the place of the evicted one; nullptr: there is none yet.
PodPtr Run::SuccessorOf(size_t move, const std::vector<PodPtr>& pods) const {
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

bool Run::AwaitSuccessor(size_t move) {
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

bool Run::AwaitNode(size_t move) {
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

bool Run::AwaitReady(size_t wave) {
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

void Run::Nominate(const PodPtr& pod, const std::string& node) {
  if (!may_nominate_) return;
  const Answer answer = edge_.Nominate(*pod, node);
  if (answer.kind == Answer::Kind::kRefused) {
    may_nominate_ = false;
    edge_.Say("No place is held: " + answer.message);
  } else if (answer.kind == Answer::Kind::kDone) {
    held_.insert_or_assign(pod->metadata.uid, pod->metadata.namespace_);
  }
}

void Run::RecordEviction(size_t move) {
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
bool Run::IsWanted(size_t move) {
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
void Run::Hold(size_t first) {
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
void Run::HoldFor(size_t move, const PodPtr& successor) {
  // A pod that is evicted for good is to wait.
  if (successor != nullptr && successor->spec.node_name.empty() && !leaving_[move].to.empty() &&
      !held_.contains(successor->metadata.uid)) {
    Nominate(successor, leaving_[move].to);
  }
}

void Run::GiveBack() {
  for (const auto& [uid, pod_namespace] : held_) {
    const PodPtr pod = FindByUid(edge_.PodsOf(pod_namespace), uid);
    if (pod != nullptr && pod->spec.node_name.empty()) (void)edge_.Nominate(*pod, "");
  }
  held_.clear();
}

std::string_view StateName(State state) {
  switch (state) {
    case State::kAllowed:
      return "allowed";
    case State::kDone:
      return "done";
    case State::kSkipped:
      return "skipped";
    case State::kFailed:
      return "failed";
    case State::kNotBegun:
      break;
  }
  return "notBegun";
}

std::string_view OutcomeOf(const Applied& applied) {
  switch (applied.outcome) {
    case Applied::Outcome::kDone:
      return "done";
    case Applied::Outcome::kDryRun:
      return "allowed";
    case Applied::Outcome::kStopped:
      break;
  }
  return "stopped";
}

}  // namespace

Applied Apply(const Plan& plan, const ApplyOptions& options, Edge& edge, Progress* progress) {
  return Run(plan, options, edge, progress).Execute();
}

void AppendTable(const Plan& plan, const Applied& applied, std::string& out) {
  out += plan.goal.ToString();
  const std::string moves = Counted(plan.moves.size(), "move");
  if (applied.outcome == Applied::Outcome::kDone) {
    out += ": " + moves + " of the plan carried out.\n";
  } else if (applied.outcome == Applied::Outcome::kDryRun) {
    out += ": the plan is allowed now. Nothing was done.\n";
  } else {
    out += ": stopped at " + applied.why + ".\n";
    if (applied.cordoned) {
      out += plan.goal.name + " stays cordoned.\n";
    }
  }
  if (plan.moves.empty()) return;
  explain::TextTable table;
  table.AddColumn("WAVE", explain::TextTable::Align::kRight);
  for (const char* header : {"POD", "FROM", "TO", "STATE", "WHY"}) table.AddColumn(header);
  for (size_t i = 0; i < plan.moves.size(); ++i) {
    const Move& move = plan.moves[i];
    const AppliedMove& one = applied.moves[i];
    const std::string& node = one.node.empty() ? move.to : one.node;
    table.AddRow({std::to_string(move.wave), move.pod, move.from.empty() ? "-" : move.from,
                  node.empty() ? "-" : node, std::string(StateName(one.state)), one.why});
  }
  out += '\n';
  table.Append("  ", out);
}

void AppendJson(const Plan& plan, const Applied& applied, std::string& out) {
  base::JsonObject document(out);
  document.Add("goal", plan.goal.ToString());
  document.Add("outcome", OutcomeOf(applied));
  document.AddIfNotEmpty("why", applied.why);
  if (plan.goal.kind == Goal::Kind::kEmpty) document.Add("cordoned", applied.cordoned);
  base::JsonList moves(document.Key("moves"));
  for (size_t i = 0; i < plan.moves.size(); ++i) {
    const Move& move = plan.moves[i];
    const AppliedMove& one = applied.moves[i];
    base::JsonObject object(moves.Next());
    object.Add("pod", move.pod);
    object.Add("uid", move.uid);
    object.AddIfNotEmpty("from", move.from);
    object.AddIfNotEmpty("to", move.to);
    object.Add("wave", move.wave);
    object.Add("state", StateName(one.state));
    object.AddIfNotEmpty("node", one.node);
    if (!move.from.empty()) object.Add("evictions", one.evictions);
    object.AddIfNotEmpty("why", one.why);
  }
  moves.Close();
  document.Close();
  out += '\n';
}

}  // namespace berth::plan
