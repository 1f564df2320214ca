// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/extended_resources.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>

#include "berth/resources.h"

namespace berth::plugins {
namespace {

using Mapping = api::ContainerExtendedResourceRequest;
using Request = std::optional<api::DeviceRequest>;

// What one container asks for of a resource beyond what it can use of `reusable`.
Request RequestOf(size_t index, const api::Container& container, const std::string& resource,
                  const std::string& device_class, std::span<const Request> reusable,
                  std::vector<Mapping>& mappings) {
  const api::Quantity* wanted = api::Find(container.resources.requests, resource);
  if (wanted == nullptr || wanted->IsZero()) return std::nullopt;
  // An amount that is no whole number asks for nothing.
  const int64_t count = wanted->Value();
  if (api::Quantity::FromUnits(count) != *wanted) return std::nullopt;
  int64_t sum = 0;
  for (const Request& request : reusable) {
    if (!request) continue;
    sum += request->exactly->count;
    mappings.push_back({container.name, resource, request->name});
    if (sum >= count) return std::nullopt;
  }
  // Requests are sorted by name.
  const auto place = std::ranges::find(container.resources.requests, resource,
                                       &api::ResourceList::value_type::first) -
                     container.resources.requests.begin();
  api::DeviceRequest request;
  request.name = "container-" + std::to_string(index) + "-request-" + std::to_string(place);
  api::ExactDeviceRequest& exactly = request.exactly.emplace();
  exactly.device_class_name = device_class;
  exactly.allocation_mode = api::kExactCount;
  exactly.count = count - sum;
  mappings.push_back({container.name, resource, request.name});
  return request;
}

void AddResource(const std::vector<const api::Container*>& containers, size_t num_init_containers,
                 const std::string& resource, const std::string& device_class,
                 ExtendedRequests& out) {
  const auto ends = [&](size_t i) {
    return i < num_init_containers && !containers[i]->restartable();
  };
  std::vector<Mapping> lasting_mappings;
  std::vector<Request> lasting(containers.size());
  for (size_t i = 0; i < containers.size(); ++i) {
    if (ends(i)) continue;
    lasting[i] = RequestOf(i, *containers[i], resource, device_class, {}, lasting_mappings);
  }
  std::vector<Mapping> passing_mappings;
  std::set<std::string> passing_names;
  Request largest;
  for (size_t i = 0; i < containers.size(); ++i) {
    if (!ends(i)) continue;
    const Request request = RequestOf(i, *containers[i], resource, device_class,
                                      std::span(lasting).subspan(i), passing_mappings);
    if (!request) continue;
    passing_names.insert(request->name);
    if (!largest || largest->exactly->count < request->exactly->count) largest = request;
  }
  for (Mapping& mapping : passing_mappings) {
    if (passing_names.contains(mapping.request_name)) mapping.request_name = largest->name;
  }
  if (largest) out.requests.push_back(*std::move(largest));
  for (Request& request : lasting) {
    if (request) out.requests.push_back(*std::move(request));
  }
  out.mappings.insert(out.mappings.end(), lasting_mappings.begin(), lasting_mappings.end());
  out.mappings.insert(out.mappings.end(), passing_mappings.begin(), passing_mappings.end());
}

}  // namespace

ExtendedRequests MakeExtendedRequests(
    const api::Pod& pod, const std::vector<std::pair<std::string, std::string>>& resources) {
  std::vector<const api::Container*> containers;
  for (const api::Container& container : pod.spec.init_containers) containers.push_back(&container);
  for (const api::Container& container : pod.spec.containers) containers.push_back(&container);
  ExtendedRequests out;
  for (const auto& [resource, device_class] : resources) {
    AddResource(containers, pod.spec.init_containers.size(), resource, device_class, out);
  }
  std::ranges::stable_sort(out.requests, {}, &api::DeviceRequest::name);
  return out;
}

}  // namespace berth::plugins
