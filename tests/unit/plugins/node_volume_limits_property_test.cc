// SPDX-License-Identifier: Apache-2.0
// By column and node by node must agree, whatever has happened since the last pod.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/random.h"
#include "plugins/node_volume_limits/node_volume_limits.h"
#include "src/cache/cache.h"
#include "tests/unit/plugins/plugin_fixture.h"
#include "tests/unit/plugins/volume_objects.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

constexpr const char* kDrivers[] = {"disks.example.com", "files.example.com", "ebs.csi.aws.com"};
constexpr size_t kNodes = 70;
constexpr size_t kClaims = 12;

class NodeVolumesWalk : public PluginFixture {
 public:
  explicit NodeVolumesWalk(uint64_t seed) : random_(seed), plugin_(handle) {
    for (size_t i = 0; i < kNodes; ++i) SetNode(i);
    for (const char* driver : {"disks.example.com", "kubernetes.io/aws-ebs"}) {
      handle.plain_listers.Set(Class(driver, driver));
    }
  }

  void Step() {
    for (uint64_t i = random_.Below(4); i > 0; --i) Change();
    Compare();
  }

  size_t kept = 0;
  size_t dropped = 0;
  size_t updated = 0;
  size_t compared = 0;
  size_t failed = 0;

 private:
  bool Chance(uint64_t one_in) { return random_.Below(one_in) == 0; }
  std::string Driver() { return kDrivers[random_.Below(std::size(kDrivers))]; }
  std::string NodeName() { return "node-" + std::to_string(random_.Below(kNodes)); }
  std::string VolumeName() { return "v" + std::to_string(random_.Below(kClaims)); }
  std::string ClaimName() { return "c" + std::to_string(random_.Below(kClaims)); }

  void SetNode(size_t i) {
    cache_.SetNode(MakeNode("node-" + std::to_string(i)).Label("x", std::to_string(i)).Ptr());
  }

  void Change() {
    PlainListers& listers = handle.plain_listers;
    switch (random_.Below(12)) {
      case 0:
        if (Chance(3)) cache_.RemoveNode(NodeName());
        SetNode(random_.Below(kNodes));
        break;
      case 1: {
        std::vector<DriverLimit> drivers;
        for (const char* driver : kDrivers) {
          if (Chance(3)) continue;
          std::optional<int32_t> limit;
          if (!Chance(4)) limit = static_cast<int32_t>(random_.Below(4));
          drivers.emplace_back(driver, limit);
        }
        listers.Set(NodeDrivers(NodeName(), drivers));
        break;
      }
      case 2:
        listers.Remove<api::CSINode>("", NodeName());
        break;
      case 3:
        SetVolume();
        break;
      case 4:
        listers.Remove<api::PersistentVolume>("", VolumeName());
        break;
      case 5:
      case 6:
        SetClaim();
        break;
      case 7:
        listers.Set(Attachment("at-" + std::to_string(random_.Below(40)), Driver(), NodeName(),
                               VolumeName()));
        break;
      case 8: {
        auto driver = Named<api::CSIDriver>(Driver());
        driver.spec.prevent_pod_scheduling_if_missing = Chance(2);
        listers.Set(driver);
        if (Chance(2)) {
          listers.Set(Class("disks.example.com", Chance(2) ? "files.example.com" : "other"));
        }
        break;
      }
      case 9:
        cache_.RemovePod("uid-" + std::to_string(random_.Below(120)));
        break;
      default:
        Place();
    }
  }

  void SetVolume() {
    api::PersistentVolume volume = PlainVolume(VolumeName());
    if (Chance(4)) {
      volume.spec.aws_elastic_block_store.emplace().volume_id =
          "vol-" + std::to_string(random_.Below(3));
    } else if (!Chance(6)) {
      volume = CsiVolume(volume.metadata.name, Driver(), "h" + std::to_string(random_.Below(6)));
    }
    handle.plain_listers.Set(volume);
  }

  void SetClaim() {
    if (Chance(6)) {
      handle.plain_listers.Remove<api::PersistentVolumeClaim>("default", ClaimName());
      return;
    }
    api::PersistentVolumeClaim claim = Claim(ClaimName(), Chance(3) ? "" : VolumeName());
    if (Chance(2)) {
      claim.spec.storage_class_name = Chance(2) ? "disks.example.com" : "kubernetes.io/aws-ebs";
    }
    handle.plain_listers.Set(claim);
  }

  PodBuilder RandomPod(const std::string& uid) {
    auto pod = MakePod().Name("pod-" + uid).Uid(uid);
    while (Chance(2)) pod.ClaimVolume(ClaimName());
    if (Chance(4)) {
      api::Volume disk;
      disk.name = "disk";
      // Some cannot be told.
      disk.aws_elastic_block_store.emplace().volume_id =
          Chance(60) ? "aws://bad" : "vol-" + std::to_string(random_.Below(3));
      pod.Volume(disk);
    }
    return pod;
  }

  void Place() {
    const std::string uid = "uid-" + std::to_string(random_.Below(120));
    const NodeRow row = cache_.FindNode(NodeName());
    if (row == kNoRow || cache_.FindPod(uid)) return;
    ASSERT_TRUE(cache_.AssumePod(cache_.MakePodInfo(RandomPod(uid).Ptr()), row).has_value());
  }

  void Compare() {
    const PodInfoPtr pod = cache_.MakePodInfo(RandomPod("new").Ptr());
    CycleState cycle;
    if (!plugin_.PreFilter(cycle, *pod, cache_).status.ok()) return;
    NodeSet want = cache_.nodes();
    const Status failure = FilterEach(
        want, [&](NodeRow row) { return plugin_.Filter(cycle, *pod, NodeView(cache_, row)); });
    NodeSet got = cache_.nodes();
    ASSERT_EQ(plugin_.FilterNodes(cycle, *pod, cache_, got).message(), failure.message());
    if (!failure.ok()) {
      ++failed;
      return;
    }
    ASSERT_EQ(got, want);
    ++compared;
    updated += plugin_.attachments().num_updated();
    kept += want.Count();
    dropped += cache_.num_nodes() - want.Count();
  }

  Random random_;
  cache::Cache cache_;
  NodeVolumeLimits plugin_;
};

TEST(NodeVolumeLimitsPropertyTest, ColumnsAgreeWithNodesWhateverChanges) {
  size_t kept = 0;
  size_t dropped = 0;
  size_t updated = 0;
  size_t compared = 0;
  size_t failed = 0;
  for (uint64_t seed = 1; seed <= 12 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    NodeVolumesWalk walk(seed);
    for (int step = 0; step < 250 && !testing::Test::HasFailure(); ++step) walk.Step();
    kept += walk.kept;
    dropped += walk.dropped;
    updated += walk.updated;
    compared += walk.compared;
    failed += walk.failed;
  }
  EXPECT_GT(kept, 10'000u);
  EXPECT_GT(dropped, 10'000u);
  EXPECT_GT(failed, 20u);
  // Most rows are not looked at again.
  EXPECT_LT(updated, compared * kNodes / 4);
}

}  // namespace
}  // namespace berth::plugins
