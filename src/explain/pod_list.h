// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "berth/api/pod.h"

namespace berth::explain {

// Pods without a node, alike in what became of them; `message` is the first one's.
struct PodsAlike {
  std::string result;
  std::string message;
  std::vector<std::string> pods;  // keys
};

// Appends a table with a line for each, the most pods first: how many, result, first pod, message.
// Beyond `most` lines it says how many pods more there are.
void AppendPodsAlike(std::vector<const PodsAlike*> groups, size_t most, std::string& out);

// What a pod's PodScheduled condition says; "" where there is none.
std::string WhyPending(const api::Pod& pod);

// Why no scheduling cycle is for the pod: it has no profile here, or is being deleted.
std::string WhyIgnored(const api::Pod& pod, bool has_profile);

}  // namespace berth::explain
