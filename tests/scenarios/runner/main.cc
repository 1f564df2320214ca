// SPDX-License-Identifier: Apache-2.0
// scenarios [--plugin-dir FOLDER]... [FILE|FOLDER...]: runs scenarios, all of tests/scenarios when
// none is named, with the plugins built in and those of the folders. Prints one
// line for each, more for those that fail; exit 1 when one does, 2 when a file cannot be read.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include "src/app/daemon/in_tree_plugins.h"
#include "tests/scenarios/runner/parse.h"
#include "tests/scenarios/runner/report.h"
#include "tests/scenarios/runner/run.h"

namespace {

namespace fs = std::filesystem;

// The scenario files that `path` names or holds, by name.
std::vector<std::string> FilesIn(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (auto it = fs::recursive_directory_iterator(path, error); !error && it != fs::end(it);
       it.increment(error)) {
    if (it->path().extension() == ".yaml") files.push_back(it->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> paths(argv + 1, argv + argc);
  std::vector<std::string> folders;
  while (paths.size() >= 2 && paths.front() == "--plugin-dir") {
    folders.push_back(paths[1]);
    paths.erase(paths.begin(), paths.begin() + 2);
  }
  const auto plugins = berth::app::WithLoadedPlugins(berth::app::FindInTreePlugins(), folders);
  if (!plugins) {
    std::cerr << plugins.error().message << "\n";
    return 2;
  }
  if (paths.empty()) paths.push_back("tests/scenarios");
  size_t run = 0;
  size_t failed = 0;
  bool unreadable = false;
  for (const std::string& path : paths) {
    for (const std::string& file : FilesIn(path)) {
      const auto scenario = berth::scenarios::ReadScenario(file);
      if (!scenario) {
        std::cerr << scenario.error().message << "\n";
        unreadable = true;
        continue;
      }
      const berth::scenarios::Outcome outcome =
          berth::scenarios::RunScenario(*scenario, plugins->registry);
      ++run;
      if (!outcome.ok()) ++failed;
      std::cout << berth::scenarios::Report(*scenario, outcome);
    }
  }
  std::cout << run << " scenarios, " << failed << " failed\n";
  if (unreadable || run == 0) return 2;
  return failed == 0 ? 0 : 1;
}
