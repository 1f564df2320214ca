// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "berth/in_tree/handle.h"
#include "plugins/dynamic_resources/allocator/expressions.h"
#include "plugins/dynamic_resources/allocator/node_choice.h"
#include "plugins/dynamic_resources/reserved_claims.h"
#include "plugins/shared/allocation.h"
#include "plugins/shared/extended_resource_classes.h"

namespace berth::plugins {

// What resource scores count where a node has none of an extended resource by itself, but devices
// of a class stand for it: how many devices of the class reach the node, and how many of them
// claims hold, whole or in part.
//
// As kube-scheduler counts, who knows here neither pools nor taints nor whether several claims may
// have a device: every slice counts, those of an older generation, too. Where an expression of the
// class or a node selector fails on some device that reaches the node, there is nothing to count.
//
// Thread safety: the scheduling thread.
class DeviceCounts {
 public:
  // `handle` must outlive it.
  explicit DeviceCounts(Handle& handle);
  ~DeviceCounts();

  // The devices that stand for the resource, as they are now; nullptr: no class has it. Good until
  // an object or a claim changes.
  const DeviceAmounts* Find(std::string_view resource);

  // About how much memory it takes, but for what it keeps of expressions' programs.
  size_t kept_bytes() const;

 private:
  class OfClass;
  using SlicePtr = std::shared_ptr<const api::ResourceSlice>;

  // One claim more holds each of the claim's devices, or one less.
  void Count(const api::ResourceClaim& claim, bool holds);

  Handle& handle_;
  const std::unique_ptr<dra::DeviceExpressions> expressions_;
  const ExtendedResourceClasses classes_;
  std::map<std::string, std::unique_ptr<OfClass>, std::less<>> by_class_;

  std::optional<uint64_t> devices_generation_;
  absl::flat_hash_map<std::string, size_t> held_;  // how many claims hold a device
  ClaimHolders holders_;
};

}  // namespace berth::plugins
