// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_volume_limits/node_volume_limits.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "berth/api/storage.h"
#include "berth/cluster_event.h"
#include "berth/volumes.h"
#include "plugins/shared/csi_migration.h"
#include "plugins/shared/hint_objects.h"
#include "plugins/shared/pod_claims.h"
#include "plugins/shared/spend_on_nodes.h"

namespace berth::plugins {
namespace {

// 0 also where there is no limit, as upstream compares.
int32_t LimitIn(const api::CSINodeDriver& driver) {
  return driver.allocatable ? driver.allocatable->count.value_or(0) : 0;
}

int32_t LimitIn(const api::CSINode& node, std::string_view driver) {
  int32_t limit = 0;
  for (const api::CSINodeDriver& known : node.spec.drivers) {
    if (known.name == driver) limit = LimitIn(known);
  }
  return limit;
}

Result<QueueingHint> AfterCsiNodeUpdate(const api::Pod&, const api::ObjectPtr& old_object,
                                        const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::CSINode>(old_object, new_object);
  if (!change) return Fail(change.error());
  if (change->old_object == nullptr) return Fail("the event has no old object");
  return QueueIf(
      std::ranges::any_of(change->new_object->spec.drivers, [&](const api::CSINodeDriver& driver) {
        return LimitIn(driver) > LimitIn(*change->old_object, driver.name);
      }));
}

Result<QueueingHint> AfterPodDelete(const api::Pod&, const api::ObjectPtr& old_object,
                                    const api::ObjectPtr& new_object) {
  const auto change = AsChange<api::Pod>(old_object, new_object);
  if (!change) return Fail(change.error());
  if (change->old_object == nullptr) return Fail("the event has no deleted object");
  return QueueIf(IsPlaced(*change->old_object) &&
                 std::ranges::any_of(change->old_object->spec.volumes, MayBeAttached));
}

// Generic ephemeral volumes are left out, as upstream.
Result<QueueingHint> AfterDetach(const api::Pod& pod, const api::ObjectPtr& old_object,
                                 const api::ObjectPtr& new_object) {
  const auto change = AsChange<api::VolumeAttachment>(old_object, new_object);
  if (!change) return Fail(change.error());
  if (change->old_object == nullptr) return Fail("the event has no deleted object");
  for (const api::Volume& volume : pod.spec.volumes) {
    if (volume.persistent_volume_claim) return QueueingHint::kQueue;
    const std::string_view plugin = InTreePluginOf(volume);
    if (plugin.empty()) continue;
    if (const auto handle = CsiHandleOf(volume); !handle) {
      return Fail("converting volume(" + volume.name +
                  ") from inline to csi: " + handle.error().message);
    }
    if (change->old_object->spec.attacher == CsiDriverOf(plugin)) return QueueingHint::kQueue;
  }
  return QueueingHint::kQueueSkip;
}

// Upstream does not look at it: a claim that got a volume may need no driver that its class named,
// and no place of its own where another pod of the claim is.
Result<QueueingHint> AfterClaimBound(const api::Pod& pod, const api::ObjectPtr& old_object,
                                     const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::PersistentVolumeClaim>(old_object, new_object);
  if (!change) return Fail(change.error());
  if (change->old_object == nullptr) return Fail("the event has no old object");
  if (change->old_object->spec.volume_name == change->new_object->spec.volume_name) {
    return QueueingHint::kQueueSkip;
  }
  return AfterClaim(pod, old_object, new_object);
}

// Which events may let a node attach what NodeVolumeLimits kept off it.
std::vector<ClusterEventWithHint> VolumeLimitEvents() {
  return {
      {{EventResource::kCsiNode, action::kAdd}, nullptr},
      {{EventResource::kCsiNode, action::kUpdate}, AfterCsiNodeUpdate},
      {{EventResource::kAssignedPod, action::kDelete}, AfterPodDelete},
      {{EventResource::kPersistentVolumeClaim, action::kAdd}, AfterClaim},
      {{EventResource::kPersistentVolumeClaim, action::kUpdate}, AfterClaimBound},
      {{EventResource::kVolumeAttachment, action::kDelete}, AfterDetach},
  };
}

// What it takes to look for a volume among those of a node, in steps of a cycle's budget.
constexpr uint64_t kStepsPerVolume = 16;

// Volumes that a text for people names.
constexpr size_t kNamedVolumes = 5;

// What the pod would attach to one kind of node.
struct NewVolumes {
  std::vector<AttachedVolume> volumes;  // sorted, unique
  VolumeProblem problem;
};

struct PreFilterState {
  NewVolumes with_csi_node;  // disks of built-in plugins are a driver's there
  NewVolumes without_csi_node;

