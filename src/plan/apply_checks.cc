// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "berth/api/node.h"
#include "berth/in_tree/eviction.h"
#include "src/base/text.h"
#include "src/engine/judgement.h"
#include "src/informers/kinds.h"
#include "src/plan/measure.h"
#include "src/plan/plan_run.h"
#include "src/plan/trial.h"

// Whether what is left of a plan may be done in the cluster as it is.
namespace berth::plan {
namespace {

using base::Concat;
using engine::Judgement;
using informers::Kind;
using simulator::Simulation;

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

}  // namespace

// Reads the cluster until nothing stands in the way of what is left.
bool PlanRun::Check(size_t first) {
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

std::optional<Objection> PlanRun::FindObjection(Simulation& simulation, size_t first) {
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
std::string PlanRun::HeldByAnother(const Simulation& simulation) const {
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
bool PlanRun::IsGone(size_t move, const Simulation& simulation) const {
  const PodPtr pod = simulation.FindPod(leaving_[move].key);
  return pod == nullptr || pod->metadata.uid != leaving_[move].uid ||
         pod->metadata.deletion_timestamp;
}

// What others have done. A pod that is gone after its eviction was begun may be gone by that,
// whatever the answer was: its successor is still to come.
void PlanRun::SettleWhatIsDone(const Simulation& simulation, size_t first) {
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
bool PlanRun::SettleLater(size_t move, const api::Pod& pod) {
  const Move& one = plan_.moves[move];
  if (!leaving_[move].before || one.from.empty() || pod.spec.node_name == one.from) return false;
  Settle(move, State::kSkipped, pod.spec.node_name, "it is not on " + one.from);
  return true;
}

// A pod that was to make room stays where no pod waits for that any more: the moves before that of
// a pending pod, up to the one of another, are for it.
void PlanRun::SkipWhatIsVoid(const Simulation& simulation, size_t first) {
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
void PlanRun::SkipRest(size_t first, const Simulation& simulation) {
  for (size_t i = first; i < plan_.moves.size(); ++i) {
    if (!IsSettled(i) && !IsGone(i, simulation)) {
      Settle(i, State::kSkipped, "", "the goal is reached already");
    }
  }
}

// Judges one move, and does it in the simulation.
std::optional<Objection> PlanRun::FindObjectionTo(size_t move, size_t wave,
                                                  EvictionBudgets& budgets,
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
bool PlanRun::IsLikeTarget(const std::string& node, const std::string& target,
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
bool PlanRun::Retarget(size_t move, const PodPtr& pod, Simulation& simulation) {
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

}  // namespace berth::plan
