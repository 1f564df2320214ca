// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/listers.h"
#include "berth/resources.h"
#include "berth/saturating.h"
#include "berth/snapshot.h"

// What the ElasticQuotas of namespaces say, and what the pods of these namespaces have taken.

namespace berth::plugins {

// Amounts by resource; exact, so that taking away undoes adding.
struct QuotaAmounts {
  WideAmount milli_cpu = 0;
  WideAmount memory = 0;
  WideAmount ephemeral_storage = 0;
  std::map<std::string, WideAmount, std::less<>> scalars;  // by name

  // `sign`: 1 or -1.
  void Add(const QuotaAmounts& other, int sign = 1);
};

QuotaAmounts QuotaAmountsOf(const Resources& resources, const ResourceNames& names);

struct NamespaceQuota {
  QuotaAmounts min;                 // a resource that it does not name: 0
  std::optional<QuotaAmounts> max;  // nullopt: no limit. A scalar that it does not name: no limit
  QuotaAmounts used;

  // Whether what is used exceeds min.
  bool OverMin() const;
  // The same of what would be used together with `more`; scalars count where `more` names them.
  bool OverMinWith(const QuotaAmounts& more) const;
  bool OverMaxWith(const QuotaAmounts& more) const;
};

// The quotas of all namespaces that have one.
class QuotaTable {
 public:
  // nullptr: it has none. Good until the table changes.
  const NamespaceQuota* Find(std::string_view namespace_) const;
  // A pod of the namespace comes (1) or goes (-1). Nothing happens where that has no quota.
  void Count(std::string_view namespace_, const QuotaAmounts& amounts, int sign);
  // Whether what all namespaces use together with `more` exceeds the sum of their mins.
  bool OverMinInAll(const QuotaAmounts& more) const;
  // Of several in a namespace the first by name counts. Returns whether other namespaces than
  // before have one: then what is used must be counted again.
  bool TakeQuotas(const Listers& listers, ResourceNames& names);
  // Nothing is used.
  void ForgetUsed();
  size_t size() const { return by_namespace_.size(); }

 private:
  std::map<std::string, NamespaceQuota, std::less<>> by_namespace_;
  QuotaAmounts used_;  // by all of them
  QuotaAmounts min_;
};

// The table, kept up to date. What is used is what the pods take that are on a node or assumed
// there; a pod whose node the API server has not shown does not count.
//
// Thread safety: the scheduling thread.
class ElasticQuotas {
 public:
  void Update(const Snapshot& snapshot, const Listers& listers, ResourceNames& names);
  const QuotaTable& table() const { return table_; }
  // About how much memory this takes.
  size_t bytes() const;

 private:
  using Taken = std::vector<std::pair<std::string, QuotaAmounts>>;  // by namespace

  void CountRow(const Snapshot& snapshot, NodeRow row, const ResourceNames& names);
  void CountAll(const Snapshot& snapshot, const ResourceNames& names);

  QuotaTable table_;
  absl::flat_hash_map<NodeRow, Taken> taken_;  // what is counted of each row
  std::optional<uint64_t> objects_generation_;
  std::optional<uint64_t> generation_;  // of the rows
  std::vector<NodeRow> changed_rows_;
};

}  // namespace berth::plugins
