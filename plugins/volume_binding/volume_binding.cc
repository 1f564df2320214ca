// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/volume_binding.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "berth/api/pod.h"
#include "berth/cluster_event.h"
#include "berth/in_tree/async.h"
#include "berth/time.h"
#include "berth/volumes.h"
#include "plugins/shared/csi_migration.h"
#include "plugins/shared/hint_objects.h"
#include "plugins/shared/pod_claims.h"
#include "plugins/shared/spend_on_nodes.h"
#include "plugins/volume_binding/assumed_pod_volumes.h"
#include "plugins/volume_binding/pod_claims.h"

namespace berth::plugins {
namespace {

// Counts a failure of `operation`: predicate, assume or bind. Any thread.
inline void CountStageError(Handle& handle, std::string_view operation) {
  handle.CountMetric("volume_scheduling_stage_error_total", {operation}, 1);
}

// One pod's PreBind: writes what was assumed, one object after the other, volumes first; then waits
// until the API server shows all claims bound. The first failure ends it; what was written stays.
//
// Thread safety: the binding thread.
class BindRun : public std::enable_shared_from_this<BindRun> {
 public:
  // `handle` must outlive the run, `cancellation` the call to `done`.
  BindRun(std::shared_ptr<AssumedPodVolumes> volumes, std::shared_ptr<const api::Pod> pod,
          Duration timeout, Handle& handle, Cancellation& cancellation, AsyncDone done);

  void Start();

 private:
  void WriteNext();
  void Wait();
  void Finish(AsyncStatus status);

  const std::shared_ptr<AssumedPodVolumes> volumes_;
  const std::shared_ptr<const api::Pod> pod_;
  const Duration timeout_;
  Handle& handle_;
  Cancellation& cancellation_;
  const AsyncDone done_;
  size_t next_binding_ = 0;
  size_t next_provision_ = 0;
};

BindRun::BindRun(std::shared_ptr<AssumedPodVolumes> volumes, std::shared_ptr<const api::Pod> pod,
                 Duration timeout, Handle& handle, Cancellation& cancellation, AsyncDone done)
    : volumes_(std::move(volumes)),
      pod_(std::move(pod)),
      timeout_(timeout),
      handle_(handle),
      cancellation_(cancellation),
      done_(std::move(done)) {}

void BindRun::Start() {
  // kube-scheduler takes volumes that were not assumed for none where nothing is to be bound.
  if (volumes_->assumed || !volumes_->bindings.empty()) return WriteNext();
  Finish({Code::kError, "failed to get cached bindings for pod \"" + pod_->metadata.Key() + "\""});
}

void BindRun::WriteNext() {
  const auto write = [this](VolumeWritten::Kind kind, const auto& object) {
    handle_.WriteAssumed(
        object, cancellation_, [self = shared_from_this(), kind, &object](AsyncStatus status) {
          if (!status.ok()) {
            self->Finish(std::move(status));
            return;
          }
          // Before the pod's outcome: both come in order.
          self->handle_.Post(
              VolumeWritten{kind, object.metadata.Key(), object.metadata.resource_version});
          self->WriteNext();
        });
  };
  while (next_binding_ < volumes_->bindings.size()) {
    const AssumedPodVolumes::Binding& binding = volumes_->bindings[next_binding_++];
    if (binding.to_write) return write(VolumeWritten::Kind::kVolume, *binding.volume);
  }
  while (next_provision_ < volumes_->provisions.size()) {
    const AssumedPodVolumes::Provision& provision = volumes_->provisions[next_provision_++];
    if (provision.to_write) return write(VolumeWritten::Kind::kClaim, *provision.claim);
  }
  Wait();
}

void BindRun::Wait() {
  ObjectWait wait;
  for (const auto& binding : volumes_->bindings) {
    wait.objects.push_back({EventResource::kPersistentVolume, binding.volume->metadata.name});
    wait.objects.push_back({EventResource::kPersistentVolumeClaim,
                            binding.claim_namespace + "/" + binding.claim_name});
  }
  for (const auto& provision : volumes_->provisions) {
    wait.objects.push_back(
        {EventResource::kPersistentVolumeClaim, provision.claim->metadata.Key()});
  }
  wait.objects.push_back({EventResource::kNode, volumes_->node_name});
  wait.objects.push_back({EventResource::kCsiNode, volumes_->node_name});
  wait.objects.push_back({EventResource::kPod, pod_->metadata.Key()});
  wait.check = [volumes = volumes_, pod = pod_, &handle = handle_] {
    return CheckBindings(*volumes, *pod, handle);
  };
  wait.timeout = timeout_;
  wait.timed_out = {Code::kError, "binding volumes: context deadline exceeded"};
  wait.cancelled = {Code::kError, "binding volumes: context canceled"};
  handle_.WaitFor(std::move(wait), cancellation_, [self = shared_from_this()](AsyncStatus status) {
    self->Finish(std::move(status));
  });
}

void BindRun::Finish(AsyncStatus status) {
  if (!status.ok()) CountStageError(handle_, "bind");
  done_(std::move(status));
}

// How well what a node gives a pod is used: the utilization of each storage class by `shape`, and
// the mean of these. Where volumes that are there are taken: what is requested of what they hold;
// else what is requested of the room that the driver tells of. 0 where neither is known.
//
// Thread safety: one owner; keeps its capacity from one node to the next.
class VolumeScorer {
 public:
  // `shape` must outlive the scorer.
  explicit VolumeScorer(const BrokenLinearFunction& shape) : shape_(shape) {}

