// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/plan/apply.h"
#include "src/plan/progress.h"
#include "src/simulator/picture.h"

// One run of a plan: the moves in their order (apply.cc), what is judged before them
// (apply_checks.cc), and evictions that others carry out (apply_by_request.cc).
namespace berth::plan {

// How long to wait for news before it is looked whether the time is over.
inline constexpr Duration kLook = std::chrono::milliseconds(200);
// Between two readings of the whole cluster.
inline constexpr Duration kFirstPause = std::chrono::seconds(1);
inline constexpr Duration kLongestPause = std::chrono::seconds(15);

// What stands in the way of a move.
struct Objection {
  size_t move = 0;
  std::string why;
  bool may_pass = false;  // a budget may allow it later
};

// nullptr: it is not among them.
PodPtr FindByUid(const std::vector<PodPtr>& pods, std::string_view uid);
// "namespace" of "namespace/name".
inline std::string NamespaceOf(const std::string& pod) { return pod.substr(0, pod.find('/')); }
// The pods that must go before the node is empty.
std::vector<PodPtr> HoldersOf(const std::string& node, const simulator::Simulation& simulation);

class PlanRun {
 public:
  PlanRun(const Plan& plan, const ApplyOptions& options, Edge& edge, Progress* progress)
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
  using State = AppliedMove::State;
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

  std::optional<Objection> FindObjection(simulator::Simulation& simulation, size_t first);
  bool IsGone(size_t move, const simulator::Simulation& simulation) const;
  std::string HeldByAnother(const simulator::Simulation& simulation) const;
  void SettleWhatIsDone(const simulator::Simulation& simulation, size_t first);
  void SkipWhatIsVoid(const simulator::Simulation& simulation, size_t first);
  void SkipRest(size_t first, const simulator::Simulation& simulation);
  std::optional<Objection> FindObjectionTo(size_t move, size_t wave, EvictionBudgets& budgets,
                                           simulator::Simulation& simulation);
  PodPtr SuccessorOf(size_t move, const std::vector<PodPtr>& pods) const;
  void HoldFor(size_t move, const PodPtr& successor);
  bool Retarget(size_t move, const PodPtr& pod, simulator::Simulation& simulation);
  bool IsLikeTarget(const std::string& node, const std::string& target,
                    const simulator::Simulation& simulation) const;
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

}  // namespace berth::plan
