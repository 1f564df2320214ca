// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/legacy/library.h"

namespace berth::legacy {
namespace {

// A cloud provider's disks, as plugins built into Kubernetes attached them.
struct DiskKind {
  std::string_view in_tree_plugin;
  // Of a node's allocatable: how many it takes.
  std::string_view limit_resource;
  int64_t default_limit = 0;
  // How many a node takes that says nothing of it; nullptr: default_limit.
  int64_t (*limit_of_node)(const NodeView& node) = nullptr;
};

// What PreFilter found of the pod.
struct DisksOfPod {
  std::set<std::string> disks;

  size_t bytes() const {
    constexpr size_t kLinks = 4 * sizeof(void*);  // of the tree, for each
    size_t bytes = 0;
    for (const std::string& disk : disks) bytes += kLinks + sizeof(std::string) + disk.capacity();
    return bytes;
  }
};

// Instance types with Nitro disks: c5, m5 and r5 with all that follows, and any name that has t3 or
// z1d in it, as the releases that knew them had it.
int64_t EbsLimitOf(const NodeView& node) {
  constexpr int64_t kLimit = 39;
  constexpr int64_t kNitroLimit = 25;
  const StringMap labels = node.labels();
  auto type = labels.Find("node.kubernetes.io/instance-type");
  if (!type) type = labels.Find("beta.kubernetes.io/instance-type");
  if (!type) return kLimit;
  const bool nitro = type->starts_with("c5") || type->starts_with("m5") ||
                     type->starts_with("r5") || type->find("t3") != type->npos ||
                     type->find("z1d") != type->npos;
  return nitro ? kNitroLimit : kLimit;
}

constexpr DiskKind kEbs = {.in_tree_plugin = "kubernetes.io/aws-ebs",
                           .limit_resource = "attachable-volumes-aws-ebs",
                           .limit_of_node = EbsLimitOf};
constexpr DiskKind kGcePd = {.in_tree_plugin = "kubernetes.io/gce-pd",
                             .limit_resource = "attachable-volumes-gce-pd",
                             .default_limit = 16};
constexpr DiskKind kAzureDisk = {.in_tree_plugin = "kubernetes.io/azure-disk",
                                 .limit_resource = "attachable-volumes-azure-disk",
                                 .default_limit = 16};
constexpr DiskKind kCinder = {.in_tree_plugin = "kubernetes.io/cinder",
                              .limit_resource = "attachable-volumes-cinder",
                              .default_limit = 256};

// Whether a list of names, joined by commas, has the name.
bool Lists(std::string_view names, std::string_view name) {
  for (;;) {
    const size_t comma = names.find(',');
    if (names.substr(0, comma) == name) return true;
    if (comma == names.npos) return false;
    names.remove_prefix(comma + 1);
  }
}

// "namespace/name", as errors have it.
std::string KeyOf(std::string_view namespace_, std::string_view name) {
  return std::string(namespace_) + "/" + std::string(name);
}

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
  PreFilterResult PreFilter(CycleState& state, const PodView& pod, const Snapshot&) override {
    auto found = std::make_unique<DisksOfPod>();
    Status status = AddDisksOf(pod, /*is_new=*/true, found->disks);
    if (!status.ok()) return {std::move(status)};
    if (found->disks.empty()) return {Status::Skip()};
    state.Write(std::move(found));
    return {};
  }
  Status Filter(const CycleState& state, const PodView& pod, const NodeView& node) const override {
    DisksOfPod unprepared;
    const auto* found = state.Read<DisksOfPod>();
    if (found == nullptr) {
      Status status = AddDisksOf(pod, /*is_new=*/true, unprepared.disks);
      if (!status.ok()) return status;
      found = &unprepared;
    }
    if (found->disks.empty() || IsMigrated(node)) return Status::Success();

    std::set<std::string> attached;
    Status problem;
    node.ForEachPod([&](const PodView& placed) {
      problem = AddDisksOf(placed, /*is_new=*/false, attached);
      return problem.ok();
    });
    if (!problem.ok()) return problem;
    const auto added =
        std::count_if(found->disks.begin(), found->disks.end(),
                      [&](const std::string& disk) { return !attached.contains(disk); });
    const auto present = static_cast<int64_t>(attached.size());
    return present + added > LimitOf(node) ? Status::Unschedulable(std::string(kReason))
                                           : Status::Success();
  }

