// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "berth/api/node.h"
#include "berth/snapshot.h"
#include "plugins/dynamic_resources/allocator/device_inventory.h"
#include "plugins/dynamic_resources/allocator/pool_view.h"

namespace berth::plugins::dra {

// The pools of one node, in the order in which they are searched: by driver and pool, those with
// binding conditions last.
struct PoolsOfNode {
  std::vector<std::shared_ptr<PoolView>> pools = {};
  // How many devices the pools before have; one more than there are pools.
  std::vector<uint32_t> first_device = {};
  bool has_invalid = false;
  // Why the pools could not be gathered; "": they were.
  std::string error = {};

  uint32_t num_devices() const { return first_device.back(); }
};

// Which pools each node has, kept from cycle to cycle.
//
// What is kept of a node ends when a slice of one of its pools changes, a slice that names no node
// comes, goes or changes, the node gets its first slice of a pool, or, where slices choose nodes by
// selectors, its labels change.
//
// Thread safety: the scheduling thread only.
class NodePools {
 public:
  explicit NodePools(DeviceInventory& inventory) : inventory_(inventory) {}

  // `node` stands on `row`. Good until the inventory's slices change.
  const PoolsOfNode& Find(NodeRow row, const api::Node& node);

 private:
  struct Kept {
    PoolsOfNode found = {};
    // All whose change could matter, those left out of `found`, too.
    std::vector<std::shared_ptr<PoolView>> views = {};
    bool is_filled = false;
    uint64_t slices_version = 0;
    uint64_t shared_version = 0;
    std::string node_name = {};
    api::StringMap labels = {};
  };

  bool Holds(Kept& kept, const api::Node& node) const;
  void Gather(Kept& kept, NodeRow row, const api::Node& node);

  DeviceInventory& inventory_;
  std::vector<Kept> rows_;
  std::vector<Pool*> candidates_;  // scratch
};

}  // namespace berth::plugins::dra
