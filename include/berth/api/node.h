// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/api/boxed.h"
#include "berth/api/meta.h"
#include "berth/api/quantity.h"

namespace berth::api {

inline constexpr std::string_view kTaintEffectNoSchedule = "NoSchedule";
inline constexpr std::string_view kTaintEffectPreferNoSchedule = "PreferNoSchedule";
inline constexpr std::string_view kTaintEffectNoExecute = "NoExecute";

struct Taint {
  std::string key;
  std::string value;
  std::string effect;

  friend bool operator==(const Taint&, const Taint&) = default;
};

struct NodePodPreemptionPolicy {
  // Who wants no pod evicted for the resize of another. Only whether there is anyone matters.
  std::vector<std::string> disable_resize_preemption;

  friend bool operator==(const NodePodPreemptionPolicy&, const NodePodPreemptionPolicy&) = default;
};

struct NodeSpec {
  bool unschedulable = false;
  std::vector<Taint> taints;
  Boxed<NodePodPreemptionPolicy> pod_preemption_policy;

  friend bool operator==(const NodeSpec&, const NodeSpec&) = default;
};

struct NodeCondition {
  std::string type;
  std::string status;

  friend bool operator==(const NodeCondition&, const NodeCondition&) = default;
};

struct ContainerImage {
  std::vector<std::string> names;
  int64_t size_bytes = 0;

  friend bool operator==(const ContainerImage&, const ContainerImage&) = default;
};

struct NodeStatus {
  ResourceList capacity;
  ResourceList allocatable;
  std::vector<NodeCondition> conditions;
  std::vector<ContainerImage> images;
  std::vector<std::string> declared_features;

  friend bool operator==(const NodeStatus&, const NodeStatus&) = default;
};

struct Node {
  ObjectMeta metadata;
  NodeSpec spec;
  NodeStatus status;
  SourceText source;

  friend bool operator==(const Node&, const Node&) = default;
};

}  // namespace berth::api
