// SPDX-License-Identifier: Apache-2.0
#include "src/fixes/requests.h"

#include <algorithm>
#include <string>

#include "berth/resources.h"

namespace berth::fixes {
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

}  // namespace berth::fixes
