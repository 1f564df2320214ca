// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "berth/api/pod.h"
#include "berth/api/resource_claim.h"

// A pod's extended resources as requests for devices.
//
// Thread safety: any thread.
namespace berth::plugins {

struct ExtendedRequests {
  std::vector<api::DeviceRequest> requests;  // by name
  std::vector<api::ContainerExtendedResourceRequest> mappings;
};

// Requests for what the pod's containers ask for of these resources, each with the name of the
// class of its devices, sorted by resource. Containers that run at the same time get devices of
// their own; an init container that ends uses those of the containers after it, and where these are
// too few, one request that all such containers share.
ExtendedRequests MakeExtendedRequests(
    const api::Pod& pod, const std::vector<std::pair<std::string, std::string>>& resources);

}  // namespace berth::plugins
