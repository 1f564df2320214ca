// SPDX-License-Identifier: Apache-2.0
#include "src/base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

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

mode_t ModeOf(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return status.st_mode;
}

size_t FilesIn(const std::string& folder) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files += !entry.path().empty();
  return files;
}

TEST(WritePrivateFileTest, OnlyItsOwnerMayReadItWhateverTheUmask) {
  const test::TempFolder folder;
  const std::string path = folder.Path("file");
  for (const mode_t mask : {0u, 0777u}) {
    const mode_t before = umask(mask);
    const auto written = WritePrivateFile(path, "secret");
    umask(before);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_EQ(ModeOf(path), S_IFREG | 0600u);
  }
  EXPECT_EQ(ReadFile(path).value_or(""), "secret");
  EXPECT_EQ(FilesIn(folder.Path("")), 1u);
}

TEST(WritePrivateFileTest, WhatStandsThereIsReplacedAndItsReadersSeeNothing) {
  const test::TempFolder folder;
  const std::string path = folder.Write("file", "for all");
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  std::ifstream reader(path);
  std::filesystem::create_hard_link(path, folder.Path("hard"));
  ASSERT_TRUE(WritePrivateFile(path, "secret"));
  EXPECT_EQ(ModeOf(path), S_IFREG | 0600u);
  EXPECT_EQ(ReadFile(path).value_or(""), "secret");
  EXPECT_EQ(ReadFile(folder.Path("hard")).value_or(""), "for all");
  std::string read;
  std::getline(reader, read);
  EXPECT_EQ(read, "for all");
}

TEST(WritePrivateFileTest, NothingIsWrittenThroughALinkOrIntoADevice) {
  const test::TempFolder folder;
  const std::string target = folder.Write("target", "precious");
  std::filesystem::create_symlink(target, folder.Path("link"));
  std::filesystem::create_symlink(folder.Path("nowhere"), folder.Path("dangling"));
  std::filesystem::create_directory(folder.Path("folder"));
  ASSERT_EQ(mkfifo(folder.Path("pipe").c_str(), 0600), 0);
  for (const char* name : {"link", "dangling", "folder", "pipe"}) {
    const std::string path = folder.Path(name);
    const mode_t mode = ModeOf(path);
    const auto written = WritePrivateFile(path, "secret");
    ASSERT_FALSE(written) << name;
    EXPECT_EQ(written.error().message, "write " + path + ": what is there is no regular file");
    EXPECT_EQ(ModeOf(path), mode) << name;
  }
  EXPECT_EQ(ReadFile(target).value_or(""), "precious");
  EXPECT_FALSE(std::filesystem::exists(folder.Path("nowhere")));
  EXPECT_EQ(FilesIn(folder.Path("")), 5u);
}

TEST(WritePrivateFileTest, AFolderThatIsNotThereIsAnError) {
  const test::TempFolder folder;
  const auto written = WritePrivateFile(folder.Path("no/file"), "text");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("no such file or directory"));
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
