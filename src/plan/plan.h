// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/api/pod.h"
#include "berth/api/quantity.h"
#include "berth/result.h"
#include "berth/time.h"
#include "src/simulator/simulation.h"
#include "src/simulator/workload.h"

// Moves of pods: a goal, and the moves that reach it.
namespace berth::plan {

using PodPtr = std::shared_ptr<const api::Pod>;

struct Goal {
  enum class Kind {
    kFit,       // a pending pod has a node; one that waits for its pod group: the group starts
    kPending,   // all pending pods of a priority, or more, have nodes
    kEmpty,     // a node has no pod but those of DaemonSets and of its kubelet
    kSkew,      // the pods of a workload are spread over the domains of a label of nodes
    kStranded,  // less of a resource than that is stranded, as docs/packing.md defines it
  };
  Kind kind = Kind::kFit;
  std::string name = {};         // of the pod, "namespace/name", of the node or of the resource
  int32_t priority = INT32_MIN;  // kPending: the least; INT32_MIN: any
  std::string namespace_ = {};   // kPending: of the pods; "": any
  simulator::Workload workload = {};  // kSkew; its namespace may be empty as it is written
  int64_t max_skew = 1;               // kSkew: at least 1
  std::string topology_key = {};      // kSkew
  api::Quantity amount = {};          // kStranded: more than 0
  // Of the goals that serve pods: whether pods of lower priority may be evicted for good. It is no
  // part of the text.
  bool evict = false;

  // "fit=shop/web-3", "pending", "pending=1000", "empty=node-1", "skew=shop/deploy/web:1",
  // "skew=shop/deploy/web:1@kubernetes.io/hostname", "stranded=nvidia.com/gpu:4". Errors: anything
  // else.
  static Result<Goal> Parse(std::string_view text);
  std::string ToString() const;
  // Whether the moves make room for pods that wait.
  bool serves_pods() const { return kind == Kind::kFit || kind == Kind::kPending; }
  // Whether it is reached where a number is small enough; see measure.h.
  bool is_measured() const { return kind == Kind::kSkew || kind == Kind::kStranded; }

  friend bool operator==(const Goal&, const Goal&) = default;
};

// Why a goal of another kind has no Goal::evict.
inline constexpr std::string_view kEvictsForPods =
    "only pods that wait may have others evicted for good: goes with fit and pending";

// The pod is evicted from its node, and the one that its controller makes in its place goes to
// another; or a pending pod gets its node. A pod may be in several: the later ones are about the
// pod in its place, and begin where the one before ended.
struct Move {
  std::string pod;       // namespace/name
  std::string uid = {};  // the pod's, as it is before the first move
  std::string from;      // "": it was pending
  std::string to;        // "": it is evicted for good, and the one in its place waits
  // What it requests, by resource, as the scheduler counts it: cpu in milli-cores.
  std::vector<std::pair<std::string, int64_t>> frees = {};
  // From 1. Where a PodDisruptionBudget allows no more, the next wave begins when the moved pods
  // are ready again.
  size_t wave = 1;
};

// A pod that a plan does nothing for, and why.
struct LeftOut {
  std::string pod;
  std::string why;
};

struct Plan {
  enum class Outcome {
    kFound,
    kPartly,      // of kPending: for some of the pods
    kImpossible,  // no moves of pods reach the goal
    kNotFound,    // there may be such moves: the search did not go through all
    kRefused,     // there are such moves, and they gain too little: see RefuseBelow()
  };
  // A value of the goal's topology key, and how many of the workload's pods count there.
  struct Domain {
    std::string value;
    int64_t before = 0;
    int64_t after = 0;
  };
  Goal goal;
  Outcome outcome = Outcome::kNotFound;
  std::string why = {};  // of the last three
  // In this order; each begins when the one before has ended.
  std::vector<Move> moves = {};
  // No plan that reaches the goal evicts fewer pods than this.
  size_t fewest = 0;
  // Of kEmpty: those that hold the node. Of kPending: those that still wait, or wait then. Of
  // kSkew, where that is impossible: those of the workload that stay.
  std::vector<LeftOut> left_out = {};
  // Of kPending: whether no plan has nodes for more of the pods, where those of a higher priority
  // count for more than any number of others. False: there may be one.
  bool most = false;
  // How many pods have nodes by moves that are made for them.
  size_t helped = 0;
  // Of a goal that is measured: what it is about, the skew or the amount that is stranded, as it is
  // and after the moves; cpu in milli-cores.
  int64_t before = 0;
  int64_t after = 0;
  std::vector<Domain> domains = {};  // of kSkew, by value
  size_t judged = 0;                 // how often the engine judged a pod
  // When the live cluster was read; nullopt: it was a dump.
  std::optional<Time> made = std::nullopt;

