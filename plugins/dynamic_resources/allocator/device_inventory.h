// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "berth/api/quantity.h"
#include "berth/api/resource_claim.h"
#include "berth/api/resource_slice.h"
#include "berth/node_set.h"
#include "plugins/dynamic_resources/allocator/features.h"
#include "plugins/dynamic_resources/allocator/kept_answers.h"
#include "plugins/dynamic_resources/allocator/node_choice.h"

namespace berth::plugins::dra {

// A device by driver, pool and name, whether a slice publishes it or a claim holds it. Dense; used
// again for another device once neither is so.
using DeviceRow = uint32_t;

class PoolView;
struct PoolGeneration;
struct Pool;

struct PublishedDevice {
  const api::Device* device = nullptr;
  DeviceRow row = 0;
  NodeChoice nodes = {};  // where the slice lets each device choose
};

// A ResourceSlice, read once.
struct PublishedSlice {
  std::shared_ptr<const api::ResourceSlice> object;
  Pool* pool = nullptr;
  NodeChoice nodes = {};
  bool has_groups = false;  // some device declares compatibility groups
  std::vector<PublishedDevice> devices = {};
  AnswersOfSlice answers = {};  // of expressions, filled while searching

  // perDeviceNodeSelection
  bool each_device_chooses() const { return spec().per_device_node_selection.value_or(false); }

  const api::ResourceSliceSpec& spec() const { return object->spec; }
  const std::string& name() const { return object->metadata.name; }
};

// The devices that a driver manages under one name: its slices of all generations.
struct Pool {
  std::string driver;
  std::string name;
  std::vector<PublishedSlice*> slices = {};  // by name
  std::vector<PublishedSlice*> shared = {};  // those without a node name, by name
  absl::flat_hash_map<std::string, DeviceRow> rows = {};
  // What nodes see of the pool, by the slices that reach them, and what it is as a whole, by
  // generation; both emptied when a slice of it changes.
  absl::flat_hash_map<std::vector<PublishedSlice*>, std::shared_ptr<PoolView>> views = {};
  absl::flat_hash_map<int64_t, std::shared_ptr<const PoolGeneration>> generations = {};
  uint64_t held_version = 0;  // grows when claims take or release devices of the pool
  // Nodes that have looked at the pool, and may look at it still.
  absl::flat_hash_set<NodeRow> seen_from = {};

  std::string Id() const { return driver + "/" + name; }
};

// The devices of the cluster, as rows: what ResourceSlices publish of them, and what claims hold.
//
// The caller feeds it; it reads nothing by itself. It keeps the slices that it is given and never
// changes them. Where DeviceTaintRules apply, the caller gives slices that have the rules' taints
// added, and gives them again when a rule changes.
//
// Thread safety: the scheduling thread only.
class DeviceInventory {
 public:
  explicit DeviceInventory(const AllocatorFeatures& features);
  ~DeviceInventory();
  DeviceInventory(const DeviceInventory&) = delete;
  DeviceInventory& operator=(const DeviceInventory&) = delete;

  const AllocatorFeatures& features() const { return features_; }

  // The slice of that name is new or has changed.
  void SetSlice(std::shared_ptr<const api::ResourceSlice> slice);
  void RemoveSlice(std::string_view name);

  // A claim holds these devices: it was seen allocated, or is about to be. Results with admin
  // access hold nothing. Several claims may hold one device; what was added is removed with the
  // same value, in any order.
  void AddAllocation(const api::AllocationResult& allocation);
  void RemoveAllocation(const api::AllocationResult& allocation);

  // Whether a claim holds all or a part of the device.
  bool IsAllocated(std::string_view driver, std::string_view pool, std::string_view device) const;

  // The device of that name as slices publish it, the newest generation of its pool first; only of
  // slices, and devices, that reach the node, where there is one. nullptr: none does.
  const api::Device* FindDevice(std::string_view driver, std::string_view pool,
                                std::string_view device, const api::Node* node) const;
  // Some device takes of what its node has: Device::node_allocatable_resources.
  bool has_node_allocatable() const { return num_node_allocatable_ != 0; }

