// SPDX-License-Identifier: Apache-2.0
#include "src/framework/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "berth/loadable/abi.h"
#include "src/config/types.h"
#include "src/framework/loadable/host_table.h"
#include "src/framework/profile.h"
#include "tests/unit/loadable/loaded.h"

namespace berth::framework {
namespace {

namespace fs = std::filesystem;
using test::LibraryFolder;
using testing::HasSubstr;
using testing::StartsWith;

// A folder that is gone with the test.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = testing::TempDir() + "berth-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TempFolder() { fs::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string ErrorOf(const std::vector<std::string>& folders,
                    const std::vector<std::string_view>& taken = {}) {
  const auto loaded = LoadPlugins(folders, taken);
  return loaded ? "" : loaded.error().message;
}

TEST(LoaderTest, ALibraryThatDoesNotFitIsRefusedByItsName) {
  const struct {
    const char* library;
    std::string message;
  } cases[] = {
      {"no_entry", "no Berth plugin: it does not export berth_plugin_entry()"},
      {"foreign_major", "built for plugin interface " + std::to_string(BERTH_ABI_MAJOR + 1) +
                            ".3, but this Berth has"},
      {"newer_minor", "built for plugin interface " + std::to_string(BERTH_ABI_MAJOR) + "." +
                          std::to_string(BERTH_ABI_MINOR + 1)},
      // Nothing is promised before the first release.
      {"older_minor", "built for plugin interface 0.2, but this Berth has"},
      {"bad_kind", "plugin \"BadKind\": own_kinds[0].version: Invalid value: \"V1\": must be"},
      {"too_many_kinds", "plugin \"Greedy\": own_kinds: a library may ask for at most 16 kinds"},
      {"refusing", "the library says that it cannot work with this Berth"},
      {"small_structs", "a berth_plugin has a size of 24 bytes"},
      {"broken_tables", "plugin \"Half\": reserve and unreserve come together"},
      {"taken_name", "plugin \"NodeName\" is there already: built in"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.library);
    const std::string error = ErrorOf({LibraryFolder(c.library)}, {"NodeName"});
    EXPECT_THAT(error, HasSubstr(c.message));
    EXPECT_THAT(error, HasSubstr(std::string(c.library) + ".so: "));
  }
}

TEST(LoaderTest, AFileThatIsNoLibraryIsRefusedByItsName) {
  const TempFolder folder;
  std::ofstream(folder.path() + "/text.so") << "no ELF";
  EXPECT_THAT(ErrorOf({folder.path()}), HasSubstr(folder.path() + "/text.so: "));
}

TEST(LoaderTest, OnlyFilesThatAreCalledLibrariesAreLoaded) {
  const TempFolder folder;
  std::ofstream(folder.path() + "/README") << "no ELF";
  fs::create_directory(folder.path() + "/nested");
  EXPECT_EQ(ErrorOf({folder.path()}), "");
}

TEST(LoaderTest, AFolderThatIsNotThereIsAnError) {
  EXPECT_THAT(ErrorOf({"/no/such/folder"}),
              HasSubstr("/no/such/folder: No such file or directory"));
}

TEST(LoaderTest, WhatEverybodyMayWriteToIsRefused) {
  const TempFolder folder;
  const std::string file = folder.path() + "/everywhere.so";
  fs::copy_file(LibraryFolder("everywhere") + "/everywhere.so", file);
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(ErrorOf({folder.path()}), HasSubstr(file + ": everybody may write to it"));
  fs::permissions(file, fs::perms::others_write, fs::perm_options::remove);
  fs::permissions(folder.path(), fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(ErrorOf({folder.path()}), HasSubstr(folder.path() + ": everybody may write to it"));
  fs::permissions(folder.path(), fs::perms::others_write, fs::perm_options::remove);
  EXPECT_EQ(ErrorOf({folder.path()}), "");
}

TEST(LoaderTest, ParentsThatOthersMayWriteToAreRefused) {
  const TempFolder parent;
  const std::string folder = parent.path() + "/plugins";
  fs::create_directory(folder);
  EXPECT_EQ(ErrorOf({folder}), "");
  fs::permissions(parent.path(), fs::perms::group_write, fs::perm_options::add);
  EXPECT_THAT(ErrorOf({folder}),
              testing::AllOf(StartsWith(parent.path() + ": group "), HasSubstr("may write to it")));
  fs::permissions(parent.path(), fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(ErrorOf({folder + "/"}), HasSubstr(parent.path() + ": everybody may write to it"));
  // As /tmp, where everybody's entries are safe from everybody else.
  fs::permissions(parent.path(), fs::perms::sticky_bit, fs::perm_options::add);
  EXPECT_EQ(ErrorOf({folder}), "");
  EXPECT_THAT(ErrorOf({parent.path()}), HasSubstr(": everybody may write to it"));
}

TEST(LoaderTest, LinksLeadOnlyThroughFoldersThatOthersMayNotWriteTo) {
  const TempFolder shared;
  const TempFolder own;
  fs::create_directory(own.path() + "/plugins");
  fs::create_symlink(own.path() + "/plugins", shared.path() + "/second");
  fs::create_symlink(shared.path() + "/second", own.path() + "/first");
  EXPECT_EQ(ErrorOf({own.path() + "/first"}), "");
  fs::permissions(shared.path(), fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(ErrorOf({own.path() + "/first"}),
              StartsWith(shared.path() + ": everybody may write to it"));
  fs::create_symlink("loop", own.path() + "/loop");
  EXPECT_THAT(ErrorOf({own.path() + "/loop"}), HasSubstr("Too many levels of symbolic links"));
}

TEST(LoaderTest, WhatBelongsToAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const TempFolder parent;
  const std::string folder = parent.path() + "/plugins";
  fs::create_directory(folder);
  ASSERT_EQ(chown(parent.path().c_str(), 12345, 0), 0);
  EXPECT_THAT(ErrorOf({folder}), StartsWith(parent.path() + ": it belongs to user 12345"));
}

TEST(LoaderTest, TheSamePluginTwiceIsAnErrorThatNamesBothLibraries) {
  const TempFolder folder;
  for (const char* name : {"/a.so", "/b.so"}) {
    fs::copy_file(LibraryFolder("everywhere") + "/everywhere.so", folder.path() + name);
  }
  EXPECT_THAT(ErrorOf({folder.path()}),
              HasSubstr(folder.path() + "/b.so: plugin \"Everywhere\" is there already: " +
                        folder.path() + "/a.so"));
}

// Of the table that libraries get: a member that no Fill...() sets would be called all the same.
TEST(LoaderTest, TheHostHasAFunctionForEachMember) {
  const berth_host& host = loadable::HostTable();
  ASSERT_EQ(host.size, sizeof(berth_host));
  const auto* members = reinterpret_cast<const char*>(&host);
  for (size_t at = offsetof(berth_host, text_set); at < sizeof(host); at += sizeof(void*)) {
    void* function = nullptr;
    std::memcpy(&function, members + at, sizeof(function));
    EXPECT_NE(function, nullptr) << "member " << (at - offsetof(berth_host, text_set)) / 8;
  }
}

TEST(LoaderTest, TellsWhatItLoaded) {
  const std::vector<std::string> folders{LibraryFolder("everywhere")};
  const auto loaded = LoadPlugins(folders, {});
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_EQ(loaded->libraries.size(), 1u);
  const PluginLibrary& library = loaded->libraries.front();
  EXPECT_EQ(library.file, folders.front() + "/everywhere.so");
  EXPECT_EQ(library.version, "0.9");
  EXPECT_EQ(library.interface,
            std::to_string(BERTH_ABI_MAJOR) + "." + std::to_string(BERTH_ABI_MINOR));
  EXPECT_THAT(library.plugins,
              testing::ElementsAre("Everywhere", "Blocking", "ScoresOnly", "ShowsVolumes"));
  ASSERT_EQ(loaded->registrations.size(), 4u);
  EXPECT_EQ(loaded->registrations.front().library, library.file);
}

TEST(LoaderTest, AShippedLibraryIsLookedForBesideTheProgram) {
  const auto file = ShippedLibrary("no_such_library");
  ASSERT_TRUE(file) << file.error().message;
  const fs::path program = fs::read_symlink("/proc/self/exe");
  EXPECT_EQ(fs::path(file->library),
            program.parent_path().parent_path() / "lib/berth/plugins/no_such_library.so");
  EXPECT_EQ(fs::path(file->program), program);
}

struct ProgramWithLibrary {
  ProgramWithLibrary() {
    fs::copy_file(LibraryFolder("everywhere") + "/everywhere.so", file);
    std::ofstream(program) << "program";
  }
  std::string Error() const {
    const auto loaded = LoadLibrary(file, program);
    return loaded ? "" : loaded.error().message;
  }

  TempFolder folder;
  std::string program = folder.path() + "/program";
  std::string file = folder.path() + "/everywhere.so";
};

// As in a checkout whose files belong to a user and their group: who may write to the program needs
// no library to put code into it.
TEST(LoaderTest, ALibraryThatGoesWithAProgramIsTrustedAsThatIs) {
  const ProgramWithLibrary both;
  EXPECT_EQ(both.Error(), "");
  fs::permissions(both.file, fs::perms::group_write, fs::perm_options::add);
  EXPECT_THAT(both.Error(), StartsWith(both.file + ": group "));
  fs::permissions(both.program, fs::perms::group_write, fs::perm_options::add);
  EXPECT_EQ(both.Error(), "");
  fs::permissions(both.file, fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(both.Error(), StartsWith(both.file + ": everybody may write to it"));
  fs::permissions(both.program, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(both.Error(), "");
}

TEST(LoaderTest, ALibraryThatGoesWithAProgramMayBelongToItsUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const ProgramWithLibrary both;
  ASSERT_EQ(chown(both.file.c_str(), 12345, getegid()), 0);
  EXPECT_THAT(both.Error(), StartsWith(both.file + ": it belongs to user 12345"));
  ASSERT_EQ(chown(both.program.c_str(), 12345, getegid()), 0);
  EXPECT_EQ(both.Error(), "");
  fs::remove(both.program);
  EXPECT_THAT(both.Error(), StartsWith(both.file + ": it belongs to user 12345"));
}

TEST(LoaderTest, AShippedLibraryThatIsMissingIsAnErrorOfThePlugin) {
  test::FakeHandle handle;
  const PluginRegistration plugin = ShippedPlugin("Lost", "no_such_library", nullptr);
  EXPECT_EQ(plugin.name, "Lost");
  EXPECT_EQ(plugin.library, "");
  const auto made = plugin.factory(ConfigValue(), handle);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message,
              testing::AllOf(HasSubstr("its library, which comes with Berth, cannot be loaded"),
                             HasSubstr("lib/berth/plugins/no_such_library.so: No such file")));
}

TEST(LoaderTest, ArgsAreCheckedBeforeAShippedLibraryIsLookedFor) {
  test::FakeHandle handle;
  const PluginRegistration plugin =
      ShippedPlugin("Lost", "no_such_library",
                    [](const ConfigValue&) -> Result<ConfigValue> { return Fail("field: bad"); });
  const auto made = plugin.factory(ConfigValue(), handle);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "field: bad");
}

class LoadedProfileTest : public test::LoadedFixture {
 protected:
  Result<std::unique_ptr<Profile>> TryProfile(const config::Plugins& plugins) {
    config::Profile config;
    config.scheduler_name = "test-scheduler";
    config.plugins = plugins;
    return Profile::Make(config, test::Everywhere(), handle_);
  }
};

TEST_F(LoadedProfileTest, MultiPointEnablesAPluginWhereItTakesPartAndNowhereElse) {
  config::Plugins plugins;
  plugins.multi_point.enabled = {{"Everywhere", 0}, {"Blocking", 0}, {"ScoresOnly", 0}};
  const auto made = TryProfile(plugins);
  ASSERT_TRUE(made) << made.error().message;
  const PluginLists& lists = (*made)->plugins();
  EXPECT_EQ(lists.queue_sort.size(), 1u);
  EXPECT_EQ(lists.filter.size(), 1u);
  EXPECT_NE(lists.filter.front().column, nullptr);
  ASSERT_EQ(lists.score.size(), 2u);
  EXPECT_NE(lists.score.front().column, nullptr);
  EXPECT_EQ(lists.score.back().name, "ScoresOnly");
  EXPECT_EQ(lists.score.back().column, nullptr);
  EXPECT_EQ(lists.pre_bind.size(), 2u);
  EXPECT_EQ(lists.post_filter.size(), 1u);
  EXPECT_EQ((*made)->signature_parts(), PodParts{pod_part::kRequests});
  // Of the plugins that can reject a pod, what the plugin registered itself.
  EXPECT_EQ((*made)->events().size(), 2u);
}

TEST_F(LoadedProfileTest, AnUnknownPluginIsReportedWithTheLibrariesLookedAt) {
  config::Plugins plugins;
  plugins.filter.enabled = {{"Nowhere", 0}};
  const auto made = TryProfile(plugins);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message,
            "FilterPlugin \"Nowhere\" does not exist; plugin libraries looked at: " +
                LibraryFolder("everywhere") + "/everywhere.so");
}

TEST_F(LoadedProfileTest, APluginThatLacksTheExtensionPointIsReported) {
  config::Plugins plugins;
  plugins.filter.enabled = {{"ScoresOnly", 0}};
  const auto made = TryProfile(plugins);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "plugin \"ScoresOnly\" does not extend FilterPlugin plugin");
}

TEST_F(LoadedProfileTest, BadArgsAreReportedInThePluginsWords) {
  EXPECT_EQ(TryMake("Everywhere", "Create").error().message, "plugin threw: no Create today");
  const ConfigValue args(ConfigValue::Map{{"throwAt", ConfigValue(int64_t{7})},
                                          {"throwWhen", ConfigValue(std::string("never"))}});
  const auto made = test::Everywhere().front().factory(args, handle_);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "throwAt: must be a string, throwWhen: unknown field");
}

}  // namespace
}  // namespace berth::framework
