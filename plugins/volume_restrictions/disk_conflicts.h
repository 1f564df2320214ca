// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/pod.h"

namespace berth::plugins {

// Whether the volume is a disk that a pod names itself and that others may be using: a GCE
// persistent disk, an AWS EBS volume, an iSCSI target or a Ceph RBD image.
bool HasDisk(const api::Volume& volume);

// Whether the pods name one disk and cannot both have it on one node. Two that only read may, but
// for EBS volumes.
bool DisksConflict(const api::Pod& pod, const api::Pod& other);

}  // namespace berth::plugins
