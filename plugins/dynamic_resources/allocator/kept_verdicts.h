// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "berth/api/resource_claim.h"
#include "berth/node_set.h"
#include "berth/snapshot.h"
#include "plugins/dynamic_resources/allocator/allocator.h"

namespace berth::plugins::dra {

// What Allocate says of claims on each node, without words.
struct NodeVerdicts {
  NodeSet allocated;             // AllocationOutcome::kAllocated
  NodeSet failed;                // kError or kOutOfSteps: the cycle may end there
  std::vector<uint32_t> scores;  // by row, of the allocated ones

  friend bool operator==(const NodeVerdicts&, const NodeVerdicts&) = default;
};

// The verdicts on all nodes, kept for claims that are alike: those of pods made from one template.
//
// Of one set of claims to the next only those nodes are searched again that changed themselves
// (pods on them do not count), that may see another pool since a slice of it changed, or whose
// pools lost or gained a device. All are, where a slice changed that any node may see, where the
// snapshot or the inventory does not know what changed, and where an error lies in the claims
// themselves.
//
// Thread safety: the scheduling thread only.
class KeptVerdicts {
 public:
  // How much work searches may be. Where all together take more, the nodes that are left fail, and
  // nothing is kept.
  struct Steps {
    uint64_t each_node = 0;
    uint64_t all_nodes = 0;
  };

  // Both must outlive this.
  KeptVerdicts(const DeviceInventory& inventory, Allocator& allocator)
      : inventory_(inventory), allocator_(allocator) {}

  // Good until the next call. `claims` come from the allocator's Prepare.
  const NodeVerdicts& Find(const ClaimsToAllocate& claims, const Snapshot& snapshot,
                           const Steps& steps);

  // How many steps the last Find() took.
  uint64_t last_steps() const { return last_steps_; }
  // How many nodes were searched, ever.
  uint64_t num_searches() const { return num_searches_; }
  // About how much memory the verdicts take.
  size_t kept_bytes() const;

 private:
  struct Kept {
    // Without claims and classes, which it would outlive; it refers to the two copies.
    ClaimsToAllocate prepared = {};
    std::vector<std::vector<api::DeviceToleration>> tolerations = {};
    std::vector<api::ResourceList> capacities = {};
    NodeVerdicts verdicts = {};
    bool is_filled = false;
    uint64_t last_use = 0;
    uint64_t snapshot_generation = 0;
    uint64_t slices_version = 0;
    uint64_t held_version = 0;
  };

  Kept& FindKept(const ClaimsToAllocate& claims);
  bool FindChanged(Kept& kept, const Snapshot& snapshot);
  bool Search(const ClaimsToAllocate& claims, NodeRow row, const Snapshot& snapshot,
              const Steps& steps, NodeVerdicts& verdicts);

  const DeviceInventory& inventory_;
  Allocator& allocator_;
  std::vector<std::unique_ptr<Kept>> kept_;
  uint64_t uses_ = 0;
  uint64_t num_searches_ = 0;
  NodeVerdicts not_kept_;
  // Scratch.
  std::vector<NodeRow> changed_;
  NodeAllocation found_;
  uint64_t steps_left_ = 0;
  uint64_t last_steps_ = 0;
};

}  // namespace berth::plugins::dra
