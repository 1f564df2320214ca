// SPDX-License-Identifier: Apache-2.0
#include "src/questions/proposals.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "berth/in_tree/pod_groups.h"
#include "berth/label_selector.h"
#include "berth/matching.h"
#include "src/plan/plan.h"
#include "src/questions/commands.h"
#include "src/questions/replicas.h"
#include "src/simulator/picture.h"

namespace berth::questions {
namespace {

// Nodes that stand for their group.
constexpr size_t kMostExamples = 3;
// Different taints, or values of a label, of a group's nodes.
constexpr size_t kMostTaints = 16;
// A pod may have any number of selectors, terms and ports.
constexpr size_t kMostProposals = 256;

}  // namespace

std::vector<NodeRow> Refusal::Examples() const {
  std::vector<NodeRow> rows = group.nodes;
  const size_t shown = std::min(rows.size(), kMostExamples);
  std::partial_sort(
      rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown), rows.end(),
      [&](NodeRow a, NodeRow b) { return node(a).metadata.name < node(b).metadata.name; });
  rows.resize(shown);
  return rows;
}

void Refusal::Add(explain::Change change) const {
  if (out.size() >= kMostProposals) return;
  if (std::ranges::find(out, change) == out.end()) out.push_back(std::move(change));
}

namespace {

constexpr size_t kMostValues = 4;
// More pods than any domain may have more than another.
constexpr int32_t kAnySkew = 1 << 20;

bool KeepsOut(const api::Taint& taint, const api::Pod& pod) {
  return taint.effect != api::kTaintEffectPreferNoSchedule &&
         !Tolerates(pod.spec.tolerations, taint, true);
}

// A controller keeps such a taint while the node is in that state; out-of-service is a person's.
bool IsPutBack(const api::Taint& taint) {
  return TellsOfState(taint) && taint.key != "node.kubernetes.io/out-of-service";
}

const api::NodeSelector* RequiredNodeAffinityOf(const api::Pod& pod) {
  if (!pod.spec.affinity || !pod.spec.affinity->node_affinity) return nullptr;
  const auto& required =
      pod.spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
  return required ? &*required : nullptr;
}

// The values that the group's nodes have of a label, where `requirement` lists others.
void Widen(const api::NodeSelectorRequirement& requirement, const Refusal& refusal) {
  std::set<std::string> values;
  for (const NodeRow row : refusal.group.nodes) {
    const std::string* value = api::Find(refusal.node(row).metadata.labels, requirement.key);
    if (value == nullptr) continue;
    if (std::ranges::find(requirement.values, *value) != requirement.values.end()) continue;
    if (values.size() >= kMostValues || !values.insert(*value).second) continue;
    refusal.Add(explain::WidenNodeAffinity{requirement.key, *value});
  }
}

// A value of the label with which a node meets the requirement; nullptr: none is known.
const std::string* MeetingValue(const api::NodeSelectorRequirement& requirement) {
  static const std::string kTrue = "true";
  if (requirement.operator_ == "Exists") return &kTrue;
  if (requirement.operator_ != "In" || requirement.values.empty()) return nullptr;
  return &requirement.values.front();
}

// Whether the label says what the node is: its kubelet, or the cloud's controller, puts the right
// value back, and pods that another value brings there do not run. Source:
// pkg/kubelet/kubelet_node_status.go of Kubernetes 1.37.1.
bool TellsOfTheNode(std::string_view label) {
  constexpr std::string_view kLabels[] = {
      "kubernetes.io/hostname",
      "topology.kubernetes.io/zone",
      "topology.kubernetes.io/region",
      "failure-domain.beta.kubernetes.io/zone",
      "failure-domain.beta.kubernetes.io/region",
      "node.kubernetes.io/instance-type",
      "beta.kubernetes.io/instance-type",
      "kubernetes.io/os",
      "kubernetes.io/arch",
      "node.kubernetes.io/windows-build",
      "beta.kubernetes.io/os",
      "beta.kubernetes.io/arch",
  };
  return std::ranges::find(kLabels, label) != std::end(kLabels);
}

void Label(const std::string& key, const std::string& value, const Refusal& refusal) {
  if (TellsOfTheNode(key)) return;
  for (const NodeRow row : refusal.Examples()) {
    const api::Node& node = refusal.node(row);
    const std::string* now = api::Find(node.metadata.labels, key);
    if (now == nullptr || *now != value) {
      refusal.Add(explain::SetLabel{node.metadata.name, key, value});
    }
  }
}

const std::vector<api::PodAffinityTerm>& RequiredTerms(
    const std::optional<api::PodAffinity>& affinity) {
  static const std::vector<api::PodAffinityTerm> kNone;
  return affinity ? affinity->required_during_scheduling_ignored_during_execution : kNone;
}

const std::vector<api::PodAffinityTerm>& AntiAffinityOf(const api::Pod& pod) {
  static const std::optional<api::PodAffinity> kNone;
  return RequiredTerms(pod.spec.affinity ? pod.spec.affinity->pod_anti_affinity : kNone);
}

// Whether the term of the pod may mean the pod itself, and so all that are like it. A selector of
// namespaces is taken to match.
bool MayMeanItself(const api::PodAffinityTerm& term, const api::Pod& pod) {
  const auto selector = LabelSelectorMatcher::Make(term.label_selector);
  if (!selector || !selector->Matches(pod.metadata.labels)) return false;
  return term.namespace_selector || term.namespaces.empty() ||
         std::ranges::find(term.namespaces, pod.metadata.namespace_) != term.namespaces.end();
}

// The same term of the pods on nodes that are made from the same: as it is one of their template,
// it goes from all of them, and as it means them, it would keep the pod out as long as they have
// it.
void AddOthers(const Refusal& refusal, explain::DropPodAffinity& change) {
  const api::Pod& pod = refusal.pod();
  if (ControllerOf(pod.metadata) == nullptr || !MayMeanItself(change.term, pod)) return;
  const simulator::MemoryApi& objects = refusal.trial.objects();
  const explain::Application maker = MakerOf(pod, objects);
  objects.ForEachUnsorted(informers::Kind::kPod, [&](const api::ObjectPtr& object) {
    const api::Pod& other = *api::As<api::Pod>(object);
    if (other.spec.node_name.empty() || other.metadata.namespace_ != pod.metadata.namespace_ ||
        ControllerOf(other.metadata) == nullptr ||
        std::ranges::find(AntiAffinityOf(other), change.term) == AntiAffinityOf(other).end()) {
      return;
    }
    const explain::Application its = MakerOf(other, objects);
    if (its.kind == maker.kind && its.name == maker.name) {
      change.others.push_back(other.metadata.Key());
    }
  });
  if (change.others.empty()) return;
  std::ranges::sort(change.others);
  change.owner = pod.metadata.namespace_ + "/" + maker.kind + "/" + maker.name;
}

void DropTerms(const std::optional<api::PodAffinity>& affinity, bool anti, const Refusal& refusal) {
  for (const api::PodAffinityTerm& term : RequiredTerms(affinity)) {
    explain::DropPodAffinity change{.term = term, .anti = anti};
    if (anti) AddOthers(refusal, change);
    refusal.Add(std::move(change));
  }
}

void DropPorts(const std::vector<api::Container>& containers, const Refusal& refusal) {
  for (const api::Container& container : containers) {
    for (const api::ContainerPort& port : container.ports) {
      if (port.host_port > 0) refusal.Add(explain::DropHostPort{port.host_port, port.protocol});
    }
  }
}

// One generator for each kind of refusal. Amounts are the largest that make sense: Tighten() makes
// them small.

void OfResources(const Refusal& refusal) {
  for (const std::string& resource : RequestedResources(refusal.pod())) {
    const api::Quantity from = EffectiveRequest(refusal.pod(), resource);
    const api::Pod least = WithRequest(refusal.pod(), resource, 0);
    refusal.Add(explain::LowerRequest{resource, from, EffectiveRequest(least, resource)});
  }
}

void OfTaints(const Refusal& refusal) {
  std::set<std::string> seen;
  for (const NodeRow row : refusal.group.nodes) {
    for (const api::Taint& taint : refusal.node(row).spec.taints) {
      if (seen.size() >= kMostTaints || !KeepsOut(taint, refusal.pod())) continue;
      if (seen.insert(explain::ToText(taint)).second) refusal.Add(explain::Tolerate{taint});
    }
  }
  for (const NodeRow row : refusal.Examples()) {
    const api::Node& node = refusal.node(row);
    for (const api::Taint& taint : node.spec.taints) {
      if (!KeepsOut(taint, refusal.pod()) || IsPutBack(taint)) continue;
      refusal.Add(explain::RemoveTaint{node.metadata.name, taint});
    }
  }
}

void OfCordons(const Refusal& refusal) {
  for (const NodeRow row : refusal.Examples()) {
    const api::Node& node = refusal.node(row);
    if (node.spec.unschedulable) refusal.Add(explain::Uncordon{node.metadata.name});
  }
  // A cordon without its taint is tolerated as the taint is.
  refusal.Add(explain::Tolerate{{std::string(simulator::kUnschedulableTaint), "", "NoSchedule"}});
}

void OfNodeSelectors(const Refusal& refusal) {
  for (const auto& [key, value] : refusal.pod().spec.node_selector) {
    refusal.Add(explain::DropNodeSelector{key, value});
    Label(key, value, refusal);
  }
}

void OfNodeAffinity(const Refusal& refusal) {
  const api::NodeSelector* required = RequiredNodeAffinityOf(refusal.pod());
  if (required == nullptr) return;
  for (const api::NodeSelectorTerm& term : required->node_selector_terms) {
    for (const api::NodeSelectorRequirement& requirement : term.match_expressions) {
      refusal.Add(explain::DropNodeAffinity{requirement, false});
      if (requirement.operator_ == "In") Widen(requirement, refusal);
      if (const std::string* value = MeetingValue(requirement)) {
        Label(requirement.key, *value, refusal);
      }
    }
    for (const api::NodeSelectorRequirement& requirement : term.match_fields) {
      refusal.Add(explain::DropNodeAffinity{requirement, true});
    }
  }
}

void OfPodAffinity(const Refusal& refusal) {
  if (!refusal.pod().spec.affinity) return;
  DropTerms(refusal.pod().spec.affinity->pod_affinity, false, refusal);
  DropTerms(refusal.pod().spec.affinity->pod_anti_affinity, true, refusal);
}

void OfSpread(const Refusal& refusal) {
  const auto& constraints = refusal.pod().spec.topology_spread_constraints;
  for (const api::TopologySpreadConstraint& constraint : constraints) {
    if (constraint.when_unsatisfiable != kDoNotSchedule) continue;
    const std::string& key = constraint.topology_key;
    int32_t from = constraint.max_skew;
    for (const api::TopologySpreadConstraint& other : constraints) {
      if (other.when_unsatisfiable == kDoNotSchedule && other.topology_key == key) {
        from = std::min(from, other.max_skew);
      }
    }
    if (from < kAnySkew) refusal.Add(explain::RelaxSpread{key, from, kAnySkew});
    refusal.Add(explain::SpreadAnyway{key});
    if (constraint.node_taints_policy != kHonor) refusal.Add(explain::HonorTaints{key});
    int32_t domains = 1;
    for (const api::TopologySpreadConstraint& other : constraints) {
      if (other.topology_key == key) domains = std::max(domains, other.min_domains.value_or(1));
    }
    if (domains > 1) refusal.Add(explain::LowerMinDomains{key, domains, 1});
  }
}

void OfHostPorts(const Refusal& refusal) {
  DropPorts(refusal.pod().spec.containers, refusal);
  DropPorts(refusal.pod().spec.init_containers, refusal);
}

using informers::Kind;

// Classes that are tried for a claim.
constexpr size_t kMostClasses = 8;

// The labels of a node that reaches the volume: those that one of its terms lists. Empty: none says
// so by labels alone, or some node does reach it.
api::StringMap LabelsFor(const api::PersistentVolume& volume, const Snapshot& nodes) {
  const auto& affinity = volume.spec.node_affinity;
  if (!affinity || !affinity->required) return {};
  const NodeSelectorMatcher reaches = NodeSelectorMatcher::Make(*affinity->required);
  bool reached = false;
  nodes.nodes().ForEach([&](NodeRow row) { reached |= reaches.Matches(nodes.node(row)); });
  if (reached) return {};
  for (const api::NodeSelectorTerm& term : affinity->required->node_selector_terms) {
    api::StringMap labels;
    for (const api::NodeSelectorRequirement& requirement : term.match_expressions) {
      // A new node is never the one that had a local volume.
      const bool of_one_node = requirement.key == "kubernetes.io/hostname";
      if (requirement.operator_ == "In" && !requirement.values.empty() && !of_one_node)
        labels.emplace_back(requirement.key, requirement.values.front());
    }
    if (labels.empty() || labels.size() != term.match_expressions.size() ||
        !term.match_fields.empty()) {
      continue;
    }
    std::ranges::sort(labels);
    return labels;
  }
  return {};
}

// Nodes where no node is yet.
void OfVolumes(const Refusal& refusal) {
  const simulator::MemoryApi& objects = refusal.trial.objects();
  const api::Pod& pod = refusal.pod();
  for (const api::Volume& volume : pod.spec.volumes) {
    if (!volume.persistent_volume_claim) continue;
    const auto claim = simulator::FindIn<api::PersistentVolumeClaim>(
        objects, Kind::kPersistentVolumeClaim,
        api::NamespacedKey(pod.metadata.namespace_, volume.persistent_volume_claim->claim_name));
    if (claim == nullptr || claim->spec.volume_name.empty()) continue;
    const auto of_claim = simulator::FindIn<api::PersistentVolume>(objects, Kind::kPersistentVolume,
                                                                   claim->spec.volume_name);
    if (of_claim == nullptr) continue;
    const api::StringMap labels = LabelsFor(*of_claim, refusal.judgement.snapshot());
    if (labels.empty()) continue;
    for (const NodeRow row : refusal.Examples()) {
      refusal.Add(explain::AddNode{refusal.node(row).metadata.name, "", labels});
    }
  }
}

void OfClaims(const Refusal& refusal) {
  const simulator::MemoryApi& objects = refusal.trial.objects();
  std::vector<std::string> classes;
  objects.ForEach(Kind::kStorageClass, [&](const api::ObjectPtr& object) {
    if (classes.size() < kMostClasses) {
      classes.push_back(api::As<api::StorageClass>(object)->metadata.name);
    }
  });
  const api::Pod& pod = refusal.pod();
  for (const api::Volume& volume : pod.spec.volumes) {
    std::string name;
    if (volume.persistent_volume_claim) name = volume.persistent_volume_claim->claim_name;
    if (volume.ephemeral) name = pod.metadata.name + "-" + volume.name;
    if (name.empty()) continue;
    const std::string key = api::NamespacedKey(pod.metadata.namespace_, name);
    const auto claim =
        simulator::FindIn<api::PersistentVolumeClaim>(objects, Kind::kPersistentVolumeClaim, key);
    // What has its volume keeps it.
    if (claim == nullptr || !claim->spec.volume_name.empty()) continue;
    const std::string now = claim->spec.storage_class_name.value_or("");
    for (const std::string& other : classes) {
      if (other != now) refusal.Add(explain::UseStorageClass{key, now, other});
    }
    const auto of_claim = simulator::FindIn<api::StorageClass>(objects, Kind::kStorageClass, now);
    if (of_claim != nullptr && !of_claim->allowed_topologies.empty()) {
      refusal.Add(explain::AllowAnyTopology{now});
    }
  }
}

}  // namespace