  // What claims hold of a device.
  bool is_held_whole(DeviceRow row) const { return held_[row].whole != 0; }
  bool is_held(DeviceRow row) const { return held_[row].whole != 0 || held_[row].shares != 0; }
  bool is_shared(DeviceRow row) const { return held_[row].shares != 0; }
  // How much of that capacity the shares of the device take together.
  api::Quantity::Nanos consumed(DeviceRow row, std::string_view capacity) const;

  // The slices whose nodeName is that node; of each node the others are candidates.
  std::span<PublishedSlice* const> slices_of_node(std::string_view node) const;
  std::span<PublishedSlice* const> shared_slices() const { return shared_; }
  // Some of shared_slices() chooses its nodes by a selector: it depends on a node's labels which
  // slices reach it.
  bool reads_labels() const { return num_label_readers_ != 0; }

  // Grows when a slice comes, goes or changes.
  uint64_t slices_version() const { return slices_version_; }
  // Calls visit for the nodes that may see another pool than before, of a slice that came, went or
  // changed after `version`; a name may repeat. False: that is not known any more, or it may be any
  // node.
  bool SlicesChangedSince(uint64_t version,
                          absl::FunctionRef<void(std::string_view node)> visit) const;
  // Grows when one of shared_slices() does, or a node gets its first slice of a pool.
  uint64_t shared_version() const { return shared_version_; }
  // Grows when claims take or release a device.
  uint64_t held_version() const { return held_version_; }
  // Adds to `rows` those of the nodes that see a device which was taken or released after
  // `version`; a row may repeat. False: that is not known any more, or they are very many.
  bool HeldChangedSince(uint64_t version, std::vector<NodeRow>& rows) const;

  // Drops what is kept for expressions that are forgotten.
  void DropForgottenAnswers();

  size_t num_rows() const { return held_.size(); }
  size_t num_pools() const { return pools_.size(); }

 private:
  struct Held {
    uint32_t whole = 0;      // claims that hold it whole
    uint32_t shares = 0;     // shares of it that claims hold
    uint32_t published = 0;  // slices that publish it
    Pool* pool = nullptr;
    std::string name = {};
    std::vector<std::pair<std::string, api::Quantity::Nanos>> consumed = {};
  };

  Pool& PoolOf(std::string_view driver, std::string_view name);
  void DropIfUnused(Pool& pool);
  DeviceRow RowOf(Pool& pool, std::string_view device);
  void ReleaseIfUnused(DeviceRow row);
  void Link(PublishedSlice& slice);
  void Unlink(PublishedSlice& slice);
  void Hold(const api::DeviceRequestAllocationResult& result, int sign);
  void LogHeld(const Pool& pool);
  // While the slice that changed is one of the pool's.
  void LogSlices(const Pool& pool);

  // Who may see another pool since slices_version_ became `version`.
  struct SliceChange {
    uint64_t version = 0;
    std::string node = {};  // "": any node
  };

  // Who sees a device that was taken or released when held_version_ became `version`.
  struct HeldChange {
    uint64_t version = 0;
    NodeRow row = kNoRow;  // kNoRow: many nodes
  };

  const AllocatorFeatures features_;
  absl::flat_hash_map<std::pair<std::string, std::string>, std::unique_ptr<Pool>> pools_;
  absl::flat_hash_map<std::string, std::unique_ptr<PublishedSlice>> slices_;
  absl::flat_hash_map<std::string, std::vector<PublishedSlice*>> of_node_;
  std::vector<PublishedSlice*> shared_;  // by name
  size_t num_label_readers_ = 0;
  size_t num_node_allocatable_ = 0;  // slices with such a device
  std::vector<Held> held_;
  std::vector<DeviceRow> free_rows_;
  uint64_t slices_version_ = 0;
  uint64_t shared_version_ = 0;
  uint64_t held_version_ = 0;
  std::vector<HeldChange> held_log_;  // the newest last
  uint64_t held_log_floor_ = 0;       // all changes after this one are there
  std::vector<SliceChange> slice_log_;
  uint64_t slice_log_floor_ = 0;
};

}  // namespace berth::plugins::dra
