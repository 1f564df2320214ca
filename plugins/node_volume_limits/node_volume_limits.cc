// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_volume_limits/node_volume_limits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/node_volume_limits/attached_volumes.h"
#include "plugins/node_volume_limits/queueing_hints.h"

namespace berth::plugins {
namespace {

// What the pod would attach to one kind of node.
struct NewVolumes {
  std::vector<AttachedVolume> volumes;  // sorted, unique
  VolumeProblem problem;
};

struct PreFilterState {
  NewVolumes with_csi_node;  // disks of built-in plugins are a driver's there
  NewVolumes without_csi_node;

  const NewVolumes& On(const api::CSINode* node) const {
    return node == nullptr ? without_csi_node : with_csi_node;
  }
};

NewVolumes VolumesFor(const api::Pod& pod, bool migrated, const Listers& listers) {
  NewVolumes found;
  found.problem = AddVolumesOf(pod, migrated, /*is_new=*/true, listers, found.volumes);
  MakeUnique(found.volumes);
  return found;
}

PreFilterState StateFor(const api::Pod& pod, const Listers& listers) {
  return {VolumesFor(pod, true, listers), VolumesFor(pod, false, listers)};
}

const api::CSINodeDriver* FindDriver(const api::CSINode* node, std::string_view name) {
  if (node == nullptr) return nullptr;
  const auto& drivers = node->spec.drivers;
  // The last one counts where a driver stands twice.
  const auto driver =
      std::find_if(drivers.rbegin(), drivers.rend(), [&](const auto& d) { return d.name == name; });
  return driver == drivers.rend() ? nullptr : &*driver;
}

std::optional<int32_t> LimitOf(const api::CSINode* node, std::string_view driver) {
  const api::CSINodeDriver* known = FindDriver(node, driver);
  if (known == nullptr || !known->allocatable) return std::nullopt;
  return known->allocatable->count;
}

// Whether pods with its volumes must not go to nodes without it.
bool MustBeInstalled(std::string_view driver, const Listers& listers) {
  const api::CSIDriver* known = listers.FindCSIDriver(driver);
  return known != nullptr && known->spec.prevent_pod_scheduling_if_missing.value_or(false);
}

// Takes out the nodes without a driver that must be there.
void KeepInstalled(const PreFilterState& pod, const Listers& listers,
                   const NodeAttachments& attachments, NodeSet& nodes) {
  const auto required = [&](const AttachedVolume& volume) {
    return MustBeInstalled(volume.driver, listers);
  };
  const NodeSet& with_csi_node = attachments.with_csi_node();
  for (const AttachedVolume& volume : pod.with_csi_node.volumes) {
    if (!required(volume)) continue;
    NodeSet lacking = with_csi_node;
    if (const NodeSet* listed = attachments.RowsWith(volume.driver)) lacking -= *listed;
    nodes -= lacking;
  }
  if (std::ranges::any_of(pod.without_csi_node.volumes, required)) nodes &= with_csi_node;
}

bool HasLimits(const api::CSINode* node) {
  return node != nullptr && std::ranges::any_of(node->spec.drivers, [](const auto& driver) {
           return driver.allocatable && driver.allocatable->count;
         });
}

}  // namespace

PreFilterResult NodeVolumeLimits::PreFilter(CycleState& state, const PodInfo& pod,
                                            const Snapshot& snapshot) {
  if (std::ranges::none_of(pod.pod->spec.volumes, MayBeAttached)) {
    return {.status = Status::Skip()};
  }
  attachments_.Update(snapshot, handle_->listers());
  state.Write(StateFor(*pod.pod, handle_->listers()));
  return {};
}

Status NodeVolumeLimits::Filter(const CycleState& state, const PodInfo& pod,
                                const NodeView& node) const {
  if (pod.pod->spec.volumes.empty()) return Status::Success();
  const Listers& listers = handle_->listers();
  const auto data = state.ReadOr<PreFilterState>([&] { return StateFor(*pod.pod, listers); });
  const std::string& name = node.node().metadata.name;
  const api::CSINode* csi_node = listers.FindCSINode(name);
  const auto& [volumes, problem] = data->On(csi_node);
  if (!problem.message.empty()) {
    return state.reasons().Make(
        problem.claim_missing ? Code::kUnschedulableAndUnresolvable : Code::kError,
        problem.message);
  }
  if (volumes.empty()) return Status::Success();
  if (handle_->features().volume_limit_scaling) {
    for (const AttachedVolume& volume : volumes) {
      if (FindDriver(csi_node, volume.driver) != nullptr) continue;
      if (!MustBeInstalled(volume.driver, listers)) continue;
      return state.reasons().Make(Code::kUnschedulable,
                                  volume.driver + " CSI driver is not installed on the node");
    }
  }
  if (!HasLimits(csi_node)) return Status::Success();

  std::vector<AttachedVolume> attached;
  VolumeProblem placed_problem;
  node.ForEachPod([&](const PodInfo& placed) {
    if (!placed_problem.message.empty()) return;
    placed_problem = AddVolumesOf(*placed.pod, true, /*is_new=*/false, listers, attached);
  });
  if (!placed_problem.message.empty()) return state.reasons().Error(placed_problem.message);
  MakeUnique(attached);
  std::map<std::string_view, int64_t> added;
  for (const AttachedVolume& volume : volumes) {
    if (!std::ranges::binary_search(attached, volume)) ++added[volume.driver];
  }
  // What only VolumeAttachments have is attached, too, but makes no new volume an old one.
  AddAttachmentsOf(name, listers, attached);
  MakeUnique(attached);
  for (const auto& [driver, count] : added) {
    const auto limit = LimitOf(csi_node, driver);
    if (!limit) continue;
    const int64_t present = std::ranges::count(attached, driver, &AttachedVolume::driver);
    if (present + count > *limit) return rejection_;
  }
  return Status::Success();
}

Status NodeVolumeLimits::FilterNodes(const CycleState& state, const PodInfo& pod,
                                     const Snapshot& snapshot, NodeSet& nodes) const {
  const auto ask = [&](NodeRow row) { return Filter(state, pod, NodeView(snapshot, row)); };
  const auto* data = state.Find<PreFilterState>();
  if (data == nullptr || !data->with_csi_node.problem.message.empty() ||
      !data->without_csi_node.problem.message.empty()) {
    return FilterEach(nodes, ask);
  }
  if (handle_->features().volume_limit_scaling) {
    KeepInstalled(*data, handle_->listers(), attachments_, nodes);
  }
  const std::vector<AttachedVolume>& volumes = data->with_csi_node.volumes;
  const NodeSet installed = nodes;
  // Volumes of one driver stand together.
  for (auto begin = volumes.begin(); begin != volumes.end();) {
    const auto end = std::find_if(begin, volumes.end(), [&](const AttachedVolume& volume) {
      return volume.driver != begin->driver;
    });
    attachments_.KeepRoomFor(begin->driver, static_cast<int32_t>(end - begin), nodes);
    begin = end;
  }
  // A row without room for all of them may have some already.
  NodeSet doubtful(nodes.size());
  attachments_.AddRowsWith(volumes, doubtful);
  doubtful -= nodes;
  doubtful |= attachments_.untold();
  doubtful &= installed;
  nodes -= doubtful;
  const Status status = FilterEach(doubtful, ask);
  nodes |= doubtful;
  return status;
}

std::vector<ClusterEventWithHint> NodeVolumeLimits::EventsToRegister() const {
  return VolumeLimitEvents();
}

}  // namespace berth::plugins
