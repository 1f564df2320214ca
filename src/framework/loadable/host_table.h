// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/loadable/abi.h"

namespace berth::framework::loadable {

// What Berth offers to libraries; see berth/loadable/abi/host.h.
const berth_host& HostTable();

// Parts of the table, by what they are about.
void FillValues(berth_host& host);
void FillObjects(berth_host& host);
void FillNodes(berth_host& host);
void FillHandle(berth_host& host);
void FillAsync(berth_host& host);

}  // namespace berth::framework::loadable