  int64_t Score(const NodeVolumes& volumes);

 private:
  struct ClassUse {
    std::string_view storage_class;
    int64_t requested = 0;
    int64_t capacity = 0;
  };

  ClassUse& UseOf(std::string_view storage_class);
  void FindUses(const NodeVolumes& volumes);

  const BrokenLinearFunction& shape_;
  std::vector<ClassUse> uses_;
};

constexpr int64_t kMaxUtilization = 100;

int64_t Storage(const api::ResourceList& list) {
  const api::Quantity* storage = api::Find(list, "storage");
  return storage == nullptr ? 0 : storage->Value();
}

VolumeScorer::ClassUse& VolumeScorer::UseOf(std::string_view storage_class) {
  const auto known = std::ranges::find(uses_, storage_class, &ClassUse::storage_class);
  return known != uses_.end() ? *known
                              : uses_.emplace_back(ClassUse{.storage_class = storage_class});
}

void VolumeScorer::FindUses(const NodeVolumes& volumes) {
  uses_.clear();
  for (const NodeVolumes::Binding& binding : volumes.bindings) {
    ClassUse& use = UseOf(binding.volume->spec.storage_class_name);
    use.requested = SumSaturated(use.requested, Storage(binding.claim->spec.resources.requests));
    use.capacity = SumSaturated(use.capacity, Storage(binding.volume->spec.capacity));
  }
  if (!volumes.bindings.empty()) return;
  for (const NodeVolumes::Provision& provision : volumes.provisions) {
    if (provision.capacity == nullptr) continue;
    const auto& storage_class = provision.claim->spec.storage_class_name;
    ClassUse& use = UseOf(storage_class ? std::string_view(*storage_class) : "");
    use.requested = SumSaturated(use.requested, Storage(provision.claim->spec.resources.requests));
    // One room serves all claims of the class.
    use.capacity = provision.capacity->capacity ? provision.capacity->capacity->Value() : 0;
  }
}

int64_t VolumeScorer::Score(const NodeVolumes& volumes) {
  FindUses(volumes);
  if (uses_.empty()) return 0;
  int64_t sum = 0;
  for (const ClassUse& use : uses_) {
    const bool full = use.capacity <= 0 || use.requested > use.capacity;
    sum += shape_(full ? kMaxUtilization : ShareOf(use.requested, kMaxUtilization, use.capacity));
  }
  return static_cast<int64_t>(
      std::round(static_cast<double>(sum) / static_cast<double>(uses_.size())));
}

// One claim of the pod, as if the pod had no other.
struct LoneClaim {
  std::string key;
  std::string problem;  // "" unless it keeps the pod off every node
  PodClaims claims;
};

// Why a claim without a volume waits for no pod.
std::string WhyImmediate(const std::string& namespace_, const std::string& name,
                         const Listers& listers) {
  const api::PersistentVolumeClaim* claim =
      listers.Find<api::PersistentVolumeClaim>(namespace_, name);
  if (claim != nullptr && !claim->spec.volume_name.empty())
    return "not bound yet to volume " + Quote(claim->spec.volume_name) + ", which it names";
  const std::string_view class_name = claim == nullptr ? "" : StorageClassOf(*claim);
  if (class_name.empty()) return "not bound, and it has no storage class";
  if (listers.Find<api::StorageClass>(class_name) == nullptr)
    return "not bound, and storage class " + Quote(class_name) + " does not exist";
  return "not bound, and its storage class does not wait for a consumer";
}

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
    lone.problem = WhyImmediate(alone.metadata.namespace_, name, handle.listers());
  } else {
    lone.claims = *std::move(claims);
  }
  return lone;
}

