// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/object_checks.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "berth/field_errors.h"
#include "berth/label_selector.h"
#include "berth/matching.h"
#include "berth/resources.h"
#include "src/base/text.h"
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

using Words = std::initializer_list<std::string_view>;

// An empty text is no word that was misspelt.
Problem CheckWord(const std::string& path, std::string_view word, Words words) {
  if (word.empty() || std::ranges::find(words, word) != words.end()) return std::nullopt;
  return Error{UnsupportedField(path, Quoted(word), {words.begin(), words.size()})};
}

Problem CheckWord(const std::string& path, const std::optional<std::string>& word, Words words) {
  return word ? CheckWord(path, std::string_view(*word), words) : std::nullopt;
}

constexpr Words kTaintEffects = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
constexpr Words kInclusionPolicies = {"Honor", "Ignore"};
constexpr Words kAccessModes = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                "ReadWriteOncePod"};

Problem CheckToleration(const std::string& path, const api::Toleration& toleration) {
  if (auto problem = CheckWord(path + ".operator", std::string_view(toleration.operator_),
                               {"Equal", "Exists", "Lt", "Gt"})) {
    return problem;
  }
  return CheckWord(path + ".effect", std::string_view(toleration.effect), kTaintEffects);
}

Problem CheckConstraint(const std::string& path, const api::TopologySpreadConstraint& constraint) {
  if (auto problem =
          CheckWord(path + ".whenUnsatisfiable", std::string_view(constraint.when_unsatisfiable),
                    {"DoNotSchedule", "ScheduleAnyway"})) {
    return problem;
  }
  if (auto problem = CheckWord(path + ".nodeAffinityPolicy", constraint.node_affinity_policy,
                               kInclusionPolicies)) {
    return problem;
  }
  return CheckWord(path + ".nodeTaintsPolicy", constraint.node_taints_policy, kInclusionPolicies);
}

constexpr Words kOfContainers = {"cpu", "memory", "ephemeral-storage"};

bool IsHugePages(std::string_view resource) { return resource.starts_with("hugepages-"); }

Problem CheckResourceName(const std::string& path, const std::string& name) {
  if (name.find('/') == std::string::npos) {
    if (IsHugePages(name) || std::ranges::find(kOfContainers, name) != kOfContainers.end())
      return std::nullopt;
    return Error{InvalidField(path, Quoted(name), "must be a standard resource for containers")};
  }
  if (name.find("kubernetes.io/") != std::string::npos || IsExtendedResourceName(name))
    return std::nullopt;
  return Error{InvalidField(path, Quoted(name), "doesn't follow extended resource name standard")};
}

// `path` is that of the resources.
Problem CheckRequests(const std::string& path, const api::ResourceRequirements& resources) {
  for (const auto& [name, request] : resources.requests) {
    const auto limit =
        std::ranges::find(resources.limits, name, [](const auto& entry) { return entry.first; });
    const bool native =
        name.find('/') == std::string::npos || name.find("kubernetes.io/") != std::string::npos;
    const bool more_than_there_is = native && !IsHugePages(name);
    if (limit == resources.limits.end()) {
      if (more_than_there_is) continue;
      return Error{
          RequiredField(path + ".limits", "Limit must be set for non overcommitable resources")};
    }
    if (more_than_there_is ? request <= limit->second : request == limit->second) continue;
    return Error{
        InvalidField(path + ".requests", Quoted(request.ToString()),
                     base::Concat("must be ", more_than_there_is ? "less than or " : "",
                                  "equal to ", name, " limit of ", limit->second.ToString()))};
  }
  return std::nullopt;
}

Problem CheckContainer(const std::string& path, const api::ResourceRequirements& resources) {
  for (const auto& [field, list] :
       {std::pair(".limits", &resources.limits), {".requests", &resources.requests}}) {
    for (const auto& [name, amount] : *list) {
      if (auto problem = CheckResourceName(base::Concat(path, field, "[", name, "]"), name))
        return problem;
    }
  }
  return CheckRequests(path, resources);
}

Problem CheckValues(const api::Pod& pod) {
  const api::PodSpec& spec = pod.spec;
  if (auto problem = CheckWord("spec.preemptionPolicy", spec.preemption_policy,
                               {"PreemptLowerPriority", "Never"})) {
    return problem;
  }
  for (size_t i = 0; i < spec.tolerations.size(); ++i) {
    if (auto problem = CheckToleration(At("spec.tolerations", i), spec.tolerations[i]))
      return problem;
  }
  for (size_t i = 0; i < spec.topology_spread_constraints.size(); ++i) {
    if (auto problem = CheckConstraint(At("spec.topologySpreadConstraints", i),
                                       spec.topology_spread_constraints[i])) {
      return problem;
    }
  }
  for (const auto& [field, containers] : {std::pair("spec.containers", &spec.containers),
                                          {"spec.initContainers", &spec.init_containers}}) {
    for (size_t i = 0; i < containers->size(); ++i) {
      if (auto problem = CheckContainer(At(field, i) + ".resources", (*containers)[i].resources))
        return problem;
    }
  }
  return spec.resources ? CheckRequests("spec.resources", *spec.resources) : std::nullopt;
}

Problem CheckValues(const api::Node& node) {
  for (size_t i = 0; i < node.spec.taints.size(); ++i) {
    if (auto problem = CheckWord(At("spec.taints", i) + ".effect",
                                 std::string_view(node.spec.taints[i].effect), kTaintEffects)) {
      return problem;
    }
  }
  return std::nullopt;
}

Problem CheckValues(const api::StorageClass& storage_class) {
  return CheckWord("volumeBindingMode", storage_class.volume_binding_mode,
                   {"Immediate", "WaitForFirstConsumer"});
}

Problem CheckValues(const api::PodDisruptionBudget& budget) {
  return CheckWord("spec.unhealthyPodEvictionPolicy", budget.spec.unhealthy_pod_eviction_policy,
                   {"AlwaysAllow", "IfHealthyBudget"});
}

Problem CheckAccessModes(const std::vector<std::string>& modes) {
  for (const std::string& mode : modes) {
    if (auto problem = CheckWord("spec.accessModes", std::string_view(mode), kAccessModes))
      return problem;
  }
  return std::nullopt;
}

Problem CheckValues(const api::PersistentVolume& volume) {
  return CheckAccessModes(volume.spec.access_modes);
}

Problem CheckValues(const api::PersistentVolumeClaim& claim) {
  return CheckAccessModes(claim.spec.access_modes);
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

std::optional<Error> FindBadValue(const api::ObjectPtr& object) {
  return std::visit(
      [](const auto& held) -> Problem {
        if constexpr (requires { CheckValues(*held); }) {
          return CheckValues(*held);
        } else {
          return std::nullopt;
        }
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
