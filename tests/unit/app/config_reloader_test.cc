// SPDX-License-Identifier: Apache-2.0
#include "src/app/daemon/config_reloader.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "src/base/logging.h"

namespace berth::app {
namespace {

using metrics::Metric;
using testing::IsEmpty;
using testing::SizeIs;

class ConfigReloaderTest : public testing::Test {
 protected:
  ConfigReloaderTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("berth-reloader-test-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    Write("config.yaml", "parallelism: 1");
    flags_.config = folder_ / "config.yaml";
  }
  ~ConfigReloaderTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& body) {
    std::ofstream(folder_ / name) << "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                     "kind: KubeSchedulerConfiguration\n"
                                  << body << "\n";
  }
  void Watch() {
    reloader_.emplace(flags_, plugins_, metrics_,
                      [this](const config::SchedulerConfiguration& next,
                             const std::function<void(Result<void>)>& done) {
                        applied_.push_back(next.parallelism);
                        done(answer_);
                      });
  }
  double Reloads(const char* result) {
    return metrics_.Read(metrics_.Intern(Metric::kConfigReloads, {result})).value;
  }
  double LastSuccessful() {
    return metrics_.Read(metrics_.Intern(Metric::kConfigLastReloadSuccessful)).value;
  }
  void Poll() { reloader_->Poll(); }

  std::filesystem::path folder_;
  RunFlags flags_;
  metrics::Registry metrics_;
  Result<void> answer_;
  std::vector<int32_t> applied_;
  const InTreePlugins plugins_ = FindInTreePlugins();
  std::optional<ConfigReloader> reloader_;
};

TEST_F(ConfigReloaderTest, AFileThatStaysIsNotReadAgain) {
  Watch();
  for (int i = 0; i < 5; ++i) Poll();
  EXPECT_THAT(applied_, IsEmpty());
}

TEST_F(ConfigReloaderTest, AChangedFileIsReadOnceItRests) {
  Watch();
  Write("config.yaml", "parallelism: 22");
  Poll();
  Write("config.yaml", "parallelism: 333");
  Poll();
  EXPECT_THAT(applied_, IsEmpty());
  Poll();
  Poll();
  EXPECT_THAT(applied_, testing::ElementsAre(333));
  EXPECT_EQ(Reloads("success"), 1);
}

TEST_F(ConfigReloaderTest, ASwappedLinkIsAChange) {
  // As the kubelet updates a ConfigMap's volume.
  namespace fs = std::filesystem;
  for (const char* version : {"v1", "v2"}) {
    fs::create_directories(folder_ / version);
    Write(std::string(version) + "/config.yaml",
          version == std::string("v1") ? "parallelism: 1" : "parallelism: 2");
  }
  fs::create_directory_symlink("v1", folder_ / "..data");
  fs::create_symlink("..data/config.yaml", folder_ / "linked.yaml");
  flags_.config = folder_ / "linked.yaml";
  Watch();
  Poll();
  fs::create_directory_symlink("v2", folder_ / "..data_tmp");
  fs::rename(folder_ / "..data_tmp", folder_ / "..data");
  Poll();
  Poll();
  EXPECT_THAT(applied_, testing::ElementsAre(2));
}

TEST_F(ConfigReloaderTest, ABrokenFileIsCountedAndARepairedOneIsTakenUp) {
  Watch();
  for (const char* body : {"parallelism: -1", "nonsense: 1", "parallelism: [", ": : :"}) {
    SCOPED_TRACE(body);
    Write("config.yaml", body);
    Poll();
    Poll();
    EXPECT_EQ(LastSuccessful(), 0);
  }
  std::filesystem::remove(flags_.config);
  Poll();
  Poll();
  EXPECT_EQ(Reloads("failure"), 5);
  EXPECT_THAT(applied_, IsEmpty());
  Write("config.yaml", "parallelism: 7");
  Poll();
  Poll();
  EXPECT_THAT(applied_, testing::ElementsAre(7));
  EXPECT_EQ(LastSuccessful(), 1);
}

TEST_F(ConfigReloaderTest, ARefusedConfigurationIsAFailure) {
  Watch();
  answer_ = Fail("parallelism: cannot change without a restart");
  Write("config.yaml", "parallelism: 22");
  Poll();
  Poll();
  EXPECT_THAT(applied_, SizeIs(1));
  EXPECT_EQ(Reloads("failure"), 1);
  EXPECT_EQ(LastSuccessful(), 0);
}

TEST_F(ConfigReloaderTest, PluginsOfOlderReleasesAreWarnedOf) {
  Watch();
  Write("config.yaml",
        "profiles: [{plugins: {score: {enabled: [{name: NodeResourcesMostAllocated}]}}}]");
  testing::internal::CaptureStderr();
  Poll();
  Poll();
  base::FlushLogs();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("is of older releases; write in its place scoringStrategy"));
  EXPECT_THAT(applied_, SizeIs(1));
}

TEST_F(ConfigReloaderTest, FlagsStillOverrideTheFile) {
  flags_.leader_elect = false;
  std::vector<bool> elects;
  reloader_.emplace(flags_, plugins_, metrics_,
                    [&](const config::SchedulerConfiguration& next, const auto& done) {
                      elects.push_back(next.leader_election.leader_elect);
                      done({});
                    });
  Write("config.yaml", "parallelism: 22");
  Poll();
  Poll();
  EXPECT_THAT(elects, testing::ElementsAre(false));
}

}  // namespace
}  // namespace berth::app
