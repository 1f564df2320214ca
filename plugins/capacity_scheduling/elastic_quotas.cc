// SPDX-License-Identifier: Apache-2.0
#include "plugins/capacity_scheduling/elastic_quotas.h"

#include <algorithm>

namespace berth::plugins {
namespace {

// Whether `used` and `more` exceed `bound`, which is `unnamed` of a scalar that it does not name;
// scalars count where `more` names them.
bool Exceeds(const QuotaAmounts& used, const QuotaAmounts& more, const QuotaAmounts& bound,
             std::optional<WideAmount> unnamed) {
  if (used.milli_cpu + more.milli_cpu > bound.milli_cpu ||
      used.memory + more.memory > bound.memory ||
      used.ephemeral_storage + more.ephemeral_storage > bound.ephemeral_storage) {
    return true;
  }
  return std::ranges::any_of(more.scalars, [&](const auto& scalar) {
    const auto of_bound = bound.scalars.find(scalar.first);
    if (of_bound == bound.scalars.end() && !unnamed) return false;
    const auto of_used = used.scalars.find(scalar.first);
    const WideAmount sum =
        scalar.second + (of_used == used.scalars.end() ? WideAmount{0} : of_used->second);
    return sum > (of_bound == bound.scalars.end() ? *unnamed : of_bound->second);
  });
}

constexpr WideAmount kNone = 0;

}  // namespace

void QuotaAmounts::Add(const QuotaAmounts& other, int sign) {
  milli_cpu += sign * other.milli_cpu;
  memory += sign * other.memory;
  ephemeral_storage += sign * other.ephemeral_storage;
  for (const auto& [name, amount] : other.scalars) scalars[name] += sign * amount;
}

QuotaAmounts QuotaAmountsOf(const Resources& resources, const ResourceNames& names) {
  QuotaAmounts amounts{.milli_cpu = resources.milli_cpu,
                       .memory = resources.memory,
                       .ephemeral_storage = resources.ephemeral_storage,
                       .scalars = {}};
  for (const auto& [id, amount] : resources.scalars)
    amounts.scalars[std::string(names.Name(id))] = amount;
  return amounts;
}

bool NamespaceQuota::OverMin() const { return Exceeds({}, used, min, kNone); }

bool NamespaceQuota::OverMinWith(const QuotaAmounts& more) const {
  return Exceeds(used, more, min, kNone);
}

bool NamespaceQuota::OverMaxWith(const QuotaAmounts& more) const {
  return max && Exceeds(used, more, *max, std::nullopt);
}

const NamespaceQuota* QuotaTable::Find(std::string_view namespace_) const {
  const auto found = by_namespace_.find(namespace_);
  return found == by_namespace_.end() ? nullptr : &found->second;
}

void QuotaTable::Count(std::string_view namespace_, const QuotaAmounts& amounts, int sign) {
  const auto found = by_namespace_.find(namespace_);
  if (found == by_namespace_.end()) return;
  found->second.used.Add(amounts, sign);
  used_.Add(amounts, sign);
}

bool QuotaTable::OverMinInAll(const QuotaAmounts& more) const {
  QuotaAmounts all = used_;
  all.Add(more);
  return Exceeds({}, all, min_, kNone);
}

bool QuotaTable::TakeQuotas(const Listers& listers, ResourceNames& names) {
  std::map<std::string, NamespaceQuota, std::less<>> next;
  QuotaAmounts min;
  bool same_namespaces = true;
  listers.ForEach<api::ElasticQuota>([&](const api::ElasticQuota& object) {
    const auto [it, added] = next.try_emplace(object.metadata.namespace_);
    if (!added) return;
    NamespaceQuota& quota = it->second;
    quota.min = QuotaAmountsOf(ToResources(object.spec.min, names), names);
    if (!object.spec.max.empty()) {
      quota.max = QuotaAmountsOf(ToResources(object.spec.max, names), names);
    }
    min.Add(quota.min);
    const auto before = by_namespace_.find(it->first);
    if (before == by_namespace_.end()) {
      same_namespaces = false;
    } else {
      quota.used = std::move(before->second.used);
    }
  });
  same_namespaces = same_namespaces && next.size() == by_namespace_.size();
  by_namespace_ = std::move(next);
  min_ = std::move(min);
  return !same_namespaces;
}

void QuotaTable::ForgetUsed() {
  for (auto& [namespace_, quota] : by_namespace_) quota.used = {};
  used_ = {};
}

void ElasticQuotas::Update(const Snapshot& snapshot, const Listers& listers, ResourceNames& names) {
  bool all = false;
  if (objects_generation_ != listers.generation()) {
    objects_generation_ = listers.generation();
    all = table_.TakeQuotas(listers, names);
  }
  if (!all && generation_ == snapshot.generation()) return;
  changed_rows_.clear();
  all = all || !generation_ || !snapshot.RowsChangedSince(*generation_, changed_rows_);
  generation_ = snapshot.generation();
  if (all) {
    CountAll(snapshot, names);
  } else if (table_.size() > 0) {
    for (const NodeRow row : changed_rows_) CountRow(snapshot, row, names);
  }
}

void ElasticQuotas::CountAll(const Snapshot& snapshot, const ResourceNames& names) {
  table_.ForgetUsed();
  taken_.clear();
  if (table_.size() == 0) return;
  snapshot.nodes().ForEach([&](NodeRow row) { CountRow(snapshot, row, names); });
}

void ElasticQuotas::CountRow(const Snapshot& snapshot, NodeRow row, const ResourceNames& names) {
  if (const auto before = taken_.find(row); before != taken_.end()) {
    for (const auto& [namespace_, amounts] : before->second) table_.Count(namespace_, amounts, -1);
    taken_.erase(before);
  }
  if (!snapshot.nodes().Test(row)) return;
  Taken taken;
  for (const PodInfo* pod : snapshot.pods(row)) {
    const std::string& namespace_ = pod->pod->metadata.namespace_;
    if (table_.Find(namespace_) == nullptr) continue;
    taken.emplace_back(namespace_, QuotaAmountsOf(pod->requests, names));
    table_.Count(namespace_, taken.back().second, 1);
  }
  if (!taken.empty()) taken_.emplace(row, std::move(taken));
}

size_t ElasticQuotas::bytes() const {
  constexpr size_t kPodsOfARow = 32;
  return table_.size() * sizeof(NamespaceQuota) +
         taken_.size() * kPodsOfARow * sizeof(Taken::value_type);
}

}  // namespace berth::plugins
