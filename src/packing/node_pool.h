// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "berth/api/node.h"

namespace berth::packing {

// The labels by which clouds and autoscalers name the pool of a node; the first that a node has
// counts. A node of none of them goes by its instance type.
inline constexpr std::array<std::string_view, 5> kNodePoolLabels = {
    "cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup", "karpenter.sh/nodepool",
    "kubernetes.azure.com/agentpool", "node.kubernetes.io/instance-type"};

// The pool that the node is in: the value of a label of it, so good as long as the node; "" where
// it has none of the labels.
std::string_view NodePoolOf(const api::Node& node);

}  // namespace berth::packing
