// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/dynamic_resources.h"

#include <algorithm>
#include <chrono>

#include "berth/resources.h"
#include "plugins/dynamic_resources/claim_binding.h"
#include "plugins/dynamic_resources/device_claims.h"
#include "plugins/dynamic_resources/device_selector.h"
#include "plugins/dynamic_resources/extended_resources.h"
#include "plugins/dynamic_resources/node_allocatable.h"
#include "plugins/dynamic_resources/reserved_claims.h"
#include "plugins/shared/hint_objects.h"
#include "plugins/shared/normalize_score.h"

// What DynamicResources finds out about a pod before it looks at nodes.

namespace berth::plugins {
namespace {

using api::ObjectPtr;

// A device that becomes free may help any pod, else only a change of the pod's own claims.
Result<QueueingHint> AfterClaimChange(Handle& handle, const api::Pod& pod,
                                      const ObjectPtr& old_object, const ObjectPtr& new_object) {
  const auto change = AsChange<api::ResourceClaim>(old_object, new_object);
  if (!change) return Fail(change.error());
  const api::ResourceClaim* before = change->old_object;
  const api::ResourceClaim* after = change->new_object;
  if (after == nullptr) return QueueIf(before->status.allocation.has_value());
  const bool freed = before != nullptr && before->status.allocation && !after->status.allocation;
  // Most pods name other claims: they cost no look-up.
  if (!freed && !MayNameClaim(pod, after->metadata)) return QueueingHint::kQueueSkip;
  if (!freed && before != nullptr && before->status == after->status) {
    return QueueingHint::kQueueSkip;
  }
  const auto claims = FindDeviceClaims(pod, handle.claims(), handle.features());
  if (!claims) return QueueingHint::kQueueSkip;
  const auto is_after = [&](const ClaimPtr& claim) {
    return claim->metadata.uid == after->metadata.uid;
  };
  return QueueIf(freed || std::ranges::any_of(*claims, is_after));
}

Result<QueueingHint> AfterTargetPodUpdate(Handle& handle, const ObjectPtr& new_object) {
  const auto* pod = api::As<api::Pod>(new_object);
  if (pod == nullptr) return Fail("the event has no new pod");
  return QueueIf(FindDeviceClaims(*pod, handle.claims(), handle.features()).has_value());
}

// What may help a pod that DynamicResources rejected. `handle` must outlive the hints.
std::vector<ClusterEventWithHint> DynamicResourcesEvents(Handle& handle) {
  using namespace action;
  std::vector<ClusterEventWithHint> events = {
      {{EventResource::kNode, kAdd | kUpdateNodeLabel | kUpdateNodeAllocatable}},
      {{EventResource::kResourceClaim, kAdd | kUpdate | kDelete},
       [&handle](const api::Pod& pod, const ObjectPtr& old_object, const ObjectPtr& new_object) {
         return AfterClaimChange(handle, pod, old_object, new_object);
       }},
      {{EventResource::kTargetPod, kUpdatePodGeneratedResourceClaim},
       [&handle](const api::Pod&, const ObjectPtr&, const ObjectPtr& new_object) {
         return AfterTargetPodUpdate(handle, new_object);
       }},
      {{EventResource::kDeviceClass, kAdd | kUpdate}},
      {{EventResource::kResourceSlice, kAdd | kUpdate}},
  };
  // A pod that goes leaves what devices would take of its node.
  if (handle.features().dra_node_allocatable_resources) {
    events.push_back({{EventResource::kAssignedPod, kDelete}});
  }
  return events;
}

using Existence = ClaimTracker::Existence;
using Sharers = ClaimTracker::Sharers;

struct ScoreState {
  std::vector<int64_t> by_row;
};

struct ReserveState {
  std::shared_ptr<ReservedClaims> claims;
};

uint64_t StepsWithin(Duration timeout, const Features& features) {
  const double seconds = std::chrono::duration<double>(timeout).count();
  if (seconds <= 0 || !features.dra_scheduler_filter_timeout) return UINT64_MAX;
  return static_cast<uint64_t>(seconds *
                               static_cast<double>(dra::AllocatorLimits::kStepsPerSecond));
}

bool HasAlternatives(const api::ResourceClaim& claim) {
  return std::ranges::any_of(claim.spec.devices.requests, [](const api::DeviceRequest& request) {
    return !request.first_available.empty();
  });
}

// What the subrequests that an allocation chose score.
int64_t ScoreOf(const api::ResourceClaim& claim, const api::AllocationResult& allocation) {
  int64_t score = 0;
  for (const api::DeviceRequest& request : claim.spec.devices.requests) {
    if (request.exactly) continue;
    for (size_t i = 0; i < request.first_available.size(); ++i) {
      const std::string name = request.name + "/" + request.first_available[i].name;
      const bool chosen = std::ranges::any_of(
          allocation.devices.results, [&](const auto& result) { return result.request == name; });
      if (chosen) score += dra::kMostSubRequests - static_cast<int64_t>(i);
    }
  }
  return score;
}

int64_t ScoreOfAllocated(const PodDevices& devices) {
  int64_t score = 0;
  for (const PodDeviceClaim& used : devices.claims) {
    if (used.allocated()) score += ScoreOf(*used.claim, *used.allocation());
  }
  return score;
}

// No other pod can use the claim.
bool IsMadeFor(const api::Pod& pod, const api::ResourceClaim& claim) {
  return std::ranges::any_of(claim.metadata.owner_references, [&pod](const auto& owner) {
    return owner.controller && owner.uid == pod.metadata.uid;
  });
}

// Where nothing is to be allocated, all nodes score the same.
bool ScoresNodes(const PodDevices& devices) {
  return devices.must_allocate && std::ranges::any_of(devices.claims, [](const auto& used) {
           return HasAlternatives(*used.claim);
         });
}

dra::AllocatorFeatures FeaturesOf(const Features& features) {
  return {
      .admin_access = true,
      .compatibility_groups = features.dra_device_compatibility_groups,
      .consumable_capacity = features.dra_consumable_capacity,
      .derived_attributes = features.dra_derived_attributes,
      .device_binding_and_status = features.dra_device_binding_conditions,
      .device_taints = features.dra_device_taints,
      .fractional_capacity_range = features.dra_fractional_capacity_range,
      .list_type_attributes = features.dra_list_type_attributes,
      .optional_node_operations = features.dra_optional_node_operations,
      .partitionable_devices = features.dra_partitionable_devices,
      .prioritized_list = true,
  };
}

bool Concerns(const api::DeviceTaintRule& rule, const api::ResourceSlice& slice) {
  const auto& selector = rule.spec.device_selector;
  return selector && (!selector->driver || *selector->driver == slice.spec.driver) &&
         (!selector->pool || *selector->pool == slice.spec.pool.name);
}

// The slice with the taints that the rules add, or nullptr where they add none.
std::shared_ptr<const api::ResourceSlice> Tainted(const api::ResourceSlice& slice,
                                                  const std::vector<api::DeviceTaintRule>& rules) {
  std::shared_ptr<api::ResourceSlice> tainted;
  for (const api::DeviceTaintRule& rule : rules) {
    if (!Concerns(rule, slice)) continue;
    const std::optional<std::string>& name = rule.spec.device_selector->device;
    for (size_t i = 0; i < slice.spec.devices.size(); ++i) {
      if (name && *name != slice.spec.devices[i].name) continue;
      if (tainted == nullptr) tainted = std::make_shared<api::ResourceSlice>(slice);
      tainted->spec.devices[i].taints.push_back(rule.spec.taint);
    }
  }
  return tainted;
}

}  // namespace

DynamicResources::DynamicResources(const DynamicResourcesArgs& args, Handle& handle)
    : handle_(handle),
      args_(args),
      expressions_(std::make_unique<dra::DeviceSelectors>()),
      devices_(std::make_unique<ClusterDevices>(handle, *expressions_)),
      found_(std::make_unique<dra::NodeAllocation>()),
      verdicts_(std::make_unique<dra::KeptVerdicts>(devices_->inventory(), devices_->allocator())),
      joined_(std::make_unique<dra::NodeVerdicts>()),
      turns_(std::make_shared<ClaimTurns>()),
      max_steps_(StepsWithin(args.filter_timeout, handle.features())),
      not_available_(handle.reasons().Make(Code::kUnschedulableAndUnresolvable, kNotAvailable)) {}

Status DynamicResources::PreEnqueue(const PodInfo& pod) {
  if (pod.pod->spec.resource_claims.empty()) return Status::Success();
  const auto claims = FindDeviceClaims(*pod.pod, handle_.claims(), handle_.features());
  if (claims) return Status::Success();
  reasons_.emplace();
  return reasons_->Make(Code::kUnschedulableAndUnresolvable, claims.error().message);
}

PreFilterResult DynamicResources::PreFilter(CycleState& state, const PodInfo& pod,
                                            const Snapshot& snapshot) {
  auto& kept = state.Write(PodDevicesState{});
  if (pod.pod->spec.resource_claims.empty() && pod.requests.scalars.empty()) {
    return {.status = Status::Skip()};
  }
  devices_->Update();
  auto devices = std::make_shared<PodDevices>();
  const Status status = FindPodDevices(state, pod, snapshot, *devices);
  if (!status.ok()) return {.status = status};
  kept.devices = std::move(devices);
  return {};
}

size_t DynamicResources::kept_bytes() const {
  return verdicts_->kept_bytes() + devices_->allocator().kept_answer_bytes() +
         expressions_->kept_bytes();
}

Status DynamicResources::PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                                  const NodeSet& feasible) {
  const auto* kept = state.Find<PodDevicesState>();
  if (kept == nullptr || kept->devices == nullptr) return Status::Skip();
  PodDevices& devices = *kept->devices;
  if (!ScoresNodes(devices)) return Status::Skip();
  const int64_t allocated = ScoreOfAllocated(devices);
  ScoreState scores{std::vector<int64_t>(feasible.size(), 0)};
  const dra::NodeVerdicts* verdicts = FindVerdicts(devices, pod, snapshot, state.budget());
  feasible.ForEach([&](NodeRow row) {
    if (verdicts != nullptr && verdicts->allocated.Test(row)) {
      scores.by_row[row] = allocated + verdicts->scores[row];
      return;
    }
    const NodeVerdict verdict =
        Judge(devices, *pod.pod, NodeView(snapshot, row), *found_, state.budget());
    if (verdict.ok() && verdict.asked != nullptr) scores.by_row[row] = allocated + found_->score;
  });
  state.Write(std::move(scores));
  return Status::Success();
}

