// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "berth/api/pod.h"
#include "berth/result.h"
#include "src/plan/apply.h"

// What plans write to have a pod go.
namespace berth::plan {

inline constexpr std::string_view kLifecycleApi = "/apis/lifecycle.k8s.io/v1alpha1";

// What is sent to evict the pod by the Eviction subresource.
std::string EvictionBody(const api::Pod& pod);
// An event on the pod about that; one and the same where it is repeated.
std::string EvictionEventBody(const api::Pod& pod, std::string_view note, Time now);

// EvictionRequests (lifecycle.k8s.io/v1alpha1): one for each pod, named after its UID, so that a
// run that is repeated finds the one that was made. The pod owns it: the garbage collector takes it
// away once the pod is gone.
std::string EvictionRequestName(const api::Pod& pod);
// What is sent to ask for the pod's eviction.
std::string EvictionRequestBody(const api::Pod& pod);
// What the API server says of one that there is. Errors: it is no such object.
Result<RequestState> ReadEvictionRequest(std::string_view json);
// Whether the group's list of resources, as the API server has it, names EvictionRequests.
bool HasEvictionRequests(std::string_view json);

}  // namespace berth::plan
