// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "src/app/commands/commands.h"
#include "src/app/daemon/in_tree_plugins.h"
#include "src/app/flags/offline_flags.h"
#include "src/base/file.h"
#include "src/documents/parse.h"

namespace berth::app {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Checks that all of `written` is in `printed`, also within maps.
void ExpectWithin(const ConfigValue& written, const ConfigValue& printed, const std::string& path) {
  if (written.map() == nullptr) {
    EXPECT_EQ(written.ToJson(), printed.ToJson()) << path;
    return;
  }
  for (const auto& [key, value] : *written.map()) {
    const ConfigValue* there = printed.Find(key);
    ASSERT_NE(there, nullptr) << path << "." << key << " is not in " << printed.ToJson();
    ExpectWithin(value, *there, path + "." + key);
  }
}

const ConfigValue* ArgsOf(const ConfigValue& configuration, const std::string& plugin) {
  for (const ConfigValue& one :
       *configuration.Find("profiles")->list()->front().Find("pluginConfig")->list()) {
    if (*one.Find("name")->string() == plugin) return one.Find("args");
  }
  return nullptr;
}

// Profiles as they are written for kubernetes-sigs/scheduler-plugins 0.34 start as they are: their
// plugins are made, and what they say in their args counts. Tests run in the project's root.
TEST(SchedulerPluginsProfilesTest, StartAndKeepTheirArgs) {
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator("tests/unit/app/testdata/scheduler_plugins")) {
    const std::string file = entry.path().string();
    SCOPED_TRACE(file);
    ++files;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = ShowConfig({"--config", file}, "berth config", FindInTreePlugins());
    const std::string printed = testing::internal::GetCapturedStdout();
    ASSERT_EQ(code, kDone) << testing::internal::GetCapturedStderr();
    testing::internal::GetCapturedStderr();
    const auto written = documents::ParseYaml(*base::ReadFile(file), file);
    const auto effective = documents::ParseYaml(printed, "printed");
    ASSERT_TRUE(written && effective);
    const ConfigValue& profile = written->front().Find("profiles")->list()->front();
    EXPECT_THAT(printed, HasSubstr("schedulerName: " + *profile.Find("schedulerName")->string()));
    const ConfigValue* configured = profile.Find("pluginConfig");
    if (configured == nullptr) continue;
    for (const ConfigValue& one : *configured->list()) {
      const std::string& plugin = *one.Find("name")->string();
      const ConfigValue* args = ArgsOf(effective->front(), plugin);
      ASSERT_NE(args, nullptr) << plugin;
      ExpectWithin(*one.Find("args"), *args, plugin);
    }
  }
  EXPECT_EQ(files, 8U);
}

}  // namespace
}  // namespace berth::app
