// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/pod.h"
#include "src/config/types.h"

namespace berth::extender {

// Whether the extender wants to be asked about the pod: it manages no resource in particular, or
// one that a container of the pod names.
bool IsInterested(const config::Extender& extender, const api::Pod& pod);

}  // namespace berth::extender
