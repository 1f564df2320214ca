// SPDX-License-Identifier: Apache-2.0
#include "plugins/not_done_yet/not_done_yet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;

class NotDoneYetTest : public testing::Test, public PluginFixture {
 protected:
  // The reasons of the plugins that hold the pod, by name.
  std::map<std::string, std::string> Held(const api::Pod& pod) {
    std::map<std::string, std::string> held;
    const PlainSnapshot snapshot = Cluster({MakeNode("a")});
    for (const PluginRegistration& registration : PluginsNotDoneYet()) {
      auto plugin = registration.factory(ConfigValue(), handle);
      EXPECT_TRUE(plugin.has_value());
      const Status status = plugin->pre_filter->PreFilter(state, *Info(pod), snapshot).status;
      if (status.skip()) continue;
      EXPECT_EQ(status.code(), Code::kUnschedulableAndUnresolvable);
      held.emplace(plugin->name, status.message());
    }
    return held;
  }
};

TEST_F(NotDoneYetTest, APodIsHeldByThePluginThatItNeeds) {
  const struct {
    const char* name;
    std::function<void(api::PodSpec&)> change;
    std::map<std::string, std::string> want;
  } cases[] = {
      {"no volume", [](api::PodSpec&) {}, {}},
      {"emptyDir, configMap and all else that is not read",
       [](api::PodSpec& spec) { spec.volumes.resize(3); },
       {}},
      {"image",
       [](api::PodSpec& spec) {
         spec.volumes.emplace_back().image = api::ImageVolumeSource{"web"};
       },
       {}},
      {"claims and disks",
       [](api::PodSpec& spec) {
         spec.volumes.resize(2);
         spec.volumes[0].gce_persistent_disk.emplace();
         spec.volumes[1].persistent_volume_claim =
             api::PersistentVolumeClaimVolumeSource{"data", false};
       },
       {}},
      {"resource claim",
       [](api::PodSpec& spec) { spec.resource_claims.emplace_back().name = "gpu"; },
       {}},
      {"scheduling group",
       [](api::PodSpec& spec) { spec.scheduling_group.emplace().pod_group_name = "train"; },
       {{"GangScheduling",
         "pod belongs to a pod group (spec.schedulingGroup), which Berth does not support yet"}}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    api::Pod pod = MakePod();
    c.change(pod.spec);
    EXPECT_EQ(Held(pod), c.want);
  }
}

TEST_F(NotDoneYetTest, NoEventWakesAHeldPod) {
  for (const PluginRegistration& registration : PluginsNotDoneYet()) {
    const auto plugin = registration.factory(ConfigValue(), handle);
    ASSERT_NE(plugin->enqueue_extensions, nullptr);
    EXPECT_THAT(plugin->enqueue_extensions->EventsToRegister(), testing::IsEmpty());
  }
}

}  // namespace
}  // namespace berth::plugins
