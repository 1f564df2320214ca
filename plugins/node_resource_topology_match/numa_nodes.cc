// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resource_topology_match/numa_nodes.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>

#include "berth/resources.h"
#include "berth/saturating.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kCpuName = "cpu";
constexpr std::string_view kMemoryName = "memory";
constexpr int kMostNumaIds = 64;
constexpr int64_t kMostNumaNodes = 1024;
constexpr int64_t kFullScore = 100;
// Of an ACPI table: unknown.
constexpr int64_t kFarthest = 255;

bool IsHugePages(std::string_view resource) { return resource.starts_with("hugepages-"); }

// Those whose place the kubelet decides for Guaranteed pods alone.
bool IsNumaAffine(std::string_view resource) {
  return resource == kCpuName || resource == kMemoryName || IsHugePages(resource);
}

// Those that may be of no NUMA node.
bool IsOfHost(std::string_view resource) {
  return resource == "ephemeral-storage" || resource == "storage" || !IsNativeResource(resource);
}

// A list may be long: a tenant writes what a pod asks for, and an agent what a zone has.
const api::Quantity* FindSorted(const api::ResourceList& list, std::string_view name) {
  const auto at = std::ranges::lower_bound(
      list, name, {}, [](const auto& entry) { return std::string_view(entry.first); });
  return at == list.end() || at->first != name ? nullptr : &at->second;
}

bool IsOnNode(std::string_view resource, const api::Node& node) {
  if (resource == kCpuName || resource == kMemoryName || resource == "pods" ||
      resource == "ephemeral-storage") {
    return true;
  }
  return IsScalarResourceName(resource) && FindSorted(node.status.allocatable, resource) != nullptr;
}

api::Quantity Difference(const api::Quantity& a, const api::Quantity& b) {
  return api::Quantity::FromNanos(a.nanos() - b.nanos(), a.format());
}

api::Quantity* FindMutable(api::ResourceList& list, std::string_view name) {
  return const_cast<api::Quantity*>(FindSorted(list, name));
}

// Sorts the amounts by name; those of one name become join(first, second).
template <typename Join>
void MakeUnique(api::ResourceList& amounts, Join join) {
  std::ranges::stable_sort(amounts, {}, &api::ResourceList::value_type::first);
  size_t kept = 0;
  for (auto& amount : amounts) {
    if (kept > 0 && amounts[kept - 1].first == amount.first) {
      amounts[kept - 1].second = join(amounts[kept - 1].second, amount.second);
    } else if (&amounts[kept++] != &amount) {
      amounts[kept - 1] = std::move(amount);
    }
  }
  amounts.resize(kept);
}

api::Quantity Sum(api::Quantity a, const api::Quantity& b) { return a += b; }
api::Quantity Larger(const api::Quantity& a, const api::Quantity& b) { return std::max(a, b); }

void Append(const api::ResourceList& more, api::ResourceList& amounts) {
  amounts.insert(amounts.end(), more.begin(), more.end());
}

std::optional<int> NumaIdOf(std::string_view zone) {
  constexpr std::string_view kPrefix = "node-";
  if (!zone.starts_with(kPrefix)) return std::nullopt;
  zone.remove_prefix(kPrefix.size());
  // As Go reads numbers.
  if (zone.starts_with('+')) zone.remove_prefix(1);
  int id = 0;
  const auto [end, error] = std::from_chars(zone.data(), zone.data() + zone.size(), id);
  if (error != std::errc() || end != zone.data() + zone.size()) return std::nullopt;
  return id >= 0 && id < kMostNumaIds ? std::optional(id) : std::nullopt;
}

// What containers, or a pod as a whole, ask for and may use, of cpu and memory.
class QosSums {
 public:
  void Add(const api::ResourceRequirements& resources) {
    requests_.Add(resources.requests);
    // One without both limits keeps the pod from being Guaranteed.
    if (!limits_.Add(resources.limits)) all_limited_ = false;
  }
  QosClass Class() const {
    if (requests_ == Sums() && limits_ == Sums()) return QosClass::kBestEffort;
    return all_limited_ && requests_ == limits_ ? QosClass::kGuaranteed : QosClass::kBurstable;
  }

