// SPDX-License-Identifier: Apache-2.0
#include "src/plan/measure.h"

#include <algorithm>
#include <tuple>

#include "berth/api/node.h"
#include "berth/matching.h"
#include "src/base/text.h"
#include "src/informers/kinds.h"
#include "src/packing/figures.h"

namespace berth::plan {

using base::Concat;
using informers::Kind;
using simulator::Simulation;

Result<Domains> Domains::Of(const Goal& goal, const Simulation& simulation) {
  const simulator::Workload& workload = goal.workload;
  std::vector<PodPtr> pods = PodsMadeBy(workload, simulation);
  std::erase_if(pods, [](const PodPtr& pod) { return pod->metadata.deletion_timestamp; });
  if (pods.empty()) {
    return Fail(Concat("no pod of ", workload.kind, " ",
                       api::NamespacedKey(workload.namespace_, workload.name), " is there",
                       MeantInsteadOf(workload, simulation)));
  }
  const PodPtr& last = *std::ranges::max_element(pods, {}, [](const PodPtr& pod) {
    return std::tuple(pod->metadata.creation_timestamp.value_or(Time()), pod->metadata.Key());
  });
  const RequiredNodeAffinity affinity = RequiredNodeAffinity::Make(*last);
  std::map<std::string, std::string> value_by_node;
  simulation.api().ForEach(Kind::kNode, [&](const api::ObjectPtr& object) {
    const api::Node& node = *api::As<api::Node>(object);
    const std::string* value = api::Find(node.metadata.labels, goal.topology_key);
    if (value != nullptr && affinity.Matches(node)) {
      value_by_node.emplace(node.metadata.name, *value);
    }
  });
  if (value_by_node.empty()) {
    return Fail(Concat("no node that ", last->metadata.Key(), " may be on has the label ",
                       goal.topology_key));
  }
  Domains domains(workload);
  for (const auto& [node, value] : value_by_node) domains.values_.push_back(value);
  std::ranges::sort(domains.values_);
  const auto repeated = std::ranges::unique(domains.values_);
  domains.values_.erase(repeated.begin(), repeated.end());
  for (const auto& [node, value] : value_by_node) {
    const auto at = std::ranges::lower_bound(domains.values_, value);
    domains.by_node_.emplace(node, static_cast<size_t>(at - domains.values_.begin()));
  }
  return domains;
}

size_t Domains::On(std::string_view node) const {
  const auto found = by_node_.find(node);
  return found == by_node_.end() ? kNone : found->second;
}

std::vector<int64_t> Domains::Count(const Simulation& simulation) const {
  std::vector<int64_t> pods(values_.size());
  for (const PodPtr& pod : PodsMadeBy(workload_, simulation)) {
    const size_t domain = On(pod->spec.node_name);
    if (domain != kNone && !pod->metadata.deletion_timestamp) ++pods[domain];
  }
  return pods;
}

int64_t SkewOf(const std::vector<int64_t>& pods) {
  if (pods.empty()) return 0;
  const auto [least, most] = std::ranges::minmax(pods);
  return most - least;
}

Result<packing::Stranding> StrandingOf(const Goal& goal, Simulation& simulation) {
  simulation.RunDue();
  auto stranding = packing::MeasureStranding(simulation.scheduler().cache(),
                                             simulation.scheduler().pending_pods(), goal.name);
  if (stranding) return *std::move(stranding);
  return Fail(Concat("there are no figures of ", goal.name,
                     ": no node offers it, or it is none of the eight extended resources that "
                     "most nodes offer"));
}

int64_t AmountOf(const Goal& goal) {
  return goal.name == "cpu" ? goal.amount.MilliValue() : goal.amount.Value();
}

std::string WhyNotReached(const Goal& goal, Simulation& simulation) {
  if (goal.kind == Goal::Kind::kSkew) {
    const auto domains = Domains::Of(goal, simulation);
    if (!domains) return domains.error().message;
    const int64_t skew = SkewOf(domains->Count(simulation));
    if (skew <= goal.max_skew) return "";
    return Concat("the skew of ", goal.workload.ToString(), " over ", goal.topology_key, " is ",
                  std::to_string(skew));
  }
  const auto stranding = StrandingOf(goal, simulation);
  if (!stranding) return stranding.error().message;
  if (stranding->amount < AmountOf(goal)) return "";
  return Concat(packing::AmountText(goal.name, stranding->amount), " ", goal.name, " are stranded");
}

}  // namespace berth::plan
