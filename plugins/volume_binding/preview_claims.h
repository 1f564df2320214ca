// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/pod.h"
#include "berth/in_tree/claim_preview.h"
#include "berth/in_tree/handle.h"

namespace berth::plugins {

// What each of the pod's claims comes to on a node, judged one by one: FindNodeVolumes stops at the
// first that is in the way. Good as long as the cycle.
ClaimPreviewPlugin::ByNode PreviewClaims(const api::Pod& pod, Handle& handle);

}  // namespace berth::plugins
