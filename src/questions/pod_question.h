// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "berth/time.h"
#include "src/explain/explanation.h"
#include "src/scheduler/scheduler.h"
#include "src/simulator/simulation.h"

namespace berth::questions {

// What is asked about one pod, beside its verdict.
struct PodQuestion {
  bool preemption = false;  // whom an eviction would hit
  bool claims = false;      // which volumes and devices each node would give
  // What trying its pod group may change; a scheduler that runs takes kNone.
  scheduler::Effects effects = scheduler::Effects::kOnClaims;
  // Searches for what would let the pod schedule, before it is judged: a search changes the cluster
  // and takes its changes back. Of a pod that its group keeps from its node that is what lets
  // another of the group schedule. nullptr: fixes are not asked for.
  std::function<explain::Fixes(const std::shared_ptr<const api::Pod>& pod)> find_fixes{};
  std::optional<explain::PodPosition> position{};
  // A pod group that has been tried in the cluster as it still is: not again for this pod.
  std::shared_ptr<const engine::PodGroupPreview> known_group{};
  // Times the answer; nullptr: it has no times.
  const Clock* clock = nullptr;
};

// The one recipe for an answer about a pod, whichever way it was asked for: by the command line, of
// a daemon or on the page. The pod is judged alone, as Scheduler::Judge() says, and explained; its
// pod group is tried. The answer is of use until the scheduler's cluster changes.
//
// Thread safety: the thread that owns the scheduler.
explain::Explanation Explain(scheduler::Scheduler& scheduler,
                             const std::shared_ptr<const api::Pod>& pod,
                             const PodQuestion& question);

// The same of a pod of a picture, which has not started. A pod that has a node, and does not wait
// for its resize, is put back among those that wait, and stays there: what has been written for it
// since, such as claims that are bound, is kept. nullopt: there is no such pod.
std::optional<explain::Explanation> Explain(simulator::Simulation& picture, const std::string& key,
                                            const PodQuestion& question);

// Whether kubectl takes the word for pods, in any case.
bool IsPodResource(std::string_view word);

// A pod as people name one: "web", "pod/web" or "shop/web"; without the word for pods. Errors:
// anything else.
Result<std::string> ReadPodName(std::string_view text);

}  // namespace berth::questions
