// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/counts.h"
#include "berth/label_selector.h"
#include "berth/node_set.h"
#include "berth/pod_affinity.h"

namespace berth {

// The nodes that share a value of a topology key. Ids are small and dense within one key; the id
// of a domain that lost its last node may stand for another one later.
using DomainId = uint32_t;
inline constexpr DomainId kNoDomain = UINT32_MAX;

// The nodes of a snapshot by their value of one label key.
struct Topology {
  std::string key;
  // One a row; kNoDomain: no node, or one without the label. The snapshot's: a key that no node
  // has shares it with others.
  std::span<const DomainId> domain_of;
  NodeSet nodes;                    // the rows that have a domain; over no rows where none has
  std::vector<std::string> values;  // by domain
  std::vector<uint32_t> num_nodes;  // by domain; 0: the id is not in use
  size_t num_domains = 0;           // ids in use
  std::vector<DomainId> by_value;   // ids in use, in the order of their values

  // The domain of that value, or kNoDomain.
  DomainId Find(std::string_view value) const;
  // About what it takes on the heap.
  size_t bytes() const;
};

// Some pods, by namespace and labels.
struct PodTerm {
  std::vector<std::string> namespaces;  // sorted, unique
  bool all_namespaces = false;          // whatever `namespaces` says
  LabelSelectorMatcher selector;

  bool Matches(const api::Pod& pod) const;
  friend bool operator==(const PodTerm&, const PodTerm&) = default;
};

// Which pods to count: those that match every term.
struct PodQuery {
  std::vector<PodTerm> all_of;    // at least one
  bool skip_terminating = false;  // leave out pods that are being deleted

  bool Matches(const api::Pod& pod) const;
  // Appends a text that is the same for equal queries, and only for them.
  void AppendIdentity(std::string& text) const;
  std::string Identity() const;
  friend bool operator==(const PodQuery&, const PodQuery&) = default;
};

// How many placed pods match a query, and where they are. Pods on rows outside nodes() count in
// no domain.
//
// Thread safety: that of Snapshot; by_domain on the scheduling thread only (it may build counts).
class PodCounts {
 public:
  virtual ~PodCounts() = default;
  virtual const Counts& by_row() const = 0;
  // `topology` is of the same snapshot. Kept up to date while the PodCounts is held; where the
  // topology has no domain, until it gets one.
  virtual const Counts& by_domain(const Topology& topology) const = 0;
};

// A term that placed pods have in common, and how many of them have it in each domain of its
// topology key. A pod that has the same term twice counts twice.
struct AffinityTermCounts {
  uint64_t serial = 0;  // of the term; never given to another one
  const AffinityTerm* term = nullptr;
  const Topology* topology = nullptr;
  const Counts* by_domain = nullptr;
};

}  // namespace berth
