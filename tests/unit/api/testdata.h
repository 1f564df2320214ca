// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace berth::api {

// The contents of a file in testdata/; tests run in the project's root.
inline std::string TestData(const std::string& name) {
  const std::string path = "tests/unit/api/testdata/" + name;
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace berth::api
