// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_zone/volume_zone.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "berth/field_errors.h"
#include "berth/volumes.h"
#include "plugins/shared/hint_objects.h"
#include "plugins/shared/pod_claims.h"

namespace berth::plugins {
namespace {

struct PreFilterState {
  std::vector<VolumeTopology> topologies;
};

// Why a claim without a volume lets the pod be scheduled nowhere; "" where it waits for the pod.
std::string ProblemOfUnbound(const api::PersistentVolumeClaim& claim, const Listers& listers) {
  const std::string name(StorageClassOf(claim));
  if (name.empty()) return "PersistentVolumeClaim had no pv name and storageClass name";
  const api::StorageClass* storage_class = listers.Find<api::StorageClass>(name);
  if (storage_class == nullptr) {
    return "storageclass.storage.k8s.io " + Quoted(name) + " not found";
  }
  if (!storage_class->volume_binding_mode) {
    return "VolumeBindingMode not set for StorageClass " + Quoted(name);
  }
  if (*storage_class->volume_binding_mode == api::kBindWaitForFirstConsumer) return "";
  return "PersistentVolume had no name";
}

// Adds where the claim's volume is. Why the pod can be scheduled nowhere, or "".
std::string AddTopologiesOf(const std::string& claim_name, const std::string& namespace_,
                            const Listers& listers, std::vector<VolumeTopology>& topologies) {
  if (claim_name.empty()) return "PersistentVolumeClaim had no name";
  const api::PersistentVolumeClaim* claim =
      listers.Find<api::PersistentVolumeClaim>(namespace_, claim_name);
  if (claim == nullptr) return ClaimNotFound(claim_name);
  const std::string& volume_name = claim->spec.volume_name;
  if (volume_name.empty()) return ProblemOfUnbound(*claim, listers);
  const api::PersistentVolume* volume = listers.Find<api::PersistentVolume>(volume_name);
  if (volume == nullptr) return "persistentvolume " + Quoted(volume_name) + " not found";
  std::vector<VolumeTopology> found = TopologiesOf(*volume);
  topologies.insert(topologies.end(), std::move_iterator(found.begin()),
                    std::move_iterator(found.end()));
  return "";
}

// Where the volumes of the pod's claims are; `problem` says why it can be scheduled nowhere, or "".
std::vector<VolumeTopology> TopologiesFor(const api::Pod& pod, const Listers& listers,
                                          std::string& problem) {
  std::vector<VolumeTopology> topologies;
  ForEachClaimName(pod, [&](const std::string& name) {
    if (!problem.empty()) return;
    problem = AddTopologiesOf(name, pod.metadata.namespace_, listers, topologies);
  });
  return topologies;
}

// A volume that is not where a node is; "": it is there, or it has no such label.
struct Elsewhere {
  std::string volume;
  std::string place;  // "topology.kubernetes.io/zone=a or b"
};

Elsewhere FindElsewhere(const std::string& claim, const std::string& namespace_,
                        const Listers& listers, const NodeView& node) {
  std::vector<VolumeTopology> topologies;
  if (!AddTopologiesOf(claim, namespace_, listers, topologies).empty()) return {};
  for (const VolumeTopology& topology : topologies) {
    if (IsWithin({&topology, 1}, node.node())) continue;
    return {listers.Find<api::PersistentVolumeClaim>(namespace_, claim)->spec.volume_name,
            std::string(topology.key) + "=" + absl::StrJoin(topology.values, " or ")};
  }
  return {};
}

Result<QueueingHint> AfterClassAdd(const api::Pod&, const api::ObjectPtr& old_object,
                                   const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::StorageClass>(old_object, new_object);
  if (!change) return Fail(change.error());
  return QueueIf(change->new_object->volume_binding_mode == api::kBindWaitForFirstConsumer);
}

Result<QueueingHint> AfterClaimChange(const api::Pod& pod, const api::ObjectPtr& old_object,
                                      const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::PersistentVolumeClaim>(old_object, new_object);
  if (!change) return Fail(change.error());
  return QueueIf(IsClaimOf(pod, *change->new_object));
}

Result<QueueingHint> AfterVolumeChange(const api::Pod&, const api::ObjectPtr& old_object,
                                       const api::ObjectPtr& new_object) {
  const auto change = AsUpdate<api::PersistentVolume>(old_object, new_object);
  if (!change) return Fail(change.error());
  return QueueIf(change->old_object == nullptr ||
                 TopologiesOf(*change->old_object) != TopologiesOf(*change->new_object));
}

constexpr std::string_view kBetaZone = "failure-domain.beta.kubernetes.io/zone";
constexpr std::string_view kBetaRegion = "failure-domain.beta.kubernetes.io/region";
constexpr std::string_view kZone = "topology.kubernetes.io/zone";
constexpr std::string_view kRegion = "topology.kubernetes.io/region";
constexpr std::string_view kKeys[] = {kBetaZone, kBetaRegion, kZone, kRegion};

// The present name of an old key; any other key is its own.
std::string_view PresentKey(std::string_view key) {
  if (key == kBetaZone) return kZone;
  if (key == kBetaRegion) return kRegion;
  return key;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// "a__b" is a and b. nullopt where one of them is empty.
std::optional<std::vector<std::string>> ValuesOf(std::string_view label) {
  constexpr std::string_view kDelimiter = "__";
  std::vector<std::string> values;
  for (bool last = false; !last;) {
    const size_t end = label.find(kDelimiter);
    last = end == label.npos;
    const std::string_view value = Trimmed(label.substr(0, end));
    if (value.empty()) return std::nullopt;
    values.emplace_back(value);
    if (!last) label.remove_prefix(end + kDelimiter.size());
  }
  std::ranges::sort(values);
  const auto repeated = std::ranges::unique(values);
  values.erase(repeated.begin(), repeated.end());
  return values;
}

void AddNodesWith(const VolumeTopology& topology, std::string_view key, const Snapshot& snapshot,
                  NodeSet& out) {
  for (const std::string& value : topology.values) snapshot.NodesWithLabel(key, value, out);
}

}  // namespace

std::vector<VolumeTopology> TopologiesOf(const api::PersistentVolume& volume) {
  std::vector<VolumeTopology> topologies;
  for (const std::string_view key : kKeys) {
    const std::string* label = api::Find(volume.metadata.labels, key);
    if (label == nullptr) continue;
    if (auto values = ValuesOf(*label)) topologies.push_back({key, std::move(*values)});
  }
  return topologies;
}

bool IsWithin(std::span<const VolumeTopology> topologies, const api::Node& node) {
  const api::StringMap& labels = node.metadata.labels;
  const bool any =
      std::ranges::any_of(kKeys, [&](auto key) { return api::Find(labels, key) != nullptr; });
  if (!any) return true;
  return std::ranges::all_of(topologies, [&](const VolumeTopology& topology) {
    const std::string* value = api::Find(labels, topology.key);
    if (value == nullptr) value = api::Find(labels, PresentKey(topology.key));
    return value != nullptr && std::ranges::binary_search(topology.values, *value);
  });
}

void KeepWithin(std::span<const VolumeTopology> topologies, const Snapshot& snapshot,
                NodeSet& nodes) {
  const size_t rows = snapshot.num_rows();
  NodeSet labelled(rows);
  for (const std::string_view key : kKeys) snapshot.NodesWithLabelKey(key, labelled);
  NodeSet outside(rows);
  for (const VolumeTopology& topology : topologies) {
    NodeSet within(rows);
    const std::string_view present = PresentKey(topology.key);
    if (present != topology.key) {
      NodeSet has_old(rows);
      AddNodesWith(topology, present, snapshot, within);
      snapshot.NodesWithLabelKey(topology.key, has_old);
      within -= has_old;
    }
    AddNodesWith(topology, topology.key, snapshot, within);
    NodeSet others = labelled;
    others -= within;
    outside |= others;
  }
  nodes -= outside;
}

PreFilterResult VolumeZone::PreFilter(CycleState& state, const PodInfo& pod, const Snapshot&) {
  std::string problem;
  PreFilterState data{TopologiesFor(*pod.pod, handle_->listers(), problem)};
  if (!problem.empty()) {
    return {.status = state.reasons().Make(Code::kUnschedulableAndUnresolvable, problem)};
  }
  if (data.topologies.empty()) return {.status = Status::Skip()};
  state.Write(std::move(data));
  return {};
}

Status VolumeZone::Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const {
  std::string problem;
  const auto data = state.ReadOr<PreFilterState>(
      [&] { return PreFilterState{TopologiesFor(*pod.pod, handle_->listers(), problem)}; });
  if (!problem.empty()) return state.reasons().Make(Code::kUnschedulableAndUnresolvable, problem);
  return IsWithin(data->topologies, node.node()) ? Status::Success() : rejection_;
}

Status VolumeZone::FilterNodes(const CycleState& state, const PodInfo& pod,
                               const Snapshot& snapshot, NodeSet& nodes) const {
  std::string problem;
  const auto data = state.ReadOr<PreFilterState>(
      [&] { return PreFilterState{TopologiesFor(*pod.pod, handle_->listers(), problem)}; });
  if (!problem.empty()) {
    nodes.Assign(nodes.size(), false);
  } else {
    KeepWithin(data->topologies, snapshot, nodes);
  }
  return {};
}

std::string VolumeZone::InTheWayOf(const api::Pod& pod, const NodeView& node) const {
  std::string text;
  ForEachClaimName(pod, [&](const std::string& name) {
    if (!text.empty()) return;
    const Elsewhere found = FindElsewhere(name, pod.metadata.namespace_, handle_->listers(), node);
    if (!found.volume.empty()) {
      text = "volume " + found.volume + " of claim " + name + " is in " + found.place;
    }
  });
  return text;
}

std::string VolumeZone::ProblemOfClaim(const api::Pod& pod, std::string_view claim,
                                       const NodeView& node) const {
  if (!UsesClaim(pod, claim)) return "";
  const Elsewhere found =
      FindElsewhere(std::string(claim), pod.metadata.namespace_, handle_->listers(), node);
  if (found.volume.empty()) return "";
  return std::string(kReason) + ": volume " + Quoted(found.volume) + " is in " + found.place;
}

std::vector<ClusterEventWithHint> VolumeZone::EventsToRegister() const {
  return {
      {{EventResource::kStorageClass, action::kAdd}, AfterClassAdd},
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel}, nullptr},
      {{EventResource::kPersistentVolumeClaim, action::kAdd | action::kUpdate}, AfterClaimChange},
      {{EventResource::kPersistentVolume, action::kAdd | action::kUpdate}, AfterVolumeChange},
  };
}

}  // namespace berth::plugins