namespace {

constexpr size_t kMostShapes = 8;
// Pools whose nodes are too small, and shapes of others that are tried for them.
constexpr size_t kMostPools = 3;
constexpr size_t kMostOtherShapes = 4;

struct OfPlugin {
  std::string_view plugin;
  void (*generate)(const Refusal&);
};
constexpr OfPlugin kGenerators[] = {
    {"NodeResourcesFit", OfResources},
    {"TaintToleration", OfTaints},
    // A cordon has a taint, which may be what rejects.
    {"TaintToleration", OfCordons},
    {"NodeUnschedulable", OfCordons},
    {"NodeUnschedulable", OfTaints},
    {"NodeAffinity", OfNodeSelectors},
    {"NodeAffinity", OfNodeAffinity},
    {"InterPodAffinity", OfPodAffinity},
    {"PodTopologySpread", OfSpread},
    {"NodePorts", OfHostPorts},
    {"VolumeBinding", OfClaims},
    {"VolumeBinding", OfVolumes},
    {"VolumeZone", OfClaims},
    {"VolumeZone", OfVolumes},
    {"NodeVolumeLimits", OfClaims},
};

std::string PoolOf(const api::Node& node) {
  std::string pool;
  for (const auto& [key, value] : node.metadata.labels) {
    if (value != node.metadata.name) pool += key + "=" + value + "\n";
  }
  for (const api::Taint& taint : node.spec.taints) pool += explain::ToText(taint) + "\n";
  return pool;
}

std::string AllocatableOf(const api::Node& node) {
  std::string text;
  for (const auto& [name, quantity] : node.status.allocatable) {
    text += name + ":" + quantity.ToString() + "\n";
  }
  return text;
}

std::string ShapeOf(const api::Node& node) { return PoolOf(node) + AllocatableOf(node); }

bool HasMoreThan(const api::Node& node, const api::Node& other) {
  return std::ranges::any_of(node.status.allocatable, [&other](const auto& amount) {
    const api::Quantity* its = api::Find(other.status.allocatable, amount.first);
    return its == nullptr || *its < amount.second;
  });
}

// Nodes of pools that would take the pod if theirs were larger, with the resources of others.
void ProposeOtherShapes(const std::vector<explain::RejectedGroup>& groups, const Snapshot& snapshot,
                        std::vector<explain::Change>& out) {
  std::set<std::string> seen;
  std::vector<const api::Node*> shapes;
  for (const explain::RejectedGroup& group : groups) {
    for (const NodeRow row : group.nodes) {
      const api::Node& node = snapshot.node(row);
      if (shapes.size() < kMostShapes && seen.insert(AllocatableOf(node)).second)
        shapes.push_back(&node);
    }
  }
  std::set<std::string> pools;
  for (const explain::RejectedGroup& group : groups) {
    if (group.plugin != "NodeResourcesFit") continue;
    for (const NodeRow row : group.nodes) {
      const api::Node& node = snapshot.node(row);
      if (pools.size() >= kMostPools || !pools.insert(PoolOf(node)).second) continue;
      size_t proposed = 0;
      for (const api::Node* shape : shapes) {
        if (proposed == kMostOtherShapes || !HasMoreThan(*shape, node)) continue;
        ++proposed;
        out.push_back(explain::AddNode{node.metadata.name, shape->metadata.name, {}});
      }
    }
  }
}

}  // namespace

