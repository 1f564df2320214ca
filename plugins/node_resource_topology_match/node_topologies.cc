// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resource_topology_match/node_topologies.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <utility>

#include "absl/hash/hash.h"
#include "berth/api/meta.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kFingerprintAttribute = "nodeTopologyPodsFingerprint";
constexpr std::string_view kMethodAttribute = "nodeTopologyPodsFingerprintMethod";
constexpr std::string_view kFingerprintAnnotation = "topology.node.k8s.io/fingerprint";
constexpr std::string_view kExclusiveMethod = "with-exclusive-resources";

// The first of that name; nullptr: there is none.
const std::string* FindAttribute(const api::NodeResourceTopology& topology, std::string_view name) {
  const auto found =
      std::ranges::find(topology.attributes, name, &api::NodeTopologyAttribute::name);
  return found == topology.attributes.end() ? nullptr : &found->value;
}

struct Fingerprint {
  std::string text;             // "": the agent writes none
  bool only_exclusive = false;  // of pods with exclusive resources
};

Fingerprint FingerprintOf(const api::NodeResourceTopology& topology,
                          NodeResourceTopologyMatchArgs::ResyncMethod method) {
  using Method = NodeResourceTopologyMatchArgs::ResyncMethod;
  if (const std::string* text = FindAttribute(topology, kFingerprintAttribute)) {
    const std::string* stated = FindAttribute(topology, kMethodAttribute);
    return {*text, method == Method::kOnlyExclusiveResources ||
                       (method == Method::kAutodetect && stated != nullptr &&
                        *stated == kExclusiveMethod)};
  }
  const std::string* text = api::Find(topology.metadata.annotations, kFingerprintAnnotation);
  return {text == nullptr ? "" : *text, false};
}

bool Reports(const std::vector<NumaNode>& numa_nodes, std::string_view resource) {
  return std::ranges::any_of(numa_nodes, [resource](const NumaNode& numa) {
    return api::Find(numa.available, resource) != nullptr;
  });
}

NodeTopologies::Node NodeOf(const api::NodeResourceTopology& topology) {
  return {TopologyManagerOf(topology), NumaNodesOf(topology)};
}

// Whether a pod that is not Guaranteed may not fit for want of these.
bool IsOdd(const NodeTopologies::Node& node) {
  return node.manager.single_numa_node() &&
         !(Reports(node.numa_nodes, "cpu") && Reports(node.numa_nodes, "memory"));
}

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5;

// The first bytes, the lowest first, whatever the machine's order.
template <size_t bytes>
uint64_t Little(std::string_view text) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) {
    value |= uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
  }
  return value;
}

uint64_t Round(uint64_t lane, uint64_t input) {
  return std::rotl(lane + input * kPrime2, 31) * kPrime1;
}

}  // namespace

