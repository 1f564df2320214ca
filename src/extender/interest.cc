// SPDX-License-Identifier: Apache-2.0
#include "src/extender/interest.h"

#include <algorithm>
#include <vector>

namespace berth::extender {
namespace {

bool NamesAny(const api::ResourceList& list,
              const std::vector<config::ExtenderManagedResource>& resources) {
  return std::any_of(resources.begin(), resources.end(), [&list](const auto& resource) {
    return api::Find(list, resource.name) != nullptr;
  });
}

}  // namespace

bool IsInterested(const config::Extender& extender, const api::Pod& pod) {
  const auto& resources = extender.managed_resources;
  const auto asks = [&resources](const api::Container& container) {
    return NamesAny(container.resources.requests, resources) ||
           NamesAny(container.resources.limits, resources);
  };
  const api::PodSpec& spec = pod.spec;
  return resources.empty() || std::any_of(spec.containers.begin(), spec.containers.end(), asks) ||
         std::any_of(spec.init_containers.begin(), spec.init_containers.end(), asks);
}

}  // namespace berth::extender
