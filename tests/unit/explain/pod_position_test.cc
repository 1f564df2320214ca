// SPDX-License-Identifier: Apache-2.0
#include "src/explain/pod_position.h"

#include <gtest/gtest.h>

namespace berth::explain {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string Json(const PodPosition& position) {
  std::string out;
  base::JsonObject object(out);
  AddPosition(position, object);
  object.Close();
  return out;
}

std::string Table(const PodPosition& position) {
  std::string out;
  AppendPositionTable(position, out);
  return out;
}

TEST(PodPositionTest, APodThatBacksOff) {
  const PodPosition position{.place = "backoffQ",
                             .attempts = 3,
                             .backoff_left = milliseconds(1234),
                             .unschedulable_plugins = {"NodeAffinity", "NodeResourcesFit"},
                             .woken_by = "AssignedPodDelete",
                             .woken_ago = seconds(75),
                             .nominated_node = "n1"};
  EXPECT_EQ(Json(position),
            R"({"attempts":3,"backoffLeftMilliseconds":1234,"nominatedNode":"n1",)"
            R"("place":"backoffQ","unschedulablePlugins":["NodeAffinity","NodeResourcesFit"],)"
            R"("wokenBy":"AssignedPodDelete","wokenMillisecondsAgo":75000})");
  EXPECT_EQ(Table(position),
            "\n  Backs off, for another 1.2s, after 3 attempts.\n"
            "  Last rejected by NodeAffinity, NodeResourcesFit.\n"
            "  Last woken by AssignedPodDelete, 1m15s ago.\n"
            "  Nominated for n1.\n");
}

TEST(PodPositionTest, AGatedPod) {
  const PodPosition position{.place = "gated",
                             .gating_plugin = "SchedulingGates",
                             .unschedulable_plugins = {"SchedulingGates"}};
  EXPECT_EQ(Json(position), R"({"attempts":0,"gatingPlugin":"SchedulingGates","place":"gated",)"
                            R"("unschedulablePlugins":["SchedulingGates"]})");
  EXPECT_EQ(Table(position), "\n  Is gated by SchedulingGates, after 0 attempts.\n");
}

TEST(PodPositionTest, APodThatPermitHoldsBack) {
  const PodPosition position{
      .place = "Permit", .attempts = 1, .node = "n1", .objectors = {"GangScheduling"}};
  EXPECT_EQ(Json(position),
            R"({"attempts":1,"node":"n1","permitPlugins":["GangScheduling"],"place":"Permit"})");
  EXPECT_EQ(Table(position),
            "\n  Has a node, and waits for Permit (GangScheduling), on n1, after 1 attempt.\n");
}

TEST(PodPositionTest, APodThatIsNowhere) {
  EXPECT_EQ(Json({}), R"({"attempts":0})");
  EXPECT_EQ(Table({}), "\n  Is in no queue, after 0 attempts.\n");
}

}  // namespace
}  // namespace berth::explain
