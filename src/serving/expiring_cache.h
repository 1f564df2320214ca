// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <utility>

#include "berth/time.h"
#include "src/base/string_map.h"

namespace berth::serving {

// Answers that hold for a while, by key; when there are too many, the one stored first goes.
//
// Thread safety: one owner.
template <typename Value>
class ExpiringCache {
 public:
  explicit ExpiringCache(size_t capacity) : capacity_(capacity) {}

  // nullptr where nothing is known, or no longer. Of use until the next Put().
  const Value* Find(std::string_view key, Time now) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    if (found->second->expiry > now) return &found->second->value;
    Erase(found->second);
    return nullptr;
  }

  void Put(std::string key, Value value, Time expiry) {
    if (const auto found = index_.find(key); found != index_.end()) Erase(found->second);
    if (index_.size() >= capacity_) Erase(entries_.begin());
    entries_.push_back(Entry{std::move(key), std::move(value), expiry});
    index_.emplace(entries_.back().key, std::prev(entries_.end()));
  }

  size_t size() const { return index_.size(); }

 private:
  struct Entry {
    std::string key;
    Value value;
    Time expiry;
  };
  using Position = typename std::list<Entry>::iterator;

  void Erase(Position entry) {
    index_.erase(entry->key);
    entries_.erase(entry);
  }

  size_t capacity_;
  std::list<Entry> entries_;  // in the order of storing
  base::StringMap<Position> index_;
};

}  // namespace berth::serving
