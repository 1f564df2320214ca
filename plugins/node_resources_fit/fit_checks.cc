// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources_fit/fit_checks.h"

#include <algorithm>
#include <array>

namespace berth::plugins {
namespace {

constexpr size_t kWordBits = 64;
constexpr std::string_view kTooManyPods = "Too many pods";
// 2^6 combinations: pods and five resources.
constexpr size_t kMaxTableChecks = 5;
// Workloads ask for few lists of resources; pods that each bring a list of their own must not be
// remembered.
constexpr size_t kMaxLists = 64;

// Bit i: have[i] - used[i] >= amount.
uint64_t RowsThatHave(const int64_t* have, const int64_t* used, size_t count, int64_t amount) {
  uint64_t rows = 0;
  for (size_t i = 0; i < count; ++i) {
    rows |= static_cast<uint64_t>(have[i] - used[i] >= amount) << i;
  }
  return rows;
}

// The values of a column, not one that lists few rows, from a row on; no values read as zeros.
class ColumnReader {
 public:
  explicit ColumnReader(const Column& column) : values_(column.values) {}

  const int64_t* At(size_t row) const {
    static constexpr std::array<int64_t, kWordBits> kZeros{};
    return values_.empty() ? kZeros.data() : values_.data() + row;
  }

 private:
  std::span<const int64_t> values_;
};

struct Comparison {
  ColumnReader have;
  ColumnReader used;
  int64_t amount = 0;
};

// Takes out the rows that fail a check of a resource that few rows offer or take.
void FilterByRareResource(const Column& have, const Column& used, int64_t amount, NodeSet& nodes) {
  const auto fits = [&](NodeRow row) { return have[row] - used[row] >= amount; };
  if (!have.values.empty() || !used.values.empty()) return nodes.Filter(fits);
  // Where nothing is offered nor taken, nothing is left: only rows that either names can pass.
  NodeSet fitting(nodes.size());
  for (const auto& rows : {have.few, used.few}) {
    for (const RowAmount& named : rows) {
      if (fits(named.row)) fitting.Set(named.row);
    }
  }
  nodes &= fitting;
}

bool TooManyPods(const NodeView& node) { return node.pod_count() + 1 > node.allowed_pods(); }

bool IsShort(const FitCheck& check, const NodeView& node) {
  const int64_t have = node.allocatable(check.id);
  return !(check.or_devices && have <= 0) && check.amount > have - node.requested(check.id);
}

std::string Insufficient(ResourceId id, const ResourceNames& names) {
  return "Insufficient " + std::string(names.Name(id));
}

ReasonSet ReasonsFor(FitFailures failures, std::span<const FitCheck> checks,
                     const ResourceNames& names) {
  ReasonSet reasons;
  if ((failures & 1) != 0) reasons.emplace_back(kTooManyPods);
  for (size_t i = 0; i < checks.size(); ++i) {
    if (((failures >> (i + 1)) & 1) != 0) reasons.push_back(Insufficient(checks[i].id, names));
  }
  return reasons;
}

}  // namespace

FitResult RunFitChecks(std::span<const FitCheck> checks, const NodeView& node) {
  FitResult result;
  if (TooManyPods(node)) {
    result.fits = false;
    result.failures = 1;
  }
  for (size_t i = 0; i < checks.size(); ++i) {
    if (!IsShort(checks[i], node)) continue;
    result.fits = false;
    result.unresolvable = result.unresolvable || checks[i].amount > node.allocatable(checks[i].id);
    if (i + 1 < kWordBits) result.failures |= FitFailures{1} << (i + 1);
  }
  return result;
}

ReasonSet ReasonsOnNode(std::span<const FitCheck> checks, const NodeView& node,
                        const ResourceNames& names) {
  ReasonSet reasons;
  if (TooManyPods(node)) reasons.emplace_back(kTooManyPods);
  for (const FitCheck& check : checks) {
    if (IsShort(check, node)) reasons.push_back(Insufficient(check.id, names));
  }
  return reasons;
}

void FilterByFitChecks(std::span<const FitCheck> checks, const Snapshot& snapshot, NodeSet& nodes) {
  std::vector<Comparison> comparisons;
  comparisons.reserve(checks.size() + 1);
  comparisons.push_back(
      {ColumnReader(snapshot.allowed_pods()), ColumnReader(snapshot.pod_count()), 1});
  for (const FitCheck& check : checks) {
    const Column have = snapshot.allocatable(check.id);
    const Column used = snapshot.requested(check.id);
    if (check.or_devices) {
      nodes.Filter(
          [&](NodeRow row) { return have[row] <= 0 || have[row] - used[row] >= check.amount; });
      continue;
    }
    if (have.few.empty() && used.few.empty()) {
      comparisons.push_back({ColumnReader(have), ColumnReader(used), check.amount});
    } else {
      FilterByRareResource(have, used, check.amount, nodes);
    }
  }
  const std::span<uint64_t> words = nodes.words();
  for (size_t w = 0; w < words.size(); ++w) {
    uint64_t kept = words[w];
    const size_t row = w * kWordBits;
    const size_t count = std::min(kWordBits, nodes.size() - row);
    for (size_t i = 0; kept != 0 && i < comparisons.size(); ++i) {
      const Comparison& comparison = comparisons[i];
      kept &=
          RowsThatHave(comparison.have.At(row), comparison.used.At(row), count, comparison.amount);
    }
    words[w] = kept;
  }
}

std::shared_ptr<const FitReasons> FitReasonMemo::Find(std::span<const FitCheck> checks) {
  if (checks.size() > kMaxTableChecks) return nullptr;
  std::vector<ResourceId> ids;
  ids.reserve(checks.size());
  for (const FitCheck& check : checks) ids.push_back(check.id);
  if (const auto known = tables_.find(ids); known != tables_.end()) return known->second;
  if (tables_.size() >= kMaxLists) tables_.clear();
  auto made = std::make_shared<FitReasons>();
  const FitFailures combinations = FitFailures{1} << (checks.size() + 1);
  made->by_failures.reserve(combinations);
  made->by_failures.push_back(nullptr);  // nothing failed
  for (FitFailures failures = 1; failures < combinations; ++failures) {
    made->by_failures.push_back(made->table.Intern(ReasonsFor(failures, checks, *names_)));
  }
  tables_.emplace(std::move(ids), made);
  return made;
}

}  // namespace berth::plugins
