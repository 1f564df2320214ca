// SPDX-License-Identifier: Apache-2.0
#include "src/questions/pending_pods.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "src/base/json.h"
#include "src/engine/judgement.h"
#include "src/explain/explanation.h"
#include "src/explain/near_misses.h"
#include "src/explain/text_table.h"
#include "src/explain/verdict_json.h"
#include "src/framework/time_limit.h"
#include "src/questions/fixes.h"
#include "src/questions/pod_question.h"
#include "src/questions/replicas.h"

namespace berth::questions {
namespace {

using base::JsonList;
using base::JsonObject;

constexpr std::string_view kPodTemplateHash = "pod-template-hash";

// Without what is quoted.
std::string WithoutNames(std::string_view text) {
  std::string out;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted) out += c;
  }
  return out;
}

// What the pods of one group have in common: without the counts of nodes, which differ where the
// reasons are the same, and without the names of claims in what PreFilter says.
std::string KeyOf(const engine::Judgement& judgement,
                  const std::vector<explain::RejectedGroup>& rejected) {
  std::set<std::string> kinds;
  for (const explain::RejectedGroup& group : rejected) {
    explain::Rejection rejection = explain::RejectionOf(judgement, group);
    if (group.pre_filter) {
      std::ranges::transform(rejection.reasons, rejection.reasons.begin(), WithoutNames);
    }
    std::string kind = std::move(rejection.plugins);
    base::AppendJsonList(rejection.reasons, kind);
    kinds.insert(std::move(kind));
  }
  std::string key;
  base::AppendJsonList(kinds, key);
  return key;
}

// As JSON, what rejects most nodes first.
std::string ReasonsOf(const engine::Judgement& judgement,
                      std::vector<explain::RejectedGroup> rejected) {
  std::ranges::stable_sort(rejected, std::greater(),
                           [](const explain::RejectedGroup& group) { return group.nodes.size(); });
  std::string out;
  JsonList list(out);
  for (const explain::RejectedGroup& group : rejected) {
    const explain::Rejection rejection = explain::RejectionOf(judgement, group);
    JsonObject object(list.Next());
    object.Add("nodes", group.nodes.size());
    object.AddIfNotEmpty("plugin", rejection.plugins);
    base::AppendJsonList(rejection.reasons, object.Key("reasons"));
  }
  list.Close();
  return out;
}

}  // namespace

PendingPods::PendingPods(simulator::Simulation& simulation, const Clock& clock,
                         std::string_view pod_namespace)
    : simulation_(simulation), clock_(clock), pods_(simulation.WaitingPods()) {
  if (!pod_namespace.empty()) {
    std::erase_if(pods_, [pod_namespace](const PodPtr& pod) {
      return pod->metadata.namespace_ != pod_namespace;
    });
  }
  const auto owner_and_key = [](const PodPtr& pod) {
    return std::tuple(OwnerOf(*pod), pod->metadata.Key());
  };
  std::ranges::sort(pods_, {}, owner_and_key);
}

void PendingPods::Judge(Duration budget) {
  const Time end = clock_.Now() + budget;
  for (; next_ < pods_.size() && clock_.Now() < end; ++next_) {
    const PodPtr& pod = pods_[next_];
    const bool alike = next_ > 0 && HaveSameFixes(*pods_[next_ - 1], *pod);
    Group* const group = alike ? last_ : JudgeOne(pod);
    if (group == nullptr) return;
    last_ = group;
    last_->pods.push_back(pod->metadata.Key());
  }
}

PendingPods::Group* PendingPods::JudgeOne(const PodPtr& pod) {
  const explain::Explanation explanation =
      Explain(simulation_.scheduler(), pod,
              {.effects = scheduler::Effects::kNone, .known_group = pod_group_});
  if (framework::TimeLimit::IsUp()) return nullptr;
  pod_group_ = explanation.group;
  const engine::Judgement* const judgement = explanation.judgement.get();
  Group group;
  if (explanation.held_by_group()) {
    group.result = "held by its pod group";
    group.message = pod_group_->pod_group + ": " + pod_group_->message;
  } else {
    group.result = explain::ResultName(judgement->kind());
    group.message = judgement->message();
  }
  // All but pods that were rejected have a message or nothing to say. Of a pod that fits, why it
  // does not fit elsewhere is no reason to wait.
  std::string key = group.result + " " + group.message;
  if (judgement->kind() == engine::Judgement::Kind::kUnschedulable) {
    const std::vector<explain::RejectedGroup> rejected = explain::NearMisses(*judgement);
    key = group.result + " " + KeyOf(*judgement, rejected);
    group.reasons = ReasonsOf(*judgement, rejected);
  }
  return &groups_.try_emplace(key, std::move(group)).first->second;
}

std::vector<const PendingPods::Group*> PendingPods::GroupsBySize() const {
  std::vector<const Group*> groups;
  for (const auto& [key, group] : groups_) groups.push_back(&group);
  std::ranges::stable_sort(groups, std::greater(),
                           [](const Group* group) { return group->pods.size(); });
  return groups;
}

void PendingPods::Append(std::string& out) const {
  JsonObject document(out);
  document.Add("complete", complete());
  JsonList list(document.Key("groups"));
  for (const Group* group : GroupsBySize()) {
    JsonObject object(list.Next());
    object.AddIfNotEmpty("message", group->message);
    base::AppendJsonList(group->pods, object.Key("pods"));
    if (!group->reasons.empty()) object.Key("reasons") += group->reasons;
    object.Add("result", group->result);
  }
  list.Close();
  document.Add("judged", next_);
  document.Add("pending", pods_.size());
}

void PendingPods::AppendTable(std::string& out) const {
  if (pods_.empty()) out += "No pod is pending.\n";
  if (!complete()) {
    out += "There was no time for all: " + std::to_string(next_) + " of " +
           explain::Counted(pods_.size(), "pending pod") + ".\n";
  }
  const std::vector<const Group*> groups = GroupsBySize();
  explain::AppendPodsAlike({groups.begin(), groups.end()}, groups.size(), out);
}

std::string OwnerOf(const api::Pod& pod) {
  const api::OwnerReference* owner = ControllerOf(pod.metadata);
  if (owner == nullptr) return "";
  std::string kind = owner->kind;
  std::string name = owner->name;
  const std::string* hash = api::Find(pod.metadata.labels, kPodTemplateHash);
  if (kind == "ReplicaSet" && hash != nullptr && name.ends_with("-" + *hash)) {
    kind = "Deployment";
    name.resize(name.size() - hash->size() - 1);
  }
  return pod.metadata.namespace_ + "/" + kind + "/" + name;
}

}  // namespace berth::questions
