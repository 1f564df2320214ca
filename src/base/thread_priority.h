// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace berth::base {

// From now on the calling thread leaves the CPU to others: beside one busy thread of ordinary
// priority it gets 1.5 % of a core. For work that may wait; such a thread holds no lock for long.
void LowerThreadPriority();

}  // namespace berth::base
