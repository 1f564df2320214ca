// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "berth/time.h"
#include "src/plan/plan.h"
#include "src/plan/progress.h"
#include "src/simulator/simulation.h"

// A plan that is carried out.
namespace berth::plan {

// What became of a request that writes.
struct Answer {
  enum class Kind {
    kDone,
    kGone,     // there is no such pod any more, or it is another one or, to nominate it, bound
    kLater,    // not now: a budget, or the server's load; or nothing is known of the outcome
    kRefused,  // the same request is in vain
  };
  Kind kind = Kind::kDone;
  std::string message = {};  // unless kDone
};

// What is known of the EvictionRequest for a pod.
struct RequestState {
  enum class Kind {
    kNone,
    kUnknown,  // no answer for now, or it was there at the last look and is not now
    kUnseen,   // no controller has looked at it yet
    kTaken,    // it is carried out, or has been
    kFailed,   // nothing more is done for it
  };
  Kind kind = Kind::kNone;
  std::string why = {};  // of kFailed
};

// The cluster that a plan is carried out in. The calls wait.
class Edge {
 public:
  virtual ~Edge() = default;
  // All objects as they are now, in a simulation that has not started and has taken them in.
  virtual Result<std::unique_ptr<simulator::Simulation>> Read() = 0;
  // The pods of a namespace, as watches have them: perhaps a moment old.
  virtual std::vector<PodPtr> PodsOf(std::string_view pod_namespace) = 0;
  // By the Eviction subresource, for this UID alone.
  virtual Answer Evict(const api::Pod& pod) = 0;
  // By an EvictionRequest for this UID, which others carry out. It is done where there is one.
  virtual Answer Request(const api::Pod& pod) = 0;
  // Errors: the same question is in vain.
  virtual Result<RequestState> FindRequest(const api::Pod& pod) = 0;
  virtual Answer Withdraw(const api::Pod& pod) = 0;
  virtual Answer Cordon(std::string_view node) = 0;
  // status.nominatedNodeName; "" takes it away.
  virtual Answer Nominate(const api::Pod& pod, std::string_view node) = 0;
  // An event on the pod; one and the same where it is repeated.
  virtual void RecordEvent(const api::Pod& pod, std::string_view note) = 0;
  virtual Time Now() = 0;
  virtual void Wait(Duration time) = 0;
  // The same, but ends as soon as a pod has changed.
  virtual void AwaitNews(Duration time) = 0;
  // A line about how far it is.
  virtual void Say(std::string_view line) = 0;
};

enum class EvictBy { kSubresource, kRequest };

struct ApplyOptions {
  // For a budget, for a successor to come, to get its node and to be ready: each.
  Duration patience = std::chrono::minutes(10);
  bool dry_run = false;
  EvictBy evict_by = EvictBy::kSubresource;
};

struct AppliedMove {
  enum class State {
    kNotBegun,
    kAllowed,  // of a dry run: it would be done
    kDone,
    kSkipped,  // there was nothing to do
    kFailed,
  };
  State state = State::kNotBegun;
  std::string node = {};  // where the pod, or its successor, is; "": nowhere
  std::string why = {};
  // More than one where a successor went back to the node that it left.
  size_t evictions = 0;
};

struct Applied {
  enum class Outcome { kDone, kStopped, kDryRun };
  Outcome outcome = Outcome::kStopped;
  std::string why = {};  // of kStopped
  // Whether the node of the goal is cordoned by now.
  bool cordoned = false;
  std::vector<AppliedMove> moves = {};  // as the plan's
};

// Carries a plan out, wave by wave, and within a wave move by move, as it was searched:
//
//   revalidate -> hold the pending pods' places -> evict -> the successor is bound -> next move
//                                                  ... all successors of the wave are ready -> next
//
// Before each wave, after each wait for a budget and after each pod that landed elsewhere than
// planned the cluster is read, and all that is left of the plan is judged by the engine in it, move
// after move. Nothing is evicted unless all of it is allowed: each pod is the same, on its node,
// movable; its target takes it then; the budgets allow this wave. A pod is evicted only by the
// Eviction subresource, so that the API server asks its budgets, too; and none for a pending pod
// that has a node already or is gone.
//
// By EvictionRequests it is not evicted by the run at all: that asks, and waits until the pod is
// going or has ended. Who carries a request out may make the successor first. A request that no
// controller looks at, that fails or that takes too long is withdrawn, and the run stops.
//
// A successor that goes back to the node that it left is evicted again, five times in all: its move
// is not done. Where that node is to be emptied, the run then stops.
//
// A pending pod's place is held before each eviction, by its nominatedNodeName, unless a pod is
// still to move to the same node, which that would keep out: kube-scheduler and Berth both leave a
// nominated pod's room alone when they place one of the same or of lower priority. A successor gets
// its nomination as soon as it is seen; by then its scheduler may have placed it. What was
// nominated in vain is given back where the run stops.
//
// A pod that is evicted for good only has to end, and its controller to make the next one: that
// waits, and keeps nothing back. Of a pod that has several moves the later ones are about the one
// in its place; one that is not where such a move begins stays where it is.
//
// Where a successor has landed elsewhere than planned, one that is still to come may get another
// target than the plan's, if that is taken; which pods are evicted never changes.
//
// Where it stops, the cluster is one that the moves so far have led to, each of them allowed; no
// request is under way. A run that is repeated with the same progress goes on there.
//
// `progress` may be nullptr for a dry run alone. `plan` is one that ReadPlan() accepts.
Applied Apply(const Plan& plan, const ApplyOptions& options, Edge& edge, Progress* progress);

// For people; and one line of JSON (docs/plan.md).
void AppendTable(const Plan& plan, const Applied& applied, std::string& out);
void AppendJson(const Plan& plan, const Applied& applied, std::string& out);

}  // namespace berth::plan
