// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/allocation.h"

namespace berth::plugins {

ScoredResources::ScoredResources(std::span<const ResourceSpec> specs, ResourceNames& names) {
  for (const ResourceSpec& spec : specs) {
    resources_.push_back(
        {spec.name, names.Intern(spec.name), spec.weight, IsScalarResourceName(spec.name)});
  }
}

std::vector<int64_t> ScoredResources::PodAmounts(const api::Pod& pod,
                                                 const PodRequestsOptions& options) const {
  const api::ResourceList requests = PodRequests(pod, options);
  std::vector<int64_t> amounts;
  amounts.reserve(resources_.size());
  for (const Resource& resource : resources_) {
    const api::Quantity* amount = api::Find(requests, resource.name);
    if (amount == nullptr) {
      amounts.push_back(0);
    } else {
      amounts.push_back(resource.id == kCpu ? amount->MilliValue() : amount->Value());
    }
  }
  return amounts;
}

std::vector<AllocationTerm> ScoredResources::Terms(std::span<const int64_t> pod_amounts,
                                                   const FindDevices& find) const {
  std::vector<AllocationTerm> terms;
  terms.reserve(resources_.size());
  for (size_t i = 0; i < resources_.size(); ++i) {
    if (resources_[i].scalar && pod_amounts[i] == 0) continue;
    const DeviceAmounts* devices =
        resources_[i].scalar && find != nullptr ? find(resources_[i].name) : nullptr;
    terms.push_back({resources_[i].id, resources_[i].weight, pod_amounts[i], devices});
  }
  return terms;
}

ColumnAllocations::ColumnAllocations(const Snapshot& snapshot,
                                     std::span<const AllocationTerm> terms, NodeAmounts amounts)
    : snapshot_(&snapshot), terms_(terms) {
  columns_.reserve(terms.size());
  for (const AllocationTerm& term : terms) {
    const bool non_zero = amounts == NodeAmounts::kNonZeroRequested && term.id <= kMemory;
    columns_.push_back({snapshot.allocatable(term.id), non_zero
                                                           ? snapshot.non_zero_requested(term.id)
                                                           : snapshot.requested(term.id)});
  }
}

}  // namespace berth::plugins
