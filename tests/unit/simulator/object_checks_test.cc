// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/object_checks.h"

#include <gmock/gmock.h>

#include "tests/support/builders.h"

namespace berth::simulator {
namespace {

TEST(OddityTest, TellsWhichObjectCannotBeReadAndWhy) {
  EXPECT_EQ(OddityOf(test::MakePod().Name("well").Ptr()), "");
  api::Pod pod = test::MakePod().Name("odd").Label("a", "b");
  pod.spec.node_selector = {{"zone", "not a value"}};
  const auto oddity = [&pod] { return OddityOf(std::make_shared<const api::Pod>(pod)); };
  EXPECT_THAT(oddity(), testing::StartsWith("pods default/odd: spec.nodeSelector"));
  pod.metadata.damage.emplace().push_back({"spec.priority", "expected an integer"});
  EXPECT_THAT(oddity(), testing::StartsWith("pods default/odd: spec.priority"));
}

}  // namespace
}  // namespace berth::simulator