 private:
  struct Sums {
    api::Quantity::Nanos cpu = 0;
    api::Quantity::Nanos memory = 0;

    // Returns whether there is some of both.
    bool Add(const api::ResourceList& amounts) {
      const api::Quantity::Nanos of_cpu = AboveZero(amounts, kCpuName);
      const api::Quantity::Nanos of_memory = AboveZero(amounts, kMemoryName);
      cpu += of_cpu;
      memory += of_memory;
      return of_cpu > 0 && of_memory > 0;
    }
    static api::Quantity::Nanos AboveZero(const api::ResourceList& amounts, std::string_view name) {
      const api::Quantity* amount = FindSorted(amounts, name);
      return amount == nullptr || amount->nanos() < 0 ? 0 : amount->nanos();
    }
    friend bool operator==(const Sums&, const Sums&) = default;
  };

  Sums requests_;
  Sums limits_;
  bool all_limited_ = true;
};

bool IsEnough(QosClass qos, std::string_view resource, const api::Quantity& asked,
              const api::Quantity& available) {
  if (qos != QosClass::kGuaranteed && IsNumaAffine(resource)) return true;
  return available >= asked;
}

// The first NUMA node by its id that has all of it; -1: none has. One that has nothing to do with
// what is asked for is 0.
int FindNumaNode(const api::ResourceList& requests, QosClass qos, const api::Node& node,
                 std::span<const NumaNode> numa_nodes) {
  uint64_t left = ~uint64_t{0};
  for (const auto& [resource, quantity] : requests) {
    if (quantity.IsZero()) continue;
    if (!IsOnNode(resource, node)) return -1;
    bool known = false;
    uint64_t enough = 0;
    for (const NumaNode& numa : numa_nodes) {
      const api::Quantity* available = FindSorted(numa.available, resource);
      if (available == nullptr) continue;
      known = true;
      if (IsEnough(qos, resource, quantity, *available)) enough |= uint64_t{1} << numa.id;
    }
    if (!known && IsOfHost(resource)) continue;
    left &= enough;
    if (left == 0) return -1;
  }
  return std::countr_zero(left);
}

void TakeFromOne(const api::ResourceList& requests, QosClass qos, int id,
                 std::span<NumaNode> numa_nodes) {
  for (NumaNode& numa : numa_nodes) {
    if (numa.id != id) continue;
    for (const auto& [resource, quantity] : requests) {
      if (qos != QosClass::kGuaranteed && IsNumaAffine(resource)) continue;
      if (api::Quantity* available = FindMutable(numa.available, resource)) {
        *available = Difference(*available, quantity);
      }
    }
  }
}

int64_t WeightOf(std::string_view resource, const NumaWeights& weights) {
  for (const auto& [name, weight] : weights) {
    if (name == resource) return std::max<int64_t>(weight, 1);
  }
  return 1;
}

const api::Quantity& AmountOf(const api::ResourceList& list, std::string_view resource) {
  static const api::Quantity kNone;
  const api::Quantity* amount = FindSorted(list, resource);
  return amount == nullptr ? kNone : *amount;
}

// Of the whole units that are left the share that is used then, or that is not.
int64_t AllocationScore(const api::ResourceList& requests, const NumaNode& numa, bool least,
                        const NumaWeights& weights) {
  WideAmount sum = 0;
  WideAmount sum_of_weights = 0;
  for (const auto& [resource, quantity] : requests) {
    const api::Quantity& available = AmountOf(numa.available, resource);
    const int64_t weight = WeightOf(resource, weights);
    sum_of_weights += weight;
    if (available.IsZero() || quantity > available) continue;
    const int64_t there = available.Value();
    const int64_t asked = quantity.Value();
    const WideAmount part = least ? WideAmount{there} - asked : WideAmount{asked};
    sum += part * kFullScore / there * weight;
  }
  return sum_of_weights == 0 ? 0 : static_cast<int64_t>(sum / sum_of_weights);
}

