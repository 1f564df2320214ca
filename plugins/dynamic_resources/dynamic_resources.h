// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "berth/api/pod.h"
#include "berth/api/resource_claim.h"
#include "berth/in_tree/claim_preview.h"
#include "berth/in_tree/claim_tracker.h"
#include "berth/in_tree/handle.h"
#include "berth/in_tree/pod_group_points.h"
#include "berth/in_tree/points.h"
#include "berth/matching.h"
#include "berth/resources.h"
#include "plugins/dynamic_resources/allocator/allocator.h"
#include "plugins/dynamic_resources/allocator/device_inventory.h"
#include "plugins/dynamic_resources/allocator/expressions.h"
#include "plugins/dynamic_resources/allocator/kept_verdicts.h"
#include "plugins/dynamic_resources/args.h"
#include "plugins/dynamic_resources/claim_turns.h"
#include "plugins/dynamic_resources/reserved_claims.h"
#include "plugins/shared/extended_resource_classes.h"

namespace berth::plugins {

// Of how many extended resources a pod may ask where devices stand for some of them: which come
// from a node's devices is kept as bits.
inline constexpr size_t kMostExtendedResources = 64;

// A claim that the pod uses.
struct PodDeviceClaim {
  ClaimPtr claim;
  // Where its allocation can be used; nullopt: it has none, or everywhere.
  std::optional<NodeSelectorMatcher> nodes;
  // Its reservation, once the pod has it.
  api::ResourceClaimConsumerReference consumer;
  // What another pod of the pod's group is about to have written; nullptr: nothing that this pod
  // may share.
  std::shared_ptr<const api::AllocationResult> pending;

  // nullptr: it is to be allocated.
  const api::AllocationResult* allocation() const {
    return claim->status.allocation ? &*claim->status.allocation : pending.get();
  }
  bool allocated() const { return allocation() != nullptr; }
};

// The claims that are to be allocated where the node's extended resources come from the same
// devices: what Filter asks the allocator about such nodes.
struct NodeClaims {
  // The claim that stands for the extended resources, with their requests; nullptr: the node has
  // none that come from devices.
  ClaimPtr extended;
  std::vector<api::ContainerExtendedResourceRequest> mappings;
  // In the order of the pod's claims. Keeps what `prepared` points to.
  std::vector<ClaimPtr> claims;
  std::optional<dra::ClaimsToAllocate> prepared;
};

// What PreFilter found out about the pod; good for the running cycle.
struct PodDevices {
  // In the order of spec.resourceClaims; last the claim of extended resources, where there is one.
  std::vector<PodDeviceClaim> claims;
  bool has_extended = false;
  // Some claim has no allocation.
  bool must_allocate = false;
  // The scalar resources that the pod requests, but 0, that could be extended ones, by name.
  std::vector<std::pair<std::string, ResourceId>> extended_resources;
  // By which of them a node gets from devices, as bits. Filled as nodes are looked at.
  std::map<uint64_t, NodeClaims> by_resources;

  // What the pod asks of a node for itself and by its claims' devices, where these take of the
  // node; of the last node that was looked at: most of them give the same.
  struct Footprint {
    std::vector<api::NodeAllocatableResourceClaimStatus> statuses;
    api::ResourceList demand;
    // What its pod-level resources do not cover; "": nothing.
    std::string uncovered;
  };
  std::optional<Footprint> footprint;

  // Which of the claims Filter has found on some node that they cannot be used there, while all
  // others could be had.
  std::vector<bool> unavailable;

  const PodDeviceClaim* extended() const { return has_extended ? &claims.back() : nullptr; }
  size_t num_user_claims() const { return claims.size() - (has_extended ? 1 : 0); }
};

// What PreFilter leaves in the pod's cycle.
struct PodDevicesState {
  // Filter looks nodes up in it, and fills what depends on their extended resources. nullptr: the
  // pod needs no devices, or cannot have them.
  std::shared_ptr<PodDevices> devices;
};

// The devices of the cluster as one profile's allocator sees them: what ResourceSlices publish,
// with the taints that DeviceTaintRules add, and what claims hold.
//
// Thread safety: the scheduling thread.
class ClusterDevices {
 public:
  // Both must outlive it.
  ClusterDevices(Handle& handle, dra::DeviceExpressions& expressions);

