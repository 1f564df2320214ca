// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
#include "berth/in_tree/preemption.h"
#include "plugins/capacity_scheduling/elastic_quotas.h"
#include "plugins/default_preemption/default_preemption.h"

namespace berth::plugins {

// Namespaces share a cluster by ElasticQuotas of scheduling.x-k8s.io: a namespace has its min
// whatever others want, borrows of theirs up to its max while they do not need it, and gives back
// what it borrowed by preemption. That a profile names the plugin, at whatever point, makes the
// ElasticQuotas be watched. Pods of a namespace without one are as if the plugin were not there,
// but that they and pods of the others do not preempt one another.
//
// Thread safety: the scheduling thread.
class CapacityScheduling final : public PreFilterPlugin,
                                 public PreemptionPlugin,
                                 public ReservePlugin,
                                 public MemoryPlugin,
                                 public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "CapacityScheduling";

  explicit CapacityScheduling(Handle& handle);

  // What is used changes with each pod that is placed.
  Inputs DeclaredInputs() const { return Inputs::EachPod(); }

  // Unschedulable when the pod's namespace would have more than its max, or all namespaces together
  // more than the sum of their mins. Pods that are nominated for a node count as if they were
  // there: those of the namespace whose priority is not lower, and those of other namespaces that
  // have not more than their min. Skips pods of a namespace without a quota.
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  // Evicts, from one node, pods of lower priority in the namespace or, where that has not its min
  // yet, pods of namespaces that have more than theirs, whatever their priority. For a pod without
  // a quota: pods of lower priority that have none either.
  PostFilterResult PostFilter(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                              const NodeToStatus& statuses) override;
  PreemptionPreview Preview(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                            const NodeToStatus& statuses) override;
  void TakeOver(PreemptionPlugin& predecessor) override;
  bool TakeAnswer(const EvictionAnswered& answered) override {
    return preemption_.TakeAnswer(answered);
  }
  // Have nothing to do: what is assumed counts already.
  Status Reserve(CycleState&, const PodInfo&, std::string_view) override { return {}; }
  void Unreserve(CycleState&, const PodInfo&, std::string_view) override {}
  // A placed pod goes, or a quota comes, goes or changes.
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {{{EventResource::kPod, action::kDelete}},
            {{EventResource::kElasticQuota, action::kAll}}};
  }
  size_t kept_bytes() const override { return quotas_.bytes(); }

 private:
  // What a pod would take beside others that are on their way.
  struct Wanted {
    QuotaAmounts of_pod;
    QuotaAmounts in_namespace;  // with nominated pods of its namespace
    QuotaAmounts in_all;        // with those of other namespaces, too
  };
  class Selection;
  class Preemption final : public DefaultPreemption {
   public:
    Preemption(CapacityScheduling& plugin, Handle& handle);

   protected:
    std::unique_ptr<VictimSelection> MakeSelection(const SelectionInput& input) override;
    bool GoesFor(const api::Pod& pod, const PodInfo& placed,
                 const Snapshot& snapshot) const override;

   private:
    CapacityScheduling& plugin_;
  };

  // Of a pod in a namespace with a quota.
  Wanted WantedBy(const PodInfo& pod) const;
  // As of the last PreFilter or PostFilter.
  const QuotaTable& table() const { return quotas_.table(); }
  void Update(const Snapshot& snapshot) {
    quotas_.Update(snapshot, handle_.listers(), handle_.resource_names());
  }

  Handle& handle_;
  ElasticQuotas quotas_;
  Preemption preemption_;
  const Status over_quota_;
};

}  // namespace berth::plugins
