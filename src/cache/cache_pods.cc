// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "berth/check.h"
#include "src/base/logging.h"
#include "src/cache/cache.h"
#include "src/cache/same_objects.h"

namespace berth::cache {
namespace {

// A pod that has a node, with what keeps the names of its resources.
struct PlacedPodInfo : PodInfo {
  PlacedPodInfo(PodInfo&& info, ResourceTable::Hold its_names)
      : PodInfo(std::move(info)), names(std::move(its_names)) {}

  ResourceTable::Hold names;
};

}  // namespace

PodInfoPtr Cache::MakePodInfo(std::shared_ptr<const api::Pod> pod) {
  BERTH_ON_THREAD(owner_);
  resources_.MaySweep();
  std::shared_ptr<PodInfo> info = PodInfo::Make(std::move(pod), resources_, pod_info_options_);
  ResourceTable::Hold names = resources_.HoldScalars(info->requests, info->placed);
  if (info->affinity != nullptr) classes_.TestTermsOf(info->pod->spec);
  if (info->pod->spec.node_name.empty()) {
    return classes_.Assign(std::move(*info), std::move(names));
  }
  if (names == nullptr) return info;
  return std::make_shared<const PlacedPodInfo>(std::move(*info), std::move(names));
}

PodInfoPtr Cache::Reclass(PodInfoPtr info) {
  BERTH_ON_THREAD(owner_);
  if (info->class_epoch == classes_.epoch()) return info;
  return classes_.Assign(PodInfo(*info), resources_.HoldScalars(info->requests, info->placed));
}

void Cache::SetSignatureParts(PodParts parts, std::span<const std::string> tested_label_keys) {
  BERTH_ON_THREAD(owner_);
  classes_.SetParts(parts);
  classes_.TestLabelKeys(tested_label_keys);
}

void Cache::TestSelectorOf(const api::ObjectPtr& object) {
  BERTH_ON_THREAD(owner_);
  classes_.TestSelectorOf(object);
}

Result<void> Cache::AddPod(PodInfoPtr info) {
  BERTH_ON_THREAD(owner_);
  BERTH_CHECK(trial_depth_ == 0, "pod added inside a trial");
  const api::Pod& pod = *info->pod;
  if (pod.metadata.uid.empty()) return Fail("pod " + pod.metadata.Key() + " has no UID");
  if (pod.spec.node_name.empty()) return Fail("pod " + pod.metadata.Key() + " names no node");

  const NodeRow row = RowFor(pod.spec.node_name);
  const PodTable::Slot slot = pods_.Find(pod.metadata.uid);
  if (slot == PodTable::kNoSlot) {
    Place({std::move(info), row, false});
    return {};
  }
  const CachedPod known = pods_.pod(slot);
  if (known.row == row) {
    const bool same = SamePlacedPod(*known.info, *info);
    if (!same) {
      CountUsage(row, *known.info, -1);
      CountUsage(row, *info, 1);
      changes_.Append(row, ChangeKind::kPods);
    } else if (known.info->start_time != info->start_time) {
      start_changes_.Append(row, ChangeKind::kPods);
    }
    pods_.Confirm(slot, std::move(info));
    return {};
  }
  if (known.assumed) {
    base::LogInfo("Pod was added to a different node than it was assumed",
                  {{"pod", pod.metadata.Key()},
                   {"assumedNode", node_name(known.row)},
                   {"currentNode", pod.spec.node_name}});
  } else {
    base::LogError("Pod moved from one node to another, which the API forbids",
                   {{"pod", pod.metadata.Key()},
                    {"oldNode", node_name(known.row)},
                    {"currentNode", pod.spec.node_name}});
  }
  TakeAway(slot);
  FreeIfUnused(known.row);
  Place({std::move(info), row, false});
  return {};
}

bool Cache::RemovePod(std::string_view uid) {
  BERTH_ON_THREAD(owner_);
  const PodTable::Slot slot = pods_.Find(uid);
  if (slot == PodTable::kNoSlot) return false;
  const NodeRow row = pods_.pod(slot).row;
  TakeAway(slot);
  // In a trial the row must stay for the rollback; Commit() frees it.
  if (trial_depth_ == 0) FreeIfUnused(row);
  return true;
}

Result<void> Cache::AssumePod(PodInfoPtr info, NodeRow row) {
  BERTH_ON_THREAD(owner_);
  const api::ObjectMeta& metadata = info->pod->metadata;
  if (metadata.uid.empty()) return Fail("pod " + metadata.Key() + " has no UID");
  if (pods_.Find(metadata.uid) != PodTable::kNoSlot) {
    return Fail("pod " + metadata.Key() + " (UID " + metadata.uid +
                ") is in the cache, so it can't be assumed");
  }
  if (!nodes_.Test(row)) {
    return Fail("pod " + metadata.Key() + " can't be assumed: its node is gone");
  }
  Place({std::move(info), row, true});
  return {};
}

bool Cache::IsAssumed(std::string_view uid) const {
  BERTH_ON_THREAD(owner_);
  const PodTable::Slot slot = pods_.Find(uid);
  return slot != PodTable::kNoSlot && pods_.pod(slot).assumed;
}

std::optional<CachedPod> Cache::FindPod(std::string_view uid) const {
  BERTH_ON_THREAD(owner_);
  const PodTable::Slot slot = pods_.Find(uid);
  if (slot == PodTable::kNoSlot) return std::nullopt;
  return pods_.pod(slot);
}

void Cache::Place(CachedPod pod) {
  const NodeRow row = pod.row;
  CountUsage(row, *pod.info, 1);
  const PodTable::Slot slot = pods_.Add(std::move(pod));
  if (trial_depth_ > 0) undo_.push_back({true, row, {{}, slot, 0}});
  changes_.Append(row, ChangeKind::kPods);
  // In a trial the terms that it took away must stay as they are for the rollback.
  if (trial_depth_ == 0) affinity_terms_.Sweep();
}

void Cache::TakeAway(PodTable::Slot slot) {
  PodTable::Removed removed = pods_.Remove(slot);
  const NodeRow row = removed.pod.row;
  CountUsage(row, *removed.pod.info, -1);
  if (trial_depth_ > 0) {
    undo_.push_back({false, row, std::move(removed)});
  }
  changes_.Append(row, ChangeKind::kPods);
}

void Cache::CountUsage(NodeRow row, const PodInfo& pod, int32_t delta) {
  PortCounts& ports = rows_[row].ports;
  if (delta > 0) {
    columns_.AddPod(row, pod);
    ports.Add(pod.host_ports);
  } else {
    columns_.RemovePod(row, pod);
    ports.Remove(pod.host_ports);
  }
  if (!pod.host_ports.empty()) with_host_ports_.Put(row, nodes_.Test(row) && !ports.empty());
  claim_uses_.Count(row, *pod.pod, delta);
  CountAcrossNodes(row, pod, delta);
}

}  // namespace berth::cache
