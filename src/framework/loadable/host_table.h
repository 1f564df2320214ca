// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "berth/api/object.h"
#include "berth/loadable/abi.h"

namespace berth::framework::loadable {

// What Berth offers to libraries; see berth/loadable/abi/host.h.
const berth_host& HostTable();

// What an object says of volumes under one of the BERTH_OBJECT_ names; "" where its kind has no
// such thing.
std::string_view VolumeText(const api::ObjectPtr& object, int32_t name);

// Parts of the table, by what they are about.
void FillValues(berth_host& host);
void FillObjects(berth_host& host);
void FillNodes(berth_host& host);
void FillHandle(berth_host& host);
void FillVolumes(berth_host& host);
void FillCounts(berth_host& host);
void FillAsync(berth_host& host);

}  // namespace berth::framework::loadable
