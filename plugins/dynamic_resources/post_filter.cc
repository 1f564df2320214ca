// SPDX-License-Identifier: Apache-2.0
// What DynamicResources gives up so that a pod, or a group of pods, may be scheduled later.

#include "plugins/dynamic_resources/device_claims.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/reserved_claims.h"

namespace berth::plugins {
namespace {

bool IsReservedForAtMost(const api::ResourceClaim& claim, std::string_view uid) {
  const auto& consumers = claim.status.reserved_for;
  return consumers.empty() || (consumers.size() == 1 && consumers[0].uid == uid);
}

}  // namespace

PostFilterResult DynamicResources::PostFilter(CycleState& state, const PodInfo& pod,
                                              const Snapshot& snapshot,
                                              const NodeToStatus& statuses) {
  if (pod.resize_deferred) return {.status = Status(Code::kUnschedulable)};
  const auto* kept = state.Find<PodDevicesState>();
  if (kept == nullptr) return {.status = handle_.reasons().Error(kWithoutPreFilter)};
  if (kept->devices == nullptr) return {.status = Status(Code::kUnschedulable)};
  const PodDevices& devices = *kept->devices;
  // Filter said so where the allocator had nothing against the node.
  std::vector<bool> unavailable(devices.claims.size(), false);
  snapshot.nodes().ForEach([&](NodeRow row) {
    if (statuses.Get(row).reasons() != not_available_.reasons()) return;
    for (size_t i = 0; i < devices.claims.size(); ++i) {
      if (!IsAvailable(devices.claims[i], snapshot.node(row))) unavailable[i] = true;
    }
  });
  GivenUp given_up;
  const std::string_view done = GiveUpClaim(*pod.pod, devices, unavailable, given_up);
  if (done.empty()) return {.status = Status(Code::kUnschedulable)};
  return {.status = handle_.reasons().Make(Code::kUnschedulable, done)};
}

std::string_view DynamicResources::GiveUpClaim(const api::Pod& pod, const PodDevices& devices,
                                               const std::vector<bool>& unavailable,
                                               GivenUp& given_up) {
  std::vector<const api::ResourceClaim*> candidates;
  for (size_t i = 0; i < devices.num_user_claims() && i < unavailable.size(); ++i) {
    const api::ResourceClaim& claim = *devices.claims[i].claim;
    if (unavailable[i] && IsReservedForAtMost(claim, pod.metadata.uid)) {
      candidates.push_back(&claim);
    }
  }
  if (!candidates.empty()) {
    Deallocate(*candidates[handle_.random().Below(candidates.size())], given_up);
    return "deallocation of ResourceClaim completed";
  }
  const PodDeviceClaim* extended = devices.extended();
  if (extended == nullptr || extended->claim->metadata.name == kMadeUpName) return "";
  Delete(*extended->claim);
  return "deletion of ResourceClaim completed";
}

PodGroupPostFilterResult DynamicResources::PodGroupPostFilter(CycleState& state,
                                                              const PodGroupInfo& group,
                                                              const Snapshot&, PodGroupDryRun&) {
  const Features& features = handle_.features();
  const bool by_topology = features.topology_aware_workload_scheduling &&
                           group.object.scheduling_constraints().has_value();
  if (group.object.composite != nullptr || by_topology)
    return {.status = Status(Code::kUnschedulable)};
  bool any_tried = false;
  bool any_without = false;
  GivenUp given_up;
  for (size_t i = 0; i < group.unscheduled_pods.size(); ++i) {
    const auto* kept = group.states[i]->Find<PodDevicesState>();
    if (kept == nullptr) continue;
    any_tried = true;
    const api::Pod& pod = *group.unscheduled_pods[i]->pod;
    any_without = kept->devices == nullptr ||
                  GiveUpClaim(pod, *kept->devices, kept->devices->unavailable, given_up).empty() ||
                  any_without;
  }
  if (!any_tried) return {.status = state.reasons().Error(kWithoutPreFilter)};
  if (any_without && features.dra_workload_resource_claims) {
    if (Status status = GiveUpGroupClaims(state, group, given_up); !status.ok()) return {status};
  }
  return {.status = state.reasons().Make(Code::kUnschedulable,
                                         "deallocation and deletion of ResourceClaims completed")};
}

// A pod of the group that is on a node, or on its way there, may use the claims.
Status DynamicResources::GiveUpGroupClaims(CycleState& state, const PodGroupInfo& group,
                                           GivenUp& given_up) {
  const api::ObjectMeta& metadata = group.object.metadata();
  const PodGroupState* members = handle_.pod_groups().Find(metadata.namespace_, metadata.name);
  if (members != nullptr && members->scheduled > 0) return Status::Success();
  std::vector<const api::ResourceClaim*> candidates;
  for (size_t i = 0; i < group.unscheduled_pods.size(); ++i) {
    const auto* kept = group.states[i]->Find<PodDevicesState>();
    if (kept == nullptr || kept->devices == nullptr) continue;
    const PodDevices& devices = *kept->devices;
    for (size_t c = 0; c < devices.unavailable.size(); ++c) {
      const api::ResourceClaim& claim = *devices.claims[c].claim;
      if (devices.unavailable[c] && IsReservedForAtMost(claim, metadata.uid)) {
        candidates.push_back(&claim);
      }
    }
  }
  if (!candidates.empty()) {
    Deallocate(*candidates[handle_.random().Below(candidates.size())], given_up);
    return state.reasons().Make(Code::kUnschedulable,
                                "deallocation of PodGroup ResourceClaim completed");
  }
  const api::Pod& pod = *group.unscheduled_pods.front()->pod;
  bool unreserved = false;
  const auto visited =
      VisitGroupClaims(*group.object.pod_group, handle_.claims(), [&](const ClaimPtr& claim) {
        unreserved =
            claim->status.allocation && IsReservedForPod(pod, *claim, GroupReservations::kCount);
        if (!unreserved) return true;
        if (handle_.claims().BeginRemoval(claim->metadata.uid, metadata.uid)) {
          TakeReservationOut(*claim, metadata.uid, handle_);
        }
        return false;
      });
  if (!visited) return state.reasons().Error(visited.error().message);
  if (!unreserved) return Status::Success();
  return state.reasons().Make(Code::kUnschedulableAndUnresolvable,
                              "ResourceClaim unreserved for PodGroup");
}

// The answer counts before the watch shows it: a pod that is tried again in between must not find
// its reservation.
void DynamicResources::TakeReservationOut(const api::ResourceClaim& claim,
                                          const std::string& consumer_uid, Handle& handle) {
  handle.claim_writer().RemoveReservation(
      claim, consumer_uid,
      [&handle, uid = claim.metadata.uid, consumer_uid](const ClaimAnswer& answer) {
        if (answer.claim != nullptr) handle.Post(ClaimWritten{answer.claim});
        handle.RunLater(
            [&handle, uid, consumer_uid] { handle.claims().EndRemoval(uid, consumer_uid); });
      });
}

// The claim's change wakes the pod. Where the write is refused, the pod waits as any that does not
// fit: the next attempt would end in the same way.
void DynamicResources::Deallocate(const api::ResourceClaim& claim, GivenUp& given_up) {
  if (!given_up.insert(claim.metadata.uid).second) return;
  // Its devices were on their way for another pod of the group, and so are gone with this cycle. As
  // in kube-scheduler it is one that gave them up.
  if (!claim.status.allocation) return;
  api::ResourceClaim changed = claim;
  changed.status = {};
  handle_.claim_writer().WriteStatus(changed, [](const ClaimAnswer&) {});
}

void DynamicResources::Delete(const api::ResourceClaim& claim) {
  handle_.claim_writer().RemoveFinalizer(
      claim, [&writer = handle_.claim_writer()](const ClaimAnswer& answer) {
        if (answer.ok()) writer.Delete(*answer.claim, [](const ClaimAnswer&) {});
      });
}

}  // namespace berth::plugins