// From where the volume of a bound claim can be reached.
std::string ReachOf(const PodClaims& claims) {
  if (claims.bound.empty() || claims.bound.front().volume == nullptr) return "";
  const api::PersistentVolume& volume = *claims.bound.front().volume;
  std::string text;
  if (!volume.spec.node_affinity || !volume.spec.node_affinity->required) return "";
  for (const auto& term : volume.spec.node_affinity->required->node_selector_terms) {
    std::string one;
    for (const auto& requirement : term.match_expressions) {
      if (requirement.operator_ != "In") return "";
      std::string values;
      for (const std::string& value : requirement.values) {
        values += (values.empty() ? "" : "|") + value;
      }
      one += (one.empty() ? "" : ",") + requirement.key + "=" + values;
    }
    text += (text.empty() ? "" : " or ") + one;
  }
  return text.empty() ? "" : "volume " + Quote(volume.metadata.name) + " is in " + text;
}

// Which storage capacity lacks what for the claim: where none is for the node, that; else the one
// that has the most.
std::string LackOf(const DelayedClaim& delayed, const api::Node& node, const Listers& listers) {
  const api::StorageClass* storage_class = delayed.provisioning.storage_class;
  if (storage_class == nullptr) return "";
  const std::string& class_name = storage_class->metadata.name;
  const int64_t size = Storage(delayed.claim->spec.resources.requests);
  const api::CSIStorageCapacity* most = nullptr;
  bool any = false;
  const auto amount = [](const std::optional<api::Quantity>& of) { return of ? of->Value() : 0; };
  listers.ForEachBy<api::CSIStorageCapacity>(
      class_name, [&](const api::CSIStorageCapacity& capacity) {
        any = true;
        const auto nodes = LabelSelectorMatcher::Make(capacity.node_topology);
        if (!capacity.node_topology || !nodes || !nodes->Matches(node.metadata.labels)) return;
        if (most == nullptr || amount(most->capacity) < amount(capacity.capacity)) most = &capacity;
      });
  if (!any) return "class " + Quote(class_name) + " has no CSIStorageCapacity";
  if (most == nullptr) {
    return "no CSIStorageCapacity of class " + Quote(class_name) + " selects the node's labels";
  }
  const std::string name = "CSIStorageCapacity " + most->metadata.Key();
  if (most->maximum_volume_size && most->maximum_volume_size->Value() < size) {
    return name + " has volumes up to " + most->maximum_volume_size->ToCanonicalString();
  }
  if (!most->capacity) return name + " states no capacity";
  return name + " has " + most->capacity->ToCanonicalString();
}