uint64_t Xxh64(std::string_view text, uint64_t seed) {
  const uint64_t length = text.size();
  uint64_t hash = seed + kPrime5;
  if (text.size() >= 32) {
    uint64_t lanes[] = {seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1};
    for (; text.size() >= 32; text.remove_prefix(32)) {
      for (size_t i = 0; i < 4; ++i) lanes[i] = Round(lanes[i], Little<8>(text.substr(8 * i)));
    }
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
           std::rotl(lanes[3], 18);
    for (const uint64_t lane : lanes) hash = (hash ^ Round(0, lane)) * kPrime1 + kPrime4;
  }
  hash += length;
  for (; text.size() >= 8; text.remove_prefix(8)) {
    hash = std::rotl(hash ^ Round(0, Little<8>(text)), 27) * kPrime1 + kPrime4;
  }
  if (text.size() >= 4) {
    hash = std::rotl(hash ^ (Little<4>(text) * kPrime1), 23) * kPrime2 + kPrime3;
    text.remove_prefix(4);
  }
  for (; !text.empty(); text.remove_prefix(1)) {
    hash = std::rotl(hash ^ (Little<1>(text) * kPrime5), 11) * kPrime1;
  }
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

void PodFingerprint::Add(std::string_view namespace_, std::string_view name) {
  hashes_.push_back(Xxh64(name, Xxh64(namespace_, 0)));
}

std::string PodFingerprint::Sign() {
  std::ranges::sort(hashes_);
  std::string bytes;
  for (const uint64_t hash : hashes_) {
    for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(hash >> shift & 0xff);
  }
  char text[32];
  std::snprintf(text, sizeof(text), "pfp0v001%016" PRIx64, Xxh64(bytes, 0));
  return text;
}

NodeTopologies::NodeTopologies(const NodeResourceTopologyMatchArgs& args,
                               std::string_view scheduler_name)
    : args_(args),
      scheduler_name_(scheduler_name),
      discards_reserved_(args.discard_reserved_nodes),
      period_(std::chrono::seconds(
          std::clamp<int64_t>(args.cache_resync_period_seconds, 0, int64_t{1} << 30))) {}

void NodeTopologies::Update(const Snapshot& snapshot, const Listers& listers, Time now) {
  TakeNewest(listers);
  if (!reserves()) return;
  FindForeignPods(snapshot);
  if (resynced_ && now - *resynced_ < period_) return;
  resynced_ = now;
  Resync(snapshot);
}

void NodeTopologies::TakeNewest(const Listers& listers) {
  if (topologies_generation_ == listers.node_topologies_generation()) return;
  topologies_generation_ = listers.node_topologies_generation();
  // Both are in the order of the names.
  auto at = nodes_.begin();
  listers.ForEach<api::NodeResourceTopology>([&](const TopologyPtr& newest) {
    const std::string& name = newest->metadata.name;
    while (at != nodes_.end() && at->first < name) Erase(at++);
    if (at == nodes_.end() || at->first != name) at = nodes_.try_emplace(at, name);
    Entry& entry = at++->second;
    if (entry.newest == newest) return;
    entry.newest = newest;
    if (!reserves() || entry.accepted == nullptr) Accept(entry);
  });
  while (at != nodes_.end()) Erase(at++);
}

void NodeTopologies::Erase(std::map<std::string, Entry, std::less<>>::iterator entry) {
  SetStale(false, entry->second);
  if (entry->second.odd) --num_odd_;
  bytes_ -= entry->second.bytes;
  nodes_.erase(entry);
}

void NodeTopologies::SetStale(bool stale, Entry& entry) {
  if (entry.stale == stale) return;
  entry.stale = stale;
  if (stale) {
    ++num_stale_;
  } else {
    --num_stale_;
  }
}

void NodeTopologies::Accept(Entry& entry) {
  entry.accepted = entry.newest;
  Derive(entry);
}

void NodeTopologies::Derive(Entry& entry) {
  auto node = std::make_shared<Node>(NodeOf(*entry.accepted));
  for (const auto& [pod, requests] : entry.reserved) TakeFromEach(requests, node->numa_nodes);
  Set(std::move(node), entry);
}

void NodeTopologies::Set(std::shared_ptr<const Node> node, Entry& entry) {
  const bool odd = IsOdd(*node);
  if (odd != entry.odd) num_odd_ = odd ? num_odd_ + 1 : num_odd_ - 1;
  entry.odd = odd;
  // Of a tree's entry, and of a few resources.
  constexpr size_t kTreeEntry = 64;
  constexpr size_t kAmounts = 512;
  bytes_ -= entry.bytes;
  entry.bytes =
      sizeof(Entry) + kTreeEntry + (node->numa_nodes.size() + entry.reserved.size()) * kAmounts;
  bytes_ += entry.bytes;
  entry.node = std::move(node);
}

bool NodeTopologies::IsForeign(const api::Pod& pod) const {
  if (pod.spec.node_name.empty() || pod.spec.scheduler_name == scheduler_name_) return false;
  return args_.foreign_pods == NodeResourceTopologyMatchArgs::ForeignPods::kAll ||
         AsksForExclusiveResources(pod);
}

void NodeTopologies::FindForeignPods(const Snapshot& snapshot) {
  if (args_.foreign_pods == NodeResourceTopologyMatchArgs::ForeignPods::kNone) return;
  if (generation_ == snapshot.generation()) return;
  const auto look = [&](NodeRow row) {
    if (!snapshot.nodes().Test(row)) return;
    const auto found = nodes_.find(snapshot.node(row).metadata.name);
    if (found == nodes_.end()) return;
    uint64_t foreign = 0;
    for (const PodInfo* pod : snapshot.pods(row)) {
      const api::Pod& there = *pod->pod;
      if (!IsForeign(there)) continue;
      foreign += absl::HashOf(there.metadata.uid, there.metadata.resource_version) | 1;
    }
    if (foreign == found->second.foreign) return;
    found->second.foreign = foreign;
    SetStale(true, found->second);
  };
  changed_rows_.clear();
  if (generation_ && snapshot.RowsChangedSince(*generation_, changed_rows_)) {
    for (const NodeRow row : changed_rows_) look(row);
  } else {
    snapshot.nodes().ForEach(look);
  }
  generation_ = snapshot.generation();
}

bool NodeTopologies::Counts(const api::Pod& pod, bool only_exclusive) const {
  if (pod.spec.node_name.empty()) return false;
  const bool shared = args_.informer_mode == NodeResourceTopologyMatchArgs::InformerMode::kShared;
  if (shared ? pod.status.phase != "Running" : pod.status.phase == "Pending") return false;
  return !only_exclusive || AsksForExclusiveResources(pod);
}

bool NodeTopologies::IsOfPods(const api::NodeResourceTopology& topology,
                              std::span<const PodInfo* const> pods) const {
  const Fingerprint expected = FingerprintOf(topology, args_.resync_method);
  if (expected.text.empty()) return false;
  PodFingerprint fingerprint;
  for (const PodInfo* pod : pods) {
    if (!Counts(*pod->pod, expected.only_exclusive)) continue;
    fingerprint.Add(pod->pod->metadata.namespace_, pod->pod->metadata.name);
  }
  return fingerprint.Sign() == expected.text;
}

void NodeTopologies::Resync(const Snapshot& snapshot) {
  for (auto& [name, entry] : nodes_) {
    if (entry.newest == entry.accepted && !entry.stale && entry.reserved.empty()) continue;
    if (args_.resync_scope == NodeResourceTopologyMatchArgs::ResyncScope::kAll &&
        TopologyManagerOf(*entry.newest) != TopologyManagerOf(*entry.accepted)) {
      // The kubelet was started with another configuration.
      entry.reserved.clear();
      SetStale(false, entry);
      Accept(entry);
      continue;
    }
    if (entry.reserved.empty() && !entry.stale) {
      Accept(entry);
      continue;
    }
    const NodeRow row = snapshot.FindNode(name);
    if (row == kNoRow) continue;
    const std::span<const PodInfo* const> pods = snapshot.pods(row);
    if (!IsOfPods(*entry.newest, pods)) continue;
    // What runs there has been measured, and what is gone takes nothing.
    std::erase_if(entry.reserved, [&](const auto& reserved) {
      return std::ranges::none_of(pods, [&](const PodInfo* pod) {
        return pod->pod->metadata.Key() == reserved.first && !Counts(*pod->pod, false);
      });
    });
    SetStale(false, entry);
    Accept(entry);
  }
}

void NodeTopologies::Reserve(const api::Pod& pod, std::string_view node_name) {
  const auto found = reserves() ? nodes_.find(node_name) : nodes_.end();
  if (found == nodes_.end()) return;
  Entry& entry = found->second;
  const auto [reserved, is_new] =
      entry.reserved.insert_or_assign(pod.metadata.Key(), EffectiveRequests(pod));
  if (!is_new) return Derive(entry);
  auto node = std::make_shared<Node>(*entry.node);
  TakeFromEach(reserved->second, node->numa_nodes);
  Set(std::move(node), entry);
}

void NodeTopologies::Unreserve(const api::Pod& pod, std::string_view node_name) {
  const auto found = nodes_.find(node_name);
  if (found == nodes_.end() || found->second.reserved.erase(pod.metadata.Key()) == 0) return;
  Derive(found->second);
}

NodeTopologies::Known NodeTopologies::Of(const NodeView& node, const Listers* listers) const {
  if (discards_reserved_) {
    // What is assumed there, and not what is only nominated.
    const bool reserved =
        std::ranges::any_of(node.snapshot().pods(node.row()), [this](const PodInfo* pod) {
          return pod->pod->spec.node_name.empty() &&
                 pod->pod->spec.scheduler_name == scheduler_name_;
        });
    if (reserved) return {.fresh = false};
  }
  const std::string& name = node.node().metadata.name;
  const auto found = nodes_.find(name);
  if (listers != nullptr && (found == nodes_.end() || !reserves())) {
    const TopologyPtr newest = listers->FindShared<api::NodeResourceTopology>(name);
    if (newest == nullptr) return {};
    if (found == nodes_.end() || found->second.newest != newest)
      return {.node = std::make_shared<const Node>(NodeOf(*newest))};
  }
  if (found == nodes_.end()) return {};
  if (found->second.stale) return {.fresh = false};
  return {.node = found->second.node};
}

}  // namespace berth::plugins