// 1 less the variance of the shares of each resource.
int64_t BalanceScore(const api::ResourceList& requests, const NumaNode& numa) {
  std::vector<double> shares;
  for (const auto& [resource, quantity] : requests) {
    const int64_t there = AmountOf(numa.available, resource).Value();
    const double share =
        there == 0 ? 1 : static_cast<double>(quantity.Value()) / static_cast<double>(there);
    if (share > 1) return 0;
    shares.push_back(share);
  }
  if (shares.size() < 2) return 0;
  const auto count = static_cast<double>(shares.size());
  double mean = 0;
  for (const double share : shares) mean += share;
  mean /= count;
  double squares = 0;
  double rest = 0;
  for (const double share : shares) {
    squares += (share - mean) * (share - mean);
    rest += share - mean;
  }
  const double variance = (squares - rest * rest / count) / (count - 1);
  return static_cast<int64_t>((1 - variance) * static_cast<double>(kFullScore));
}

// The worst NUMA node that can take it; 0: none can.
int64_t ScoreOfRequests(const api::ResourceList& requests, NumaStrategy strategy,
                        const NumaWeights& weights, std::span<const NumaNode> numa_nodes) {
  int64_t worst = 0;
  for (const NumaNode& numa : numa_nodes) {
    const int64_t score =
        strategy == NumaStrategy::kBalancedAllocation
            ? BalanceScore(requests, numa)
            : AllocationScore(requests, numa, strategy == NumaStrategy::kLeastAllocated, weights);
    if (worst == 0 || (score != 0 && score < worst)) worst = score;
  }
  return worst;
}

// Positions of NUMA nodes, ascending.
using NumaSet = std::vector<size_t>;

// The next set of as many out of `count`, in lexicographic order; false: there is none.
bool NextSet(size_t count, NumaSet& set) {
  for (size_t i = set.size(); i-- > 0;) {
    if (set[i] + (set.size() - i) >= count) continue;
    ++set[i];
    for (size_t j = i + 1; j < set.size(); ++j) set[j] = set[j - 1] + 1;
    return true;
  }
  return false;
}

// Sums of distances within sets of one size are compared, which is as good as their means.
int64_t DistanceWithin(const NumaSet& set, std::span<const NumaNode> numa_nodes) {
  int64_t sum = 0;
  for (const size_t from : set) {
    for (const size_t to : set) {
      const auto& costs = numa_nodes[from].costs;
      const auto stated =
          std::ranges::find(costs, numa_nodes[to].id, &std::pair<int, int64_t>::first);
      sum = SumSaturated(sum, stated == costs.end() ? kFarthest : stated->second);
    }
  }
  return sum;
}

bool FitsOn(const api::ResourceList& requests, const NumaSet& set,
            std::span<const NumaNode> numa_nodes) {
  return std::ranges::all_of(requests, [&](const auto& request) {
    api::Quantity sum;
    for (const size_t at : set) {
      const api::Quantity* available = FindSorted(numa_nodes[at].available, request.first);
      if (available == nullptr) return false;
      sum += *available;
    }
    return request.second.IsZero() || sum >= request.second;
  });
}

struct NumaChoice {
  NumaSet set;           // empty: none has enough
  bool nearest = false;  // no set of that size is nearer together
};

// The fewest NUMA nodes that have enough together, of these sets the nearest, of these the first.
NumaChoice ChooseNumaNodes(const api::ResourceList& requests,
                           std::span<const NumaNode> numa_nodes) {
  for (size_t size = 1; size <= numa_nodes.size(); ++size) {
    NumaSet set(size);
    for (size_t i = 0; i < size; ++i) set[i] = i;
    // A mean distance beyond the farthest is none.
    int64_t nearest = kFarthest * static_cast<int64_t>(size * size);
    NumaChoice best;
    std::optional<int64_t> distance_of_best;
    do {
      const int64_t distance = DistanceWithin(set, numa_nodes);
      nearest = std::min(nearest, distance);
      if ((!distance_of_best || distance < *distance_of_best) &&
          FitsOn(requests, set, numa_nodes)) {
        best.set = set;
        distance_of_best = distance;
      }
    } while (NextSet(numa_nodes.size(), set));
    if (!distance_of_best) continue;
    best.nearest = *distance_of_best == nearest;
    return best;
  }
  return {};
}

bool AnyIsOfNumaNodes(const api::ResourceList& requests, std::span<const NumaNode> numa_nodes) {
  return std::ranges::any_of(requests, [&](const auto& request) {
    return std::ranges::any_of(numa_nodes, [&](const NumaNode& numa) {
      return FindSorted(numa.available, request.first) != nullptr;
    });
  });
}

