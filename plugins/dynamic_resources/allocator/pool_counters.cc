// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "plugins/dynamic_resources/allocator/pool_view.h"

namespace berth::plugins::dra {

PoolCounters::PoolCounters(std::vector<const PublishedSlice*> slices) : slices_(std::move(slices)) {
  for (const PublishedSlice* slice : slices_) {
    if (problem_.empty()) AddSets(*slice);
  }
  for (const PublishedSlice* slice : slices_) {
    // A slice that has counters is not asked for devices.
    if (!slice->spec().shared_counters.empty()) continue;
    for (const PublishedDevice& device : slice->devices) {
      if (!problem_.empty()) return;
      AddConsumer(device);
    }
  }
}

void PoolCounters::AddSets(const PublishedSlice& slice) {
  for (const api::CounterSet& set : slice.spec().shared_counters) {
    const auto [found, is_new] = sets_.try_emplace(set.name);
    if (!is_new) {
      problem_ = "duplicate counter set name " + set.name;
      return;
    }
    for (const auto& [name, counter] : set.counters) {
      found->second.emplace(name, static_cast<uint32_t>(amounts_.size()));
      amounts_.push_back(counter.value.nanos());
    }
  }
}

void PoolCounters::AddConsumer(const PublishedDevice& device) {
  for (const api::DeviceCounterConsumption& consumption : device.device->consumes_counters) {
    const auto set = sets_.find(consumption.counter_set);
    if (set == sets_.end()) {
      problem_ = "counter set " + consumption.counter_set + " not found";
      return;
    }
    for (const auto& [name, counter] : consumption.counters) {
      const auto found = set->second.find(name);
      if (found == set->second.end()) {
        problem_ = "counter " + name + " not found in counter set " + consumption.counter_set;
        return;
      }
      uses_.push_back({found->second, counter.value.nanos()});
    }
  }
  if (!device.device->consumes_counters.empty())
    consumers_.push_back({device.row, device.device, static_cast<uint32_t>(uses_.size())});
}

void PoolCounters::AppendUses(const api::Device& device, std::vector<CounterUse>& uses) const {
  for (const api::DeviceCounterConsumption& consumption : device.consumes_counters) {
    const auto& set = sets_.at(consumption.counter_set);
    for (const auto& [name, counter] : consumption.counters)
      uses.push_back({set.at(name), counter.value.nanos()});
  }
}

std::span<const api::Quantity::Nanos> PoolCounters::Available(const DeviceInventory& inventory,
                                                              uint64_t held_version) {
  if (held_version_ == held_version && !available_.empty()) return available_;
  held_version_ = held_version;
  available_ = amounts_;
  held_groups_.clear();
  uint32_t use = 0;
  for (const Consumer& consumer : consumers_) {
    const bool held = inventory.is_held(consumer.row);
    for (; use < consumer.uses_end; ++use)
      if (held) available_[uses_[use].counter] -= uses_[use].amount;
    if (!held) continue;
    for (const api::DeviceCounterConsumption& consumption : consumer.device->consumes_counters)
      held_groups_[consumption.counter_set].Add(consumption.compatibility_groups);
  }
  overdrawn_ = std::any_of(available_.begin(), available_.end(),
                           [](api::Quantity::Nanos left) { return left < 0; });
  return available_;
}

const absl::flat_hash_map<std::string, SharedGroups>& PoolCounters::HeldGroups(
    const DeviceInventory& inventory, uint64_t held_version) {
  Available(inventory, held_version);
  return held_groups_;
}

}  // namespace berth::plugins::dra