// A profile may call this without PreScore, which kube-scheduler's plugin does not have.
ScoreResult DynamicResources::Score(const CycleState& state, const PodInfo& pod,
                                    const NodeView& node) const {
  if (const auto* scores = state.Find<ScoreState>()) return {.score = scores->by_row[node.row()]};
  const auto* kept = state.Find<PodDevicesState>();
  if (kept == nullptr || kept->devices == nullptr || !ScoresNodes(*kept->devices)) return {};
  const NodeVerdict verdict = Judge(*kept->devices, *pod.pod, node, *found_, state.budget());
  if (!verdict.ok() || verdict.asked == nullptr) return {};
  return {.score = ScoreOfAllocated(*kept->devices) + found_->score};
}

void DynamicResources::ScoreNodes(const CycleState& state, const PodInfo& pod,
                                  const Snapshot& snapshot, std::span<const NodeRow> nodes,
                                  std::span<int64_t> scores) const {
  const auto* kept = state.Find<ScoreState>();
  for (size_t i = 0; i < nodes.size(); ++i) {
    scores[i] = kept == nullptr ? Score(state, pod, NodeView(snapshot, nodes[i])).score
                                : kept->by_row[nodes[i]];
  }
}

Status DynamicResources::NormalizeScore(const CycleState&, const PodInfo&, std::span<const NodeRow>,
                                        std::span<int64_t> scores) const {
  DefaultNormalizeScore(Best::kMost, scores);
  return Status::Success();
}

