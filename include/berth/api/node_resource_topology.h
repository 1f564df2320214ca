// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/api/meta.h"
#include "berth/api/quantity.h"

// NodeResourceTopology of topology.node.k8s.io/v1alpha2: a custom resource that agents write, one
// for each node, by its name. Source: k8stopologyawareschedwg/noderesourcetopology-api v0.1.2.
namespace berth::api {

struct NodeTopologyAttribute {
  std::string name;
  std::string value;

  friend bool operator==(const NodeTopologyAttribute&, const NodeTopologyAttribute&) = default;
};

// What a zone has left of a resource.
struct NodeTopologyResource {
  std::string name;
  Quantity available;

  friend bool operator==(const NodeTopologyResource&, const NodeTopologyResource&) = default;
};

// How far another zone is.
struct NodeTopologyCost {
  std::string name;
  int64_t value = 0;

  friend bool operator==(const NodeTopologyCost&, const NodeTopologyCost&) = default;
};

struct NodeTopologyZone {
  std::string name;  // of a NUMA node "node-<its id>"
  std::string type;  // "Node": a NUMA node
  std::vector<NodeTopologyCost> costs;
  std::vector<NodeTopologyResource> resources;

  friend bool operator==(const NodeTopologyZone&, const NodeTopologyZone&) = default;
};

struct NodeResourceTopology {
  ObjectMeta metadata;
  // Deprecated; attributes say the same.
  std::vector<std::string> topology_policies;
  std::vector<NodeTopologyZone> zones;
  std::vector<NodeTopologyAttribute> attributes;

  friend bool operator==(const NodeResourceTopology&, const NodeResourceTopology&) = default;
};

}  // namespace berth::api
