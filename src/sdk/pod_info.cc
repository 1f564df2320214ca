// SPDX-License-Identifier: Apache-2.0
#include "berth/pod_info.h"

#include <algorithm>

#include "src/sdk/resource_keys.h"
#include "src/sdk/resource_status.h"

namespace berth {
namespace {

constexpr std::string_view kAnyAddress = "0.0.0.0";

void AppendPorts(const api::Container& container, std::vector<HostPort>& ports) {
  for (const api::ContainerPort& port : container.ports) {
    if (port.host_port <= 0) continue;
    ports.push_back({port.host_ip.empty() ? std::string(kAnyAddress) : port.host_ip,
                     port.protocol.empty() ? "TCP" : port.protocol, port.host_port});
  }
}

bool PodLevelRequestsSet(const api::Pod& pod) {
  if (!pod.spec.resources.has_value()) return false;
  const api::ResourceList& requests = pod.spec.resources->requests;
  return std::any_of(requests.begin(), requests.end(), [](const auto& entry) {
    return entry.first == "cpu" || entry.first == "memory" || entry.first.starts_with("hugepages-");
  });
}

int64_t AtLeastZero(int64_t amount) { return std::max(amount, int64_t{0}); }

// What containers ask for; `non_zero` with the defaults for what they leave out.
struct PlainSums {
  api::Quantity cpu;
  api::Quantity memory;
  api::Quantity ephemeral_storage;
  api::Quantity non_zero_cpu;
  api::Quantity non_zero_memory;
};

void Add(const api::Quantity* amount, const api::Quantity& fallback, api::Quantity& sum,
         api::Quantity& non_zero) {
  if (amount != nullptr) sum += *amount;
  non_zero += amount == nullptr ? fallback : *amount;
}

// Adds up, without lists of resources, what most pods are: containers that ask for cpu, memory and
// ephemeral storage at most, and nothing beside them that has a say. nullopt: another pod.
std::optional<PlainSums> SumPlainPod(const api::Pod& pod) {
  const api::PodSpec& spec = pod.spec;
  if (!spec.init_containers.empty() || spec.resources.has_value() || !spec.overhead.empty() ||
      StatusTellsResources(pod)) {
    return std::nullopt;
  }
  static const auto kDefaultCpu = api::Quantity::FromMilli(kDefaultMilliCpuRequest);
  static const auto kDefaultMemory = api::Quantity::FromUnits(kDefaultMemoryRequest);
  PlainSums sums;
  for (const api::Container& container : spec.containers) {
    const api::Quantity* cpu = nullptr;
    const api::Quantity* memory = nullptr;
    for (const auto& [name, amount] : container.resources.requests) {
      if (name == kCpuName) {
        cpu = &amount;
      } else if (name == kMemoryName) {
        memory = &amount;
      } else if (name == kEphemeralStorageName) {
        sums.ephemeral_storage += amount;
      } else {
        return std::nullopt;
      }
    }
    Add(cpu, kDefaultCpu, sums.cpu, sums.non_zero_cpu);
    Add(memory, kDefaultMemory, sums.memory, sums.non_zero_memory);
  }
  return sums;
}

bool RequestsAreMissing(const api::Pod& pod) {
  const auto missing = [](const api::Container& container) {
    const api::ResourceList& requests = container.resources.requests;
    return api::Find(requests, "cpu") == nullptr || api::Find(requests, "memory") == nullptr;
  };
  return std::ranges::any_of(pod.spec.containers, missing) ||
         std::ranges::any_of(pod.spec.init_containers, missing);
}

// Sets what `pod` asks for and takes, whatever it is made of.
void CountRequests(const api::Pod& pod, ResourceNames& names, const PodInfoOptions& options,
                   PodInfo& info) {
  PodRequestsOptions how{.claim_status = options.claim_status,
                         .pod_level = options.pod_level,
                         .pod_level_status = options.pod_level_status};
  const api::ResourceList spec = PodRequests(pod, how);
  info.requests = ToResources(spec, names);

  how.use_status = StatusTellsResources(pod);
  const api::ResourceList placed = how.use_status ? PodRequests(pod, how) : spec;
  info.placed = how.use_status ? ToResources(placed, names) : info.requests;

  how.non_missing = how.use_status || RequestsAreMissing(pod);
  const api::ResourceList defaulted = how.non_missing ? PodRequests(pod, how) : spec;
  // With pod-level requests, a default stands in only for what the whole pod does not name.
  const bool pod_level = options.pod_level && PodLevelRequestsSet(pod);
  const auto non_zero = [&](std::string_view name) {
    const api::Quantity* amount = pod_level ? api::Find(placed, name) : nullptr;
    if (amount == nullptr) amount = api::Find(defaulted, name);
    return amount == nullptr ? api::Quantity() : *amount;
  };
  info.non_zero_milli_cpu = AtLeastZero(non_zero("cpu").MilliValue());
  info.non_zero_memory = AtLeastZero(non_zero("memory").Value());
}

}  // namespace

bool HostPort::ConflictsWith(const HostPort& other) const {
  return port == other.port && protocol == other.protocol &&
         (ip == other.ip || ip == kAnyAddress || other.ip == kAnyAddress);
}

std::vector<HostPort> HostPorts(const api::Pod& pod) {
  std::vector<HostPort> ports;
  for (const api::Container& container : pod.spec.init_containers) {
    if (container.restartable()) AppendPorts(container, ports);
  }
  for (const api::Container& container : pod.spec.containers) AppendPorts(container, ports);
  return ports;
}

std::shared_ptr<PodInfo> PodInfo::Make(std::shared_ptr<const api::Pod> pod, ResourceNames& names,
                                       const PodInfoOptions& options) {
  auto info = std::make_shared<PodInfo>();
  if (const auto sums = SumPlainPod(*pod)) {
    info->requests.milli_cpu = AtLeastZero(sums->cpu.MilliValue());
    info->requests.memory = AtLeastZero(sums->memory.Value());
    info->requests.ephemeral_storage = AtLeastZero(sums->ephemeral_storage.Value());
    info->placed = info->requests;
    info->non_zero_milli_cpu = AtLeastZero(sums->non_zero_cpu.MilliValue());
    info->non_zero_memory = AtLeastZero(sums->non_zero_memory.Value());
  } else {
    CountRequests(*pod, names, options, *info);
  }
  info->host_ports = HostPorts(*pod);
  info->affinity = PodAffinityTerms::Make(*pod);
  info->pod_priority = pod->priority();
  info->start_time = pod->status.start_time;
  info->resize_deferred = options.deferred_resizes && IsResizeDeferred(*pod);
  info->pod = std::move(pod);
  return info;
}

}  // namespace berth