  // Queues the pod when a node comes or a placed pod goes.
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {{BERTH_KIND_NODE, BERTH_ACTION_ADD}, {BERTH_KIND_ASSIGNED_POD, BERTH_ACTION_DELETE}};
  }

 private:
  // Stops at the first problem. A claim that does not exist is one for a new pod only.
  Status AddDisksOf(const PodView& pod, bool is_new, std::set<std::string>& disks) const {
    Status status;
    pod.ForEachVolume([&](const Volume& volume) {
      if (volume.in_tree_plugin == kind_.in_tree_plugin) {
        disks.emplace(volume.disk);
        return true;
      }
      if (!volume.claim) return true;
      const std::string_view name = *volume.claim;
      if (name.empty()) {
        status = Status::Error("PersistentVolumeClaim had no name");
        return false;
      }
      const bool found = handle_.FindObject(
          BERTH_KIND_PERSISTENT_VOLUME_CLAIM, pod.namespace_(), name, [&](const ObjectView& claim) {
            if (volume.ephemeral && claim.owner_uid() != pod.uid()) {
              status =
                  Status::Error("PVC " + KeyOf(claim.namespace_(), claim.name()) +
                                " was not created for pod " + pod.Key() + " (pod is not owner)");
            } else {
              AddDiskOf(claim, disks);
            }
          });
      if (!found && is_new) {
        status = Status::UnschedulableAndUnresolvable(
            "looking up PVC " + KeyOf(pod.namespace_(), name) + ": persistentvolumeclaim \"" +
            std::string(name) + "\" not found");
      }
      return status.ok();
    });
    return status;
  }
  // Adds what stands for the claim's disk where it is of the kind. A disk that is not known yet
  // counts under the claim's name, which is no disk's.
  void AddDiskOf(const ObjectView& claim, std::set<std::string>& disks) const {
    const bool bound = !claim.volume_name().empty() &&
                       handle_.FindObject(BERTH_KIND_PERSISTENT_VOLUME, "", claim.volume_name(),
                                          [&](const ObjectView& volume) {
                                            if (volume.in_tree_plugin() != kind_.in_tree_plugin)
                                              return;
                                            disks.emplace(volume.disk());
                                          });
    if (bound || claim.spec_storage_class().empty()) return;
    handle_.FindObject(
        BERTH_KIND_STORAGE_CLASS, "", claim.spec_storage_class(),
        [&](const ObjectView& storage_class) {
          if (storage_class.driver() != kind_.in_tree_plugin) return;
          disks.insert(std::string(1, '\0') + KeyOf(claim.namespace_(), claim.name()));
        });
  }
  bool IsMigrated(const NodeView& node) const {
    bool migrated = false;
    handle_.FindObject(BERTH_KIND_CSI_NODE, "", node.name(), [&](const ObjectView& csi_node) {
      const auto plugins =
          csi_node.annotations().Find("storage.alpha.kubernetes.io/migrated-plugins");
      migrated = plugins && Lists(*plugins, kind_.in_tree_plugin);
    });
    return migrated;
  }
  // What the node says goes before what the environment says, and that before the default.
  int64_t LimitOf(const NodeView& node) const {
    if (const auto limit = node.FindAllocatable(kind_.limit_resource)) return *limit;
    if (const int64_t limit = handle_.max_pd_volumes(); limit > 0) return limit;
    return kind_.limit_of_node == nullptr ? kind_.default_limit : kind_.limit_of_node(node);
  }

  const DiskKind& kind_;
  Handle handle_;
};

template <const DiskKind& kind>
class LimitsOf final : public DiskLimits {
 public:
  LimitsOf(const ConfigValue&, Handle handle) : DiskLimits(kind, handle) {}
};

// The claims are the pod's own.
constexpr PluginOptions kDiskOptions = {.each_pod = true};

}  // namespace

berth_plugin AzureDiskLimitsPlugin() {
  return Define<LimitsOf<kAzureDisk>>("AzureDiskLimits", kDiskOptions);
}
berth_plugin CinderLimitsPlugin() {
  return Define<LimitsOf<kCinder>>("CinderLimits", kDiskOptions);
}
berth_plugin EBSLimitsPlugin() { return Define<LimitsOf<kEbs>>("EBSLimits", kDiskOptions); }
berth_plugin GCEPDLimitsPlugin() { return Define<LimitsOf<kGcePd>>("GCEPDLimits", kDiskOptions); }

}  // namespace berth::legacy