// A lone claim is in the way for one reason: in kube-scheduler's words, then what it is about.
std::string Problem(const NodeVerdict& verdict, const PodClaims& claims, const api::Node& node,
                    const Listers& listers) {
  if (!verdict.error.empty()) return verdict.error;
  std::string detail;
  if ((verdict.reasons & volume_reason::kNodeConflict) != 0) {
    detail = ReachOf(claims);
  } else if ((verdict.reasons & volume_reason::kNotEnoughSpace) != 0 && !claims.delayed.empty()) {
    detail = LackOf(claims.delayed.front(), node, listers);
  }
  return ReasonsOf(verdict.reasons).front() + (detail.empty() ? "" : ": " + detail);
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

// What each of the pod's claims would get on a node, judged one by one: FindNodeVolumes stops at
// the first that is in the way. Good as long as the cycle.
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
        preview.problem = Problem(verdict, lone.claims, node.node(), listers);
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

using api::ObjectPtr;

Result<QueueingHint> AfterStorageClassChange(const api::Pod&, const ObjectPtr& old_object,
                                             const ObjectPtr& new_object) {
  const auto change = AsUpdate<api::StorageClass>(old_object, new_object);
  if (!change) return Fail(change.error());
  return QueueIf(change->old_object == nullptr ||
                 change->old_object->allowed_topologies != change->new_object->allowed_topologies);
}

Result<QueueingHint> AfterCsiNodeChange(const api::Pod&, const ObjectPtr& old_object,
                                        const ObjectPtr& new_object) {
  const auto change = AsUpdate<api::CSINode>(old_object, new_object);
  if (!change) return Fail(change.error());
  if (change->old_object == nullptr) return QueueingHint::kQueue;
  const auto migrated = [](const api::CSINode& node) {
    const std::string* plugins = api::Find(node.metadata.annotations, kMigratedPluginsAnnotation);
    return plugins == nullptr ? std::string() : *plugins;
  };
  return QueueIf(migrated(*change->old_object) != migrated(*change->new_object));
}

Result<QueueingHint> AfterCsiDriverChange(const api::Pod& pod, const ObjectPtr& old_object,
                                          const ObjectPtr& new_object) {
  const auto change = AsUpdate<api::CSIDriver>(old_object, new_object);
  if (!change) return Fail(change.error());
  const auto tells = [](const api::CSIDriver* driver) {
    return driver != nullptr && driver->spec.storage_capacity.value_or(false);
  };
  if (!tells(change->old_object) || tells(change->new_object)) return QueueingHint::kQueueSkip;
  return QueueIf(std::ranges::any_of(pod.spec.volumes, [&](const api::Volume& volume) {
    return volume.csi && volume.csi->driver == change->new_object->metadata.name;
  }));
}

std::optional<int64_t> LimitValue(const api::CSIStorageCapacity& capacity) {
  if (capacity.maximum_volume_size) return capacity.maximum_volume_size->Value();
  if (capacity.capacity) return capacity.capacity->Value();
  return std::nullopt;
}

Result<QueueingHint> AfterCapacityChange(const api::Pod&, const ObjectPtr& old_object,
                                         const ObjectPtr& new_object) {
  const auto change = AsUpdate<api::CSIStorageCapacity>(old_object, new_object);
  if (!change) return Fail(change.error());
  if (change->old_object == nullptr) return QueueingHint::kQueue;
  // Nothing is less than any limit.
  return QueueIf(LimitValue(*change->new_object) > LimitValue(*change->old_object));
}

// The events that may make a pod schedulable that VolumeBinding rejected, each with its hint.
//
//   StorageClass         added, or its allowedTopologies changed
//   claim                added or changed, and one of the pod's
//   PersistentVolume     added or changed
//   Node                 added, or its labels changed
//   CSINode              added, or plugins migrated on it
//   CSIDriver            one that an inline volume of the pod names no longer tells of its room
//   CSIStorageCapacity   added, or room for larger volumes
std::vector<ClusterEventWithHint> VolumeBindingEvents() {
  using action::kAdd;
  using action::kUpdate;
  return {
      {{EventResource::kStorageClass, kAdd | kUpdate}, AfterStorageClassChange},
      {{EventResource::kPersistentVolumeClaim, kAdd | kUpdate}, AfterClaim},
      {{EventResource::kPersistentVolume, kAdd | kUpdate}},
      {{EventResource::kNode, kAdd | action::kUpdateNodeLabel}},
      {{EventResource::kCsiNode, kAdd | kUpdate}, AfterCsiNodeChange},
      {{EventResource::kCsiDriver, kUpdate}, AfterCsiDriverChange},
      {{EventResource::kCsiStorageCapacity, kAdd | kUpdate}, AfterCapacityChange},
  };
}

constexpr std::string_view kNoPreFilter = VolumeBinding::kFilterWithoutPreFilter;
constexpr std::string_view kUnboundImmediate = "pod has unbound immediate PersistentVolumeClaims";

// What it takes to find a claim's volume for a node, in steps of a cycle's budget.
constexpr uint64_t kStepsPerClaim = 16;

// What PreFilter found; good for the running cycle.
struct PreFilterState {
  std::shared_ptr<const PodClaims> claims;
};

// What Reserve gave the pod; where the profile does not call it, what the node would give.
struct ReserveState {
  std::shared_ptr<AssumedPodVolumes> volumes;
};

}  // namespace

