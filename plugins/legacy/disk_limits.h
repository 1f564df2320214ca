// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "berth/api/persistent_volume.h"
#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"

namespace berth::plugins {

// A cloud provider's disks, as plugins built into Kubernetes attached them.
struct DiskKind {
  std::string_view in_tree_plugin;
  // Of a node's allocatable: how many it takes.
  std::string_view limit_resource;
  int64_t default_limit = 0;
  // What the plugin calls the disk; nullptr where the volume is none.
  const std::string* (*id_of_volume)(const api::Volume& volume) = nullptr;
  const std::string* (*id_of_persistent_volume)(const api::PersistentVolume& volume) = nullptr;
  // How many a node takes that says nothing of it; nullptr: default_limit.
  int64_t (*limit_of_node)(const api::Node& node) = nullptr;
};

// Keeps a pod off nodes that cannot attach its disks of one kind besides those that they have.
// Kubernetes had it up to 1.30; NodeVolumeLimits counts the same disks for their CSI drivers. On
// nodes where the CSI driver serves them (an annotation of the CSINode says so) nothing is checked.
//
// The rejection is Unschedulable: evicting pods detaches disks.
//
// Thread safety: Filter may run concurrently; the rest on the scheduling thread.
class DiskLimits : public PreFilterPlugin, public FilterPlugin, public EnqueueExtensions {
 public:
  static constexpr std::string_view kReason = "node(s) exceed max volume count";

  DiskLimits(const DiskKind& kind, Handle& handle)
      : kind_(kind),
        handle_(&handle),
        rejection_(handle.reasons().Make(Code::kUnschedulable, kReason)) {}

  // The claims are the pod's own.
  Inputs DeclaredInputs() const { return Inputs::EachPod(); }

  // Skips pods without such disks.
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;

  // Queues the pod when a node comes or a placed pod goes.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  bool IsMigrated(const api::Node& node) const;
  int64_t LimitOf(const api::Node& node) const;

  const DiskKind& kind_;
  Handle* handle_;
  Status rejection_;
};

// 39 disks, on some instance types 25.
class EBSLimits final : public DiskLimits {
 public:
  static constexpr std::string_view kName = "EBSLimits";
  explicit EBSLimits(Handle& handle);
};

// 16 disks.
class GCEPDLimits final : public DiskLimits {
 public:
  static constexpr std::string_view kName = "GCEPDLimits";
  explicit GCEPDLimits(Handle& handle);
};

// 16 disks.
class AzureDiskLimits final : public DiskLimits {
 public:
  static constexpr std::string_view kName = "AzureDiskLimits";
  explicit AzureDiskLimits(Handle& handle);
};

// 256 disks.
class CinderLimits final : public DiskLimits {
 public:
  static constexpr std::string_view kName = "CinderLimits";
  explicit CinderLimits(Handle& handle);
};

}  // namespace berth::plugins
