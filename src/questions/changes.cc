// SPDX-License-Identifier: Apache-2.0
#include "src/questions/changes.h"

#include <algorithm>

#include "berth/resources.h"
#include "src/informers/kinds.h"
#include "src/questions/replicas.h"
#include "src/simulator/picture.h"

namespace berth::questions {
namespace {

using informers::Kind;
using simulator::MemoryApi;

template <typename T>
Delta Put(T object) {
  Delta delta;
  delta.put.emplace_back(std::make_shared<const T>(std::move(object)));
  return delta;
}

// Carries a change out on a copy of the node; false: there is nothing that it could change.
bool ChangeNode(const explain::Uncordon&, api::Node& node) {
  node.spec.unschedulable = false;
  std::erase_if(node.spec.taints, [](const api::Taint& taint) {
    return taint.key == simulator::kUnschedulableTaint;
  });
  return true;
}
bool ChangeNode(const explain::RemoveTaint& change, api::Node& node) {
  return std::erase(node.spec.taints, change.taint) > 0;
}
bool ChangeNode(const explain::SetLabel& change, api::Node& node) {
  api::Put(change.key, change.value, node.metadata.labels);
  return true;
}

// What a change of the pod means for others of its template.
template <typename T>
void ChangeOthers(const T&, const MemoryApi&, Delta&) {}
void ChangeOthers(const explain::DropPodAffinity& change, const MemoryApi& objects, Delta& delta) {
  for (const std::string& key : change.others) {
    const PodPtr other = objects.FindPod(key);
    if (other == nullptr) continue;
    api::Pod changed = *other;
    if (!ChangePod(change, changed)) continue;
    delta.put.emplace_back(std::make_shared<const api::Pod>(std::move(changed)));
  }
}

// The result of a change of several objects, or of others.
std::optional<Delta> ChangeObjects(const explain::AddNode& change, const MemoryApi& objects) {
  return NodeLike(change, objects);
}
std::optional<Delta> ChangeObjects(const explain::EvictPods& change, const MemoryApi& objects) {
  Delta delta;
  for (const std::string& pod : change.pods) {
    if (objects.FindPod(pod) == nullptr) return std::nullopt;
    delta.removed.emplace_back(Kind::kPod, pod);
  }
  return delta;
}
std::optional<Delta> ChangeObjects(const explain::MovePods& change, const MemoryApi& objects) {
  Delta delta;
  for (const explain::MovePods::Move& move : change.moves) {
    const PodPtr pod = objects.FindPod(move.pod);
    if (pod == nullptr || pod->spec.node_name != move.from) return std::nullopt;
    api::Pod moved = *PendingCopy(*pod, pod->metadata.name);
    moved.spec.node_name = move.to;
    delta.removed.emplace_back(Kind::kPod, move.pod);
    delta.put.emplace_back(std::make_shared<const api::Pod>(std::move(moved)));
  }
  return delta;
}
std::optional<Delta> ChangeObjects(const explain::UseStorageClass& change,
                                   const MemoryApi& objects) {
  const auto claim = simulator::FindIn<api::PersistentVolumeClaim>(
      objects, Kind::kPersistentVolumeClaim, change.claim);
  if (claim == nullptr) return std::nullopt;
  api::PersistentVolumeClaim changed = *claim;
  changed.spec.storage_class_name = change.to;
  return Put(std::move(changed));
}
std::optional<Delta> ChangeObjects(const explain::AllowAnyTopology& change,
                                   const MemoryApi& objects) {
  const auto storage_class =
      simulator::FindIn<api::StorageClass>(objects, Kind::kStorageClass, change.storage_class);
  if (storage_class == nullptr) return std::nullopt;
  api::StorageClass changed = *storage_class;
  changed.allowed_topologies.clear();
  return Put(std::move(changed));
}

}  // namespace

std::optional<Delta> Apply(const explain::Change& change, const api::Pod& pod,
                           const MemoryApi& objects) {
  return std::visit(
      [&](const auto& held) -> std::optional<Delta> {
        if constexpr (requires(api::Pod& changed) { ChangePod(held, changed); }) {
          api::Pod changed = pod;
          if (!ChangePod(held, changed)) return std::nullopt;
          Delta delta = Put(std::move(changed));
          ChangeOthers(held, objects, delta);
          return delta;
        } else if constexpr (requires(api::Node& changed) { ChangeNode(held, changed); }) {
          const auto node = simulator::FindIn<api::Node>(objects, Kind::kNode, held.node);
          if (node == nullptr) return std::nullopt;
          api::Node changed = *node;
          if (!ChangeNode(held, changed)) return std::nullopt;
          return Put(std::move(changed));
        } else {
          return ChangeObjects(held, objects);
        }
      },
      change);
}

namespace {

std::optional<api::NodeSelector>* RequiredNodeAffinity(api::Pod& pod) {
  if (!pod.spec.affinity || !pod.spec.affinity->node_affinity) return nullptr;
  auto& required =
      pod.spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
  return required ? &required : nullptr;
}

// Calls change(constraint) for each spread constraint over the key; true: it changed one.
template <typename ChangeOne>
bool ChangeSpread(api::Pod& pod, std::string_view topology_key, const ChangeOne& change) {
  bool changed = false;
  for (api::TopologySpreadConstraint& constraint : pod.spec.topology_spread_constraints) {
    if (constraint.topology_key == topology_key && change(constraint)) changed = true;
  }
  return changed;
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
  return ChangeSpread(pod, change.topology_key, [&](api::TopologySpreadConstraint& constraint) {
    if (constraint.when_unsatisfiable != kDoNotSchedule || constraint.max_skew >= change.to) {
      return false;
    }
    constraint.max_skew = change.to;
    return true;
  });
}

bool ChangePod(const explain::SpreadAnyway& change, api::Pod& pod) {
  return ChangeSpread(pod, change.topology_key, [](api::TopologySpreadConstraint& constraint) {
    if (constraint.when_unsatisfiable != kDoNotSchedule) return false;
    constraint.when_unsatisfiable = "ScheduleAnyway";
    // Only DoNotSchedule may have it.
    constraint.min_domains.reset();
    return true;
  });
}

bool ChangePod(const explain::HonorTaints& change, api::Pod& pod) {
  return ChangeSpread(pod, change.topology_key, [](api::TopologySpreadConstraint& constraint) {
    if (constraint.when_unsatisfiable != kDoNotSchedule) return false;
    if (constraint.node_taints_policy == kHonor) return false;
    constraint.node_taints_policy = kHonor;
    return true;
  });
}

bool ChangePod(const explain::LowerMinDomains& change, api::Pod& pod) {
  return ChangeSpread(pod, change.topology_key, [&](api::TopologySpreadConstraint& constraint) {
    if (constraint.min_domains.value_or(1) <= change.to) return false;
    constraint.min_domains = change.to;
    return true;
  });
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

bool TellsOfState(const api::Taint& taint) {
  return taint.key.starts_with("node.kubernetes.io/") ||
         taint.key.starts_with("node.cloudprovider.kubernetes.io/");
}

namespace {

using informers::Kind;

constexpr std::string_view kHostname = "kubernetes.io/hostname";

std::string NewName(std::string_view like, const simulator::MemoryApi& objects) {
  for (size_t i = 1;; ++i) {
    std::string name = std::string(like) + "-like-" + std::to_string(i);
    if (objects.Find(Kind::kNode, name).index() == 0) return name;
  }
}

template <typename T>
std::shared_ptr<T> Copy(const T& object, const std::string& name) {
  auto copy = std::make_shared<T>(object);
  copy->metadata.name = name;
  copy->metadata.uid += "/" + name;
  copy->metadata.resource_version.clear();
  return copy;
}

std::shared_ptr<api::Node> NewNode(const api::Node& like, const std::string& name) {
  auto node = Copy(like, name);
  for (auto& [key, value] : node->metadata.labels) {
    if (key == kHostname) value = name;
  }
  node->spec.unschedulable = false;
  std::erase_if(node->spec.taints, TellsOfState);
  node->status.images.clear();
  return node;
}

// By name.
std::vector<const api::ResourceSlice*> SlicesOf(std::string_view node,
                                                const simulator::MemoryApi& objects) {
  std::vector<const api::ResourceSlice*> slices;
  objects.ForEachUnsorted(Kind::kResourceSlice, [&](const api::ObjectPtr& object) {
    const auto* slice = api::As<api::ResourceSlice>(object);
    if (slice->spec.node_name == node) slices.push_back(slice);
  });
  std::ranges::sort(slices, {}, [](const auto* slice) { return slice->metadata.name; });
  return slices;
}

void SetLabels(const api::StringMap& labels, api::Node& node) {
  for (const auto& [key, value] : labels) api::Put(key, value, node.metadata.labels);
}

}  // namespace

std::optional<Delta> NodeLike(std::string_view name, const simulator::MemoryApi& objects) {
  return NodeLike(explain::AddNode{std::string(name), "", {}}, objects);
}

std::optional<Delta> NodeLike(const explain::AddNode& change, const simulator::MemoryApi& objects) {
  const std::string& like = change.like;
  const auto node = simulator::FindIn<api::Node>(objects, Kind::kNode, like);
  if (node == nullptr) return std::nullopt;
  const std::string name = NewName(like, objects);
  Delta delta;
  const std::shared_ptr<api::Node> added = NewNode(*node, name);
  SetLabels(change.labels, *added);
  if (!change.shape_of.empty()) {
    const auto shape = simulator::FindIn<api::Node>(objects, Kind::kNode, change.shape_of);
    if (shape == nullptr) return std::nullopt;
    added->status.allocatable = shape->status.allocatable;
  }
  delta.put.emplace_back(std::shared_ptr<const api::Node>(added));
  if (const auto csi = simulator::FindIn<api::CSINode>(objects, Kind::kCsiNode, like)) {
    delta.put.emplace_back(std::shared_ptr<const api::CSINode>(Copy(*csi, name)));
  }
  for (const api::ResourceSlice* slice : SlicesOf(like, objects)) {
    auto copy = Copy(*slice, slice->metadata.name + "-" + name);
    copy->spec.node_name = name;
    copy->spec.pool.name += "-" + name;
    delta.put.emplace_back(std::shared_ptr<const api::ResourceSlice>(std::move(copy)));
  }
  objects.ForEachPodOn(like, [&](const PodPtr& pod) {
    if (!IsDaemon(*pod)) return;
    auto copy = Copy(*pod, pod->metadata.name + "-" + name);
    copy->spec.node_name = name;
    delta.put.emplace_back(PodPtr(std::move(copy)));
  });
  return delta;
}

namespace {

__extension__ typedef __int128 Wide;

bool MayBeOvercommitted(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource == "ephemeral-storage";
}

api::Quantity* FindIn(api::ResourceList& list, std::string_view resource) {
  for (auto& [name, quantity] : list) {
    if (name == resource) return &quantity;
  }
  return nullptr;
}

int64_t RequestOf(const api::ResourceRequirements& resources, std::string_view resource) {
  const api::Quantity* request = api::Find(resources.requests, resource);
  return request == nullptr ? 0 : Amount(resource, *request);
}

// Does nothing where there is no request.
void SetRequest(api::ResourceRequirements& resources, std::string_view resource, int64_t amount) {
  api::Quantity* request = FindIn(resources.requests, resource);
  if (request == nullptr) return;
  *request = FromAmount(resource, amount, *request);
  if (MayBeOvercommitted(resource)) return;
  if (api::Quantity* limit = FindIn(resources.limits, resource)) *limit = *request;
}

// Gives `total` out in proportion to what each asks for, to the last unit.
void Share(const std::vector<api::Container*>& containers, std::string_view resource,
           int64_t total) {
  Wide sum = 0;
  for (const api::Container* container : containers)
    sum += RequestOf(container->resources, resource);
  if (sum <= total) return;
  std::vector<int64_t> parts;
  int64_t left = total;
  for (const api::Container* container : containers) {
    const Wide part = Wide{RequestOf(container->resources, resource)} * total / sum;
    parts.push_back(static_cast<int64_t>(part));
    left -= parts.back();
  }
  for (size_t i = 0; i < containers.size(); ++i) {
    if (left > 0 && parts[i] < RequestOf(containers[i]->resources, resource)) {
      ++parts[i];
      --left;
    }
    SetRequest(containers[i]->resources, resource, parts[i]);
  }
}

}  // namespace

int64_t Amount(std::string_view resource, const api::Quantity& quantity) {
  return resource == "cpu" ? quantity.MilliValue() : quantity.Value();
}

api::Quantity FromAmount(std::string_view resource, int64_t amount, const api::Quantity& like) {
  return resource == "cpu" ? api::Quantity::FromMilli(amount, like.format())
                           : api::Quantity::FromUnits(amount, like.format());
}

api::Quantity EffectiveRequest(const api::Pod& pod, std::string_view resource) {
  const api::ResourceList requests = PodRequests(pod, {});
  const api::Quantity* request = api::Find(requests, resource);
  return request == nullptr ? api::Quantity() : *request;
}

std::vector<std::string> RequestedResources(const api::Pod& pod) {
  std::vector<std::string> names;
  for (const auto& [name, quantity] : PodRequests(pod, {})) {
    if (!quantity.IsZero()) names.push_back(name);
  }
  return names;
}

api::Pod WithRequest(const api::Pod& pod, std::string_view resource, int64_t amount) {
  api::Pod changed = pod;
  api::PodSpec& spec = changed.spec;
  const api::Quantity* overhead = api::Find(spec.overhead, resource);
  const int64_t budget =
      std::max<int64_t>(amount - (overhead == nullptr ? 0 : Amount(resource, *overhead)), 0);
  if (spec.resources && RequestOf(*spec.resources, resource) > budget) {
    api::ResourceRequirements pod_level = *spec.resources;
    SetRequest(pod_level, resource, budget);
    spec.resources = std::move(pod_level);
  }
  std::vector<api::Container*> running;
  for (api::Container& container : spec.containers) running.push_back(&container);
  for (api::Container& container : spec.init_containers) {
    if (container.restartable()) running.push_back(&container);
  }
  Share(running, resource, budget);
  // An init container runs beside the sidecars before it.
  int64_t sidecars = 0;
  for (api::Container& container : spec.init_containers) {
    const int64_t request = RequestOf(container.resources, resource);
    if (container.restartable()) {
      sidecars += request;
    } else if (request + sidecars > budget) {
      SetRequest(container.resources, resource, std::max<int64_t>(budget - sidecars, 0));
    }
  }
  return changed;
}

using informers::Kind;

TrialCluster::TrialCluster(simulator::Simulation& simulation, std::shared_ptr<const api::Pod> pod)
    : simulation_(simulation), pod_(std::move(pod)), pod_key_(pod_->metadata.Key()) {}

bool TrialCluster::Make(const explain::Change& change) {
  std::optional<Delta> delta = Apply(change, *pod_, objects());
  if (!delta) return false;
  Before& before = made_.emplace_back();
  before.pod = pod_;
  for (auto& [kind, key] : delta->removed) {
    before.objects.emplace_back(std::pair(kind, key), objects().Find(kind, key));
    simulation_.Delete(kind, key);
  }
  for (api::ObjectPtr& object : delta->put) {
    const Kind kind = simulator::KindOf(object);
    std::string key = api::MetaOf(object)->Key();
    if (kind == Kind::kPod && key == pod_key_) {
      // It is judged from here: the cluster need not have it.
      pod_ = std::get<std::shared_ptr<const api::Pod>>(object);
      continue;
    }
    before.objects.emplace_back(std::pair(kind, key), objects().Find(kind, key));
    simulation_.Apply(std::move(object));
  }
  if (!before.objects.empty()) simulation_.RunDue();
  return true;
}

void TrialCluster::Replace(const std::shared_ptr<const api::Pod>& pod) {
  Before& before = made_.emplace_back();
  before.pod = std::exchange(pod_, pod);
  before.objects.emplace_back(std::pair(Kind::kPod, pod_key_),
                              objects().Find(Kind::kPod, pod_key_));
  simulation_.Apply(pod);
  simulation_.RunDue();
}

void TrialCluster::TakeBackTo(size_t depth) {
  bool changed = false;
  while (made_.size() > depth) {
    Before& before = made_.back();
    for (auto it = before.objects.rbegin(); it != before.objects.rend(); ++it) {
      auto& [of, object] = *it;
      changed = true;
      if (object.index() == 0) {
        simulation_.Delete(of.first, of.second);
      } else {
        simulation_.Apply(std::move(object));
      }
    }
    pod_ = std::move(before.pod);
    made_.pop_back();
  }
  if (changed) simulation_.RunDue();
}

std::unique_ptr<engine::Judgement> TrialCluster::Judge() {
  ++judged_;
  return simulation_.scheduler().Judge(pod_);
}

}  // namespace berth::questions
