// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/allocator/pool_view.h"

#include <utility>

#include "absl/container/flat_hash_set.h"

namespace berth::plugins::dra {
namespace {

// What the gates let be seen of slices.
bool IsReadable(const PublishedSlice& slice, const AllocatorFeatures& features) {
  const bool partitionable =
      slice.spec().per_device_node_selection.has_value() || !slice.spec().shared_counters.empty();
  if (partitionable && !features.partitionable_devices) return false;
  // Devices of different groups could not be kept apart.
  return features.compatibility_groups || !slice.has_groups;
}

// Whether the slice, or a device of it, reaches the node. Errors: as PoolView::Find.
Result<bool> Reaches(const PublishedSlice& slice, const api::Node& node) {
  if (!slice.nodes.empty()) {
    if (const std::string problem = slice.nodes.Problem(); !problem.empty())
      return Fail("failed to perform node selection for slice " + slice.name() + ": " + problem);
    return slice.nodes.Matches(node);
  }
  if (!slice.each_device_chooses()) return false;
  for (const PublishedDevice& device : slice.devices) {
    if (const std::string problem = device.nodes.Problem(); !problem.empty()) {
      return Fail("failed to perform node selection for device " + device.device->name +
                  " in slice " + slice.name() + ": " + problem);
    }
    if (device.nodes.Matches(node)) return true;
  }
  return false;
}

std::shared_ptr<PoolCounters> MakeCounters(const std::vector<PublishedSlice*>& slices) {
  return std::make_shared<PoolCounters>(
      std::vector<const PublishedSlice*>(slices.begin(), slices.end()));
}

const PoolGeneration& FindGeneration(Pool& pool, int64_t number,
                                     const AllocatorFeatures& features) {
  auto& kept = pool.generations[number];
  if (kept != nullptr) return *kept;
  auto generation = std::make_shared<PoolGeneration>();
  std::vector<PublishedSlice*> slices;
  for (PublishedSlice* slice : pool.slices) {
    const int64_t published = slice->spec().pool.generation;
    generation->is_old |= published > number;
    if (published != number) continue;
    if (features.compatibility_groups || !slice->has_groups) slices.push_back(slice);
  }
  generation->num_slices = static_cast<int64_t>(slices.size());
  if (features.partitionable_devices) generation->counters = MakeCounters(slices);
  return *(kept = std::move(generation));
}

// Adds the slice to those that reach the node, which are of one generation, unless it is older; a
// newer one replaces them.
void AddNewest(PublishedSlice* slice, std::vector<PublishedSlice*>& reaching) {
  const int64_t generation = slice->spec().pool.generation;
  if (!reaching.empty() && reaching.front()->spec().pool.generation > generation) return;
  if (!reaching.empty() && reaching.front()->spec().pool.generation < generation) reaching.clear();
  reaching.push_back(slice);
}

}  // namespace

Result<std::shared_ptr<PoolView>> PoolView::Find(Pool& pool, const api::Node& node,
                                                 std::span<PublishedSlice* const> of_node,
                                                 const AllocatorFeatures& features) {
  std::vector<PublishedSlice*> reaching;
  for (PublishedSlice* slice : of_node) {
    if (slice->pool == &pool && IsReadable(*slice, features)) AddNewest(slice, reaching);
  }
  for (PublishedSlice* slice : pool.shared) {
    if (!IsReadable(*slice, features)) continue;
    const Result<bool> reaches = Reaches(*slice, node);
    if (!reaches) return Fail(reaches.error());
    if (*reaches) AddNewest(slice, reaching);
  }
  std::sort(reaching.begin(), reaching.end(),
            [](const auto* a, const auto* b) { return a->name() < b->name(); });
  auto& view = pool.views[reaching];
  if (view == nullptr) view = std::make_shared<PoolView>(pool, std::move(reaching), features);
  return view;
}

PoolView::PoolView(Pool& pool, std::vector<PublishedSlice*> reaching,
                   const AllocatorFeatures& features)
    : pool_(pool) {
  if (reaching.empty()) return;
  reaches_node_ = true;
  const api::ResourcePool published = reaching.front()->spec().pool;
  if (static_cast<int64_t>(reaching.size()) == published.resource_slice_count) {
    if (features.partitionable_devices) counters_ = MakeCounters(reaching);
  } else {
    // The others may not reach the node, or there is a newer generation that has nothing for it.
    const PoolGeneration& generation = FindGeneration(pool, published.generation, features);
    if (generation.is_old) return;
    if (generation.num_slices != published.resource_slice_count) {
      state_ = State::kIncomplete;
      return;
    }
    counters_ = generation.counters;
  }
  if (counters_ != nullptr) {
    // Slices that have counters are not asked for devices.
    std::erase_if(reaching,
                  [](const auto* slice) { return !slice->spec().shared_counters.empty(); });
  }
  AddDevices(reaching);
  if (problem_.empty() && counters_ != nullptr) problem_ = counters_->problem();
  if (!problem_.empty()) {
    state_ = State::kInvalid;
    devices_.clear();
    return;
  }
  state_ = State::kUsable;
  if (counters_ != nullptr) AddUses();
  for (const ViewedDevice& device : devices_)
    has_binding_conditions_ |= !device.device().binding_conditions.empty();
}

void PoolView::AddDevices(const std::vector<PublishedSlice*>& slices) {
  absl::flat_hash_set<DeviceRow> rows;
  for (PublishedSlice* slice : slices) {
    for (uint32_t i = 0; i < slice->devices.size(); ++i) {
      const PublishedDevice& device = slice->devices[i];
      if (!rows.insert(device.row).second) {
        problem_ = "duplicate device name " + device.device->name;
        return;
      }
      devices_.push_back({.slice = slice, .index = i, .row = device.row});
    }
  }
}

void PoolView::AddUses() {
  for (ViewedDevice& device : devices_) {
    device.uses_begin = static_cast<uint32_t>(uses_.size());
    counters_->AppendUses(device.device(), uses_);
    device.uses_end = static_cast<uint32_t>(uses_.size());
  }
}

}  // namespace berth::plugins::dra
