// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/preview_claims.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/volumes.h"
#include "plugins/volume_binding/find_volumes.h"
#include "plugins/volume_binding/pod_claims.h"

namespace berth::plugins {
namespace {

// One claim of the pod, as if the pod had no other.
struct LoneClaim {
  std::string key;
  std::string problem;  // "" unless it keeps the pod off every node
  PodClaims claims;
};

LoneClaim LookAt(const api::Pod& alone, const std::string& name, Handle& handle) {
  LoneClaim lone{api::NamespacedKey(alone.metadata.namespace_, name), "", {}};
  if (auto problem = FindClaimProblem(alone, handle.listers())) {
    lone.problem = *std::move(problem);
    return lone;
  }
  auto claims = FindPodClaims(alone, handle);
  if (!claims) {
    lone.problem = claims.error().message;
  } else if (claims->has_unbound_immediate) {
    lone.problem = "not bound, and its storage class does not wait for a consumer";
  } else {
    lone.claims = *std::move(claims);
  }
  return lone;
}

// A lone claim is in the way for one reason.
std::string Problem(const NodeVerdict& verdict) {
  return verdict.error.empty() ? ReasonsOf(verdict.reasons).front() : verdict.error;
}

// Sets what the claim would get on a node that does for it.
void Describe(const PodClaims& claims, const NodeVolumes& found, ClaimPreview& preview) {
  if (!claims.bound.empty()) {
    preview.volume = claims.bound.front().claim->spec.volume_name;
  } else if (!found.bindings.empty()) {
    preview.volume = found.bindings.front().volume->metadata.name;
  } else if (!found.provisions.empty()) {
    preview.provisioner = claims.delayed.front().provisioning.storage_class->provisioner;
  }
}

}  // namespace

ClaimPreviewPlugin::ByNode PreviewClaims(const api::Pod& pod, Handle& handle) {
  struct Claims {
    std::vector<LoneClaim> each;
    // All at once, as Filter takes them; nullopt: some claim keeps the pod off every node.
    std::optional<PodClaims> together;
  };
  auto claims = std::make_shared<Claims>();
  for (const api::Volume& volume : pod.spec.volumes) {
    const auto name = ClaimNameOf(pod, volume);
    if (!name) continue;
    api::Pod alone = pod;
    alone.spec.volumes = {volume};
    claims->each.push_back(LookAt(alone, *name, handle));
  }
  if (claims->each.empty()) return nullptr;
  const bool possible = std::ranges::all_of(
      claims->each, [](const LoneClaim& claim) { return claim.problem.empty(); });
  if (possible) {
    if (auto together = FindPodClaims(pod, handle)) claims->together = *std::move(together);
  }
  return [claims, &listers = handle.listers()](const NodeView& node) {
    std::vector<ClaimPreview> previews;
    NodeVolumes together;
    const bool fits = claims->together &&
                      FindNodeVolumes(*claims->together, node.node(), listers, &together).ok();
    for (const LoneClaim& lone : claims->each) {
      ClaimPreview& preview = previews.emplace_back();
      preview.claim = lone.key;
      preview.problem = lone.problem;
      if (!preview.problem.empty()) continue;
      NodeVolumes found;
      const NodeVerdict verdict = FindNodeVolumes(lone.claims, node.node(), listers, &found);
      if (!verdict.ok()) {
        preview.problem = Problem(verdict);
        continue;
      }
      if (fits && !lone.claims.delayed.empty()) {
        // Two claims that want one volume: the node's verdict says which of them gets it.
        const auto is_this = [&](const auto& some) {
          return some.claim->metadata.Key() == lone.key;
        };
        found.Clear();
        std::ranges::copy_if(together.bindings, std::back_inserter(found.bindings), is_this);
        std::ranges::copy_if(together.provisions, std::back_inserter(found.provisions), is_this);
      }
      Describe(lone.claims, found, preview);
      const bool taken =
          !fits && !preview.volume.empty() && lone.claims.bound.empty() &&
          std::ranges::any_of(previews.begin(), previews.end() - 1, [&](const ClaimPreview& other) {
            return other.volume == preview.volume;
          });
      if (taken) {
        preview.problem =
            "only volume \"" + preview.volume + "\" would do, which another claim takes";
        preview.volume.clear();
      }
    }
    return previews;
  };
}

}  // namespace berth::plugins
