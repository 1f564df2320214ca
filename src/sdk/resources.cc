// SPDX-License-Identifier: Apache-2.0
#include "berth/resources.h"

#include <algorithm>

#include "berth/field_errors.h"
#include "src/sdk/resource_keys.h"

namespace berth {
namespace {

using api::Quantity;
using api::ResourceList;

// More are put together in one walk over both lists: each insertion moves what stands behind it.
constexpr size_t kFewResources = 8;
constexpr std::string_view kHugePagesPrefix = "hugepages-";

auto LowerBound(ResourceList& list, std::string_view name) {
  return std::lower_bound(
      list.begin(), list.end(), name,
      [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
}

void Set(ResourceList& list, std::string_view name, const Quantity& amount) {
  const auto at = LowerBound(list, name);
  if (at != list.end() && at->first == name) {
    at->second = amount;
  } else {
    list.emplace(at, name, amount);
  }
}

// Puts the two lists together: combine(amount, other) where both have a name.
template <typename Combine>
void Merge(ResourceList& list, const ResourceList& more, const Combine& combine) {
  ResourceList merged;
  merged.reserve(list.size() + more.size());
  auto at = list.begin();
  for (const auto& entry : more) {
    for (; at != list.end() && at->first < entry.first; ++at) merged.push_back(std::move(*at));
    if (at != list.end() && at->first == entry.first) {
      merged.push_back(std::move(*at++));
      combine(merged.back().second, entry.second);
    } else {
      merged.push_back(entry);
    }
  }
  for (; at != list.end(); ++at) merged.push_back(std::move(*at));
  list = std::move(merged);
}

void AddTo(ResourceList& list, const ResourceList& more) {
  if (more.size() > kFewResources) {
    Merge(list, more, [](Quantity& amount, const Quantity& other) { amount += other; });
    return;
  }
  for (const auto& [name, amount] : more) {
    const auto at = LowerBound(list, name);
    if (at != list.end() && at->first == name) {
      at->second += amount;
    } else {
      list.emplace(at, name, amount);
    }
  }
}

void MaxInto(ResourceList& list, const ResourceList& other) {
  if (other.size() > kFewResources) {
    Merge(list, other, [](Quantity& amount, const Quantity& one) {
      if (one > amount) amount = one;
    });
    return;
  }
  for (const auto& [name, amount] : other) {
    const auto at = LowerBound(list, name);
    if (at == list.end() || at->first != name) {
      list.emplace(at, name, amount);
    } else if (amount > at->second) {
      at->second = amount;
    }
  }
}

bool IsPodLevelResource(std::string_view name) {
  return name == kCpuName || name == kMemoryName || name.starts_with(kHugePagesPrefix);
}

// Why a resize is pending; "" without one. Only the first PodResizePending condition counts.
std::string_view PendingResize(const api::Pod& pod) {
  const auto& conditions = pod.status.conditions;
  const auto pending = std::ranges::find(conditions, "PodResizePending", &api::PodCondition::type);
  return pending == conditions.end() ? std::string_view() : pending->reason;
}

enum class Resize { kFeasible, kInfeasible };

Resize ResizeOf(const api::Pod& pod) {
  return PendingResize(pod) == "Infeasible" ? Resize::kInfeasible : Resize::kFeasible;
}

const api::ContainerStatus* FindStatus(const api::Pod& pod, std::string_view container) {
  for (const auto* statuses :
       {&pod.status.container_statuses, &pod.status.init_container_statuses}) {
    for (const api::ContainerStatus& status : *statuses) {
      if (status.name == container) return &status;
    }
  }
  return nullptr;
}

// Whose word counts for a container: the spec, or what the kubelet set aside or put in force.
enum class Source { kSpec, kAllocated, kActuated };

const ResourceList& RequestsOf(const api::Pod& pod, const api::Container& container, Source source,
                               Resize resize) {
  static const ResourceList kNothing;
  if (source == Source::kSpec) return container.resources.requests;
  const api::ContainerStatus* status = FindStatus(pod, container.name);
  if (status != nullptr) {
    if (source == Source::kActuated && status->resources.has_value() &&
        !status->resources->requests.empty()) {
      return status->resources->requests;
    }
    if (!status->allocated_resources.empty()) return status->allocated_resources;
  }
  // A resize that cannot be done will not be: the wish in the spec takes nothing.
  return resize == Resize::kInfeasible ? kNothing : container.resources.requests;
}

// Adds up what `of` says of each container.
template <typename Fn>
ResourceList SumContainersBy(const api::Pod& pod, const Fn& of) {
  ResourceList running;
  for (const api::Container& container : pod.spec.containers) {
    if (running.empty()) {
      running = of(container);
    } else {
      AddTo(running, of(container));
    }
  }
  // The step at which init container i starts needs the sidecars before it and itself.
  ResourceList sidecars;
  ResourceList largest_step;
  for (const api::Container& container : pod.spec.init_containers) {
    ResourceList step = of(container);
    if (container.restartable()) {
      AddTo(running, step);
      AddTo(sidecars, step);
      MaxInto(largest_step, sidecars);
    } else {
      AddTo(step, sidecars);
      MaxInto(largest_step, step);
    }
  }
  MaxInto(running, largest_step);
  return running;
}

ResourceList SumContainers(const api::Pod& pod, Source source, Resize resize, bool non_missing) {
  const auto of = [&](const api::Container& container) -> const ResourceList& {
    return RequestsOf(pod, container, source, resize);
  };
  if (!non_missing) return SumContainersBy(pod, of);
  return SumContainersBy(pod, [&](const api::Container& container) {
    ResourceList requests = of(container);
    if (api::Find(requests, kCpuName) == nullptr) {
      Set(requests, kCpuName, Quantity::FromMilli(kDefaultMilliCpuRequest));
    }
    if (api::Find(requests, kMemoryName) == nullptr) {
      Set(requests, kMemoryName, Quantity::FromUnits(kDefaultMemoryRequest));
    }
    return requests;
  });
}

// What the claims' devices take of the node, for all containers that name them together.
void AddClaims(const api::Pod& pod, ResourceList& list) {
  for (const auto& status : pod.status.node_allocatable_resource_claim_statuses) {
    for (const auto& mapping : status.mapping) {
      if (mapping.quantity) AddTo(list, {{mapping.name, *mapping.quantity}});
    }
    for (const auto& overhead : status.overhead) {
      Quantity amount = overhead.per_pod.value_or(Quantity());
      for (size_t i = 0; overhead.per_container && i < status.containers.size(); ++i) {
        amount += *overhead.per_container;
      }
      AddTo(list, {{overhead.name, amount}});
    }
  }
}

ResourceList ContainerRequests(const api::Pod& pod, const PodRequestsOptions& options) {
  if (!options.use_status)
    return SumContainers(pod, Source::kSpec, Resize::kFeasible, options.non_missing);
  const Resize resize = ResizeOf(pod);
  ResourceList result;
  if (resize == Resize::kFeasible) {
    result = SumContainers(pod, Source::kSpec, Resize::kFeasible, options.non_missing);
    if (options.claim_status) AddClaims(pod, result);
  }
  // The pod-level status already is the sum over all containers, and has what claims take.
  if (options.pod_level_status && !pod.status.allocated_resources.empty() &&
      pod.status.resources.has_value() && !pod.status.resources->requests.empty()) {
    MaxInto(result, pod.status.resources->requests);
    MaxInto(result, pod.status.allocated_resources);
  } else {
    MaxInto(result, SumContainers(pod, Source::kActuated, resize, options.non_missing));
    // The kubelet does not count claims in what it has set aside for containers.
    ResourceList allocated = SumContainers(pod, Source::kAllocated, resize, options.non_missing);
    if (options.claim_status) AddClaims(pod, allocated);
    MaxInto(result, allocated);
  }
  return result;
}

ResourceList ContainerLimits(const api::Pod& pod) {
  return SumContainersBy(pod, [](const api::Container& container) -> const ResourceList& {
    return container.resources.limits;
  });
}

// What the claims that the container names take, each of them in full.
Quantity ClaimsOf(const api::Pod& pod, const api::Container& container, std::string_view resource) {
  Quantity sum;
  for (const auto& status : pod.status.node_allocatable_resource_claim_statuses) {
    if (std::ranges::find(status.containers, container.name) == status.containers.end()) continue;
    for (const auto& mapping : status.mapping) {
      if (mapping.name == resource && mapping.quantity) sum += *mapping.quantity;
    }
    for (const auto& overhead : status.overhead) {
      if (overhead.name != resource) continue;
      if (overhead.per_pod) sum += *overhead.per_pod;
      if (overhead.per_container) sum += *overhead.per_container;
    }
  }
  return sum;
}

std::string TooLittle(std::string_view what, std::string_view resource, std::string_view for_what) {
  std::string text("pod level ");
  return text.append(what)
      .append(" for ")
      .append(resource)
      .append(" is insufficient to cover the ")
      .append(for_what);
}

// Limits of containers on huge pages add up; of anything else each counts for itself.
std::string PodLevelLimitShortage(const api::Pod& pod, const ResourceList& pod_limits) {
  ResourceList limits = ContainerLimits(pod);
  ResourceList claims;
  AddClaims(pod, claims);
  AddTo(limits, claims);
  for (const auto& [name, limit] : pod_limits) {
    const Quantity* needed = api::Find(limits, name);
    if (!name.starts_with(kHugePagesPrefix) || needed == nullptr || *needed <= limit) continue;
    return TooLittle("limit", name, "aggregated container and node-allocatable DRA limits");
  }
  for (const api::Container& container : pod.spec.containers) {
    for (const auto& [name, own] : container.resources.limits) {
      const Quantity* limit = api::Find(pod_limits, name);
      if (name.starts_with(kHugePagesPrefix) || limit == nullptr) continue;
      Quantity needed = own;
      needed += ClaimsOf(pod, container, name);
      if (needed <= *limit) continue;
      return TooLittle("limit", name, "limit and DRA overhead for container " + container.name);
    }
  }
  return {};
}

void ApplyPodLevel(const api::Pod& pod, const PodRequestsOptions& options, ResourceList& result) {
  if (!pod.spec.resources.has_value()) return;
  const ResourceList& spec = pod.spec.resources->requests;
  if (std::none_of(spec.begin(), spec.end(),
                   [](const auto& entry) { return IsPodLevelResource(entry.first); })) {
    return;
  }
  ResourceList effective = spec;
  if (options.use_status && options.pod_level_status && pod.status.resources.has_value()) {
    if (ResizeOf(pod) == Resize::kInfeasible) effective.clear();
    MaxInto(effective, pod.status.resources->requests);
    MaxInto(effective, pod.status.allocated_resources);
  }
  for (const auto& [name, amount] : effective) {
    if (IsPodLevelResource(name)) Set(result, name, amount);
  }
}

}  // namespace

int64_t Resources::Get(ResourceId id) const {
  switch (id) {
    case kCpu:
      return milli_cpu;
    case kMemory:
      return memory;
    case kEphemeralStorage:
      return ephemeral_storage;
    default:
      break;
  }
  const auto at =
      std::lower_bound(scalars.begin(), scalars.end(), id,
                       [](const auto& entry, ResourceId wanted) { return entry.first < wanted; });
  return at != scalars.end() && at->first == id ? at->second : 0;
}

void Resources::Add(ResourceId id, int64_t amount) {
  switch (id) {
    case kCpu:
      milli_cpu = SumSaturated(milli_cpu, amount);
      return;
    case kMemory:
      memory = SumSaturated(memory, amount);
      return;
    case kEphemeralStorage:
      ephemeral_storage = SumSaturated(ephemeral_storage, amount);
      return;
    default:
      break;
  }
  const auto at =
      std::lower_bound(scalars.begin(), scalars.end(), id,
                       [](const auto& entry, ResourceId wanted) { return entry.first < wanted; });
  if (at != scalars.end() && at->first == id) {
    at->second = SumSaturated(at->second, amount);
  } else {
    scalars.emplace(at, id, amount);
  }
}

ResourceList PodRequests(const api::Pod& pod, const PodRequestsOptions& options) {
  ResourceList result = ContainerRequests(pod, options);
  if (options.pod_level) ApplyPodLevel(pod, options, result);
  AddTo(result, pod.spec.overhead);
  return result;
}

ResourceList PodLimits(const api::Pod& pod) {
  ResourceList result = ContainerLimits(pod);
  if (pod.spec.resources.has_value()) {
    for (const auto& [name, amount] : pod.spec.resources->limits) {
      if (IsPodLevelResource(name)) Set(result, name, amount);
    }
  }
  for (const auto& [name, amount] : pod.spec.overhead) {
    const Quantity* limit = api::Find(result, name);
    if (limit != nullptr && !limit->IsZero()) AddTo(result, {{name, amount}});
  }
  return result;
}

bool IsResizeDeferred(const api::Pod& pod) {
  return !pod.spec.node_name.empty() && PendingResize(pod) == "Deferred";
}

std::string PodLevelShortage(const api::Pod& pod) {
  if (!pod.spec.resources.has_value() ||
      pod.status.node_allocatable_resource_claim_statuses.empty()) {
    return {};
  }
  ResourceList needed = SumContainers(pod, Source::kSpec, Resize::kFeasible, false);
  AddClaims(pod, needed);
  for (const auto& [name, request] : pod.spec.resources->requests) {
    const Quantity* sum = api::Find(needed, name);
    if (!IsPodLevelResource(name) || sum == nullptr || *sum <= request) continue;
    return TooLittle("request", name, "aggregated container and node-allocatable DRA requests");
  }
  return PodLevelLimitShortage(pod, pod.spec.resources->limits);
}

Resources ToResources(const ResourceList& list, ResourceNames& names) {
  Resources resources;
  for (const auto& [name, amount] : list) {
    // The API server admits no negative one; a dump may have it.
    if (name == kCpuName) {
      resources.milli_cpu = std::max(amount.MilliValue(), int64_t{0});
      continue;
    }
    const int64_t units = std::max(amount.Value(), int64_t{0});
    if (name == kMemoryName) {
      resources.memory = units;
    } else if (name == kEphemeralStorageName) {
      resources.ephemeral_storage = units;
    } else if (IsScalarResourceName(name)) {
      resources.scalars.emplace_back(names.InternPassing(name), units);
    }
  }
  // Names are unique, ids in no order.
  std::ranges::sort(resources.scalars);
  return resources;
}

bool IsExtendedResourceName(std::string_view name) {
  constexpr std::string_view kQuotaPrefix = "requests.";
  if (name.find('/') == std::string_view::npos ||
      name.find("kubernetes.io/") != std::string_view::npos || name.starts_with(kQuotaPrefix)) {
    return false;
  }
  return LabelKeyProblems(std::string(kQuotaPrefix).append(name)).empty();
}

bool IsScalarResourceName(std::string_view name) {
  return name.starts_with(kHugePagesPrefix) ||
         name.find("kubernetes.io/") != std::string_view::npos ||
         name.starts_with("attachable-volumes-") || IsExtendedResourceName(name);
}

}  // namespace berth
