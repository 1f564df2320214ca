// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>

#include "berth/api/plugin_object.h"
#include "berth/result.h"

namespace berth {

// The kinds that plugins of libraries ask for. What was added stays, as libraries do.
//
// Thread safety: Add() is for one thread at a time; all else for any thread.
class PluginKindTable {
 public:
  // The number of the kind, which may be there already. Errors name the field: a name that the API
  // server would not have, a kind that Berth reads itself or that is there in another form, and one
  // too many.
  Result<api::PluginKindId> Add(const api::PluginKind& kind);

  size_t size() const { return size_.load(std::memory_order_acquire); }
  // `id` is one that Add() returned.
  const api::PluginKind& operator[](api::PluginKindId id) const { return entries_[id].kind; }
  // As kube-scheduler calls the kind in cluster events: "<resource>.<version>.<group>".
  std::string_view EventName(api::PluginKindId id) const { return entries_[id].event_name; }

 private:
  struct Entry {
    api::PluginKind kind;
    std::string event_name;
  };

  std::array<Entry, api::kMostPluginKinds> entries_;
  std::atomic<size_t> size_ = 0;
};

// Those of this process.
PluginKindTable& PluginKinds();

}  // namespace berth
