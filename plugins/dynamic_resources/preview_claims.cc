// SPDX-License-Identifier: Apache-2.0
// What DynamicResources says of a pod's claims on each node, for `berth explain`.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "plugins/dynamic_resources/device_claims.h"
#include "plugins/dynamic_resources/dynamic_resources.h"

namespace berth::plugins {
namespace {

// What documents call the claim of extended resources, which has no name before it is made.
constexpr std::string_view kExtendedResources = "<extended resources>";

// "request: driver/pool/device", then whether it is a share, and what it takes of capacities.
std::string DeviceText(const api::DeviceRequestAllocationResult& result) {
  std::string text =
      result.request + ": " + result.driver + "/" + result.pool + "/" + result.device;
  if (result.share_id) text += " share";
  for (const auto& [name, amount] : result.consumed_capacity) {
    text += " " + name + "=" + amount.ToCanonicalString();
  }
  return text;
}

void SetDevices(const api::AllocationResult& allocation, ClaimPreview& preview) {
  for (const auto& result : allocation.devices.results) {
    preview.devices.push_back(DeviceText(result));
  }
}

struct PreviewState {
  // Has the reasons of `devices`.
  CycleState cycle;
  std::shared_ptr<const api::Pod> pod;
  PodDevices devices;
  // Why no node does; "": some may.
  std::string problem;
};

}  // namespace

ClaimPreviewPlugin::ByNode DynamicResources::PreviewClaims(const PodInfo& pod) const {
  devices_->Update();
  auto kept = std::make_shared<PreviewState>();
  kept->pod = pod.pod;
  const Status status = FindPodDevices(kept->cycle, pod, handle_.snapshot(), kept->devices);
  if (kept->devices.claims.empty()) return nullptr;
  if (!status.ok()) kept->problem = status.message();
  return [this, kept](const NodeView& node) {
    PodDevices& devices = kept->devices;
    std::vector<ClaimPreview> previews;
    std::vector<api::AllocationResult> allocations;
    std::string problem = kept->problem;
    if (problem.empty()) {
      const NodeVerdict verdict = Judge(devices, *kept->pod, node, *found_, kept->cycle.budget());
      problem = verdict.reason;
      if (verdict.asked != nullptr) {
        // Ids of shares are drawn from elsewhere: no later decision may change.
        Random random(0);
        auto made = dra::MakeAllocationResults(*verdict.asked->prepared, node.node(), *found_,
                                               devices_->features(), random);
        if (made) {
          allocations = *std::move(made);
        } else {
          problem = made.error().message;
        }
      }
    }
    if (problem.find(dra::kInvalidPoolsMessage) != std::string::npos ||
        problem.ends_with(dra::kPoolIsInvalid)) {
      problem += ": " + devices_->allocator().DescribeInvalidPools(node.row(), node.node());
    }
    const dra::ClaimsToAllocate* sought = nullptr;
    if (kept->problem.empty() && problem == kNoDevices) {
      const auto from_devices = ResourcesFromDevices(devices, node.node());
      if (from_devices) sought = &*ClaimsFor(devices, *kept->pod, *from_devices).prepared;
    }
    size_t next = 0;
    for (const PodDeviceClaim& used : devices.claims) {
      const bool extended = &used == devices.extended();
      ClaimPreview preview;
      preview.claim = extended ? kExtendedResources : used.claim->metadata.Key();
      preview.has_devices = true;
      if (used.allocated()) {
        SetDevices(*used.allocation(), preview);
        if (!IsAvailable(used, node.node())) preview.problem = kNotAvailable;
      } else if (next < allocations.size()) {
        SetDevices(allocations[next++], preview);
      } else if (sought != nullptr) {
        preview.problem =
            devices_->allocator().DescribeShortage(*sought, next++, node.row(), node.node());
      } else if (problem != kNotAvailable) {
        preview.problem = problem;
      }
      // Where the node has the extended resources itself there is no such claim.
      if (extended && preview.devices.empty() && preview.problem.empty()) continue;
      previews.push_back(std::move(preview));
    }
    const auto is_silent = [](const ClaimPreview& preview) { return preview.problem.empty(); };
    if (sought != nullptr && std::ranges::all_of(previews, is_silent)) {
      for (ClaimPreview& preview : previews) {
        if (preview.devices.empty()) preview.problem = problem + " together";
      }
    }
    return previews;
  };
}

}  // namespace berth::plugins
