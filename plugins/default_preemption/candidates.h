// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "berth/api/scheduling.h"
#include "berth/in_tree/dry_run.h"
#include "berth/in_tree/handle.h"
#include "berth/in_tree/preemption.h"
#include "berth/label_selector.h"
#include "berth/listers.h"
#include "berth/pod_info.h"
#include "berth/random.h"
#include "berth/snapshot.h"
#include "berth/time.h"

// Which pods would have to go for a pod to fit, and which of several ways to choose.

namespace berth::plugins {

struct PlacedPod {
  const PodInfo* info = nullptr;  // good for the running cycle
  NodeRow row = kNoRow;
};

// What a victim disrupts; the later, the more it counts.
enum class Disrupts : uint8_t { kPod, kPodGroup, kCompositePodGroup };

// What is evicted as one: a pod, or all placed pods of a group with the disruption mode All, the
// groups below it included.
class Victim {
 public:
  Victim(PlacedPod pod, int32_t priority, Disrupts disrupts)
      : pod_(pod), priority_(priority), disrupts_(disrupts) {}
  // `group` outlives the victim and is not empty.
  Victim(const std::vector<PlacedPod>& group, int32_t priority, Disrupts disrupts)
      : pod_(group.front()), group_(&group), priority_(priority), disrupts_(disrupts) {}

  std::span<const PlacedPod> pods() const {
    return group_ == nullptr ? std::span<const PlacedPod>(&pod_, 1) : std::span(*group_);
  }
  int32_t priority() const { return priority_; }
  Disrupts disrupts() const { return disrupts_; }
  // Whether it disrupts a group, as a whole or by one pod.
  bool of_group() const { return disrupts_ != Disrupts::kPod; }
  // nullptr: it is a single pod.
  const std::vector<PlacedPod>* group() const { return group_; }

 private:
  PlacedPod pod_;
  const std::vector<PlacedPod>* group_ = nullptr;
  int32_t priority_;
  Disrupts disrupts_;
};

// Whether `a` is the one to spare: higher priority, then a composite pod group, then of a pod
// group, then of more pods, then started earlier. A pod that has not started counts as started at
// `now`.
bool MoreImportant(const Victim& a, const Victim& b, Time now);

// Whether the pod is going because it was preempted.
bool TerminatingByPreemption(const api::Pod& pod);

// Which placed pods are evicted together, and what they count for. Without the gate GenericWorkload
// each pod stands for itself.
//
// Thread safety: one owner. Good for one cycle; all references must outlive it.
class Victims {
 public:
  Victims(const Handle& handle, const Snapshot& snapshot)
      : handle_(handle),
        snapshot_(snapshot),
        groups_on_(handle.features().generic_workload),
        trees_on_(handle.features().composite_pod_group) {}

  // That of the pod's group, where it has one that is known, or of the last known one above it.
  int32_t PriorityOf(const PodInfo& pod) const;
  // Those with a pod on `row`, each once, in the order of the node's list.
  void OnNode(NodeRow row, std::vector<Victim>& victims);
  // Those of the whole cluster, in the order of their first pods.
  std::vector<Victim> InCluster();
  // The pods, on nodes that are gone, of the groups that are evicted whole with one of `evicted`.
  std::vector<PodGroupState::Member> OnGoneNodes(const std::vector<const PodInfo*>& evicted);

 private:
  // A group that is evicted whole.
  struct Group {
    std::vector<PlacedPod> pods;  // all of them
    size_t listed_in = 0;         // the last list that it was added to
  };
  // What the pods of a pod group count for.
  struct Disruption {
    int32_t priority = 0;
    // The highest group with the disruption mode All that they belong to; by its metadata, which
    // lives as long as the cycle. nullptr: each stands for itself.
    const api::ObjectMeta* evicted_with = nullptr;
    Disrupts disrupts = Disrupts::kPodGroup;
  };
  // nullptr: it is in none that is known.
  const api::PodGroup* GroupOf(const PodInfo& pod) const;
  Disruption Find(const api::PodGroup& group) const;
  // The same, found once.
  const Disruption& DisruptionOf(const api::PodGroup& group);
  void Add(NodeRow row, std::vector<Victim>& victims);
  void FindPodsOfGroups();
  // Of one group and of those below it; `depth`: how far down it is.
  void AddOnGoneNodes(const PodGroupNode& group, int depth,
                      std::vector<PodGroupState::Member>& found) const;

