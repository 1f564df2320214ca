// SPDX-License-Identifier: Apache-2.0
#include "plugins/fragmentation_aware/seen_pods.h"

#include <algorithm>
#include <utility>

namespace berth::plugins {
namespace {

constexpr int64_t kMostBetween = 256;

// FNV-1a: the same on every machine.
uint64_t HashOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// Lengths come first, so that no two lists of texts read alike.
void Append(std::string_view text, std::string& key) {
  key.append(std::to_string(text.size())).append(":").append(text);
}

void Append(const std::vector<api::NodeSelectorRequirement>& requirements, std::string& key) {
  key += '[';
  for (const api::NodeSelectorRequirement& requirement : requirements) {
    Append(requirement.key, key);
    Append(requirement.operator_, key);
    for (const std::string& value : requirement.values) Append(value, key);
    key += ';';
  }
  key += ']';
}

std::string KeyOf(const api::Pod& pod, const Demand& demand) {
  std::string key;
  for (const int64_t amount : demand.amounts) key.append(std::to_string(amount)).append(",");
  for (const DeviceDemand& devices : demand.devices) {
    key.append("/").append(std::to_string(devices.device_class));
    key.append("x").append(std::to_string(devices.count));
    key.append("x").append(std::to_string(devices.share));
  }
  return key.append("@").append(NodeAffinityKey(pod));
}

}  // namespace

std::string NodeAffinityKey(const api::Pod& pod) {
  std::string key;
  for (const auto& [label, value] : pod.spec.node_selector) {
    Append(label, key);
    Append(value, key);
  }
  const api::Affinity* affinity = pod.spec.affinity ? &*pod.spec.affinity : nullptr;
  if (affinity == nullptr || !affinity->node_affinity) return key;
  const auto& required =
      affinity->node_affinity->required_during_scheduling_ignored_during_execution;
  if (!required) return key;
  key += '|';
  for (const api::NodeSelectorTerm& term : required->node_selector_terms) {
    Append(term.match_expressions, key);
    Append(term.match_fields, key);
  }
  return key;
}

bool SeenPods::See(const std::shared_ptr<const api::Pod>& pod, const Demand& demand) {
  if (IsKnown(pod->metadata.uid)) return false;
  std::string key = KeyOf(*pod, demand);
  if (key.size() > kMaxKeyBytes) return false;
  auto kind = kinds_.find(key);
  if (kind == kinds_.end()) {
    while (kinds_.size() >= kMaxKinds) Halve();
    const bool anywhere = NodeAffinityKey(*pod).empty();
    kind = kinds_.emplace(std::move(key), Kind{demand, anywhere ? nullptr : pod, 0}).first;
  }
  ++kind->second.pods;
  ++pods_;
  return pods_ % kMostBetween == 0 || (pods_ < kMostBetween && (pods_ & (pods_ - 1)) == 0);
}

bool SeenPods::IsKnown(std::string_view uid) {
  const uint64_t hash = HashOf(uid);
  if (!is_remembered_.insert(hash).second) return true;
  if (remembered_.size() < kMaxRemembered) {
    remembered_.push_back(hash);
    return false;
  }
  is_remembered_.erase(std::exchange(remembered_[next_], hash));
  next_ = (next_ + 1) % kMaxRemembered;
  return false;
}

void SeenPods::Halve() {
  for (auto& [key, kind] : kinds_) kind.pods /= 2;
  std::erase_if(kinds_, [](const auto& known) { return known.second.pods == 0; });
}

std::vector<const SeenPods::Kind*> SeenPods::Mix() const {
  // By what decides: how many there are, then the place in the map.
  std::map<std::pair<int64_t, size_t>, const Kind*> frequent;
  int64_t all = 0;
  for (const auto& [key, kind] : kinds_) {
    frequent.emplace(std::pair(-kind.pods, frequent.size()), &kind);
    all += kind.pods;
  }
  std::vector<const Kind*> mix;
  int64_t covered = 0;
  for (const auto& [place, kind] : frequent) {
    if (mix.size() == kMaxShapes ||
        static_cast<double>(covered) >= kCovered * static_cast<double>(all)) {
      break;
    }
    covered += kind->pods;
    mix.push_back(kind);
  }
  return mix;
}

size_t SeenPods::kept_bytes() const {
  constexpr size_t kKind = 512;
  return kinds_.size() * kKind + (remembered_.capacity() + 2 * is_remembered_.capacity()) * 8;
}

}  // namespace berth::plugins
