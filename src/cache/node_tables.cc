// SPDX-License-Identifier: Apache-2.0
#include "src/cache/node_tables.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "berth/check.h"

namespace berth::cache {
namespace {

// Each field carries its length, so that no two lists share a key whatever their text.
std::string KeyOf(const std::vector<api::Taint>& taints) {
  std::string key;
  for (const api::Taint& taint : taints) {
    for (const std::string* field : {&taint.key, &taint.value, &taint.effect}) {
      key += std::to_string(field->size());
      key += ':';
      key += *field;
    }
  }
  return key;
}

auto Order(const HostPort& port) { return std::tie(port.port, port.protocol, port.ip); }

std::vector<HostPort> Sorted(std::span<const HostPort> ports) {
  std::vector<HostPort> sorted(ports.begin(), ports.end());
  std::ranges::sort(sorted, {}, Order);
  return sorted;
}

}  // namespace

void ImageTable::Add(NodeRow row, const Images& images) {
  for (const api::ContainerImage& image : images) {
    for (const std::string& name : image.names) {
      const auto [it, inserted] = images_.try_emplace(name);
      Entry& entry = it->second;
      if (inserted) entry.size_bytes = image.size_bytes;
      const auto place = std::lower_bound(entry.rows.begin(), entry.rows.end(), row);
      if (place == entry.rows.end() || *place != row) entry.rows.insert(place, row);
    }
  }
}

void ImageTable::Remove(NodeRow row, const Images& images) {
  for (const api::ContainerImage& image : images) {
    for (const std::string& name : image.names) {
      const auto it = images_.find(name);
      if (it == images_.end()) continue;  // the node names it twice
      std::vector<NodeRow>& rows = it->second.rows;
      const auto place = std::lower_bound(rows.begin(), rows.end(), row);
      if (place != rows.end() && *place == row) rows.erase(place);
      if (rows.empty()) images_.erase(it);
    }
  }
}

void ImageTable::Update(NodeRow row, const Images& before, const Images& now) {
  if (before != now) {
    Remove(row, before);
    Add(row, now);
    return;
  }
  // Backwards, so that the first of two mentions of a name has the last word, as in Add().
  for (auto image = now.rbegin(); image != now.rend(); ++image) {
    for (const std::string& name : image->names) {
      Entry& entry = images_[name];
      if (entry.rows.size() == 1) entry.size_bytes = image->size_bytes;
    }
  }
}

std::optional<ImageState> ImageTable::Find(std::string_view name) const {
  const auto it = images_.find(name);
  if (it == images_.end()) return std::nullopt;
  return ImageState{it->second.size_bytes, it->second.rows};
}

TaintSetId TaintTable::Acquire(const std::vector<api::Taint>& taints) {
  if (taints.empty()) return 0;
  std::string key = KeyOf(taints);
  if (const auto it = ids_.find(key); it != ids_.end()) {
    ++sets_[it->second].uses;
    return it->second;
  }
  TaintSetId id = 1;
  while (id < sets_.size() && sets_[id].uses > 0) ++id;
  if (id == sets_.size()) sets_.emplace_back();
  ids_.emplace(key, id);
  sets_[id] = {taints, std::move(key), 1};
  return id;
}

void TaintTable::Release(TaintSetId id) {
  if (id == 0) return;
  TaintSet& set = sets_[id];
  BERTH_CHECK(set.uses > 0, "taint list released more often than acquired");
  if (--set.uses > 0) return;
  ids_.erase(set.key);
  set = {};
}

void PortCounts::Add(std::span<const HostPort> ports) {
  if (ports.empty()) return;
  std::vector<HostPort> merged;
  std::vector<uint32_t> counts;
  merged.reserve(ports_.size() + ports.size());
  counts.reserve(ports_.size() + ports.size());
  const auto append = [&](HostPort&& port, uint32_t count) {
    if (!merged.empty() && merged.back() == port) {
      counts.back() += count;
    } else {
      merged.push_back(std::move(port));
      counts.push_back(count);
    }
  };
  size_t known = 0;
  for (HostPort& port : Sorted(ports)) {
    for (; known < ports_.size() && Order(ports_[known]) <= Order(port); ++known) {
      append(std::move(ports_[known]), counts_[known]);
    }
    append(std::move(port), 1);
  }
  for (; known < ports_.size(); ++known) append(std::move(ports_[known]), counts_[known]);
  ports_ = std::move(merged);
  counts_ = std::move(counts);
}

void PortCounts::Remove(std::span<const HostPort> ports) {
  if (ports.empty()) return;
  size_t at = 0;
  for (const HostPort& port : Sorted(ports)) {
    while (at < ports_.size() && Order(ports_[at]) < Order(port)) ++at;
    BERTH_CHECK(at < ports_.size() && ports_[at] == port && counts_[at] > 0,
                "host port is not in use");
    --counts_[at];
  }
  size_t kept = 0;
  for (size_t i = 0; i < ports_.size(); ++i) {
    if (counts_[i] == 0) continue;
    if (kept != i) {
      ports_[kept] = std::move(ports_[i]);
      counts_[kept] = counts_[i];
    }
    ++kept;
  }
  ports_.resize(kept);
  counts_.resize(kept);
}

}  // namespace berth::cache
