// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "berth/api/node.h"
#include "berth/api/pod.h"
#include "berth/random.h"
#include "berth/topology.h"

namespace berth::test {

// Nodes named node-0, node-1, ... with few distinct labels, taints, sizes, images: so few that
// plugins agree and disagree about as often.
std::vector<api::Node> RandomNodes(Random& random, size_t count);

// A pod that uses any part of the API that scheduling reads; `index` makes its name.
api::Pod RandomPod(Random& random, size_t index, size_t num_nodes);

// The namespaces that random pods are in and random terms name, with labels that random namespace
// selectors test; now and then one is missing.
std::vector<api::Namespace> RandomNamespaces(Random& random);

// Over the labels that random pods carry. Now and then it selects nothing or everything.
std::optional<api::LabelSelector> RandomPodSelector(Random& random);
PodQuery RandomPodQuery(Random& random);
// A label key of nodes that makes sense to spread over; rarely one that no node has.
std::string RandomTopologyKey(Random& random);
// Namespace, labels, pod (anti-)affinity and spread constraints; also part of RandomPod.
void AddRandomAffinity(Random& random, api::Pod& pod);

// Pods that sit on some of `num_nodes` nodes; some of them are being deleted.
std::vector<api::Pod> RandomPlacedPods(Random& random, size_t count, size_t num_nodes);

}  // namespace berth::test
