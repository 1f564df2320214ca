// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "berth/api/pod.h"

// What a pod asks for, counted as the scheduler counts it: cpu in milli-cores, all else in whole
// units, rounded up.
namespace berth::fixes {

int64_t Amount(std::string_view resource, const api::Quantity& quantity);
// `like` gives the form in which it is written.
api::Quantity FromAmount(std::string_view resource, int64_t amount, const api::Quantity& like);

// The effective request: containers, init steps, sidecars, pod-level resources and overhead.
api::Quantity EffectiveRequest(const api::Pod& pod, std::string_view resource);
// The resources of which the pod asks for more than nothing; sorted.
std::vector<std::string> RequestedResources(const api::Pod& pod);

// The pod with an effective request of `amount`, or of its overhead where that is more: the
// containers that run together give up equal parts of what they ask for, init containers no more
// than they must. Limits of resources that cannot be overcommitted follow their requests.
api::Pod WithRequest(const api::Pod& pod, std::string_view resource, int64_t amount);

}  // namespace berth::fixes
