// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/api/node.h"
#include "berth/api/pod.h"
#include "berth/random.h"

namespace berth::test {

// Nodes named node-0, node-1, ... with few distinct labels, taints, sizes, images: so few that
// plugins agree and disagree about as often.
std::vector<api::Node> RandomNodes(Random& random, size_t count);

// A pod that uses any part of the API that scheduling reads; `index` makes its name.
api::Pod RandomPod(Random& random, size_t index, size_t num_nodes);

// Pods that sit on some of `num_nodes` nodes.
std::vector<api::Pod> RandomPlacedPods(Random& random, size_t count, size_t num_nodes);

}  // namespace berth::test