Status DynamicResources::Reserve(CycleState& state, const PodInfo& pod,
                                 std::string_view node_name) {
  const auto* kept = state.Find<PodDevicesState>();
  if (kept == nullptr || kept->devices == nullptr) return Status::Success();
  PodDevices& devices = *kept->devices;
  auto reserved = std::make_shared<ReservedClaims>();
  const NodeClaims* asked = nullptr;
  std::vector<api::AllocationResult> allocations;
  const Snapshot& snapshot = handle_.snapshot();
  const NodeRow row = snapshot.FindNode(node_name);
  if (devices.must_allocate) {
    if (row == kNoRow) return state.reasons().Error("claim allocation not found for node");
    const NodeVerdict verdict =
        Judge(devices, *pod.pod, NodeView(snapshot, row), *found_, state.budget(), Room::kTaken);
    if (!verdict.ok()) return state.reasons().Make(Code::kError, verdict.reason);
    asked = verdict.asked;
    if (asked != nullptr) {
      auto made = dra::MakeAllocationResults(*asked->prepared, snapshot.node(row), *found_,
                                             devices_->features(), handle_.random());
      if (!made) return state.reasons().Error(made.error().message);
      allocations = *std::move(made);
    }
  }
  if (CountsOnNodes() && row != kNoRow) {
    auto statuses = StatusesOn(snapshot.node(row), devices, *pod.pod, asked, allocations);
    if (!statuses) return state.reasons().Error(statuses.error().message);
    state.Write(NodeAllocatableClaims{.statuses = *std::move(statuses)});
  }
  // From here on Unreserve gives back what is pending.
  state.Write(ReserveState{reserved});
  const std::string group = GroupOf(*pod.pod);
  absl::erase_if(pending_of_groups_, [this](const auto& shared) {
    return handle_.claims().FindPending(shared.first) == nullptr;
  });
  size_t next = 0;
  for (const PodDeviceClaim& used : devices.claims) {
    const bool is_extended = &used == devices.extended();
    const std::string& claim_uid = used.claim->metadata.uid;
    if (given_back_->erase({claim_uid, pod.pod->metadata.uid}) != 0) {
      handle_.claims().EndRemoval(claim_uid, pod.pod->metadata.uid);
    }
    ReservedClaims::Claim claim;
    claim.claim = used.claim;
    claim.consumer = used.consumer;
    claim.extended = is_extended;
    claim.of_group = !group.empty();
    claim.is_being_removed = handle_.claims().IsBeingRemoved(claim_uid, used.consumer.uid);
    if (used.pending != nullptr) {
      claim.allocation = used.pending;
      if (handle_.claims().FindPending(claim_uid) != nullptr &&
          handle_.claims().AddPending(used.claim, Existence::kExists)) {
        claim.pending_uid = claim_uid;
      }
    } else if (!used.allocated()) {
      if (asked == nullptr) continue;  // all extended resources are the node's own
      api::AllocationResult& allocation = allocations[next];
      claim.claim = asked->claims[next];
      ++next;
      if (is_extended && asked->extended == nullptr) continue;
      claim.to_be_made = is_extended;
      claim.allocation = std::make_shared<const api::AllocationResult>(allocation);
      auto allocated = std::make_shared<api::ResourceClaim>(*claim.claim);
      allocated->status.allocation = std::move(allocation);
      const std::string uid = allocated->metadata.uid;
      const auto added = handle_.claims().AddPending(
          std::move(allocated), is_extended ? Existence::kToBeMade : Existence::kExists);
      if (!added) {
        return state.reasons().Error("internal error, couldn't signal allocation for claim " +
                                     claim.claim->metadata.name + ": " + added.error().message);
      }
      claim.pending_uid = uid;
      if (!group.empty() && !IsMadeFor(*pod.pod, *claim.claim)) pending_of_groups_[uid] = group;
    }
    reserved->claims.push_back(std::move(claim));
  }
  if (asked != nullptr) reserved->mappings = asked->mappings;
  return Status::Success();
}

