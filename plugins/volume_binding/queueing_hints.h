// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/cluster_event.h"

namespace berth::plugins {

// The events that may make a pod schedulable that VolumeBinding rejected, each with its hint.
//
//   StorageClass         added, or its allowedTopologies changed
//   claim                added or changed, and one of the pod's
//   PersistentVolume     added or changed
//   Node                 added, or its labels changed
//   CSINode              added, or plugins migrated on it
//   CSIDriver            one that an inline volume of the pod names no longer tells of its room
//   CSIStorageCapacity   added, or room for larger volumes
std::vector<ClusterEventWithHint> VolumeBindingEvents();

}  // namespace berth::plugins
