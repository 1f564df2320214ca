// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "berth/in_tree/cycle_state.h"

namespace berth::framework::loadable {

// What a plugin keeps for one pod, freed with the plugin's own function.
class PluginData {
 public:
  PluginData(void* data, void (*destroy)(void*), void* (*clone)(const void*),
             size_t (*bytes)(const void*))
      : data_(data), destroy_(destroy), clone_(clone), bytes_(bytes) {}
  ~PluginData() {
    if (destroy_ != nullptr && data_ != nullptr) destroy_(data_);
  }
  PluginData(const PluginData&) = delete;
  PluginData& operator=(const PluginData&) = delete;

  void* get() const { return data_; }
  // nullptr: the data never changes, so that copies may share it.
  std::shared_ptr<PluginData> Clone() const {
    if (clone_ == nullptr || data_ == nullptr) return nullptr;
    return std::make_shared<PluginData>(clone_(data_), destroy_, clone_, bytes_);
  }
  // What the plugin says of it.
  size_t bytes() const { return bytes_ == nullptr || data_ == nullptr ? 0 : bytes_(data_); }

 private:
  void* data_;
  void (*destroy_)(void*);
  void* (*clone_)(const void*);
  size_t (*bytes_)(const void*);
};

// The entry of all loaded plugins in a CycleState, by plugin instance.
class PluginStates final {
 public:
  PluginStates() = default;
  PluginStates(const PluginStates& other) {
    for (const auto& [plugin, data] : other.entries_) {
      auto cloned = data->Clone();
      entries_.emplace_back(plugin, cloned == nullptr ? data : cloned);
    }
  }
  PluginStates(PluginStates&&) = default;
  PluginStates& operator=(const PluginStates&) = delete;
  PluginStates& operator=(PluginStates&&) = delete;
  ~PluginStates() = default;

  std::shared_ptr<PluginData> Get(const void* plugin) const {
    for (const auto& [owner, data] : entries_)
      if (owner == plugin) return data;
    return nullptr;
  }
  void Set(const void* plugin, std::shared_ptr<PluginData> data) {
    for (auto& [owner, kept] : entries_) {
      if (owner != plugin) continue;
      kept = std::move(data);
      return;
    }
    entries_.emplace_back(plugin, std::move(data));
  }
  size_t bytes() const {
    size_t bytes = entries_.capacity() * sizeof(entries_[0]);
    for (const auto& [owner, data] : entries_) bytes += ShareOf(data, data->bytes());
    return bytes;
  }

 private:
  std::vector<std::pair<const void*, std::shared_ptr<PluginData>>> entries_;
};

}  // namespace berth::framework::loadable

// The part of a CycleState that belongs to one plugin, for the length of one call.
struct berth_host_state {
  using PluginStates = berth::framework::loadable::PluginStates;
  using PluginData = berth::framework::loadable::PluginData;

  berth_host_state(const void* plugin, berth::CycleState& state)
      : plugin_(plugin), read_(&state), write_(&state) {}
  berth_host_state(const void* plugin, const berth::CycleState& state)
      : plugin_(plugin), read_(&state) {}
  // Apart from any CycleState.
  berth_host_state(const void* plugin, std::shared_ptr<PluginData> data)
      : plugin_(plugin), detached_(std::move(data)) {}

  std::shared_ptr<PluginData> Get() const {
    if (read_ == nullptr) return detached_;
    const auto* states = read_->Find<PluginStates>();
    return states == nullptr ? nullptr : states->Get(plugin_);
  }
  void Set(std::shared_ptr<PluginData> data) {
    if (read_ == nullptr) {
      detached_ = std::move(data);
      return;
    }
    if (write_ == nullptr) return;
    auto* states = write_->Find<PluginStates>();
    if (states == nullptr) states = &write_->Write(PluginStates());
    states->Set(plugin_, std::move(data));
  }

 private:
  const void* plugin_;
  const berth::CycleState* read_ = nullptr;
  berth::CycleState* write_ = nullptr;
  std::shared_ptr<PluginData> detached_;
};
