// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace berth::api {

// The contents of a file in testdata/.
inline std::string TestData(const std::string& name) {
  const auto path = std::filesystem::path(__FILE__).parent_path() / "testdata" / name;
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace berth::api
