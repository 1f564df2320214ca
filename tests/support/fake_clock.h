// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/base/virtual_time.h"

namespace berth::test {

using FakeClock = base::VirtualClock;
using FakeExecutor = base::VirtualExecutor;

}  // namespace berth::test