  // Takes in what has changed since the last call.
  void Update();
  // The same of what claims hold. That changes after a pod's PreFilter where a group's dry run
  // reserves for other pods, and takes it back.
  void UpdateAllocated();
  dra::Allocator& allocator() { return allocator_; }
  const dra::DeviceInventory& inventory() const { return inventory_; }
  const dra::AllocatorFeatures& features() const { return inventory_.features(); }

  // The class whose devices stand for the extended resource, or nullptr.
  const api::DeviceClass* FindClassOf(std::string_view extended_resource) const {
    return classes_.Find(extended_resource);
  }

 private:
  using SlicePtr = std::shared_ptr<const api::ResourceSlice>;
  struct KnownSlice {
    SlicePtr shown;
    // Which rules it was looked at with, and whether one added a taint.
    uint64_t rules_version = 0;
    bool tainted = false;
    uint64_t seen = 0;
  };

  void UpdateRules();
  void UpdateSlices();

  Handle& handle_;
  dra::DeviceInventory inventory_;
  dra::Allocator allocator_;
  ExtendedResourceClasses classes_;

  std::optional<uint64_t> devices_generation_;
  std::vector<api::DeviceTaintRule> rules_;
  uint64_t rules_version_ = 0;
  uint64_t scan_ = 0;
  std::map<std::string, KnownSlice, std::less<>> slices_;

  ClaimHolders holders_;
};

// Puts a pod only where the devices of its ResourceClaims are or can be had, and writes which it
// was given before the pod is bound.
//
//   PreEnqueue  holds back pods whose claims are not there yet
//   PreFilter   looks up the claims (PodDevices) and takes in what has changed of slices,
//               classes and claims (ClusterDevices)
//   Filter      where allocated claims can be used, and what the allocator finds for the others
//   PostFilter  gives up the allocation of a claim that keeps the pod off every node
//   PodGroupPostFilter  the same for each pod of a group, and for the claims of the group
//   Score       the earlier subrequests of firstAvailable, the better
//   Reserve     asks the allocator once more about the chosen node, and marks what it finds as
//               pending: no other pod gets it (ClaimTracker)
//   PreBind     writes allocations and reservations, and waits for the devices (claim_binding.h)
//   Unreserve   gives back what was not written, and the pod's reservations
//
// Rejections are UnschedulableAndUnresolvable: evicting pods frees no device at once. But where
// devices take of their node's cpu or memory (node_allocatable.h), evicting may make room for that.
//
// Where the allocator stops with an error on some node, the pod is not scheduled, as in
// kube-scheduler, even where other nodes would do; unless there are so many that enough come first.
//
// Thread safety: see points.h; Filter and Score only on the scheduling thread.
class DynamicResources final : public PreEnqueuePlugin,
                               public PreFilterPlugin,
                               public ColumnFilterPlugin,
                               public PostFilterPlugin,
                               public PodGroupPostFilterPlugin,
                               public PreScorePlugin,
                               public ColumnScorePlugin,
                               public ScoreExtensions,
                               public ReservePlugin,
                               public PreBindPlugin,
                               public ClaimPreviewPlugin,
                               public MemoryPlugin,
                               public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "DynamicResources";
  static constexpr bool kSkipsDeferredResizes = true;
  static constexpr std::string_view kFilterWithoutPreFilter = "not found";
  // An Error of PostFilter where another plugin's PreFilter has rejected the pod first: no plugin
  // after this one is asked, as in kube-scheduler.
  static constexpr std::string_view kWithoutPreFilter = kFilterWithoutPreFilter;
  // What keeps an allocated claim's pod off a node.
  static constexpr std::string_view kNotAvailable = "resourceclaim not available on the node";
  // What the allocator says against a node.
  static constexpr std::string_view kNoDevices = "cannot allocate all claims";

  // `args` are valid; `handle` must outlive the plugin.
  DynamicResources(const DynamicResourcesArgs& args, Handle& handle);

  Inputs DeclaredInputs() const { return Inputs::EachPod(); }