  const NewVolumes& On(const api::CSINode* node) const {
    return node == nullptr ? without_csi_node : with_csi_node;
  }
};

NewVolumes VolumesFor(const api::Pod& pod, bool migrated, const Listers& listers) {
  NewVolumes found;
  found.problem = AddVolumesOf(pod, migrated, /*is_new=*/true, listers, found.volumes);
  MakeUnique(found.volumes);
  return found;
}

PreFilterState StateFor(const api::Pod& pod, const Listers& listers) {
  return {VolumesFor(pod, true, listers), VolumesFor(pod, false, listers)};
}

const api::CSINodeDriver* FindDriver(const api::CSINode* node, std::string_view name) {
  if (node == nullptr) return nullptr;
  const auto& drivers = node->spec.drivers;
  // The last one counts where a driver stands twice.
  const auto driver =
      std::find_if(drivers.rbegin(), drivers.rend(), [&](const auto& d) { return d.name == name; });
  return driver == drivers.rend() ? nullptr : &*driver;
}

std::optional<int32_t> LimitOf(const api::CSINode* node, std::string_view driver) {
  const api::CSINodeDriver* known = FindDriver(node, driver);
  if (known == nullptr || !known->allocatable) return std::nullopt;
  return known->allocatable->count;
}

// Whether pods with its volumes must not go to nodes without it.
bool MustBeInstalled(std::string_view driver, const Listers& listers) {
  const api::CSIDriver* known = listers.Find<api::CSIDriver>(driver);
  return known != nullptr && known->spec.prevent_pod_scheduling_if_missing.value_or(false);
}

// Takes out the nodes without a driver that must be there.
void KeepInstalled(const PreFilterState& pod, const Listers& listers,
                   const NodeAttachments& attachments, NodeSet& nodes) {
  const auto required = [&](const AttachedVolume& volume) {
    return MustBeInstalled(volume.driver, listers);
  };
  const NodeSet& with_csi_node = attachments.with_csi_node();
  for (const AttachedVolume& volume : pod.with_csi_node.volumes) {
    if (!required(volume)) continue;
    NodeSet lacking = with_csi_node;
    if (const NodeSet* listed = attachments.RowsWith(volume.driver)) lacking -= *listed;
    nodes -= lacking;
  }
  if (std::ranges::any_of(pod.without_csi_node.volumes, required)) nodes &= with_csi_node;
}

bool HasLimits(const api::CSINode* node) {
  return node != nullptr && std::ranges::any_of(node->spec.drivers, [](const auto& driver) {
           return driver.allocatable && driver.allocatable->count;
         });
}

enum class TraceOf : uint8_t { kClaim, kPersistentVolume, kStorageClass, kVolume };

uint64_t TraceFor(TraceOf what, std::string_view first, std::string_view second) {
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
  const std::hash<std::string_view> hash;
  const uint64_t begin = (hash(first) + static_cast<uint64_t>(what)) * kFactor;
  return (begin ^ (begin >> 32)) + hash(second);
}

}  // namespace

PreFilterResult NodeVolumeLimits::PreFilter(CycleState& state, const PodInfo& pod,
                                            const Snapshot& snapshot) {
  if (std::ranges::none_of(pod.pod->spec.volumes, MayBeAttached)) return {.status = Status::Skip()};
  attachments_.Update(snapshot, handle_->listers());
  state.Write(StateFor(*pod.pod, handle_->listers()));
  return {};
}

Status NodeVolumeLimits::Filter(const CycleState& state, const PodInfo& pod,
                                const NodeView& node) const {
  if (pod.pod->spec.volumes.empty()) return Status::Success();
  const Listers& listers = handle_->listers();
  const auto data = state.ReadOr<PreFilterState>([&] { return StateFor(*pod.pod, listers); });
  const std::string& name = node.node().metadata.name;
  const api::CSINode* csi_node = listers.Find<api::CSINode>(name);
  const auto& [volumes, problem] = data->On(csi_node);
  if (!problem.message.empty()) {
    return state.reasons().Make(
        problem.claim_missing ? Code::kUnschedulableAndUnresolvable : Code::kError,
        problem.message);
  }
  if (volumes.empty()) return Status::Success();
  if (!SpendOnNodes(state, volumes.size(), kStepsPerVolume)) return OutOfBudget(state);
  if (handle_->features().volume_limit_scaling) {
    for (const AttachedVolume& volume : volumes) {
      if (FindDriver(csi_node, volume.driver) != nullptr) continue;
      if (!MustBeInstalled(volume.driver, listers)) continue;
      return state.reasons().Make(Code::kUnschedulable,
                                  volume.driver + " CSI driver is not installed on the node");
    }
  }
  if (!HasLimits(csi_node)) return Status::Success();

  std::vector<AttachedVolume> attached;
  VolumeProblem placed_problem;
  node.ForEachPod([&](const PodInfo& placed) {
    if (!placed_problem.message.empty()) return;
    placed_problem = AddVolumesOf(*placed.pod, true, /*is_new=*/false, listers, attached);
  });
  if (!placed_problem.message.empty()) return state.reasons().Error(placed_problem.message);
  MakeUnique(attached);
  std::map<std::string_view, int64_t> added;
  for (const AttachedVolume& volume : volumes) {
    if (!std::ranges::binary_search(attached, volume)) ++added[volume.driver];
  }
  // What only VolumeAttachments have is attached, too, but makes no new volume an old one.
  AddAttachmentsOf(name, listers, attached);
  MakeUnique(attached);
  for (const auto& [driver, count] : added) {
    const auto limit = LimitOf(csi_node, driver);
    if (!limit) continue;
    const int64_t present = std::ranges::count(attached, driver, &AttachedVolume::driver);
    if (present + count > *limit) return rejection_;
  }
  return Status::Success();
}

Status NodeVolumeLimits::FilterNodes(const CycleState& state, const PodInfo& pod,
                                     const Snapshot& snapshot, NodeSet& nodes) const {
  const auto ask = [&](NodeRow row) { return Filter(state, pod, NodeView(snapshot, row)); };
  const auto* data = state.Find<PreFilterState>();
  if (data == nullptr || !data->with_csi_node.problem.message.empty() ||
      !data->without_csi_node.problem.message.empty() ||
      !attachments_.IsCurrent(snapshot, handle_->listers())) {
    return FilterEach(nodes, ask);
  }
  const size_t most =
      std::max(data->with_csi_node.volumes.size(), data->without_csi_node.volumes.size());
  if (!SpendOnNodes(state, most, kStepsPerVolume + nodes.size() / 64)) return OutOfBudget(state);
  if (handle_->features().volume_limit_scaling) {
    KeepInstalled(*data, handle_->listers(), attachments_, nodes);
  }
  const std::vector<AttachedVolume>& volumes = data->with_csi_node.volumes;
  const NodeSet installed = nodes;
  // Volumes of one driver stand together.
  for (auto begin = volumes.begin(); begin != volumes.end();) {
    const auto end = std::find_if(begin, volumes.end(), [&](const AttachedVolume& volume) {
      return volume.driver != begin->driver;
    });
    attachments_.KeepRoomFor(begin->driver, static_cast<int32_t>(end - begin), nodes);
    begin = end;
  }
  // A row without room for all of them may have some already.
  NodeSet doubtful(nodes.size());
  attachments_.AddRowsWith(volumes, doubtful);
  doubtful -= nodes;
  doubtful |= attachments_.unknown();
  doubtful &= installed;
  nodes -= doubtful;
  const Status status = FilterEach(doubtful, ask);
  nodes |= doubtful;
  return status;
}

std::string NodeVolumeLimits::InTheWayOf(const api::Pod& pod, const NodeView& node) const {
  const Listers& listers = handle_->listers();
  const std::string& name = node.node().metadata.name;
  const api::CSINode* csi_node = listers.Find<api::CSINode>(name);
  if (!HasLimits(csi_node)) return "";
  std::map<AttachedVolume, std::string> holders;
  std::vector<AttachedVolume> of_pod;
  node.ForEachPod([&](const PodInfo& placed) {
    of_pod.clear();
    AddVolumesOf(*placed.pod, true, /*is_new=*/false, listers, of_pod);
    for (AttachedVolume& volume : of_pod) {
      holders.try_emplace(std::move(volume), "pod " + placed.pod->metadata.Key());
    }
  });
  std::map<std::string, size_t> added;
  for (const AttachedVolume& volume : VolumesFor(pod, true, listers).volumes) {
    if (!holders.contains(volume)) ++added[volume.driver];
  }
  ForEachAttachmentOf(
      name, listers, [&](const api::VolumeAttachment& attachment, AttachedVolume volume) {
        holders.try_emplace(std::move(volume), "VolumeAttachment " + attachment.metadata.name);
      });
  for (const auto& [driver, count] : added) {
    const auto limit = LimitOf(csi_node, driver);
    if (!limit) continue;
    size_t present = 0;
    std::string volumes;
    for (const auto& [volume, holder] : holders) {
      if (volume.driver != driver || ++present > kNamedVolumes) continue;
      volumes += (volumes.empty() ? ": " : ", ") + NameOf(volume) + " (" + holder + ")";
    }
    if (static_cast<int64_t>(present + count) <= *limit) continue;
    if (present > kNamedVolumes) {
      volumes += " and " + std::to_string(present - kNamedVolumes) + " more";
    }
    return "the limit of " + driver + " is " + std::to_string(*limit) + ", the pod adds " +
           std::to_string(count) + " to " + std::to_string(present) + volumes;
  }
  return "";
}

std::vector<ClusterEventWithHint> NodeVolumeLimits::EventsToRegister() const {
  return VolumeLimitEvents();
}

const NodeSet* NodeAttachments::RowsWith(std::string_view driver) const {
  const auto known = drivers_.find(driver);
  return known == drivers_.end() ? nullptr : &known->second.listed;
}

void NodeAttachments::KeepRoomFor(std::string_view driver, int32_t count, NodeSet& nodes) const {
  const auto known = drivers_.find(driver);
  if (known == drivers_.end()) return;
  constexpr size_t kWordBits = 64;
  const int32_t* limits = known->second.limits.data();
  const int32_t* attached = known->second.attached.data();
  const size_t rows = std::min(nodes.size(), known->second.limits.size());
  const std::span<uint64_t> words = nodes.words();
  for (size_t word = 0; word * kWordBits < rows; ++word) {
    if (words[word] == 0) continue;
    const size_t begin = word * kWordBits;
    const size_t bits = std::min(kWordBits, rows - begin);
    uint64_t full = 0;
    for (size_t i = 0; i < bits; ++i) {
      full |= static_cast<uint64_t>(attached[begin + i] > limits[begin + i] - count) << i;
    }
    words[word] &= ~full;
  }
}

void NodeAttachments::AddRowsWith(std::span<const AttachedVolume> volumes, NodeSet& rows) const {
  for (const AttachedVolume& volume : volumes) {
    MarkTraces(TraceFor(TraceOf::kVolume, volume.driver, volume.handle), rows);
  }
}

void NodeAttachments::MarkTraces(uint64_t trace, NodeSet& rows) const {
  const auto known = rows_by_trace_.find(trace);
  if (known == rows_by_trace_.end()) return;
  for (const NodeRow row : known->second) rows.Set(row);
}

void NodeAttachments::Update(const Snapshot& snapshot, const Listers& listers) {
  Resize(snapshot.num_rows());
  FindStale(snapshot, listers);
  num_updated_ = 0;
  stale_.ForEach([&](NodeRow row) {
    ++num_updated_;
    Forget(row);
    if (snapshot.nodes().Test(row)) Look(row, snapshot, listers);
  });
  known_ = true;
  generation_ = snapshot.generation();
  volumes_generation_ = listers.volumes_generation();
}

void NodeAttachments::Resize(size_t rows) {
  if (rows == rows_.size()) return;
  for (size_t row = rows; row < rows_.size(); ++row) Forget(static_cast<NodeRow>(row));
  rows_.resize(rows);
  with_csi_node_.Resize(rows);
  unknown_.Resize(rows);
  for (auto& [name, driver] : drivers_) {
    driver.listed.Resize(rows);
    driver.limits.resize(rows, kNoLimit);
    driver.attached.resize(rows, 0);
  }
}

size_t NodeAttachments::bytes() const {
  // Of a hash table's or a tree's entry besides what it holds, and of an allocation.
  constexpr size_t kEntry = 32;
  constexpr size_t kAllocation = 16;
  const size_t rows = rows_.size();
  constexpr size_t kTrace = sizeof(uint64_t) + sizeof(NodeRow);
  constexpr size_t kTraced = sizeof(decltype(rows_by_trace_)::value_type) + kEntry + kAllocation;
  return rows * sizeof(Row) + num_traces_ * kTrace + rows_by_trace_.size() * kTraced +
         num_listed_ * (sizeof(std::pair<std::string, Driver*>) + kAllocation) +
         drivers_.size() * (sizeof(Driver) + kEntry + rows * 2 * sizeof(int32_t));
}

void NodeAttachments::FindStale(const Snapshot& snapshot, const Listers& listers) {
  stale_.Assign(rows_.size(), false);
  changed_rows_.clear();
  bool changes_known = known_ && snapshot.RowsChangedSince(generation_, changed_rows_);
  for (const NodeRow row : changed_rows_) stale_.Set(row);
  if (changes_known && volumes_generation_ != listers.volumes_generation()) {
    changes_known = listers.VolumesChangedSince(
        volumes_generation_, [&](const VolumeChange& change) { MarkChanged(snapshot, change); });
  }
  if (!changes_known) stale_.Assign(rows_.size(), true);
}

void NodeAttachments::MarkChanged(const Snapshot& snapshot, const VolumeChange& change) {
  switch (change.kind) {
    case VolumeChange::Kind::kPersistentVolumeClaim:
      MarkTraces(TraceFor(TraceOf::kClaim, change.namespace_, change.name), stale_);
      break;
    case VolumeChange::Kind::kPersistentVolume:
      MarkTraces(TraceFor(TraceOf::kPersistentVolume, "", change.name), stale_);
      break;
    case VolumeChange::Kind::kCsiNode:
    case VolumeChange::Kind::kVolumeAttachment:
      if (const NodeRow row = snapshot.FindNode(change.name); row != kNoRow) stale_.Set(row);
      break;
    case VolumeChange::Kind::kStorageClass:
      MarkTraces(TraceFor(TraceOf::kStorageClass, "", change.name), stale_);
      break;
    case VolumeChange::Kind::kOther:
      break;
  }
}

void NodeAttachments::Forget(NodeRow row) {
  Row& known = rows_[row];
  for (const auto& [name, driver] : known.drivers) {
    driver->listed.Clear(row);
    driver->limits[row] = kNoLimit;
    driver->attached[row] = 0;
    if (driver->listed.Empty()) drivers_.erase(name);
  }
  for (const uint64_t trace : known.traces) {
    const auto at = rows_by_trace_.find(trace);
    std::vector<NodeRow>& rows = at->second;
    rows.erase(std::ranges::lower_bound(rows, row));
    if (rows.empty()) rows_by_trace_.erase(at);
  }
  num_traces_ -= known.traces.size();
  num_listed_ -= known.drivers.size();
  known.drivers.clear();
  known.traces.clear();
  with_csi_node_.Clear(row);
  unknown_.Clear(row);
}

void NodeAttachments::Trace(uint64_t trace, NodeRow row) {
  std::vector<NodeRow>& rows = rows_by_trace_[trace];
  const auto at = std::ranges::lower_bound(rows, row);
  if (at != rows.end() && *at == row) return;
  rows.insert(at, row);
  rows_[row].traces.push_back(trace);
  ++num_traces_;
}

void NodeAttachments::Look(NodeRow row, const Snapshot& snapshot, const Listers& listers) {
  const api::CSINode* csi_node = listers.Find<api::CSINode>(snapshot.node(row).metadata.name);
  if (csi_node == nullptr) return;
  with_csi_node_.Set(row);
  bool limited = false;
  // The last one counts where a driver stands twice.
  for (const api::CSINodeDriver& named : csi_node->spec.drivers) {
    const auto [at, is_new] = drivers_.try_emplace(named.name);
    Driver& driver = at->second;
    if (is_new) {
      driver.listed.Assign(rows_.size(), false);
      driver.limits.assign(rows_.size(), kNoLimit);
      driver.attached.assign(rows_.size(), 0);
    }
    if (!driver.listed.Test(row)) {
      rows_[row].drivers.emplace_back(named.name, &driver);
      ++num_listed_;
    }
    driver.listed.Set(row);
    driver.limits[row] =
        named.allocatable && named.allocatable->count ? *named.allocatable->count : kNoLimit;
    limited = limited || (named.allocatable && named.allocatable->count);
  }
  // Where there is no limit, nothing that is attached matters.
  if (limited) LookAtPods(row, snapshot, listers);
}

void NodeAttachments::LookAtPods(NodeRow row, const Snapshot& snapshot, const Listers& listers) {
  attached_.clear();
  for (const PodInfo* info : snapshot.pods(row)) {
    const api::Pod& pod = *info->pod;
    for (const api::Volume& volume : pod.spec.volumes) {
      const auto name = ClaimNameOf(pod, volume);
      if (!name) continue;
      const std::string& namespace_ = pod.metadata.namespace_;
      Trace(TraceFor(TraceOf::kClaim, namespace_, *name), row);
      const api::PersistentVolumeClaim* claim =
          listers.Find<api::PersistentVolumeClaim>(namespace_, *name);
      if (claim == nullptr) continue;
      const std::string& volume_name = claim->spec.volume_name;
      if (!volume_name.empty()) Trace(TraceFor(TraceOf::kPersistentVolume, "", volume_name), row);
      // Without its volume the claim counts for its class.
      if (volume_name.empty() || listers.Find<api::PersistentVolume>(volume_name) == nullptr) {
        Trace(TraceFor(TraceOf::kStorageClass, "", StorageClassOf(*claim)), row);
      }
    }
    if (!AddVolumesOf(pod, true, /*is_new=*/false, listers, attached_).message.empty()) {
      unknown_.Set(row);
    }
  }
  MakeUnique(attached_);
  for (const AttachedVolume& volume : attached_) {
    Trace(TraceFor(TraceOf::kVolume, volume.driver, volume.handle), row);
  }
  listers.ForEachBy<api::VolumeAttachment>(
      snapshot.node(row).metadata.name, [&](const api::VolumeAttachment& attachment) {
        if (const auto& volume = attachment.spec.source.persistent_volume_name) {
          Trace(TraceFor(TraceOf::kPersistentVolume, "", *volume), row);
        }
      });
  AddAttachmentsOf(snapshot.node(row).metadata.name, listers, attached_);
  MakeUnique(attached_);
  for (const AttachedVolume& volume : attached_) {
    const auto driver = drivers_.find(volume.driver);
    if (driver != drivers_.end() && driver->second.listed.Test(row)) ++driver->second.attached[row];
  }
}

}  // namespace berth::plugins
