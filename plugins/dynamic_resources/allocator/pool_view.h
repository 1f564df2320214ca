// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/api/node.h"
#include "berth/api/quantity.h"
#include "plugins/dynamic_resources/allocator/device_inventory.h"

namespace berth::plugins::dra {

// The groups that all devices share which take from one counter set. Devices may take from it
// together if all name a common group, or none names any.
class SharedGroups {
 public:
  // Whether a device of these groups may take from the set, too.
  bool Admits(const std::vector<std::string>& groups) const {
    if (!has_members_) return true;
    if (groups.empty() || groups_.empty()) return groups.empty() && none_named_;
    return !SharedWith(groups).empty();
  }

  void Add(const std::vector<std::string>& groups) {
    if (!has_members_) {
      has_members_ = true;
      none_named_ = groups.empty();
      groups_ = groups;
      std::sort(groups_.begin(), groups_.end());
    } else if (!none_named_ && !groups.empty()) {
      groups_ = SharedWith(groups);
    }
  }

 private:
  std::vector<std::string> SharedWith(std::vector<std::string> groups) const {
    std::sort(groups.begin(), groups.end());
    std::vector<std::string> shared;
    std::set_intersection(groups_.begin(), groups_.end(), groups.begin(), groups.end(),
                          std::back_inserter(shared));
    return shared;
  }

  bool has_members_ = false;
  bool none_named_ = false;
  std::vector<std::string> groups_;  // sorted
};

// How much of one of the pool's counters something takes.
struct CounterUse {
  uint32_t counter = 0;
  api::Quantity::Nanos amount = 0;
};

// The shared counters of a pool, over all slices that it consists of.
class PoolCounters {
 public:
  explicit PoolCounters(std::vector<const PublishedSlice*> slices);

  // Why the pool cannot be used; "": it can.
  const std::string& problem() const { return problem_; }

  size_t size() const { return amounts_.size(); }
  // What a device of the slices takes; not where there is a problem.
  void AppendUses(const api::Device& device, std::vector<CounterUse>& uses) const;

  // What is left of each counter once the devices that claims hold have taken theirs; may be below
  // 0. `held_version` is the pool's; good until that changes.
  std::span<const api::Quantity::Nanos> Available(const DeviceInventory& inventory,
                                                  uint64_t held_version);
  // What the devices that claims hold leave of the groups of each counter set; sets that none of
  // them takes from are not there. Good as Available().
  const absl::flat_hash_map<std::string, SharedGroups>& HeldGroups(const DeviceInventory& inventory,
                                                                   uint64_t held_version);
  // Some counter has less than nothing left: no device that takes of a counter may be allocated.
  bool overdrawn() const { return overdrawn_; }

 private:
  void AddSets(const PublishedSlice& slice);
  void AddConsumer(const PublishedDevice& device);

  struct Consumer {
    DeviceRow row = 0;
    const api::Device* device = nullptr;
    uint32_t uses_end = 0;  // from the one before
  };

  const std::vector<const PublishedSlice*> slices_;
  std::string problem_;
  absl::flat_hash_map<std::string, absl::flat_hash_map<std::string, uint32_t>> sets_;
  std::vector<api::Quantity::Nanos> amounts_;
  std::vector<Consumer> consumers_;
  std::vector<CounterUse> uses_;
  uint64_t held_version_ = 0;
  std::vector<api::Quantity::Nanos> available_;  // as of held_version_; empty: not counted yet
  bool overdrawn_ = false;
  absl::flat_hash_map<std::string, SharedGroups> held_groups_;
};

// All slices of one generation of a pool, whatever they reach.
struct PoolGeneration {
  bool is_old = false;  // there are slices of a newer one
  int64_t num_slices = 0;
  std::shared_ptr<PoolCounters> counters = nullptr;  // with DRAPartitionableDevices
};

// A device of a view.
struct ViewedDevice {
  PublishedSlice* slice = nullptr;
  uint32_t index = 0;  // in the slice
  DeviceRow row = 0;
  uint32_t uses_begin = 0;  // in the view's counter uses
  uint32_t uses_end = 0;

  const api::Device& device() const { return slice->spec().devices[index]; }
  const NodeChoice& nodes() const { return slice->devices[index].nodes; }
};

// A pool as the nodes see it that reach the same of its slices.
class PoolView {
 public:
  enum class State : uint8_t {
    kNothing,     // no slice reaches the node, or only ones of an old generation
    kIncomplete,  // not all slices of the generation have been published
    kInvalid,
    kUsable,
  };

  // The view of the slices of the pool that reach the node, made where there is none yet; the
  // inventory's slices_of_node are `of_node`. Errors: a slice's node selector cannot be read.
  static Result<std::shared_ptr<PoolView>> Find(Pool& pool, const api::Node& node,
                                                std::span<PublishedSlice* const> of_node,
                                                const AllocatorFeatures& features);

  // `reaching` are of one generation, by name.
  PoolView(Pool& pool, std::vector<PublishedSlice*> reaching, const AllocatorFeatures& features);

  Pool& pool() const { return pool_; }
  State state() const { return state_; }
  // Some slice of the pool that can be read does.
  bool reaches_node() const { return reaches_node_; }
  // Why the state is kInvalid.
  const std::string& problem() const { return problem_; }
  // By slice name, then in the slice's order; empty unless kUsable.
  std::span<const ViewedDevice> devices() const { return devices_; }
  bool has_binding_conditions() const { return has_binding_conditions_; }
  PoolCounters* counters() const { return counters_.get(); }
  std::span<const CounterUse> uses(const ViewedDevice& device) const {
    return std::span(uses_).subspan(device.uses_begin, device.uses_end - device.uses_begin);
  }

  // A slice of the pool has changed; the pool may be gone.
  bool outdated() const { return outdated_; }
  void SetOutdated() { outdated_ = true; }

 private:
  void AddDevices(const std::vector<PublishedSlice*>& slices);
  void AddUses();

  Pool& pool_;
  State state_ = State::kNothing;
  std::string problem_;
  bool outdated_ = false;
  bool reaches_node_ = false;
  bool has_binding_conditions_ = false;
  std::vector<ViewedDevice> devices_;
  std::vector<CounterUse> uses_;
  std::shared_ptr<PoolCounters> counters_;  // kUsable, with DRAPartitionableDevices
};

}  // namespace berth::plugins::dra
