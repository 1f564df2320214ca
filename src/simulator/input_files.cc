// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/input_files.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "src/base/file.h"

namespace berth::simulator {
namespace {

constexpr std::string_view kStandardInput = "-";
// Dumps of large clusters are gigabytes.
constexpr size_t kMostInputBytes = size_t{16} << 30;

Result<void> AddFilesOfFolder(const std::string& folder, std::vector<std::string>& out) {
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error);
  const size_t before = out.size();
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string ending = at->path().extension().string();
    if (ending != ".json" && ending != ".yaml" && ending != ".yml") continue;
    if (!at->is_directory(error)) out.push_back(at->path().string());
  }
  if (error) return Fail("open " + folder + ": " + error.message());
  if (out.size() == before)
    return Fail(folder + ": the folder has no file that ends in .json, .yaml or .yml");
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(before), out.end());
  return {};
}

}  // namespace

Result<std::vector<std::string>> InputFiles(const std::vector<std::string>& arguments) {
  if (std::count(arguments.begin(), arguments.end(), kStandardInput) > 1)
    return Fail("the standard input (-) can be read once only");
  std::vector<std::string> files;
  for (const std::string& argument : arguments) {
    std::error_code none;
    if (argument == kStandardInput || !std::filesystem::is_directory(argument, none)) {
      files.push_back(argument);
    } else if (auto added = AddFilesOfFolder(argument, files); !added) {
      return Fail(added.error());
    }
  }
  return files;
}

Result<std::string> ReadInput(const std::string& file) {
  return file == kStandardInput ? base::ReadStandardInput(kMostInputBytes)
                                : base::ReadFile(file, kMostInputBytes);
}

std::string InputName(const std::string& file) {
  return file == kStandardInput ? "standard input" : file;
}

}  // namespace berth::simulator