void TakeFromSet(const api::ResourceList& requests, const NumaSet& set,
                 std::span<NumaNode> numa_nodes) {
  for (const auto& [resource, quantity] : requests) {
    api::Quantity missing = quantity;
    for (const size_t at : set) {
      api::Quantity* available = FindMutable(numa_nodes[at].available, resource);
      if (available == nullptr) continue;
      const api::Quantity taken = std::min(missing, *available);
      *available = Difference(*available, taken);
      missing = Difference(missing, taken);
    }
  }
}

int64_t ScoreOfCount(size_t count, bool nearest, const TopologyManager& manager) {
  const int64_t each = kFullScore / manager.max_numa_nodes;
  const int64_t score = kFullScore - static_cast<int64_t>(count) * each;
  return std::max<int64_t>(score + (nearest ? each / 2 : 0), 0);
}

int64_t LeastNumaNodesScore(const api::Pod& pod, const NumaRequests& of,
                            const TopologyManager& manager, std::span<const NumaNode> numa_nodes) {
  if (numa_nodes.size() > kMostZonesToCombine) return 0;
  if (manager.scope == TopologyManager::Scope::kPod) {
    if (!AnyIsOfNumaNodes(of.of_pod, numa_nodes)) return kFullScore;
    const NumaChoice choice = ChooseNumaNodes(of.of_pod, numa_nodes);
    return choice.set.empty() ? 0 : ScoreOfCount(choice.set.size(), choice.nearest, manager);
  }
  std::vector<NumaNode> left(numa_nodes.begin(), numa_nodes.end());
  size_t most = 0;
  bool all_nearest = true;
  for (const auto* containers : {&pod.spec.init_containers, &pod.spec.containers}) {
    for (const api::Container& container : *containers) {
      const api::ResourceList& requests = container.resources.requests;
      if (!AnyIsOfNumaNodes(requests, left)) continue;
      const NumaChoice choice = ChooseNumaNodes(requests, left);
      if (choice.set.empty()) return 0;
      all_nearest = all_nearest && choice.nearest;
      most = std::max(most, choice.set.size());
      TakeFromSet(requests, choice.set, left);
    }
  }
  return most == 0 ? kFullScore : ScoreOfCount(most, all_nearest, manager);
}

struct OldPolicy {
  std::string_view name;
  TopologyManager::Policy policy;
  TopologyManager::Scope scope;
};
constexpr OldPolicy kOldPolicies[] = {
    {"SingleNUMANodePodLevel", TopologyManager::Policy::kSingleNumaNode,
     TopologyManager::Scope::kPod},
    {"SingleNUMANodeContainerLevel", TopologyManager::Policy::kSingleNumaNode,
     TopologyManager::Scope::kContainer},
    {"BestEffortPodLevel", TopologyManager::Policy::kBestEffort, TopologyManager::Scope::kPod},
    {"BestEffortContainerLevel", TopologyManager::Policy::kBestEffort,
     TopologyManager::Scope::kContainer},
    {"RestrictedPodLevel", TopologyManager::Policy::kRestricted, TopologyManager::Scope::kPod},
    {"RestrictedContainerLevel", TopologyManager::Policy::kRestricted,
     TopologyManager::Scope::kContainer},
};
constexpr std::pair<std::string_view, TopologyManager::Policy> kPolicies[] = {
    {"none", TopologyManager::Policy::kNone},
    {"best-effort", TopologyManager::Policy::kBestEffort},
    {"restricted", TopologyManager::Policy::kRestricted},
    {"single-numa-node", TopologyManager::Policy::kSingleNumaNode},
};
constexpr std::pair<std::string_view, TopologyManager::Scope> kScopes[] = {
    {"container", TopologyManager::Scope::kContainer},
    {"pod", TopologyManager::Scope::kPod},
};

}  // namespace

QosClass QosClassOf(const api::Pod& pod) {
  QosSums sums;
  if (pod.spec.resources &&
      (!pod.spec.resources->requests.empty() || !pod.spec.resources->limits.empty())) {
    sums.Add(*pod.spec.resources);
    return sums.Class();
  }
  for (const auto* containers : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (const api::Container& container : *containers) sums.Add(container.resources);
  }
  return sums.Class();
}

