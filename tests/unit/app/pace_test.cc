// SPDX-License-Identifier: Apache-2.0
#include "src/app/pace.h"

#include <gtest/gtest.h>

#include "src/base/virtual_time.h"

namespace berth::app {
namespace {

using std::chrono::milliseconds;

TEST(PaceTest, WorkHasAFiftiethOfTheTime) {
  base::VirtualClock clock;
  Pace pace(clock);
  for (const int took : {2, 30, 0}) {
    SCOPED_TRACE(took);
    EXPECT_TRUE(pace.Allows());
    pace.Run([&] { clock.Advance(milliseconds(took)); });
    if (took == 0) continue;
    EXPECT_FALSE(pace.Allows());
    clock.Advance(milliseconds(49 * took - 1));
    EXPECT_FALSE(pace.Allows());
    clock.Advance(milliseconds(1));
  }
  EXPECT_TRUE(pace.Allows());
}

}  // namespace
}  // namespace berth::app
