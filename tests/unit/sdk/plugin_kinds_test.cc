// SPDX-License-Identifier: Apache-2.0
#include "berth/plugin_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "berth/cluster_event.h"

namespace berth {
namespace {

using testing::HasSubstr;

const api::PluginKind kWindows{"example.com", "v1", "windows", "Window", false};

std::string ErrorOf(const api::PluginKind& kind) {
  PluginKindTable table;
  EXPECT_TRUE(table.Add(kWindows));
  const auto added = table.Add(kind);
  return added ? "" : added.error().message;
}

TEST(PluginKindsTest, AKindKeepsItsNumber) {
  PluginKindTable table;
  EXPECT_EQ(*table.Add(kWindows), 0);
  EXPECT_EQ(*table.Add({"example.com", "v1", "doors", "Door", true}), 1);
  EXPECT_EQ(*table.Add(kWindows), 0);
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table[0], kWindows);
  EXPECT_EQ(table[1].resource, "doors");
  EXPECT_EQ(table.EventName(1), "doors.v1.example.com");
}

TEST(PluginKindsTest, ABadNameIsRefusedWithItsField) {
  const std::string label(64, 'a');
  const struct {
    api::PluginKind kind;
    const char* problem;
  } cases[] = {
      {{"", "v1", "doors", "Door"}, R"(group: Invalid value: "": must be a DNS subdomain)"},
      {{"Example.com", "v1", "doors", "Door"}, "group: Invalid value"},
      {{"example..com", "v1", "doors", "Door"}, "group: Invalid value"},
      {{"-example.com", "v1", "doors", "Door"}, "group: Invalid value"},
      {{"example.com/v1", "v1", "doors", "Door"}, "group: Invalid value"},
      {{label + ".com", "v1", "doors", "Door"}, "group: Invalid value"},
      {{std::string(250, 'a').replace(60, 1, ".").replace(120, 1, ".").replace(180, 1, ".") +
            ".com",
        "v1", "doors", "Door"},
       "group: Invalid value"},
      {{"example.com", "", "doors", "Door"}, R"(version: Invalid value: "")"},
      {{"example.com", "1", "doors", "Door"}, "version: Invalid value"},
      {{"example.com", "v1", "Doors", "Door"},
       R"(resource: Invalid value: "Doors": must be lower)"},
      {{"example.com", "v1", "doors/status", "Door"}, "resource: Invalid value"},
      {{"example.com", "v1", label, "Door"}, "resource: Invalid value"},
      {{"example.com", "v1", "doors", "Do or"}, R"(kind: Invalid value: "Do or": must be letters)"},
      {{"example.com", "v1", "doors", ""}, "kind: Invalid value"},
      {{"apps", "v1", "replicasets", "ReplicaSet"}, "resource: Forbidden: Berth reads"},
      {{"example.com", "v2", "windows", "Window"}, "as Window in version v1"},
      {{"example.com", "v1", "windows", "Window", true}, "not Window in version v1, with"},
      {{"example.com", "v1", "panes", "Window"}, "asks for windows.example.com"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.problem);
    EXPECT_THAT(ErrorOf(c.kind), HasSubstr(c.problem));
  }
  EXPECT_EQ(ErrorOf({std::string(63, 'a') + ".b-1.com", "v1beta1", "doors", "DoorOf2"}), "");
  EXPECT_EQ(ErrorOf({"example.org", "v2", "windows", "Window", true}), "") << "another group";
}

TEST(PluginKindsTest, ThereAreNotTooMany) {
  PluginKindTable table;
  for (size_t i = 0; i < api::kMostPluginKinds; ++i) {
    const std::string number = std::to_string(i);
    ASSERT_TRUE(table.Add({"example.com", "v1", "doors" + number, "Door" + number, false}));
  }
  const auto more = table.Add(kWindows);
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().message, HasSubstr("all plugins together may ask for at most 64 kinds"));
  EXPECT_TRUE(table.Add({"example.com", "v1", "doors7", "Door7", false})) << "it is there";
}

TEST(PluginKindsTest, EventsAreCalledAsKubernetesCallsThem) {
  const auto id = *PluginKinds().Add({"events.example.com", "v1beta2", "bells", "Bell", true});
  const ClusterEvent rings{EventResourceOf(id), action::kUpdate};
  EXPECT_EQ(rings.Label(), "bells.v1beta2.events.example.comUpdate");
  EXPECT_TRUE((ClusterEvent{EventResourceOf(id), action::kAll}).Matches(rings));
  EXPECT_FALSE((ClusterEvent{EventResource::kPod, action::kAll}).Matches(rings));
  const auto other = *PluginKinds().Add({"events.example.com", "v1", "gongs", "Gong", true});
  EXPECT_FALSE((ClusterEvent{EventResourceOf(other), action::kAll}).Matches(rings));
}

}  // namespace
}  // namespace berth
