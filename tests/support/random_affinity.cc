// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "berth/check.h"
#include "tests/support/builders.h"
#include "tests/support/draws.h"
#include "tests/support/random_cluster.h"

namespace berth::test {
namespace {

constexpr std::string_view kNamespaces[] = {"default", "dev", "prod"};
constexpr std::string_view kTopologyKeys[] = {"zone", "zone", "kubernetes.io/hostname", "ssd"};
constexpr std::string_view kApps[] = {"db", "queue", "web"};
constexpr std::string_view kTiers[] = {"back", "front"};

api::LabelSelectorRequirement RandomRequirement(Random& random) {
  switch (random.Below(5)) {
    case 0:
      return {"app", "In", {PickText(random, kApps), PickText(random, kApps)}};
    case 1:
      return {"app", "NotIn", {PickText(random, kApps)}};
    case 2:
      return {"tier", "Exists", {}};
    case 3:
      return {"tier", "DoesNotExist", {}};
    default:
      return {"tier", "In", {PickText(random, kTiers)}};
  }
}

std::vector<std::string> RandomNames(Random& random) {
  std::vector<std::string> names;
  while (OneIn(random, 2)) names.push_back(PickText(random, kNamespaces));
  return names;
}

std::optional<api::LabelSelector> RandomNamespaceSelector(Random& random) {
  if (!OneIn(random, 3)) return std::nullopt;
  api::LabelSelector selector;
  if (OneIn(random, 4)) return selector;
  if (OneIn(random, 2)) {
    selector = MakeSelector({{"team", OneIn(random, 2) ? "a" : "b"}});
  } else {
    selector.match_expressions.push_back({"team", OneIn(random, 2) ? "Exists" : "NotIn", {}});
    if (selector.match_expressions[0].operator_ == "NotIn") {
      selector.match_expressions[0].values = {"a"};
    }
  }
  return selector;
}

api::PodAffinityTerm RandomTerm(Random& random) {
  api::PodAffinityTerm term;
  term.label_selector = RandomPodSelector(random);
  if (OneIn(random, 3)) term.namespaces = RandomNames(random);
  term.namespace_selector = RandomNamespaceSelector(random);
  term.topology_key = RandomTopologyKey(random);
  return term;
}

std::optional<api::PodAffinity> RandomTerms(Random& random) {
  if (!OneIn(random, 3)) return std::nullopt;
  api::PodAffinity affinity;
  while (OneIn(random, 2)) {
    affinity.required_during_scheduling_ignored_during_execution.push_back(RandomTerm(random));
  }
  while (OneIn(random, 2)) {
    affinity.preferred_during_scheduling_ignored_during_execution.push_back(
        {static_cast<int32_t>(1 + random.Below(3)), RandomTerm(random)});
  }
  return affinity;
}

api::TopologySpreadConstraint RandomConstraint(Random& random) {
  constexpr std::string_view kPolicies[] = {"Honor", "Ignore"};
  api::TopologySpreadConstraint constraint;
  constraint.max_skew = static_cast<int32_t>(1 + random.Below(3));
  constraint.topology_key = RandomTopologyKey(random);
  constraint.when_unsatisfiable = OneIn(random, 2) ? "DoNotSchedule" : "ScheduleAnyway";
  constraint.label_selector = RandomPodSelector(random);
  if (OneIn(random, 3)) constraint.min_domains = static_cast<int32_t>(1 + random.Below(4));
  if (OneIn(random, 3)) constraint.node_affinity_policy = PickText(random, kPolicies);
  if (OneIn(random, 3)) constraint.node_taints_policy = PickText(random, kPolicies);
  if (OneIn(random, 3)) constraint.match_label_keys.push_back("tier");
  return constraint;
}

}  // namespace

std::vector<api::Namespace> RandomNamespaces(Random& random) {
  std::vector<api::Namespace> namespaces;
  for (const std::string_view name : kNamespaces) {
    if (OneIn(random, 8)) continue;
    api::Namespace& added = namespaces.emplace_back();
    added.metadata.name = name;
    if (!OneIn(random, 3)) {
      added.metadata.labels = MakeLabels({{"team", OneIn(random, 2) ? "a" : "b"}});
    }
  }
  return namespaces;
}

std::string RandomTopologyKey(Random& random) {
  return OneIn(random, 16) ? "absent" : PickText(random, kTopologyKeys);
}

std::optional<api::LabelSelector> RandomPodSelector(Random& random) {
  if (OneIn(random, 16)) return std::nullopt;
  api::LabelSelector selector;
  if (OneIn(random, 2)) selector.match_labels.emplace_back("app", PickText(random, kApps));
  if (OneIn(random, 4)) selector.match_labels.emplace_back("tier", PickText(random, kTiers));
  while (OneIn(random, 3)) selector.match_expressions.push_back(RandomRequirement(random));
  return selector;
}

PodQuery RandomPodQuery(Random& random) {
  PodQuery query;
  query.skip_terminating = OneIn(random, 2);
  do {
    PodTerm& term = query.all_of.emplace_back();
    const auto selector = LabelSelectorMatcher::Make(RandomPodSelector(random));
    BERTH_CHECK(selector.has_value(), "bad random selector");
    term.selector = *selector;
    if (OneIn(random, 4)) term.selector.Require("tier", PickText(random, kTiers));
    term.all_namespaces = OneIn(random, 4);
    term.namespaces = RandomNames(random);
    if (!OneIn(random, 4)) term.namespaces.push_back("default");
    std::sort(term.namespaces.begin(), term.namespaces.end());
    term.namespaces.erase(std::unique(term.namespaces.begin(), term.namespaces.end()),
                          term.namespaces.end());
  } while (OneIn(random, 4));
  return query;
}

void AddRandomAffinity(Random& random, api::Pod& pod) {
  if (OneIn(random, 3)) pod.metadata.namespace_ = PickText(random, kNamespaces);
  api::StringMap labels;
  if (!OneIn(random, 4)) labels.emplace_back("app", PickText(random, kApps));
  if (OneIn(random, 2)) labels.emplace_back("tier", PickText(random, kTiers));
  pod.metadata.labels = std::move(labels);
  auto affinity = RandomTerms(random);
  auto anti_affinity = RandomTerms(random);
  if (affinity || anti_affinity) {
    if (!pod.spec.affinity) pod.spec.affinity.emplace();
    pod.spec.affinity->pod_affinity = std::move(affinity);
    pod.spec.affinity->pod_anti_affinity = std::move(anti_affinity);
  }
  while (OneIn(random, 4)) {
    pod.spec.topology_spread_constraints.push_back(RandomConstraint(random));
  }
}

}  // namespace berth::test
