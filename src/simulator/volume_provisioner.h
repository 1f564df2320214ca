// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"
#include "src/simulator/memory_api.h"

namespace berth::simulator {

// The same map with `key` set.
void SetAnnotation(api::StringMap& annotations, std::string_view key, std::string_view value);

// Makes a volume for the claim, of the size that it asks for, as a CSI driver's provisioner would:
// reachable where the nodes have the labels, named by the driver's topology keys (CSINode), of the
// selected node or, where none is selected, of the first node in order of name that has the driver
// and that the class allows. Without topology keys the class's allowed topologies are its reach.
//
// For a class of an in-tree plugin the driver that stands for it makes a volume of that plugin, in
// the zone of the node, if driver and cluster call that zone by one name.
//
// Where the driver tells of its room, the CSIStorageCapacity that the volume comes from has less of
// it afterwards; without enough the selected node is taken off the claim, so that its pod is
// scheduled again.
//
// nullptr: no volume can be made, or not there.
std::shared_ptr<const api::PersistentVolume> Provision(MemoryApi& api,
                                                       const api::PersistentVolumeClaim& claim);

}  // namespace berth::simulator
