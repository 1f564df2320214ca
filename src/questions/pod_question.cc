// SPDX-License-Identifier: Apache-2.0
#include "src/questions/pod_question.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <utility>

#include "berth/in_tree/pod_groups.h"

namespace berth::questions {
namespace {

using PodPtr = std::shared_ptr<const api::Pod>;
using GroupPtr = std::shared_ptr<const engine::PodGroupPreview>;

GroupPtr GroupOf(const PodPtr& waiting, const PodQuestion& question,
                 scheduler::Scheduler& scheduler) {
  const PodPtr counted = scheduler.Counted(waiting);
  const api::Pod& pod = *counted;
  // A pod that runs is resized alone.
  const std::string* name = pod.spec.node_name.empty() ? PodGroupNameOf(pod) : nullptr;
  if (name == nullptr) return nullptr;
  const GroupPtr& known = question.known_group;
  if (known != nullptr && known->pod_group == api::NamespacedKey(pod.metadata.namespace_, *name)) {
    return known;
  }
  auto preview = scheduler.PreviewPodGroup(*waiting, question.effects);
  return preview ? std::make_shared<const engine::PodGroupPreview>(*std::move(preview)) : nullptr;
}

// Those of the first pods of the group that fit nowhere.
explain::Fixes FixesOfOthers(const PodPtr& waiting, const engine::PodGroupPreview& group,
                             const PodQuestion& question, scheduler::Scheduler& scheduler) {
  constexpr size_t kMostOthers = 3;
  explain::Fixes found;
  size_t tried = 0;
  size_t asked = 0;
  for (const engine::PodGroupPreview::Member& member : group.waiting) {
    if (!member.node.empty() || asked == kMostOthers) continue;
    const PodPtr pod = scheduler.FindPendingPod(member.pod);
    if (pod == nullptr || pod == waiting) continue;
    ++asked;
    found = question.find_fixes(pod);
    found.of = member.pod;
    found.tried = tried += found.tried;
    if (!found.fixes.empty()) return found;
  }
  found.of = group.pod_group;
  return found;
}

// Puts a placed pod back among those that wait, and returns it so.
PodPtr TakeOffItsNode(const api::Pod& placed, simulator::Simulation& picture) {
  auto waiting = std::make_shared<api::Pod>(placed);
  waiting->spec.node_name.clear();
  waiting->status.nominated_node_name.clear();
  // Not as an update: no scheduler sees a pod that leaves its node alive.
  picture.Delete(informers::Kind::kPod, placed.metadata.Key());
  picture.Apply(PodPtr(std::move(waiting)));
  picture.RunDue();
  return picture.FindPod(placed.metadata.Key());
}

}  // namespace

explain::Explanation Explain(scheduler::Scheduler& scheduler,
                             const std::shared_ptr<const api::Pod>& pod,
                             const PodQuestion& question) {
  explain::Explanation explanation{.judgement = nullptr,
                                   .group = GroupOf(pod, question, scheduler)};
  if (question.find_fixes) {
    // Says whose fixes to look for; after the search it is no longer of use.
    explanation.judgement = scheduler.Judge(pod);
    if (explanation.judgement->kind() == engine::Judgement::Kind::kUnschedulable) {
      explanation.fixes = question.find_fixes(pod);
    } else if (explanation.held_by_group()) {
      explanation.fixes = FixesOfOthers(pod, *explanation.group, question, scheduler);
    }
  }
  const auto now = [clock = question.clock] { return clock == nullptr ? Time() : clock->Now(); };
  const Time began = now();
  explanation.judgement = scheduler.Judge(pod);
  const Time decided = now();
  engine::Judgement& judgement = *explanation.judgement;
  judgement.Explain();
  if (question.preemption) judgement.PreviewPreemption();
  if (question.claims) judgement.PreviewClaims();
  explanation.position = question.position;
  explanation.decision = decided - began;
  explanation.reasons = now() - decided;
  return explanation;
}

std::optional<explain::Explanation> Explain(simulator::Simulation& picture, const std::string& key,
                                            const PodQuestion& question) {
  const PodPtr found = picture.FindPod(key);
  if (found == nullptr) return std::nullopt;
  const bool placed = !found->spec.node_name.empty() && !picture.IsWaiting(*found);
  const PodPtr pod = placed ? TakeOffItsNode(*found, picture) : found;
  explain::Explanation explanation = Explain(picture.scheduler(), pod, question);
  if (placed) explanation.placed = found;
  return explanation;
}

bool IsPodResource(std::string_view word) {
  const std::string lower = absl::AsciiStrToLower(std::string(word));
  return lower == "pod" || lower == "pods" || lower == "po";
}

Result<std::string> ReadPodName(std::string_view text) {
  std::string_view name = text;
  const size_t slash = name.find('/');
  if (slash != std::string_view::npos && IsPodResource(name.substr(0, slash))) {
    name.remove_prefix(slash + 1);
  }
  const bool whole = !name.empty() && name.front() != '/' && name.back() != '/';
  if (!whole || std::ranges::count(name, '/') > 1) {
    return Fail("must be a name, pod/NAME or NAMESPACE/NAME");
  }
  return std::string(name);
}

}  // namespace berth::questions
