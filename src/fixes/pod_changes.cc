// SPDX-License-Identifier: Apache-2.0
#include "src/fixes/pod_changes.h"

#include <algorithm>
#include <utility>

#include "src/fixes/requests.h"

namespace berth::fixes {
namespace {

std::optional<api::NodeSelector>* RequiredNodeAffinity(api::Pod& pod) {
  if (!pod.spec.affinity || !pod.spec.affinity->node_affinity) return nullptr;
  auto& required =
      pod.spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
  return required ? &required : nullptr;
}

}  // namespace

bool ChangePod(const explain::LowerRequest& change, api::Pod& pod) {
  pod = WithRequest(pod, change.resource, Amount(change.resource, change.to));
  return true;
}

bool ChangePod(const explain::Tolerate& change, api::Pod& pod) {
  api::Toleration& toleration = pod.spec.tolerations.emplace_back();
  toleration.key = change.taint.key;
  toleration.operator_ = "Equal";
  toleration.value = change.taint.value;
  toleration.effect = change.taint.effect;
  return true;
}

bool ChangePod(const explain::DropNodeSelector& change, api::Pod& pod) {
  return std::erase(pod.spec.node_selector, std::pair(change.key, change.value)) > 0;
}

bool ChangePod(const explain::DropNodeAffinity& change, api::Pod& pod) {
  auto* required = RequiredNodeAffinity(pod);
  if (required == nullptr) return false;
  size_t dropped = 0;
  bool takes_any = false;
  for (api::NodeSelectorTerm& term : (*required)->node_selector_terms) {
    auto& requirements = change.field ? term.match_fields : term.match_expressions;
    const size_t from_term = std::erase(requirements, change.requirement);
    dropped += from_term;
    // An empty term would match nothing.
    takes_any |= from_term > 0 && term.match_fields.empty() && term.match_expressions.empty();
  }
  if (takes_any) required->reset();
  return dropped > 0;
}

bool ChangePod(const explain::WidenNodeAffinity& change, api::Pod& pod) {
  auto* required = RequiredNodeAffinity(pod);
  if (required == nullptr) return false;
  bool widened = false;
  for (api::NodeSelectorTerm& term : (*required)->node_selector_terms) {
    for (api::NodeSelectorRequirement& requirement : term.match_expressions) {
      if (requirement.key != change.key || requirement.operator_ != "In") continue;
      if (std::ranges::find(requirement.values, change.value) != requirement.values.end()) continue;
      requirement.values.push_back(change.value);
      widened = true;
    }
  }
  return widened;
}

bool ChangePod(const explain::DropPodAffinity& change, api::Pod& pod) {
  if (!pod.spec.affinity) return false;
  auto& affinity =
      change.anti ? pod.spec.affinity->pod_anti_affinity : pod.spec.affinity->pod_affinity;
  if (!affinity) return false;
  return std::erase(affinity->required_during_scheduling_ignored_during_execution, change.term) > 0;
}

bool ChangePod(const explain::RelaxSpread& change, api::Pod& pod) {
  bool relaxed = false;
  for (auto& constraint : pod.spec.topology_spread_constraints) {
    if (constraint.topology_key != change.topology_key) continue;
    if (constraint.when_unsatisfiable != kDoNotSchedule || constraint.max_skew >= change.to) {
      continue;
    }
    constraint.max_skew = change.to;
    relaxed = true;
  }
  return relaxed;
}

bool ChangePod(const explain::SpreadAnyway& change, api::Pod& pod) {
  bool relaxed = false;
  for (auto& constraint : pod.spec.topology_spread_constraints) {
    if (constraint.topology_key != change.topology_key) continue;
    if (constraint.when_unsatisfiable != kDoNotSchedule) continue;
    constraint.when_unsatisfiable = "ScheduleAnyway";
    // Only DoNotSchedule may have it.
    constraint.min_domains.reset();
    relaxed = true;
  }
  return relaxed;
}

bool ChangePod(const explain::DropHostPort& change, api::Pod& pod) {
  bool dropped = false;
  const auto drop = [&](std::vector<api::Container>& containers) {
    for (api::Container& container : containers) {
      for (api::ContainerPort& port : container.ports) {
        if (port.host_port != change.port || port.protocol != change.protocol) continue;
        port.host_port = 0;
        port.host_ip.clear();
        dropped = true;
      }
    }
  };
  drop(pod.spec.containers);
  drop(pod.spec.init_containers);
  return dropped;
}

}  // namespace berth::fixes