  const Handle& handle_;
  const Snapshot& snapshot_;
  const bool groups_on_;
  const bool trees_on_;
  std::map<const api::PodGroup*, Disruption> disruptions_;
  std::map<const api::ObjectMeta*, Group> groups_;
  bool has_pods_ = false;
  size_t lists_ = 0;
};

// Which evictions PodDisruptionBudgets allow, in the state they had when this was made.
//
// A budget whose selector is absent or empty covers nothing; so does one with a bad selector. Pods
// without labels are covered by none.
//
// Thread safety: one owner. Refers to objects of `listers`, so good for one cycle.
class DisruptionBudgets {
 public:
  explicit DisruptionBudgets(const Listers& listers) : listers_(listers) {}

  // Counts from the budgets' present state again: nothing has been evicted yet.
  void Restart();
  // Whether evicting the pod, after all those asked for since Restart(), breaks a budget.
  bool Violates(const PodInfo& pod);

 private:
  struct Budget {
    const api::PodDisruptionBudget* object = nullptr;
    LabelSelectorMatcher selector;
    int32_t allowed = 0;
    uint64_t round = 0;  // of `allowed`
  };
  std::vector<Budget>& InNamespace(const std::string& namespace_);

  const Listers& listers_;
  uint64_t round_ = 0;
  std::map<std::string, std::vector<Budget>, std::less<>> by_namespace_;
};

using Candidate = PreemptionCandidate;

struct RankedVictim {
  Victim victim;
  int64_t broken_budgets = 0;  // pods whose eviction breaks one
  size_t position = 0;         // in the list as it was found
};
// Puts victims in the order in which they may be spared: first those whose eviction breaks a
// disruption budget, of these and of the others the most important first.
void OrderForReprieve(std::vector<RankedVictim>& victims, DisruptionBudgets& budgets, Time now);
// Most important first, once it is known which are evicted.
void SortEvicted(std::vector<RankedVictim>& victims, Time now);

// Finds the fewest victims on one node after another, as kube-scheduler's SelectVictimsOnNode does:
// all victims of lower priority go, then those that can stay are brought back in the order of
// OrderForReprieve(). A pod group that is evicted whole goes with its pods on other nodes.
//
// Thread safety: one owner.
class VictimSelection {
 public:
  virtual ~VictimSelection() = default;
  // All of it must outlive the selection. `known`: nullptr where nothing is kept.
  VictimSelection(const PodInfo& pod, const Snapshot& snapshot, Victims& victims, DryRun& dry_run,
                  DisruptionBudgets& budgets, Time now, KnownVictims* known)
      : pod_(pod),
        snapshot_(snapshot),
        victims_(victims),
        dry_run_(dry_run),
        budgets_(budgets),
        now_(now),
        known_(known) {}

  // Sets the candidate's victims. A status other than Success tells why there are none. What is
  // known is not sought again.
  Status Select(NodeRow row, Candidate& candidate, const Status& no_victims);

 protected:
  // What another preemption may have rules of its own for. Adds those of the node's victims that
  // may go, all of which then count as gone.
  virtual void FindPotential(const std::vector<Victim>& on_node,
                             std::vector<RankedVictim>& potential);
  // The victim counts as back on its node, or as gone again.
  virtual void NoteBack(const Victim& /*victim*/) {}
  virtual void NoteGone(const Victim& /*victim*/) {}
  // Whether the pod, which passes every filter, may run while these are gone.
  virtual Status MayRun() { return Status::Success(); }
  // The same while some of them are back.
  virtual bool MayStillRun() { return true; }

  const PodInfo& pod() const { return pod_; }
  Time now() const { return now_; }

 private:
  Status Seek(NodeRow row, Candidate& candidate, const Status& no_victims);
  // Keeps what was found, where that holds for as long as nothing happens to the node.
  void Remember(const Candidate& candidate, const Status& status);
  Status Remove(const Victim& victim);
  // Brings the victim back if it can stay; else adds it to `evicted_`.
  Status Reprieve(const RankedVictim& victim);

  const PodInfo& pod_;
  const Snapshot& snapshot_;
  Victims& victims_;
  DryRun& dry_run_;
  DisruptionBudgets& budgets_;
  const Time now_;
  KnownVictims* const known_;
  std::vector<Victim> on_node_;  // scratch
  std::vector<RankedVictim> potential_;
  std::vector<RankedVictim> evicted_;
};

// The best candidates, ascending, by kube-scheduler's criteria in turn: fewest broken budgets,
// lowest priority of the most important victim, lowest sum of priorities, fewest victims, latest
// start of the earliest started among the most important victims.
std::vector<size_t> BestCandidates(std::span<const Candidate> candidates, Time now);

// One of the best, drawn in the order given. There must be a candidate.
size_t PickCandidate(std::span<const Candidate> candidates, Time now, Random& random);

}  // namespace berth::plugins
