// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// How full a cluster is and what still fits, in figures. docs/packing.md has the formulas.
namespace berth::packing {

// Node pools beyond these count as one, and so do extended resources.
inline constexpr size_t kMostPools = 32;
inline constexpr size_t kMostExtendedResources = 8;
// The name of that one.
inline constexpr std::string_view kOther = "other";
inline constexpr std::string_view kPodSlots = "pods";

// Amounts are what the scheduler counts in: cpu in milli-cores, all else in whole units.
struct ResourceFigures {
  std::string resource;
  int64_t allocatable = 0;
  int64_t requested = 0;
  int64_t stranded = 0;
  int64_t largest_free = 0;     // on one node
  int64_t requested_there = 0;  // by the pods of Figures::of_namespace

  friend bool operator==(const ResourceFigures&, const ResourceFigures&) = default;
};

// What a pod requests, by resource; cpu, memory and ephemeral storage first, the others by name.
using NamedAmounts = std::vector<std::pair<std::string, int64_t>>;

struct PoolFigures {
  // The largest pod that asks for cpu and memory in the proportion of the pool.
  struct Pod {
    int64_t milli_cpu = 0;
    int64_t memory = 0;

    friend bool operator==(const Pod&, const Pod&) = default;
  };

  std::string name;
  size_t open_nodes = 0;
  size_t closed_nodes = 0;
  size_t used_nodes = 0;   // open or closed
  size_t lower_bound = 0;  // of used_nodes
  std::vector<ResourceFigures> resources;
  std::optional<Pod> largest_pod;  // none without any cpu or memory requested to compare
  NamedAmounts typical_pod;        // empty where no pod requests anything
  uint64_t largest_gang = 0;       // of typical pods

  size_t nodes() const { return open_nodes + closed_nodes; }
  friend bool operator==(const PoolFigures&, const PoolFigures&) = default;
};

struct NamespacePods {
  std::string namespace_;
  size_t placed = 0;
  size_t pending = 0;

  friend bool operator==(const NamespacePods&, const NamespacePods&) = default;
};

struct Figures {
  std::optional<NamespacePods> of_namespace;  // where one is named
  size_t pods = 0;                            // on nodes
  size_t pending = 0;                         // that wait for this scheduler
  std::vector<PoolFigures> pools;             // by name
  // The resources of the pools, kOther and kPodSlots, with the nodes on which more is requested
  // than there is.
  std::vector<std::pair<std::string, size_t>> overcommitted;
  size_t overcommitted_nodes = 0;  // in whatever

  size_t nodes() const;
  friend bool operator==(const Figures&, const Figures&) = default;
};

// Whether amounts of the resource are bytes.
bool IsInBytes(std::string_view resource);
// For people: cores, or "10m" where tenths of a core would hide it; "12.5Gi"; a number of pieces.
std::string AmountText(std::string_view resource, int64_t amount);
// For people, two tables and a line; and one line of JSON.
void AppendTable(const Figures& figures, std::string& out);
void AppendJson(const Figures& figures, std::string& out);

}  // namespace berth::packing