  // How often a pod is evicted.
  size_t evictions() const;
  // How many pods lose their nodes, and have none in the end.
  size_t evicted_for_good() const;
  // How many pods that were pending get nodes.
  size_t placed() const;
  bool has_fewest() const { return outcome == Outcome::kFound && evictions() == fewest; }
};

// What the moves of a plan bring, as docs/plan.md has it for each goal.
struct Gain {
  api::Quantity all;  // of all moves together, in the unit
  size_t moves = 1;   // at least 1
  std::string unit;   // "pods", "nodes", "skew", or the resource: in cores, bytes or pieces

  // Of each move: "0.5", "1.5Gi".
  std::string Text() const;
  // The same as a number.
  std::string JsonText() const;
  bool IsBelow(const api::Quantity& least) const;
};

// nullopt: the plan evicts no pod, or reaches nothing.
std::optional<Gain> GainOf(const Plan& plan);
// Refuses a plan whose gain of each move is below that.
void RefuseBelow(const api::Quantity& least, Plan& plan);

struct Limits {
  // How many steps the search takes at most: judgements of the engine, and changes of the picture
  // that it judges in, of which several count as one. It then ends with the best plan so far.
  size_t judged = 28'000;
  // A pod that makes room may need room itself, and so on: so many times.
  size_t depth = 3;
};

// Searches moves that reach the goal, few rather than many; deterministic. Every state on the way
// is one that the engine allows: each pod is judged by all its profile's filters at the moment
// when it is placed, with the moves before done and those after not. No PodDisruptionBudget is
// exceeded within a wave, and pods whose budget allows no eviction stay.
//
// Which pods go: of each node, as few as let the other in, found by putting back one after the
// other, and of as many those of the lower priority, then of the lower pod-deletion-cost; where
// they go, the profile's scores say. A pod that fits nowhere may make others go in
// turn (an ejection chain, as in Glover, "Ejection chains, reference structures and alternating
// path methods for traveling salesman problems", 1996). Of several pending pods those of the higher
// priority come first, and none makes another wait that has a node already. Where some still wait,
// the search begins again, with moved pods where the least is left, with small pods before large
// ones, and with pods that may be moved once more, and the plan is taken that has nodes for the
// most. Pods that exchange their places, or go round, need a free place for one of them; without
// any, where no move at all can begin, the goal is impossible. Where the goal says so, and without
// it a pending pod has no node, pods of lower priority are evicted for good: as few of the highest
// priority as possible, then of the next. These wait, and get nodes in their turn where there are
// any. A pod group that has not started is placed where the scheduler puts it once the room is
// made, or not at all. Pods that are being deleted hold their places: nothing is evicted for a pod
// that fits once they have ended, and what is said of all plans, `fewest` and kImpossible, holds
// for the time after that, too.
//
// A skew is brought down pod by pod, from domains that have too many to those that have too few;
// how many are needed at least is counted beforehand, for each number that the emptiest domain may
// have in the end. What is stranded is brought down node by node: room is made for a shape that
// would find enough of the resource there.
//
// `simulation` has not started, has taken its objects in, and is left as it was. Errors: the
// cluster has no such pod, node or workload, or no figures of the resource; the pod has a node
// already.
Result<Plan> FindPlan(const Goal& goal, simulator::Simulation& simulation,
                      const Limits& limits = {});

// For people; and one line of JSON (docs/plan.md).
void AppendTable(const Plan& plan, std::string& out);
void AppendJson(const Plan& plan, std::string& out);

// Reads what `berth plan -o yaml` or `-o json` of a live cluster wrote, and perhaps a person has
// edited: `file` is its name for messages. Errors, all of them at once, each with its field: one
// that a plan does not have, or that is missing or of no use; a plan that reaches nothing; one that
// names a pod twice.
Result<Plan> ReadPlan(std::string_view text, std::string_view file);

// Errors: the plan is older than this, or of the future.
Result<void> CheckAge(const Plan& plan, Time now, Duration most);

// What tells the texts of two plans apart.
std::string DigestOf(std::string_view text);

}  // namespace berth::plan
