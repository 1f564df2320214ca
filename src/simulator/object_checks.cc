// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/object_checks.h"

#include <string>
#include <type_traits>

#include "berth/label_selector.h"
#include "berth/matching.h"
#include "src/informers/kinds.h"
#include "src/simulator/memory_api.h"

namespace berth::simulator {
namespace {

using Problem = std::optional<Error>;

std::string At(const std::string& path, size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

Problem CheckLabels(const std::string& path, const std::optional<api::LabelSelector>& selector) {
  const auto made = LabelSelectorMatcher::Make(selector);
  if (made) return std::nullopt;
  return made.error().Within(path);
}

// `term` as the only one of its selector; the path of what is wrong in it then begins so.
Problem CheckPreference(const std::string& path, const api::NodeSelectorTerm& term) {
  constexpr std::string_view kOnlyTerm = "nodeSelectorTerms[0].";
  const NodeSelectorMatcher matcher = NodeSelectorMatcher::Make({{term}});
  if (matcher.errors().empty()) return std::nullopt;
  std::string text = matcher.errors().front().message;
  if (text.starts_with(kOnlyTerm)) text.erase(0, kOnlyTerm.size());
  return Error{path + "." + text};
}

Problem CheckNodeAffinity(const api::NodeAffinity& affinity) {
  const std::string path = "spec.affinity.nodeAffinity.";
  if (const auto& required = affinity.required_during_scheduling_ignored_during_execution) {
    const NodeSelectorMatcher matcher = NodeSelectorMatcher::Make(*required);
    if (!matcher.errors().empty()) {
      return Error{path + "requiredDuringSchedulingIgnoredDuringExecution." +
                   matcher.errors().front().message};
    }
  }
  const auto& preferred = affinity.preferred_during_scheduling_ignored_during_execution;
  for (size_t i = 0; i < preferred.size(); ++i) {
    const std::string term =
        At(path + "preferredDuringSchedulingIgnoredDuringExecution", i) + ".preference";
    if (auto problem = CheckPreference(term, preferred[i].preference)) return problem;
  }
  return std::nullopt;
}

Problem CheckTerm(const std::string& path, const api::PodAffinityTerm& term) {
  if (auto problem = CheckLabels(path + ".labelSelector", term.label_selector)) return problem;
  return CheckLabels(path + ".namespaceSelector", term.namespace_selector);
}

Problem CheckPodAffinity(const std::string& path, const api::PodAffinity& affinity) {
  const auto& required = affinity.required_during_scheduling_ignored_during_execution;
  for (size_t i = 0; i < required.size(); ++i) {
    const std::string term = At(path + ".requiredDuringSchedulingIgnoredDuringExecution", i);
    if (auto problem = CheckTerm(term, required[i])) return problem;
  }
  const auto& preferred = affinity.preferred_during_scheduling_ignored_during_execution;
  for (size_t i = 0; i < preferred.size(); ++i) {
    const std::string term =
        At(path + ".preferredDuringSchedulingIgnoredDuringExecution", i) + ".podAffinityTerm";
    if (auto problem = CheckTerm(term, preferred[i].pod_affinity_term)) return problem;
  }
  return std::nullopt;
}

Problem Check(const api::Pod& pod) {
  const api::PodSpec& spec = pod.spec;
  if (!spec.node_selector.empty()) {
    if (auto problem = CheckLabels("spec.nodeSelector", api::LabelSelector{spec.node_selector, {}}))
      return problem;
  }
  if (spec.affinity) {
    if (spec.affinity->node_affinity) {
      if (auto problem = CheckNodeAffinity(*spec.affinity->node_affinity)) return problem;
    }
    for (const auto& [name, affinity] :
         {std::pair("spec.affinity.podAffinity", &spec.affinity->pod_affinity),
          std::pair("spec.affinity.podAntiAffinity", &spec.affinity->pod_anti_affinity)}) {
      if (!*affinity) continue;
      if (auto problem = CheckPodAffinity(name, **affinity)) return problem;
    }
  }
  for (size_t i = 0; i < spec.topology_spread_constraints.size(); ++i) {
    const std::string path = At("spec.topologySpreadConstraints", i) + ".labelSelector";
    if (auto problem = CheckLabels(path, spec.topology_spread_constraints[i].label_selector)) {
      return problem;
    }
  }
  return std::nullopt;
}

Problem Check(const api::PersistentVolume& volume) {
  const auto& affinity = volume.spec.node_affinity;
  if (!affinity || !affinity->required) return std::nullopt;
  const NodeSelectorMatcher matcher = NodeSelectorMatcher::Make(*affinity->required);
  if (matcher.errors().empty()) return std::nullopt;
  return Error{"spec.nodeAffinity.required." + matcher.errors().front().message};
}

Problem Check(const api::CSIStorageCapacity& capacity) {
  return CheckLabels("nodeTopology", capacity.node_topology);
}

// Whether T's spec.selector is a label selector.
template <typename T>
constexpr bool kSelectsByLabels =
    std::is_same_v<T, api::ReplicaSet> || std::is_same_v<T, api::StatefulSet> ||
    std::is_same_v<T, api::PodDisruptionBudget> || std::is_same_v<T, api::PersistentVolumeClaim>;

}  // namespace

std::optional<Error> FindBadSelector(const api::ObjectPtr& object) {
  return std::visit(
      [](const auto& held) -> Problem {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (!std::is_same_v<Held, std::monostate>) {
          using Object = std::remove_const_t<typename Held::element_type>;
          if constexpr (requires { Check(*held); }) {
            return Check(*held);
          } else if constexpr (kSelectsByLabels<Object>) {
            return CheckLabels("spec.selector", held->spec.selector);
          }
        }
        return std::nullopt;
      },
      object);
}

std::string OddityOf(const api::ObjectPtr& object) {
  const api::ObjectMeta& meta = *api::MetaOf(object);
  std::string text;
  if (meta.damage) {
    text = meta.damage->front().ToString();
  } else if (const auto problem = FindBadSelector(object)) {
    text = problem->message;
  } else {
    return "";
  }
  return std::string(informers::InfoOf(KindOf(object)).resource) + " " + meta.Key() + ": " + text;
}

}  // namespace berth::simulator