bool IsNativeResource(std::string_view resource) {
  return resource.find('/') == std::string_view::npos ||
         resource.find("kubernetes.io/") != std::string_view::npos;
}

bool IsExclusive(QosClass qos, std::string_view resource, const api::Quantity& quantity) {
  if (!IsNativeResource(resource)) return true;
  if (qos != QosClass::kGuaranteed || quantity.Value() <= 0) return false;
  if (resource == kCpuName) return quantity == api::Quantity::FromUnits(quantity.Value());
  return resource == kMemoryName || IsHugePages(resource);
}

bool AsksForExclusiveResources(const api::Pod& pod) {
  const QosClass qos = QosClassOf(pod);
  for (const auto* containers : {&pod.spec.init_containers, &pod.spec.containers}) {
    for (const api::Container& container : *containers) {
      for (const auto& [resource, quantity] : container.resources.requests) {
        if (IsExclusive(qos, resource, quantity)) return true;
      }
    }
  }
  return false;
}

bool AsksForDevices(const api::Pod& pod) {
  const auto asks = [](const api::Container& container) {
    return std::ranges::any_of(container.resources.requests, [](const auto& request) {
      return !IsNativeResource(request.first);
    });
  };
  return std::ranges::any_of(pod.spec.init_containers, asks) ||
         std::ranges::any_of(pod.spec.containers, asks);
}

api::ResourceList EffectiveRequests(const api::Pod& pod) {
  api::ResourceList first;
  for (const api::Container& container : pod.spec.init_containers) {
    Append(container.resources.requests, first);
  }
  MakeUnique(first, Larger);
  api::ResourceList requests;
  for (const api::Container& container : pod.spec.containers) {
    Append(container.resources.requests, requests);
  }
  MakeUnique(requests, Sum);
  Append(first, requests);
  MakeUnique(requests, Larger);
  Append(pod.spec.overhead, requests);
  MakeUnique(requests, Sum);
  return requests;
}

NumaRequests NumaRequestsOf(const api::Pod& pod) {
  NumaRequests of;
  of.qos = QosClassOf(pod);
  of.of_pod = EffectiveRequests(pod);
  of.devices = AsksForDevices(pod);
  of.count = of.of_pod.size();
  for (const auto* containers : {&pod.spec.init_containers, &pod.spec.containers}) {
    for (const api::Container& container : *containers) {
      of.count += container.resources.requests.size();
    }
  }
  return of;
}

TopologyManager TopologyManagerOf(const api::NodeResourceTopology& topology) {
  TopologyManager manager;
  if (!topology.topology_policies.empty()) {
    const auto old =
        std::ranges::find(kOldPolicies, topology.topology_policies.front(), &OldPolicy::name);
    if (old != std::end(kOldPolicies)) {
      manager.policy = old->policy;
      manager.scope = old->scope;
    }
  }
  for (const api::NodeTopologyAttribute& attribute : topology.attributes) {
    if (attribute.name == "topologyManagerScope") {
      for (const auto& [name, scope] : kScopes) {
        if (attribute.value == name) manager.scope = scope;
      }
    } else if (attribute.name == "topologyManagerPolicy") {
      for (const auto& [name, policy] : kPolicies) {
        if (attribute.value == name) manager.policy = policy;
      }
    } else if (attribute.name == "topologyManagerMaxNUMANodes") {
      const std::string& text = attribute.value;
      int64_t most = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), most);
      if (error == std::errc() && end == text.data() + text.size() && most > 1) {
        manager.max_numa_nodes = std::min(most, kMostNumaNodes);
      }
    }
  }
  return manager;
}

std::vector<NumaNode> NumaNodesOf(const api::NodeResourceTopology& topology) {
  std::vector<NumaNode> numa_nodes;
  for (const api::NodeTopologyZone& zone : topology.zones) {
    const auto id = NumaIdOf(zone.name);
    if (zone.type != "Node" || !id) continue;
    NumaNode& numa = numa_nodes.emplace_back();
    numa.id = *id;
    for (const api::NodeTopologyResource& resource : zone.resources) {
      numa.available.emplace_back(resource.name, resource.available);
    }
    MakeUnique(numa.available, [](const auto&, const auto& later) { return later; });
    for (const api::NodeTopologyCost& cost : zone.costs) {
      if (const auto to = NumaIdOf(cost.name)) numa.costs.emplace_back(*to, cost.value);
    }
  }
  return numa_nodes;
}

