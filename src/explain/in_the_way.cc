// SPDX-License-Identifier: Apache-2.0
#include "src/explain/in_the_way.h"

#include <algorithm>
#include <set>

#include "berth/in_tree/claim_preview.h"
#include "berth/label_selector.h"
#include "berth/matching.h"

namespace berth::explain {
namespace {

// Whether the term means the pod, as far as that is known without the labels of namespaces.
bool Means(const AffinityTerm& term, const api::Pod& pod) { return term.Matches(pod, {}); }

const std::string* LabelOf(const api::Node& node, std::string_view key) {
  return api::Find(node.metadata.labels, key);
}

template <typename Visit>
void ForEachPod(const Snapshot& snapshot, Visit visit) {
  snapshot.nodes().ForEach([&](NodeRow row) {
    for (const PodInfo* pod : snapshot.pods(row)) visit(row, *pod);
  });
}

bool Tolerated(const api::Node& node, const api::Pod& pod) {
  return std::ranges::all_of(node.spec.taints, [&pod](const api::Taint& taint) {
    return taint.effect == api::kTaintEffectPreferNoSchedule ||
           Tolerates(pod.spec.tolerations, taint, true);
  });
}

std::string Text(const HostPort& port) {
  const std::string ip = port.ip == "0.0.0.0" ? "" : port.ip + ":";
  return ip + std::to_string(port.port) + "/" + port.protocol;
}

// The selector of a constraint with what its matchLabelKeys add; nullopt: it cannot be read.
std::optional<LabelSelectorMatcher> SelectorOf(const api::TopologySpreadConstraint& constraint,
                                               const api::Pod& pod) {
  std::optional<api::LabelSelector> selector = constraint.label_selector;
  for (const std::string& key : constraint.match_label_keys) {
    const std::string* value = api::Find(pod.metadata.labels, key);
    if (value == nullptr) continue;
    if (!selector) selector.emplace();
    selector->match_expressions.push_back({key, "In", {*value}});
  }
  auto made = LabelSelectorMatcher::Make(selector);
  if (!made) return std::nullopt;
  return *std::move(made);
}

// What the plugin itself says is in the way.
std::string SaidBy(std::string_view plugin, const engine::Judgement& judgement, NodeRow row) {
  for (const framework::FilterEntry& entry : judgement.profile()->plugins().filter) {
    if (entry.name != plugin) continue;
    const auto* said = dynamic_cast<const InTheWayPlugin*>(entry.plugin);
    if (said == nullptr) return "";
    return said->InTheWayOf(judgement.pod(), NodeView(judgement.snapshot(), row));
  }
  return "";
}

std::set<std::string_view> ClaimsOf(const api::Pod& pod) {
  std::set<std::string_view> names;
  for (const api::Volume& volume : pod.spec.volumes) {
    if (volume.persistent_volume_claim) names.insert(volume.persistent_volume_claim->claim_name);
  }
  return names;
}

}  // namespace

const std::string& InTheWay::On(NodeRow row) {
  const auto [it, is_new] = found_.try_emplace(row);
  if (is_new) it->second = Find(row);
  return it->second;
}

std::string InTheWay::Find(NodeRow row) {
  const engine::NodeStatuses& statuses = judgement_.statuses();
  if (!statuses.explicit_nodes().Test(row)) return UserOfClaim();
  const std::string_view plugin = statuses.plugin(row);
  if (plugin == "NodePorts") return HolderOfPort(row);
  if (plugin == "PodTopologySpread") return Skew(row);
  if (plugin == "VolumeRestrictions") return UserOfClaim();
  if (plugin != "InterPodAffinity") return SaidBy(plugin, judgement_, row);
  std::string text = Repelled(row);
  return text.empty() ? Repelling(row) : text;
}

std::string InTheWay::HolderOfPort(NodeRow row) const {
  for (const HostPort& wanted : HostPorts(judgement_.pod())) {
    for (const PodInfo* pod : snapshot_.pods(row)) {
      for (const HostPort& held : pod->host_ports) {
        if (held.ConflictsWith(wanted))
          return "pod " + pod->pod->metadata.Key() + " has host port " + Text(held);
      }
    }
  }
  return "";
}

// A pod that the pod's own anti-affinity keeps it away from.
std::string InTheWay::Repelled(NodeRow row) {
  const auto terms = PodAffinityTerms::Make(judgement_.pod());
  if (terms == nullptr) return "";
  if (!repelled_) {
    repelled_.emplace(terms->required_anti_affinity.size());
    ForEachPod(snapshot_, [&](NodeRow on, const PodInfo& pod) {
      for (size_t i = 0; i < repelled_->size(); ++i) {
        const AffinityTerm& term = terms->required_anti_affinity[i];
        const std::string* value = LabelOf(snapshot_.node(on), term.topology_key);
        if (value == nullptr || (*repelled_)[i].contains(*value) || !Means(term, *pod.pod))
          continue;
        (*repelled_)[i].emplace(*value, pod.pod->metadata.Key());
      }
    });
  }
  for (size_t i = 0; i < repelled_->size(); ++i) {
    const std::string& key = terms->required_anti_affinity[i].topology_key;
    const std::string* value = LabelOf(snapshot_.node(row), key);
    if (value == nullptr) continue;
    const auto found = (*repelled_)[i].find(*value);
    if (found != (*repelled_)[i].end())
      return "pod " + found->second + " is in " + key + "=" + *value;
  }
  return "";
}

// A pod whose anti-affinity keeps the pod away.
std::string InTheWay::Repelling(NodeRow row) {
  if (!repelling_) {
    repelling_.emplace();
    ForEachPod(snapshot_, [&](NodeRow on, const PodInfo& pod) {
      if (pod.affinity == nullptr) return;
      for (const AffinityTerm& term : pod.affinity->required_anti_affinity) {
        const std::string* value = LabelOf(snapshot_.node(on), term.topology_key);
        if (value == nullptr || !Means(term, judgement_.pod())) continue;
        (*repelling_)[term.topology_key].try_emplace(*value, pod.pod->metadata.Key());
      }
    });
  }
  for (const auto& [key, by_domain] : *repelling_) {
    const std::string* value = LabelOf(snapshot_.node(row), key);
    if (value == nullptr) continue;
    const auto found = by_domain.find(*value);
    if (found != by_domain.end())
      return "pod " + found->second + " keeps it out of " + key + "=" + *value;
  }
  return "";
}

// Of a claim that only one pod may use, wherever that is.
std::string InTheWay::UserOfClaim() const {
  const api::Pod& pod = judgement_.pod();
  const std::set<std::string_view> claims = ClaimsOf(pod);
  if (claims.empty() || judgement_.message().find("ReadWriteOncePod") == std::string::npos) {
    return "";
  }
  std::string text;
  ForEachPod(snapshot_, [&](NodeRow row, const PodInfo& other) {
    const api::Pod& user = *other.pod;
    if (!text.empty() || user.metadata.namespace_ != pod.metadata.namespace_) return;
    for (const std::string_view claim : ClaimsOf(user)) {
      if (!claims.contains(claim)) continue;
      text = "pod " + user.metadata.Key() + " on " + snapshot_.node(row).metadata.name +
             " uses claim " + std::string(claim);
    }
  });
  return text;
}

void InTheWay::CountSpreads() {
  spreads_.emplace();
  const api::Pod& pod = judgement_.pod();
  const RequiredNodeAffinity affinity = RequiredNodeAffinity::Make(pod);
  const auto strict = [](const api::TopologySpreadConstraint& constraint) {
    return constraint.when_unsatisfiable == "DoNotSchedule";
  };
  for (const auto& constraint : pod.spec.topology_spread_constraints) {
    const auto selector = SelectorOf(constraint, pod);
    if (!strict(constraint) || !selector) continue;
    Spread& spread = spreads_->emplace_back();
    spread.constraint = &constraint;
    spread.self = selector->Matches(pod.metadata.labels) ? 1 : 0;
    snapshot_.nodes().ForEach([&](NodeRow row) {
      const api::Node& node = snapshot_.node(row);
      const bool counts =
          std::ranges::all_of(pod.spec.topology_spread_constraints, [&](const auto& other) {
            return !strict(other) || LabelOf(node, other.topology_key) != nullptr;
          });
      if (!counts) return;
      if (constraint.node_affinity_policy != "Ignore" && !affinity.Matches(node)) return;
      if (constraint.node_taints_policy == "Honor" && !Tolerated(node, pod)) return;
      int64_t& count = spread.counts[*LabelOf(node, constraint.topology_key)];
      for (const PodInfo* other : snapshot_.pods(row)) {
        const api::ObjectMeta& meta = other->pod->metadata;
        if (meta.namespace_ == pod.metadata.namespace_ && !meta.deletion_timestamp &&
            selector->Matches(meta.labels)) {
          ++count;
        }
      }
    });
    const auto count_of = [](const auto& domain) { return domain.second; };
    if (!spread.counts.empty()) {
      spread.least = *std::ranges::min_element(spread.counts, {}, count_of);
    }
  }
}

// The constraint that the pod would break there.
std::string InTheWay::Skew(NodeRow row) {
  if (!spreads_) CountSpreads();
  const api::Node& node = snapshot_.node(row);
  for (const Spread& spread : *spreads_) {
    const std::string& key = spread.constraint->topology_key;
    const std::string* value = LabelOf(node, key);
    if (value == nullptr) return "it has no label " + key;
    if (spread.counts.empty()) continue;
    const auto here = spread.counts.find(*value);
    const int64_t count = here == spread.counts.end() ? 0 : here->second;
    const auto domains = static_cast<int64_t>(spread.counts.size());
    const bool few = domains < spread.constraint->min_domains.value_or(1);
    const int64_t skew = count + spread.self - (few ? 0 : spread.least.second);
    if (skew <= spread.constraint->max_skew) continue;
    std::string text = key + "=" + *value + " has " + std::to_string(count) + " alike, ";
    if (few) {
      text += "and " + std::to_string(domains) + " of " +
              std::to_string(*spread.constraint->min_domains) +
              " domains are there, so the least is 0";
    } else {
      text += key + "=" + spread.least.first + " " + std::to_string(spread.least.second);
    }
    return text + ": skew " + std::to_string(skew) + " is over " +
           std::to_string(spread.constraint->max_skew);
  }
  return "";
}

}  // namespace berth::explain
