// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/workload.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_split.h>

#include <charconv>
#include <set>
#include <utility>

#include "berth/in_tree/eviction.h"
#include "src/base/suggestion.h"
#include "src/base/text.h"
#include "src/informers/kinds.h"

namespace berth::simulator {
namespace {

using informers::Kind;

constexpr std::pair<std::string_view, std::string_view> kWorkloadKinds[] = {
    {"deploy", "Deployment"},
    {"deployment", "Deployment"},
    {"rs", "ReplicaSet"},
    {"replicaset", "ReplicaSet"},
    {"sts", "StatefulSet"},
    {"statefulset", "StatefulSet"},
    {"rc", "ReplicationController"},
    {"replicationcontroller", "ReplicationController"},
    {"ds", "DaemonSet"},
    {"daemonset", "DaemonSet"},
    {"job", "Job"}};

// The names of the objects that own the pods: the controller or, of a Deployment, its ReplicaSets.
std::set<std::string> OwnersOf(const Workload& workload, const Simulation& simulation) {
  if (workload.kind != "Deployment") return {workload.name};
  std::set<std::string> names;
  simulation.api().ForEach(Kind::kReplicaSet, [&](const api::ObjectPtr& object) {
    const api::ObjectMeta& meta = api::As<api::ReplicaSet>(object)->metadata;
    const api::OwnerReference* owner = ControllerOf(meta);
    if (meta.namespace_ != workload.namespace_ || owner == nullptr) return;
    if (owner->kind == workload.kind && owner->name == workload.name) names.insert(meta.name);
  });
  return names;
}

}  // namespace

std::string Workload::KindOf(std::string_view word) {
  const std::string lower = absl::AsciiStrToLower(std::string(word));
  const std::string_view kind = std::string_view(lower).substr(0, lower.find('.'));
  for (const auto& [known, name] : kWorkloadKinds) {
    if (kind == known || (kind.ends_with('s') && kind.substr(0, kind.size() - 1) == known))
      return std::string(name);
  }
  return std::string(word);
}

std::optional<Workload> Workload::Parse(std::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(std::string(text), '/');
  if (parts.size() < 2 || parts.size() > 3 || parts.front().empty()) return std::nullopt;
  Workload workload;
  if (parts.size() == 3) workload.namespace_ = parts.front();
  workload.kind = KindOf(parts[parts.size() - 2]);
  workload.name = parts.back();
  if (workload.kind.empty() || workload.name.empty()) return std::nullopt;
  return workload;
}

std::string Workload::ToString() const { return base::Concat(namespace_, "/", kind, "/", name); }

std::string_view NodeNameIn(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return text;
  const std::string word = absl::AsciiStrToLower(std::string(text.substr(0, slash)));
  const bool of_nodes = word == "node" || word == "nodes" || word == "no";
  return of_nodes ? text.substr(slash + 1) : text;
}

std::vector<std::shared_ptr<const api::Pod>> PodsMadeBy(const Workload& workload,
                                                        const Simulation& simulation) {
  const std::set<std::string> owners = OwnersOf(workload, simulation);
  const std::string owner_kind = workload.kind == "Deployment" ? "ReplicaSet" : workload.kind;
  std::vector<std::shared_ptr<const api::Pod>> pods;
  simulation.api().ForEach(Kind::kPod, [&](const api::ObjectPtr& object) {
    const auto& pod = std::get<std::shared_ptr<const api::Pod>>(object);
    const api::OwnerReference* owner = ControllerOf(pod->metadata);
    if (pod->metadata.namespace_ != workload.namespace_ || owner == nullptr) return;
    if (owner->kind != owner_kind || !owners.contains(owner->name)) return;
    if (!HasSuccessor(*pod)) pods.push_back(pod);
  });
  return pods;
}

std::string MeantInsteadOf(const Workload& workload, const Simulation& simulation) {
  const std::string key = api::NamespacedKey(workload.namespace_, workload.name);
  base::Suggestion kind(workload.kind);
  for (const auto& [word, name] : kWorkloadKinds) kind.Try(word);
  base::Suggestion meant(key);
  std::set<std::string> elsewhere;
  const auto see = [&](const api::ObjectMeta& meta) {
    const api::OwnerReference* owner = ControllerOf(meta);
    if (owner == nullptr || owner->kind != workload.kind) return;
    meant.Try(api::NamespacedKey(meta.namespace_, owner->name));
    if (owner->name == workload.name && meta.namespace_ != workload.namespace_)
      elsewhere.insert(meta.namespace_);
  };
  simulation.api().ForEach(
      Kind::kPod, [&](const api::ObjectPtr& object) { see(api::As<api::Pod>(object)->metadata); });
  simulation.api().ForEach(Kind::kReplicaSet, [&](const api::ObjectPtr& object) {
    see(api::As<api::ReplicaSet>(object)->metadata);
  });
  if (!kind.word().empty() && Workload::KindOf(kind.word()) != workload.kind) {
    return kind.ToString();
  }
  if (elsewhere.empty()) return meant.ToString();
  std::string text;
  std::string_view separator = "; there is ";
  for (const std::string& other : elsewhere) {
    text += base::Concat(separator, other, "/", workload.name, " (-n ", other, ")");
    separator = ", ";
  }
  return text;
}

int64_t DeletionCostOf(const api::Pod& pod) {
  const std::string* text =
      api::Find(pod.metadata.annotations, "controller.kubernetes.io/pod-deletion-cost");
  int64_t cost = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), cost);
  return cost;
}

}  // namespace berth::simulator