  Status PreEnqueue(const PodInfo& pod) override;
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override;
  PostFilterResult PostFilter(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                              const NodeToStatus& statuses) override;
  // Unschedulable, whatever it does, but where it takes back the group's reservation of a claim:
  // then no other plugin makes room. Error where no pod of the group got as far as PreFilter. Does
  // nothing for a composite group, as in kube-scheduler.
  PodGroupPostFilterResult PodGroupPostFilter(CycleState& state, const PodGroupInfo& group,
                                              const Snapshot& snapshot,
                                              PodGroupDryRun& dry_run) override;

  // Skips pods without a request that has alternatives: they score 0 everywhere.
  Status PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  const NodeSet& feasible) override;
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;
  Status NormalizeScore(const CycleState& state, const PodInfo& pod, std::span<const NodeRow> nodes,
                        std::span<int64_t> scores) const override;
  bool NormalizesByValue(const CycleState&) const override { return true; }

  Status Reserve(CycleState& state, const PodInfo& pod, std::string_view node_name) override;
  void Unreserve(CycleState& state, const PodInfo& pod, std::string_view node_name) override;

  Status PreBindPreFlight(CycleState& state, const PodInfo& pod,
                          std::string_view node_name) override;
  bool AllowParallel() const override { return true; }
  void PreBind(CycleState& state, const PodInfo& pod, std::string_view node_name,
               Cancellation& cancellation, AsyncDone done) override;

  ByNode PreviewClaims(const PodInfo& pod) const override;
  size_t kept_bytes() const override;

  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  // The uids of claims whose devices one call has given up: pods may share them.
  using GivenUp = absl::flat_hash_set<std::string>;

  // What becomes of the pod on one node.
  struct NodeVerdict {
    Code code = Code::kSuccess;
    std::string reason = {};
    ReasonSet further = {};  // after the first
    // Code::kSuccess: what was asked of the allocator; nullptr: nothing.
    const NodeClaims* asked = nullptr;

    bool ok() const { return code == Code::kSuccess; }
  };

  // The pod's claims, with what they ask for checked. Code::kSkip: it has none.
  Status FindPodDevices(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                        PodDevices& devices) const;
  Status CheckRequests(const CycleState& state, const api::ResourceClaim& claim) const;
  // The pod group that the pod is scheduled with, as "namespace/name"; "": none.
  std::string GroupOf(const api::Pod& pod) const;
  // What is pending of the claim since a pod of this pod's group has reserved it; nullptr: nothing.
  std::shared_ptr<const api::AllocationResult> FindSharedPending(
      const api::Pod& pod, const api::ResourceClaim& claim) const;
  // Finds the claim of the pod's extended resources, or makes one up; nullptr: it needs none.
  ClaimPtr FindExtendedClaim(const PodInfo& pod, const ResourceNames& names,
                             PodDevices& devices) const;

  // Whether room for what devices take of the node is asked for: not once the pod is counted there.
  enum class Room : uint8_t { kAsked, kTaken };
  // `found` is filled with what the allocator would give, where it was asked.
  NodeVerdict Judge(PodDevices& devices, const api::Pod& pod, const NodeView& node,
                    dra::NodeAllocation& found, CycleBudget& budget,
                    Room room = Room::kAsked) const;
  // Some device takes of what its node has, and the gate for that is on.
  bool CountsOnNodes() const;
  // Whether the node has what the claims take of it, with what was found for those of `asked`,
  // which may be nullptr.
  NodeVerdict CheckRoom(PodDevices& devices, const api::Pod& pod, const NodeView& node,
                        const NodeClaims* asked, const dra::NodeAllocation& found) const;
  // `allocations` are of the claims of `asked`.
  Result<std::vector<api::NodeAllocatableResourceClaimStatus>> StatusesOn(
      const api::Node& node, const PodDevices& devices, const api::Pod& pod,
      const NodeClaims* asked, std::span<const api::AllocationResult> allocations) const;
  // Why the pod cannot share a claim that has its devices on the node; "": it can.
  std::string WhyNotShared(const PodDevices& devices, const api::Pod& pod,
                           const api::Node& node) const;
  // Whether the node may use the claim's devices, ready or not; it is allocated.
  static bool IsReachable(const PodDeviceClaim& claim, const api::Node& node);
  // A claim whose devices another pod of the group is about to have written, and that need of the
  // node what it does not declare; nullptr: there is none.
  static const PodDeviceClaim* FindPendingOutOfReach(const PodDevices& devices,
                                                     const api::Node& node);
  // Whether the devices of an allocated claim are ready, or may become so in time.
  bool IsUsable(const PodDeviceClaim& claim) const;
  bool IsAvailable(const PodDeviceClaim& claim, const api::Node& node) const;
  // Whether all of the claims are; notes in `devices` which are not.
  bool NoteAvailable(PodDevices& devices, const api::Node& node) const;
  // Leaves the nodes that have no FindPendingOutOfReach(), and on which all of the claims are
  // available; notes which are not. Looks at all nodes at once.
  void KeepAvailable(PodDevices& devices, const Snapshot& snapshot, NodeSet& nodes) const;
  // Nodes on which the same of the pod's extended resources come from devices; see
  // ResourcesFromDevices.
  struct NodesOfResources {
    uint64_t from_devices = 0;
    NodeSet nodes;
  };
  std::vector<NodesOfResources> GroupByResources(const PodDevices& devices,
                                                 const Snapshot& snapshot) const;
  // What the allocator says on all nodes, kept from pod to pod; nullptr: it has to be asked node by
  // node. Good until the next call.
  const dra::NodeVerdicts* FindVerdicts(PodDevices& devices, const PodInfo& pod,
                                        const Snapshot& snapshot, CycleBudget& budget) const;
  // By which of its extended resources the pod gets from devices of the node, as bits; nullopt: the
  // node can never have the pod.
  std::optional<uint64_t> ResourcesFromDevices(const PodDevices& devices,
                                               const api::Node& node) const;
  // The claims to allocate where those resources come from devices.
  const NodeClaims& ClaimsFor(PodDevices& devices, const api::Pod& pod,
                              uint64_t from_devices) const;

  // What PostFilter says when it has given something up; "": there was nothing.
  std::string_view GiveUpClaim(const api::Pod& pod, const PodDevices& devices,
                               const std::vector<bool>& unavailable, GivenUp& given_up);
  Status GiveUpGroupClaims(CycleState& state, const PodGroupInfo& group, GivenUp& given_up);
  void Deallocate(const api::ResourceClaim& claim, GivenUp& given_up);
  void Delete(const api::ResourceClaim& claim);
  void GiveReservationBack(const ClaimPtr& claim, const std::string& pod_uid);
  // Writes that the claim is no longer reserved for the consumer, after ClaimTracker::BeginRemoval.
  static void TakeReservationOut(const api::ResourceClaim& claim, const std::string& consumer_uid,
                                 Handle& handle);

  Handle& handle_;
  const DynamicResourcesArgs args_;
  const std::unique_ptr<dra::DeviceExpressions> expressions_;
  const std::unique_ptr<ClusterDevices> devices_;
  // Used again from node to node.
  const std::unique_ptr<dra::NodeAllocation> found_;
  const std::unique_ptr<dra::KeptVerdicts> verdicts_;
  // Verdicts of groups of nodes, put together for one pod.
  const std::unique_ptr<dra::NodeVerdicts> joined_;
  const std::shared_ptr<ClaimTurns> turns_;
  // How much work the search on one node may be; all of a cycle's have its budget.
  const uint64_t max_steps_;
  const Status not_available_;
  // By uid of claims that pods of a group may share: the group that one of them reserved it for,
  // while the allocation is pending.
  absl::flat_hash_map<std::string, std::string> pending_of_groups_;
  // Reservations that pods have given up in the running cycle, by the uids of claim and pod. They
  // are written at its end: a pod that is tried again until then keeps its own.
  using GivenBack = std::map<std::pair<std::string, std::string>, ClaimPtr>;
  const std::shared_ptr<GivenBack> given_back_ = std::make_shared<GivenBack>();
  // Of the last PreEnqueue that rejected.
  std::optional<ReasonTable> reasons_;
};

}  // namespace berth::plugins
