// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_volume_limits/node_attachments.h"

#include <algorithm>
#include <functional>

#include "berth/volumes.h"
#include "plugins/shared/pod_claims.h"

namespace berth::plugins {
namespace {

enum class TraceOf : uint8_t { kClaim, kPersistentVolume, kStorageClass, kVolume };

uint64_t TraceFor(TraceOf what, std::string_view first, std::string_view second) {
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
  const std::hash<std::string_view> hash;
  const uint64_t begin = (hash(first) + static_cast<uint64_t>(what)) * kFactor;
  return (begin ^ (begin >> 32)) + hash(second);
}

}  // namespace

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
  untold_.Resize(rows);
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
  bool told = known_ && snapshot.RowsChangedSince(generation_, changed_rows_);
  for (const NodeRow row : changed_rows_) stale_.Set(row);
  if (told && volumes_generation_ != listers.volumes_generation()) {
    told = listers.VolumesChangedSince(
        volumes_generation_, [&](const VolumeChange& change) { MarkChanged(snapshot, change); });
  }
  if (!told) stale_.Assign(rows_.size(), true);
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
  untold_.Clear(row);
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
  const api::CSINode* csi_node = listers.FindCSINode(snapshot.node(row).metadata.name);
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
          listers.FindPersistentVolumeClaim(namespace_, *name);
      if (claim == nullptr) continue;
      const std::string& volume_name = claim->spec.volume_name;
      if (!volume_name.empty()) {
        Trace(TraceFor(TraceOf::kPersistentVolume, "", volume_name), row);
      }
      // Without its volume the claim counts for its class.
      if (volume_name.empty() || listers.FindPersistentVolume(volume_name) == nullptr) {
        Trace(TraceFor(TraceOf::kStorageClass, "", StorageClassOf(*claim)), row);
      }
    }
    if (!AddVolumesOf(pod, true, /*is_new=*/false, listers, attached_).message.empty()) {
      untold_.Set(row);
    }
  }
  MakeUnique(attached_);
  for (const AttachedVolume& volume : attached_) {
    Trace(TraceFor(TraceOf::kVolume, volume.driver, volume.handle), row);
  }
  listers.ForEachVolumeAttachmentOfNode(
      snapshot.node(row).metadata.name, [&](const api::VolumeAttachment& attachment) {
        if (const auto& volume = attachment.spec.source.persistent_volume_name) {
          Trace(TraceFor(TraceOf::kPersistentVolume, "", *volume), row);
        }
      });
  AddAttachmentsOf(snapshot.node(row).metadata.name, listers, attached_);
  MakeUnique(attached_);
  for (const AttachedVolume& volume : attached_) {
    const auto driver = drivers_.find(volume.driver);
    if (driver != drivers_.end() && driver->second.listed.Test(row)) {
      ++driver->second.attached[row];
    }
  }
}

}  // namespace berth::plugins