void DynamicResources::Unreserve(CycleState& state, const PodInfo& pod, std::string_view) {
  auto* kept = state.Find<ReserveState>();
  if (kept == nullptr || kept->claims == nullptr) return;
  ClaimTracker& claims = handle_.claims();
  for (const ReservedClaims::Claim& reserved : kept->claims->claims) {
    const api::ResourceClaim& claim = *reserved.claim;
    // What is assumed of the claim stays: some pod's write of it was accepted.
    if (!reserved.pending_uid.empty()) claims.RemovePending(reserved.pending_uid, Sharers::kOne);
    if (reserved.extended) {
      if (!reserved.to_be_made) Delete(claim);
    } else if (claim.status.allocation &&
               IsReservedForPod(*pod.pod, claim, GroupReservations::kIgnored)) {
      GiveReservationBack(reserved.claim, pod.pod->metadata.uid);
    }
  }
  kept->claims.reset();
}

// A claim that nothing uses any more stays allocated until PostFilter needs its devices elsewhere.
void DynamicResources::GiveReservationBack(const ClaimPtr& claim, const std::string& pod_uid) {
  if (!handle_.claims().BeginRemoval(claim->metadata.uid, pod_uid)) return;
  const bool first = given_back_->empty();
  given_back_->insert_or_assign({claim->metadata.uid, pod_uid}, claim);
  if (!first) return;
  handle_.RunLater([given_back = given_back_, &handle = handle_] {
    for (const auto& [uids, given] : std::exchange(*given_back, {})) {
      TakeReservationOut(*given, uids.second, handle);
    }
  });
}

