// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loadable/plugin.hpp"

namespace berth::legacy {

// A cloud provider's disks, as plugins built into Kubernetes attached them.
struct DiskKind {
  std::string_view in_tree_plugin;
  // Of a node's allocatable: how many it takes.
  std::string_view limit_resource;
  int64_t default_limit = 0;
  // How many a node takes that says nothing of it; nullptr: default_limit.
  int64_t (*limit_of_node)(const NodeView& node) = nullptr;
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

  DiskLimits(const DiskKind& kind, Handle handle) : kind_(kind), handle_(handle) {}

  // Skips pods without such disks.
  PreFilterResult PreFilter(CycleState& state, const PodView& pod,
                            const Snapshot& snapshot) override;
  Status Filter(const CycleState& state, const PodView& pod, const NodeView& node) const override;

  // Queues the pod when a node comes or a placed pod goes.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  Status AddDisksOf(const PodView& pod, bool is_new, std::set<std::string>& disks) const;
  void AddDiskOf(const ObjectView& claim, std::set<std::string>& disks) const;
  bool IsMigrated(const NodeView& node) const;
  int64_t LimitOf(const NodeView& node) const;

  const DiskKind& kind_;
  Handle handle_;
};

// 39 disks, on some instance types 25.
class EBSLimits final : public DiskLimits {
 public:
  EBSLimits(const ConfigValue& args, Handle handle);
};

// 16 disks.
class GCEPDLimits final : public DiskLimits {
 public:
  GCEPDLimits(const ConfigValue& args, Handle handle);
};

// 16 disks.
class AzureDiskLimits final : public DiskLimits {
 public:
  AzureDiskLimits(const ConfigValue& args, Handle handle);
};

// 256 disks.
class CinderLimits final : public DiskLimits {
 public:
  CinderLimits(const ConfigValue& args, Handle handle);
};

}  // namespace berth::legacy
