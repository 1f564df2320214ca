// SPDX-License-Identifier: Apache-2.0
#include "plugins/capacity_scheduling/capacity_scheduling.h"

#include <algorithm>
#include <string>

namespace berth::plugins {

// Who has to go for a pod by its namespace's quota. Victims are sought from the least important
// on, so that of a namespace that borrows no more are taken than what it borrowed.
class CapacityScheduling::Selection final : public VictimSelection {
 public:
  Selection(CapacityScheduling& plugin, const PodInfo& pod, const Snapshot& snapshot,
            Victims& victims, DryRun& dry_run, DisruptionBudgets& budgets, Time now)
      : VictimSelection(pod, snapshot, victims, dry_run, budgets, now, nullptr),
        names_(plugin.handle_.resource_names()),
        over_quota_(plugin.over_quota_),
        left_(plugin.table()),
        namespace_(pod.pod->metadata.namespace_) {
    if (left_.Find(namespace_) == nullptr) return;
    wanted_ = plugin.WantedBy(pod);
    borrows_ = left_.Find(namespace_)->OverMinWith(wanted_->in_namespace);
  }

 protected:
  void FindPotential(const std::vector<Victim>& on_node,
                     std::vector<RankedVictim>& potential) override {
    for (const PodInfo* pod : gone_) Count(*pod, 1);
    gone_.clear();
    order_.assign(on_node.begin(), on_node.end());
    std::stable_sort(order_.begin(), order_.end(), [this](const Victim& a, const Victim& b) {
      return MoreImportant(b, a, now());
    });
    for (const Victim& victim : order_) {
      if (!MayGo(victim)) continue;
      potential.push_back({victim, 0, potential.size()});
      NoteGone(victim);
    }
  }

  void NoteBack(const Victim& victim) override {
    for (const PlacedPod& pod : victim.pods()) {
      std::erase(gone_, pod.info);
      Count(*pod.info, 1);
    }
  }

  void NoteGone(const Victim& victim) override {
    for (const PlacedPod& pod : victim.pods()) {
      gone_.push_back(pod.info);
      Count(*pod.info, -1);
    }
  }

  Status MayRun() override {
    return Within(wanted_ ? &wanted_->of_pod : nullptr, wanted_ ? &wanted_->of_pod : nullptr)
               ? Status::Success()
               : over_quota_;
  }

  bool MayStillRun() override {
    return Within(wanted_ ? &wanted_->in_namespace : nullptr, wanted_ ? &wanted_->in_all : nullptr);
  }

 private:
  bool MayGo(const Victim& victim) const {
    const std::string& of_victim = victim.pods().front().info->pod->metadata.namespace_;
    const NamespaceQuota* quota = left_.Find(of_victim);
    if (!wanted_) return quota == nullptr && victim.priority() < pod().priority();
    if (quota == nullptr) return false;
    if (borrows_) return of_victim == namespace_ && victim.priority() < pod().priority();
    return of_victim != namespace_ && quota->OverMin();
  }

  bool Within(const QuotaAmounts* in_namespace, const QuotaAmounts* in_all) const {
    if (in_namespace == nullptr) return true;
    return !left_.Find(namespace_)->OverMaxWith(*in_namespace) && !left_.OverMinInAll(*in_all);
  }

  void Count(const PodInfo& pod, int sign) {
    left_.Count(pod.pod->metadata.namespace_, QuotaAmountsOf(pod.requests, names_), sign);
  }