Status DynamicResources::PreBindPreFlight(CycleState& state, const PodInfo&, std::string_view) {
  const auto* kept = state.Find<ReserveState>();
  return kept == nullptr || kept->claims == nullptr ? Status::Skip() : Status::Success();
}

void DynamicResources::PreBind(CycleState& state, const PodInfo& pod, std::string_view node_name,
                               Cancellation& cancellation, AsyncDone done) {
  const std::shared_ptr<ReservedClaims> claims = state.Read<ReserveState>().claims;
  const auto binding = std::make_shared<ClaimBinding>(
      claims, state.Find<NodeAllocatableClaims>(), pod.pod, std::string(node_name),
      args_.binding_timeout, handle_, turns_, cancellation, std::move(done));
  binding->Start();
}

std::vector<ClusterEventWithHint> DynamicResources::EventsToRegister() const {
  return DynamicResourcesEvents(handle_);
}

ClusterDevices::ClusterDevices(Handle& handle, dra::DeviceExpressions& expressions)
    : handle_(handle),
      inventory_(FeaturesOf(handle.features())),
      allocator_(inventory_, expressions),
      classes_(handle.listers()),
      holders_([this](const api::ResourceClaim& claim, bool holds) {
        if (holds) {
          inventory_.AddAllocation(*claim.status.allocation);
        } else {
          inventory_.RemoveAllocation(*claim.status.allocation);
        }
      }) {}

void ClusterDevices::Update() {
  const uint64_t generation = handle_.listers().devices_generation();
  if (devices_generation_ != generation) {
    UpdateRules();
    UpdateSlices();
    devices_generation_ = generation;
  }
  UpdateAllocated();
}