VolumeBinding::VolumeBinding(const VolumeBindingArgs& args, Handle& handle)
    : handle_(handle),
      bind_timeout_(args.bind_timeout),
      unbound_immediate_(
          handle.reasons().Make(Code::kUnschedulableAndUnresolvable, kUnboundImmediate)) {
  if (handle.features().storage_capacity_scoring) shape_.emplace(args.shape);
  for (uint32_t bits = 1; bits < rejections_.size(); ++bits) {
    rejections_[bits] = handle.reasons().Make(Code::kUnschedulableAndUnresolvable, ReasonsOf(bits));
  }
}

PreFilterResult VolumeBinding::PreFilter(CycleState& state, const PodInfo& pod, const Snapshot&) {
  if (!HasClaims(*pod.pod)) return {.status = Status::Skip()};
  if (const auto problem = FindClaimProblem(*pod.pod, handle_.listers())) {
    return {.status = state.reasons().Make(Code::kUnschedulableAndUnresolvable, *problem)};
  }
  auto claims = FindPodClaims(*pod.pod, handle_);
  if (!claims) return {.status = state.reasons().Error(claims.error().message)};
  if (claims->has_unbound_immediate) return {.status = unbound_immediate_};
  state.Write(PreFilterState{std::make_shared<const PodClaims>(*std::move(claims))});
  return {};
}

Status VolumeBinding::Verdict(const NodeVerdict& verdict, const CycleState& state) const {
  if (verdict.error.empty()) return rejections_[verdict.reasons];
  CountStageError(handle_, "predicate");
  return state.reasons().Error(verdict.error);
}

Status VolumeBinding::Filter(const CycleState& state, const PodInfo&, const NodeView& node) const {
  const PodClaims& claims = *state.Read<PreFilterState>().claims;
  if (!SpendOnNodes(state, claims.size(), kStepsPerClaim)) return OutOfBudget(state);
  return Verdict(FindNodeVolumes(claims, node.node(), handle_.listers(), nullptr), state);
}

// Volumes that are there, and that migration makes no difference to, are looked at for all nodes at
// once.
Status VolumeBinding::FilterNodes(const CycleState& state, const PodInfo&, const Snapshot& snapshot,
                                  NodeSet& nodes) const {
  const PodClaims& claims = *state.Read<PreFilterState>().claims;
  if (!SpendOnNodes(state, claims.size(), kStepsPerClaim * nodes.Count())) {
    return OutOfBudget(state);
  }
  const bool only_affinities =
      claims.delayed.empty() && std::ranges::all_of(claims.bound, [](const BoundClaim& bound) {
        return bound.volume != nullptr && bound.migrated == nullptr;
      });
  if (only_affinities) {
    for (const BoundClaim& bound : claims.bound) bound.affinity.FilterNodes(snapshot, nodes);
    return {};
  }
  return FilterEach(nodes, [&](NodeRow row) {
    return Verdict(FindNodeVolumes(claims, snapshot.node(row), handle_.listers(), nullptr), state);
  });
}

const PodClaims* VolumeBinding::ToScore(const CycleState& state) const {
  const auto* found = state.Find<PreFilterState>();
  const bool any = shape_ && found != nullptr && !found->claims->delayed.empty();
  return any ? found->claims.get() : nullptr;
}

Status VolumeBinding::PreScore(CycleState& state, const PodInfo&, const Snapshot&, const NodeSet&) {
  return ToScore(state) == nullptr ? Status::Skip() : Status::Success();
}

