// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "berth/in_tree/cycle_budget.h"
#include "berth/listers.h"
#include "berth/pod_affinity.h"
#include "berth/snapshot.h"

namespace berth::plugins {

// Turns terms of incoming pods into terms that name their namespaces, as those are now. (Terms of
// placed pods are matched the other way round, with the labels of the incoming pod's namespace.)
//
// Thread safety: the scheduling thread.
class TermResolver {
 public:
  // `listers` must outlive the resolver.
  explicit TermResolver(const Listers& listers) : listers_(&listers) {}

  // Where `budget` is used up, what is returned is not to be used.
  PodTerm Resolve(const AffinityTerm& term, CycleBudget& budget);

  // The labels of a namespace, none when it is not known. Good until the cycle ends.
  const api::StringMap& NamespaceLabels(std::string_view name) const;

 private:
  const std::vector<std::string>& SelectNamespaces(const LabelSelectorMatcher& selector,
                                                   CycleBudget& budget);

  const Listers* listers_;
  // What selectors select while the namespaces stay as they are, up to so many selectors and names.
  uint64_t generation_ = 0;
  size_t num_selected_ = 0;  // names
  std::map<std::string, std::vector<std::string>> selected_;
};

// How many placed pods match every term, by domain of the topology. Keeps what counts them alive,
// but where the topology has no domain: there nothing is counted.
std::shared_ptr<const Counts> CountByDomain(const Snapshot& snapshot, const PodQuery& query,
                                            const Topology& topology);
// The counts themselves, when something else keeps them alive.
inline std::shared_ptr<const Counts> Borrow(const Counts& counts) {
  return std::shared_ptr<const Counts>(std::shared_ptr<void>(), &counts);
}
// Not borrowed: the counts live as long as the pointer.
inline bool IsOwned(const std::shared_ptr<const Counts>& counts) { return counts.use_count() > 0; }

}  // namespace berth::plugins