void ClusterDevices::UpdateAllocated() { holders_.Update(handle_.claims()); }

void ClusterDevices::UpdateRules() {
  const Features& features = handle_.features();
  if (!features.dra_device_taints || !features.dra_device_taint_rules) return;
  std::vector<api::DeviceTaintRule> rules;
  handle_.listers().ForEach<api::DeviceTaintRule>([&](const api::DeviceTaintRule& rule) {
    api::DeviceTaintRule& kept = rules.emplace_back();
    kept.spec = rule.spec;
  });
  if (rules == rules_) return;
  rules_ = std::move(rules);
  ++rules_version_;
}

void ClusterDevices::UpdateSlices() {
  ++scan_;
  handle_.listers().ForEach<api::ResourceSlice>([&](const SlicePtr& slice) {
    KnownSlice& known = slices_[slice->metadata.name];
    const bool is_new = known.shown != slice;
    known.seen = scan_;
    if (!is_new && known.rules_version == rules_version_) return;
    const SlicePtr tainted = Tainted(*slice, rules_);
    if (is_new || tainted != nullptr || known.tainted) {
      inventory_.SetSlice(tainted != nullptr ? tainted : slice);
    }
    known.shown = slice;
    known.rules_version = rules_version_;
    known.tainted = tainted != nullptr;
  });
  for (auto known = slices_.begin(); known != slices_.end();) {
    if (known->second.seen == scan_) {
      ++known;
    } else {
      inventory_.RemoveSlice(known->first);
      known = slices_.erase(known);
    }
  }
}

Status DynamicResources::CheckRequests(const CycleState& state,
                                       const api::ResourceClaim& claim) const {
  const auto check = [&](const std::string& device_class, const std::string& request) {
    if (device_class.empty()) {
      return state.reasons().Error("request " + request + ": unsupported request type");
    }
    if (handle_.listers().Find<api::DeviceClass>(device_class) != nullptr) return Status::Success();
    return state.reasons().Make(
        Code::kUnschedulableAndUnresolvable,
        "request " + request + ": device class " + device_class + " does not exist");
  };
  for (const api::DeviceRequest& request : claim.spec.devices.requests) {
    if (request.exactly) {
      if (Status status = check(request.exactly->device_class_name, request.name); !status.ok()) {
        return status;
      }
      continue;
    }
    if (request.first_available.empty()) {
      return state.reasons().Make(Code::kUnschedulableAndUnresolvable,
                                  "resource claim " + claim.metadata.Key() + ", request " +
                                      request.name + ": unknown request type");
    }
    for (const api::DeviceSubRequest& alternative : request.first_available) {
      Status status = check(alternative.device_class_name, request.name + "/" + alternative.name);
      if (!status.ok()) return status;
    }
  }
  return Status::Success();
}

ClaimPtr DynamicResources::FindExtendedClaim(const PodInfo& pod, const ResourceNames& names,
                                             PodDevices& devices) const {
  bool any = false;
  for (const auto& [id, amount] : pod.requests.scalars) {
    const std::string name(names.Name(id));
    if (amount == 0 || !IsDeviceResourceName(name)) continue;
    devices.extended_resources.emplace_back(name, id);
    any = any || devices_->FindClassOf(name) != nullptr;
  }
  if (!any) return nullptr;
  std::ranges::sort(devices.extended_resources);
  if (ClaimPtr made = handle_.claims().FindExtendedResourceClaim(*pod.pod)) return made;
  auto claim = std::make_shared<api::ResourceClaim>();
  const api::ObjectMeta& owner = pod.pod->metadata;
  claim->metadata.namespace_ = owner.namespace_;
  claim->metadata.name = kMadeUpName;
  // No claim that there is has such a uid.
  claim->metadata.uid = std::string(kMadeUpName) + owner.uid;
  claim->metadata.annotations.emplace_back(api::kExtendedResourceClaimAnnotation, "true");
  claim->metadata.owner_references.push_back({"v1", "Pod", owner.name, owner.uid, true});
  return claim;
}