ScoreResult VolumeBinding::Score(const CycleState& state, const PodInfo& pod,
                                 const NodeView& node) const {
  const NodeRow row = node.row();
  ScoreResult result;
  ScoreNodes(state, pod, node.snapshot(), {&row, 1}, {&result.score, 1});
  return result;
}

void VolumeBinding::ScoreNodes(const CycleState& state, const PodInfo&, const Snapshot& snapshot,
                               std::span<const NodeRow> nodes, std::span<int64_t> scores) const {
  std::ranges::fill(scores, 0);
  const PodClaims* claims = ToScore(state);
  if (claims == nullptr || !called_.filter) return;
  NodeVolumes volumes;
  VolumeScorer scorer(*shape_);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const api::Node& node = snapshot.node(nodes[i]);
    if (!FindNodeVolumes(*claims, node, handle_.listers(), &volumes).ok()) continue;
    scores[i] = scorer.Score(volumes);
  }
}

Status VolumeBinding::Reserve(CycleState& state, const PodInfo&, std::string_view node_name) {
  if (!called_.pre_filter) return state.reasons().Error(kNoPreFilter);
  const auto* found = state.Find<PreFilterState>();
  if (found == nullptr || !called_.filter || found->claims->delayed.empty()) return {};
  const Snapshot& snapshot = handle_.snapshot();
  const NodeRow row = snapshot.FindNode(node_name);
  if (row == kNoRow) {
    return state.reasons().Error("node \"" + std::string(node_name) + "\" not found");
  }
  NodeVolumes volumes;
  const NodeVerdict verdict =
      FindNodeVolumes(*found->claims, snapshot.node(row), handle_.listers(), &volumes);
  if (!verdict.ok()) return Verdict(verdict, state);
  auto assumed = AssumePodVolumes(volumes, node_name, handle_);
  if (!assumed) {
    CountStageError(handle_, "assume");
    return state.reasons().Error(assumed.error().message);
  }
  state.Write(ReserveState{*std::move(assumed)});
  // The pod may be on its way for long, and nothing asks for these any more.
  state.Mutable<PreFilterState>().claims.reset();
  return {};
}

void VolumeBinding::Unreserve(CycleState& state, const PodInfo&, std::string_view) {
  auto* reserved = state.Find<ReserveState>();
  if (reserved == nullptr || reserved->volumes == nullptr) return;
  RevertAssumed(*reserved->volumes, handle_.assumed_volumes());
  reserved->volumes.reset();
}

Status VolumeBinding::PreBindPreFlight(CycleState& state, const PodInfo&,
                                       std::string_view node_name) {
  if (state.Find<ReserveState>() != nullptr) return Status::Success();
  if (!called_.pre_filter) return state.reasons().Error(kNoPreFilter);
  if (called_.reserve) return Status::Skip();
  const auto* found = state.Find<PreFilterState>();
  const NodeRow row = handle_.snapshot().FindNode(node_name);
  if (found == nullptr || !called_.filter || row == kNoRow) {
    return state.reasons().Error("no pod volume found for node \"" + std::string(node_name) + "\"");
  }
  NodeVolumes volumes;
  const NodeVerdict verdict =
      FindNodeVolumes(*found->claims, handle_.snapshot().node(row), handle_.listers(), &volumes);
  if (!verdict.ok()) return Verdict(verdict, state);
  state.Write(ReserveState{UnassumedPodVolumes(volumes, node_name)});
  state.Mutable<PreFilterState>().claims.reset();
  return Status::Success();
}

void VolumeBinding::PreBind(CycleState& state, const PodInfo& pod, std::string_view,
                            Cancellation& cancellation, AsyncDone done) {
  const auto run = std::make_shared<BindRun>(state.Read<ReserveState>().volumes, pod.pod,
                                             bind_timeout_, handle_, cancellation, std::move(done));
  run->Start();
}

ClaimPreviewPlugin::ByNode VolumeBinding::PreviewClaims(const PodInfo& pod) const {
  return plugins::PreviewClaims(*pod.pod, handle_);
}

std::vector<ClusterEventWithHint> VolumeBinding::EventsToRegister() const {
  return VolumeBindingEvents();
}

}  // namespace berth::plugins
