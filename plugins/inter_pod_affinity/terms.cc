// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/terms.h"

#include <algorithm>
#include <utility>

namespace berth::plugins {
namespace {

constexpr size_t kMaxSelectors = 256;
constexpr size_t kMaxSelected = 1u << 16;
// What a term takes at least to read, in steps and bytes.
constexpr uint64_t kStepsPerTerm = 10;
constexpr uint64_t kBytesPerTerm = sizeof(PodTerm) + 128;
constexpr uint64_t kBytesPerNamespace = 2 * sizeof(std::string);

}  // namespace

const std::vector<std::string>& TermResolver::SelectNamespaces(const LabelSelectorMatcher& selector,
                                                               CycleBudget& budget) {
  const uint64_t generation = listers_->namespaces_generation();
  if (generation != generation_ || selected_.size() >= kMaxSelectors ||
      num_selected_ >= kMaxSelected) {
    selected_.clear();
    num_selected_ = 0;
  }
  generation_ = generation;
  std::string identity;
  selector.AppendIdentity(identity);
  const auto [at, is_new] = selected_.try_emplace(std::move(identity));
  if (is_new) {
    uint64_t looked_at = 0;
    listers_->ForEach<api::Namespace>([&](const api::Namespace& candidate) {
      ++looked_at;
      if (selector.Matches(candidate.metadata.labels)) {
        at->second.push_back(candidate.metadata.name);
      }
    });
    num_selected_ += at->second.size();
    budget.Spend(looked_at);
  }
  return at->second;
}

PodTerm TermResolver::Resolve(const AffinityTerm& term, CycleBudget& budget) {
  PodTerm resolved;
  if (!budget.Spend(kStepsPerTerm, kBytesPerTerm)) return resolved;
  resolved.namespaces = term.namespaces;
  resolved.all_namespaces = term.namespace_selector.everything();
  resolved.selector = term.selector;
  if (resolved.all_namespaces || term.namespace_selector.nothing()) return resolved;
  std::vector<std::string>& names = resolved.namespaces;
  const std::vector<std::string>& selected = SelectNamespaces(term.namespace_selector, budget);
  if (!budget.Spend(selected.size(), selected.size() * kBytesPerNamespace)) return resolved;
  names.insert(names.end(), selected.begin(), selected.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return resolved;
}

const api::StringMap& TermResolver::NamespaceLabels(std::string_view name) const {
  static const api::StringMap kNone;
  const api::Namespace* found = listers_->Find<api::Namespace>(name);
  return found == nullptr ? kNone : found->metadata.labels;
}

std::shared_ptr<const Counts> CountByDomain(const Snapshot& snapshot, const PodQuery& query,
                                            const Topology& topology) {
  static const Counts kNone;
  if (topology.num_domains == 0) return Borrow(kNone);
  std::shared_ptr<const PodCounts> counts = snapshot.CountPods(query);
  const Counts& by_domain = counts->by_domain(topology);
  return std::shared_ptr<const Counts>(std::move(counts), &by_domain);
}

}  // namespace berth::plugins
