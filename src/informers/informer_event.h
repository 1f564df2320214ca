// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "berth/api/boxed.h"
#include "berth/api/object.h"
#include "berth/in_tree/features.h"

namespace berth::informers {

// The kinds that can be watched; one field table in src/api and one line in kinds.cc each.
enum class Kind {
  kPod,
  kNode,
  kNamespace,
  kService,
  kReplicationController,
  kReplicaSet,
  kStatefulSet,
  kPodDisruptionBudget,
  kPersistentVolume,
  kPersistentVolumeClaim,
  kStorageClass,
  kCsiNode,
  kCsiDriver,
  kCsiStorageCapacity,
  kVolumeAttachment,
  kVolumeAttributesClass,
  kResourceClaim,
  kResourceClaimTemplate,
  kDeviceClass,
  kResourceSlice,
  kDeviceTaintRule,
  kPodGroup,
  kCompositePodGroup,
  kWorkload,
  // Custom resources.
  kCoschedulingPodGroup,
  kNodeResourceTopology,
  kElasticQuota,
  // The first of berth::PluginKinds(); the others follow.
  kFirstPluginKind,
};

// How many kinds there can be.
inline constexpr size_t kMostKinds =
    static_cast<size_t>(Kind::kFirstPluginKind) + api::kMostPluginKinds;

constexpr Kind KindOf(api::PluginKindId kind) {
  return static_cast<Kind>(static_cast<size_t>(Kind::kFirstPluginKind) + kind);
}
// nullopt: Berth reads the kind itself.
constexpr std::optional<api::PluginKindId> PluginKindOf(Kind kind) {
  if (kind < Kind::kFirstPluginKind) return std::nullopt;
  return static_cast<api::PluginKindId>(static_cast<size_t>(kind) -
                                        static_cast<size_t>(Kind::kFirstPluginKind));
}

// All of the above that there are, in their order.
std::vector<Kind> AllKinds();
// Those that are watched with these feature gates and plugins, in their order.
std::vector<Kind> WatchedKinds(const Features& features);

enum class EventType {
  kAdded,    // new_object
  kUpdated,  // old_object and new_object
  // old_object: the last known state; none, with `undecodable`, when no version could be decoded.
  kDeleted,
  // The object's newest version, or too much of it, could not be decoded. old_object: the version
  // kept, if any; `undecodable` tells what could be read. (With other events, new_object tells in
  // metadata.damage what of it could not.)
  kUndecodable,
  // All that existed when the informer started has been delivered. Once.
  kSynced,
};

// What could be made out of an object that could not be decoded.
struct Undecodable {
  std::string key;             // namespace/name
  std::string uid;             // may be ""
  std::string node_name;       // pods: spec.nodeName, may be ""
  std::string scheduler_name;  // pods: spec.schedulerName, may be ""
  std::string error;           // field and reason
};

// A change of one object, in the API server's order for that object.
struct InformerEvent {
  Kind kind = Kind::kPod;
  EventType type = EventType::kAdded;
  api::ObjectPtr old_object;
  api::ObjectPtr new_object;
  api::Boxed<Undecodable> undecodable;
};

// Takes events over; called on the I/O thread.
using EventSink = std::function<void(InformerEvent)>;

}  // namespace berth::informers
