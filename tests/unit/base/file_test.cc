// SPDX-License-Identifier: Apache-2.0
#include "src/base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/client/temp_folder.h"

namespace berth::base {
namespace {

using testing::HasSubstr;

TEST(ReadFileTest, AFileHasABound) {
  const test::TempFolder folder;
  const std::string path = folder.Write("file", "12345678");
  EXPECT_EQ(ReadFile(path, 8).value_or(""), "12345678");
  const auto longer = ReadFile(path, 7);
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().message, "read " + path + ": larger than 7 bytes");
  EXPECT_THAT(ReadFile("/dev/zero").error().message, HasSubstr("larger than"));
}

TEST(WatchedFileTest, AFileThatGrewBeyondTheBoundLeavesItsOldContent) {
  const test::TempFolder folder;
  WatchedFile file(folder.Write("file", "good"));
  const Time now{};
  EXPECT_EQ(file.Get(now).value_or(""), "good");
  folder.Write("file", std::string(kMostFileBytes + 1, 'x'));
  EXPECT_EQ(file.Get(now + WatchedFile::kPeriod).value_or(""), "good");
}

}  // namespace
}  // namespace berth::base