void Propose(const Refusal& refusal) {
  const std::string_view plugin = refusal.group.plugin;
  const bool known =
      std::ranges::any_of(kGenerators, [&](const OfPlugin& of) { return of.plugin == plugin; });
  for (const OfPlugin& of : kGenerators) {
    // PreFilter, and plugins that are not ours, may mean anything.
    if (!known || of.plugin == plugin) of.generate(refusal);
  }
}

void ProposeNodes(const std::vector<explain::RejectedGroup>& groups,
                  const engine::Judgement& judgement, std::vector<explain::Change>& out) {
  std::set<std::string> shapes;
  for (const explain::RejectedGroup& group : groups) {
    for (const NodeRow row : group.nodes) {
      if (shapes.size() >= kMostShapes) break;
      const api::Node& node = judgement.snapshot().node(row);
      if (shapes.insert(ShapeOf(node)).second) {
        out.push_back(explain::AddNode{node.metadata.name, "", {}});
      }
    }
  }
  ProposeOtherShapes(groups, judgement.snapshot(), out);
}

namespace {

using explain::EvictPods;
using informers::Kind;

constexpr size_t kMostEvictionNodes = 3;

// The budgets that select some of the pods, by name.
std::vector<EvictPods::Budget> BudgetsOf(const std::vector<const PodInfo*>& pods,
                                         const simulator::MemoryApi& objects) {
  std::vector<EvictPods::Budget> budgets;
  objects.ForEach(Kind::kPodDisruptionBudget, [&](const api::ObjectPtr& object) {
    const auto& budget = *api::As<api::PodDisruptionBudget>(object);
    const auto selector = LabelSelectorMatcher::Make(budget.spec.selector);
    if (!selector) return;
    const auto evicted = std::ranges::count_if(pods, [&](const PodInfo* pod) {
      const api::ObjectMeta& meta = pod->pod->metadata;
      return meta.namespace_ == budget.metadata.namespace_ && selector->Matches(meta.labels);
    });
    if (evicted == 0) return;
    budgets.push_back({budget.metadata.Key(), evicted, budget.status.disruptions_allowed});
  });
  return budgets;
}

void PreviewEvictions(TrialCluster& trial, std::string_view node,
                      std::vector<explain::Change>& out) {
  const std::unique_ptr<engine::Judgement> judgement = trial.Judge();
  judgement->Explain();
  judgement->PreviewPreemption();
  if (!judgement->preemption()) return;
  const PreemptionPreview& preview = *judgement->preemption();
  // Those are found without a person.
  if (preview.moved) return;
  std::vector<size_t> order(preview.candidates.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto rank = [&](size_t i) {
    const PreemptionCandidate& candidate = preview.candidates[i];
    return std::tuple(!std::ranges::binary_search(preview.best, i), candidate.num_pdb_violations,
                      candidate.victims.size(), i);
  };
  std::ranges::sort(order, {}, rank);
  size_t proposed = 0;
  for (const size_t i : order) {
    const PreemptionCandidate& candidate = preview.candidates[i];
    EvictPods change;
    change.node = judgement->snapshot().node(candidate.row).metadata.name;
    if (!node.empty() && change.node != node) continue;
    if (++proposed > kMostEvictionNodes) return;
    for (const PodInfo* victim : candidate.victims) {
      change.pods.push_back(victim->pod->metadata.Key());
    }
    change.budgets = BudgetsOf(candidate.victims, trial.objects());
    out.push_back(std::move(change));
  }
}

}  // namespace

void ProposeEvictions(TrialCluster& trial, std::string_view node,
                      std::vector<explain::Change>& out) {
  // Whether the pod itself may preempt says nothing about what a person may evict.
  if (trial.pod().spec.preemption_policy == "Never") {
    auto pod = std::make_shared<api::Pod>(trial.pod());
    pod->spec.preemption_policy.reset();
    const size_t depth = trial.depth();
    trial.Replace(std::move(pod));
    PreviewEvictions(trial, node, out);
    trial.TakeBackTo(depth);
  } else {
    PreviewEvictions(trial, node, out);
  }
}

size_t ProposeMoves(simulator::Simulation& simulation, const api::Pod& pod, size_t most,
                    std::vector<explain::Change>& out) {
  if (most == 0 || PodGroupNameOf(pod) != nullptr) return 0;
  const plan::Goal goal{.kind = plan::Goal::Kind::kFit, .name = pod.metadata.Key()};
  const auto plan = plan::FindPlan(goal, simulation, {.judged = most, .depth = 2});
  if (!plan) return 0;  // the cluster has another version of the pod, on a node
  if (plan->outcome != plan::Plan::Outcome::kFound || plan->evictions() == 0) return plan->judged;
  explain::MovePods change;
  for (const plan::Move& move : plan->moves) {
    if (move.from.empty()) {
      change.node = move.to;
    } else {
      change.moves.push_back({move.pod, move.from, move.to});
    }
  }
  out.push_back(std::move(change));
  return plan->judged;
}

}  // namespace berth::questions
