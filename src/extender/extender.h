// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/points.h"
#include "berth/in_tree/preemption.h"
#include "berth/result.h"

namespace berth::binding {
struct RequestEnd;
}  // namespace berth::binding
namespace berth::client {
class Call;
}  // namespace berth::client

namespace berth::extender {

// Stands for all extenders where a pod's rejectors are listed.
inline constexpr std::string_view kExtenderName = "Extender";

// Why a pod cannot go to a node.
struct Rejection {
  NodeRow row = kNoRow;
  Code code = Code::kUnschedulable;  // or kUnschedulableAndUnresolvable
  std::string reason;
};

// What is left of the nodes that were asked about.
struct FilterResult {
  std::vector<NodeRow> nodes;  // those that the pod can go to, each once, in the answer's order
  // A node may be in it twice, then the second counts; one that is left may be in it, too.
  std::vector<Rejection> rejected;
};

// A score for one node, by custom in [0, 10].
struct HostPriority {
  NodeRow row = kNoRow;
  int64_t score = 0;
};

// Scores that were asked for and are on their way.
class PendingPriorities {
 public:
  virtual ~PendingPriorities() = default;
  // Blocks until the answer is there, at most for the extender's timeout. Call it once.
  virtual Result<std::vector<HostPriority>> Wait() = 0;
};

// A process outside that has a say in where pods go; it is asked over HTTP.
//
// Thread safety: the scheduling thread; Bind() from any thread.
class Extender {
 public:
  virtual ~Extender() = default;

  // Tells it apart from others: the URL that its verbs stand under.
  virtual std::string_view Name() const = 0;
  // Scheduling goes on without it when it fails.
  virtual bool IsIgnorable() const = 0;
  // Whether it wants to be asked about the pod at all.
  virtual bool IsInterested(const api::Pod& pod) const = 0;

  virtual bool IsFilter() const = 0;
  virtual bool IsPrioritizer() const = 0;
  virtual bool SupportsPreemption() const = 0;
  virtual bool IsBinder() const = 0;

  // Which of `nodes`, asked about in this order, the pod can go to. Blocks for at most the timeout.
  virtual Result<FilterResult> Filter(const api::Pod& pod, const Snapshot& snapshot,
                                      std::span<const NodeRow> nodes) = 0;
  // Asks for the nodes' scores and returns at once.
  virtual std::unique_ptr<PendingPriorities> Prioritize(const api::Pod& pod,
                                                        const Snapshot& snapshot,
                                                        std::span<const NodeRow> nodes) = 0;
  // What the extender's scores are multiplied with.
  virtual int64_t Weight() const = 0;
  // Which candidates are left, ascending by row; their victims are the extender's own choice and
  // may be none. Blocks for at most the timeout.
  virtual Result<std::vector<PreemptionCandidate>> ProcessPreemption(
      const api::Pod& pod, const Snapshot& snapshot,
      std::span<const PreemptionCandidate> candidates) = 0;

  // Asks it to bind the pod. Calls `done` exactly once, on whatever thread. Keeps to no timeout of
  // its own: the call is to be cancelled after Timeout().
  virtual std::shared_ptr<client::Call> Bind(const api::Pod& pod, std::string_view node_name,
                                             std::function<void(binding::RequestEnd)> done) = 0;
  virtual Duration Timeout() const = 0;
};

// In the order in which they are asked: those that must not fail first.
using ExtenderList = std::vector<std::shared_ptr<Extender>>;

}  // namespace berth::extender