  const ResourceNames& names_;
  const Status over_quota_;
  QuotaTable left_;  // without the pods in `gone_`
  const std::string& namespace_;
  std::optional<Wanted> wanted_;  // nullopt: the pod's namespace has no quota
  bool borrows_ = false;          // with the pod the namespace has more than its min
  std::vector<const PodInfo*> gone_;
  std::vector<Victim> order_;  // scratch
};

CapacityScheduling::Preemption::Preemption(CapacityScheduling& plugin, Handle& handle)
    : DefaultPreemption({}, handle, CapacityScheduling::kName, Nodes::kAll), plugin_(plugin) {}

std::unique_ptr<VictimSelection> CapacityScheduling::Preemption::MakeSelection(
    const SelectionInput& input) {
  return std::make_unique<Selection>(plugin_, input.pod, input.snapshot, input.victims,
                                     input.dry_run, input.budgets, input.now);
}

// A pod that is going leaves room for one that it could have been evicted for.
bool CapacityScheduling::Preemption::GoesFor(const api::Pod& pod, const PodInfo& placed,
                                             const Snapshot&) const {
  const QuotaTable& table = plugin_.table();
  const api::Pod& going = *placed.pod;
  const bool evicted = going.metadata.deletion_timestamp.has_value();
  if (!evicted && !evictions().Running(pod.metadata.uid)) return false;
  const NamespaceQuota* quota = table.Find(going.metadata.namespace_);
  const NamespaceQuota* own = table.Find(pod.metadata.namespace_);
  const bool lower = placed.priority() < pod.priority();
  if (own == nullptr) return quota == nullptr && lower;
  if (quota == nullptr) return false;
  if (going.metadata.namespace_ == pod.metadata.namespace_) return lower;
  return quota->OverMin();
}

CapacityScheduling::CapacityScheduling(Handle& handle)
    : handle_(handle),
      preemption_(*this, handle),
      over_quota_(handle.reasons().Make(Code::kUnschedulable, "global quota max exceeded")) {}

CapacityScheduling::Wanted CapacityScheduling::WantedBy(const PodInfo& pod) const {
  const ResourceNames& names = handle_.resource_names();
  Wanted wanted;
  wanted.of_pod = QuotaAmountsOf(pod.requests, names);
  wanted.in_namespace = wanted.in_all = wanted.of_pod;
  const api::ObjectMeta& metadata = pod.pod->metadata;
  handle_.ForEachNominatedPod([&](const PodInfoPtr& nominated) {
    const api::ObjectMeta& of_other = nominated->pod->metadata;
    const NamespaceQuota* quota = table().Find(of_other.namespace_);
    if (quota == nullptr || of_other.uid == metadata.uid) return;
    const QuotaAmounts amounts = QuotaAmountsOf(nominated->requests, names);
    if (of_other.namespace_ == metadata.namespace_) {
      if (nominated->priority() < pod.priority()) return;
      wanted.in_namespace.Add(amounts);
      wanted.in_all.Add(amounts);
    } else if (!quota->OverMin()) {
      wanted.in_all.Add(amounts);
    }
  });
  return wanted;
}

PreFilterResult CapacityScheduling::PreFilter(CycleState& state, const PodInfo& pod,
                                              const Snapshot& snapshot) {
  Update(snapshot);
  const api::ObjectMeta& metadata = pod.pod->metadata;
  const NamespaceQuota* quota = table().Find(metadata.namespace_);
  if (quota == nullptr) return {Status::Skip()};
  const Wanted wanted = WantedBy(pod);
  const auto rejected = [&](std::string_view why) {
    return PreFilterResult{state.reasons().Make(
        Code::kUnschedulable,
        "Pod " + metadata.Key() + " is rejected in PreFilter because " + std::string(why))};
  };
  if (quota->OverMaxWith(wanted.in_namespace)) {
    return rejected("ElasticQuota " + metadata.namespace_ + " is more than Max");
  }
  if (table().OverMinInAll(wanted.in_all)) {
    return rejected("total ElasticQuota used is more than min");
  }
  return {Status::Success()};
}

PostFilterResult CapacityScheduling::PostFilter(CycleState& state, const PodInfo& pod,
                                                const Snapshot& snapshot,
                                                const NodeToStatus& statuses) {
  Update(snapshot);
  return preemption_.PostFilter(state, pod, snapshot, statuses);
}

PreemptionPreview CapacityScheduling::Preview(CycleState& state, const PodInfo& pod,
                                              const Snapshot& snapshot,
                                              const NodeToStatus& statuses) {
  Update(snapshot);
  return preemption_.Preview(state, pod, snapshot, statuses);
}

void CapacityScheduling::TakeOver(PreemptionPlugin& predecessor) {
  preemption_.TakeOver(static_cast<CapacityScheduling&>(predecessor).preemption_);
}

}  // namespace berth::plugins
