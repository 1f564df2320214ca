// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/api/node.h"
#include "berth/listers.h"
#include "berth/status.h"
#include "plugins/volume_binding/pod_claims.h"

namespace berth::plugins {

// Why a node does not do; a set, as bits, in the order in which the reasons are named.
namespace volume_reason {
inline constexpr uint32_t kNodeConflict = 1u << 0;
inline constexpr uint32_t kBindConflict = 1u << 1;
inline constexpr uint32_t kNotEnoughSpace = 1u << 2;
inline constexpr uint32_t kVolumeNotFound = 1u << 3;
inline constexpr uint32_t kAll = (1u << 4) - 1;
}  // namespace volume_reason

// The reasons that these bits stand for, in kube-scheduler's words.
ReasonSet ReasonsOf(uint32_t bits);

// What a node would give a pod for its delayed claims.
struct NodeVolumes {
  struct Binding {
    const api::PersistentVolumeClaim* claim = nullptr;
    const api::PersistentVolume* volume = nullptr;
  };
  struct Provision {
    const api::PersistentVolumeClaim* claim = nullptr;
    // Where the room for it was found; nullptr: it was not looked for.
    const api::CSIStorageCapacity* capacity = nullptr;
  };
  std::vector<Binding> bindings;
  std::vector<Provision> provisions;

  void Clear() {
    bindings.clear();
    provisions.clear();
  }
};

struct NodeVerdict {
  uint32_t reasons = 0;
  std::string error = {};

  bool ok() const { return reasons == 0 && error.empty(); }
};

// Whether the node does for all claims of the pod: the bound ones' volumes can be reached from it,
// and for each of the others there is a free volume that can, or one can be made. Fills `found`,
// which may be nullptr, where it does.
//
// Thread safety: any thread while the cycle stands still. Allocates only for `found`, for an error
// and for pods with very many claims.
NodeVerdict FindNodeVolumes(const PodClaims& claims, const api::Node& node, const Listers& listers,
                            NodeVolumes* found);

}  // namespace berth::plugins