void TakeFromEach(const api::ResourceList& requests, std::span<NumaNode> numa_nodes) {
  for (NumaNode& numa : numa_nodes) {
    for (const auto& [resource, quantity] : requests) {
      api::Quantity* available = FindMutable(numa.available, resource);
      if (available == nullptr) continue;
      *available = *available < quantity ? api::Quantity() : Difference(*available, quantity);
    }
  }
}

Misfit FindMisfit(const api::Pod& pod, const NumaRequests& requests, TopologyManager::Scope scope,
                  const api::Node& node, std::span<const NumaNode> numa_nodes) {
  const QosClass qos = requests.qos;
  if (scope == TopologyManager::Scope::kPod) {
    return FindNumaNode(requests.of_pod, qos, node, numa_nodes) < 0 ? Misfit::kPod : Misfit::kNone;
  }
  // Init containers run one after the other, before the others.
  for (const api::Container& container : pod.spec.init_containers) {
    if (FindNumaNode(container.resources.requests, qos, node, numa_nodes) >= 0) continue;
    return container.restartable() ? Misfit::kSidecarContainer : Misfit::kInitContainer;
  }
  if (pod.spec.containers.size() == 1) {
    const api::ResourceList& alone = pod.spec.containers.front().resources.requests;
    return FindNumaNode(alone, qos, node, numa_nodes) < 0 ? Misfit::kContainer : Misfit::kNone;
  }
  std::vector<NumaNode> left(numa_nodes.begin(), numa_nodes.end());
  for (const api::Container& container : pod.spec.containers) {
    const int id = FindNumaNode(container.resources.requests, qos, node, left);
    if (id < 0) return Misfit::kContainer;
    TakeFromOne(container.resources.requests, qos, id, left);
  }
  return Misfit::kNone;
}

std::string LackOf(const NumaRequests& requests, std::span<const NumaNode> numa_nodes) {
  constexpr size_t kMostNamed = 4;
  std::string text;
  size_t named = 0;
  for (const NumaNode& numa : numa_nodes) {
    const auto lacks = [&](const auto& request) {
      const api::Quantity& available = AmountOf(numa.available, request.first);
      return !request.second.IsZero() &&
             !IsEnough(requests.qos, request.first, request.second, available) &&
             !(IsOfHost(request.first) && FindSorted(numa.available, request.first) == nullptr);
    };
    const auto lack = std::ranges::find_if(requests.of_pod, lacks);
    if (lack == requests.of_pod.end()) continue;
    if (++named > kMostNamed) return text + ", ...";
    text += (text.empty() ? "node-" : ", node-") + std::to_string(numa.id) + " has " +
            AmountOf(numa.available, lack->first).ToCanonicalString() + " of " +
            lack->second.ToCanonicalString() + ' ' + lack->first;
  }
  return text;
}

int64_t NumaScore(const api::Pod& pod, const NumaRequests& requests, NumaStrategy strategy,
                  const NumaWeights& weights, const TopologyManager& manager,
                  std::span<const NumaNode> numa_nodes) {
  if (strategy == NumaStrategy::kLeastNumaNodes) {
    return LeastNumaNodesScore(pod, requests, manager, numa_nodes);
  }
  if (!manager.single_numa_node()) return 0;
  if (manager.scope == TopologyManager::Scope::kPod) {
    return ScoreOfRequests(requests.of_pod, strategy, weights, numa_nodes);
  }
  int64_t sum = 0;
  int64_t count = 0;
  for (const auto* containers : {&pod.spec.init_containers, &pod.spec.containers}) {
    for (const api::Container& container : *containers) {
      sum += ScoreOfRequests(container.resources.requests, strategy, weights, numa_nodes);
      ++count;
    }
  }
  return count == 0 ? 0 : sum / count;
}

}  // namespace berth::plugins