std::string DynamicResources::GroupOf(const api::Pod& pod) const {
  const auto& group = pod.spec.scheduling_group;
  if (!handle_.features().generic_workload || !group || !group->pod_group_name) return "";
  return api::NamespacedKey(pod.metadata.namespace_, *group->pod_group_name);
}

std::shared_ptr<const api::AllocationResult> DynamicResources::FindSharedPending(
    const api::Pod& pod, const api::ResourceClaim& claim) const {
  const auto shared = pending_of_groups_.find(claim.metadata.uid);
  if (shared == pending_of_groups_.end() || shared->second != GroupOf(pod)) return nullptr;
  const api::AllocationResult* pending = handle_.claims().FindPending(claim.metadata.uid);
  return pending == nullptr ? nullptr : std::make_shared<const api::AllocationResult>(*pending);
}

Status DynamicResources::FindPodDevices(const CycleState& state, const PodInfo& info,
                                        const Snapshot& snapshot, PodDevices& devices) const {
  const api::Pod& pod = *info.pod;
  const Features& features = handle_.features();
  const auto rejected = [&](std::string_view text) {
    return state.reasons().Make(Code::kUnschedulableAndUnresolvable, text);
  };
  auto claims = FindDeviceClaims(pod, handle_.claims(), features);
  if (!claims) return rejected(claims.error().message);
  for (const ClaimPtr& claim : *claims) {
    if (!claim->metadata.damage) continue;
    return state.reasons().Error("resourceclaim \"" + claim->metadata.name + "\" cannot be read: " +
                                 claim->metadata.damage->front().ToString());
  }
  ClaimPtr extended = FindExtendedClaim(info, snapshot.resource_names(), devices);
  if (extended != nullptr && devices.extended_resources.size() > kMostExtendedResources) {
    return rejected("more than 64 extended resources, and devices stand for some of them");
  }
  const api::PodGroup* group = nullptr;
  if (features.dra_workload_resource_claims && pod.spec.scheduling_group &&
      pod.spec.scheduling_group->pod_group_name) {
    const std::string& name = *pod.spec.scheduling_group->pod_group_name;
    group = handle_.listers().Find<api::PodGroup>(pod.metadata.namespace_, name);
    if (group == nullptr) return rejected("podgroup.scheduling.k8s.io \"" + name + "\" not found");
  }
  const auto consumers = FindConsumers(pod, group);
  if (!consumers) return rejected(consumers.error().message);
  if (claims->empty() && extended == nullptr) return Status::Skip();

  devices.has_extended = extended != nullptr;
  if (extended != nullptr) claims->push_back(extended);
  for (size_t i = 0; i < claims->size(); ++i) {
    PodDeviceClaim& used = devices.claims.emplace_back();
    used.claim = std::move((*claims)[i]);
    const bool of_group = group != nullptr && i < consumers->size();
    used.consumer = of_group ? (*consumers)[i] : ConsumerOf(pod);
    if (!used.claim->status.allocation) used.pending = FindSharedPending(pod, *used.claim);
    if (const api::AllocationResult* allocation = used.allocation()) {
      if (allocation->node_selector) {
        used.nodes = NodeSelectorMatcher::Make(*allocation->node_selector);
        if (!used.nodes->errors().empty()) {
          return state.reasons().Error(used.nodes->errors().front().message);
        }
      }
      continue;
    }
    devices.must_allocate = true;
    if (handle_.claims().FindPending(used.claim->metadata.uid) != nullptr) {
      return rejected("resource claim " + used.claim->metadata.Key() +
                      " is in the process of being allocated");
    }
    if (used.claim == extended) continue;
    if (Status status = CheckRequests(state, *used.claim); !status.ok()) return status;
  }
  return Status::Success();
}

}  // namespace berth::plugins
