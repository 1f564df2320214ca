// SPDX-License-Identifier: Apache-2.0
#include "src/ui/object_facts.h"

#include <gmock/gmock.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/support/builders.h"

namespace berth::ui {
namespace {

using nlohmann::json;

constexpr Time kMade = Time(std::chrono::seconds(1'700'000'000));

json FactsOf(const api::Pod& pod) {
  std::string out;
  AppendPodFacts(pod, out);
  return json::parse(out);
}

TEST(ObjectFactsTest, ANodeHasConditionsTaintsAndLabels) {
  std::string out;
  AppendNodeFacts(test::MakeNode("n1")
                      .Label("disk", "ssd")
                      .Taint("team", "blue", "NoSchedule")
                      .Taint("gone", "", "NoExecute")
                      .Condition("Ready", "True")
                      .Condition("DiskPressure", "Unknown"),
                  out);
  EXPECT_EQ(json::parse(out), json::parse(R"({"conditions": [{"status": "True", "type": "Ready"},
                                           {"status": "Unknown", "type": "DiskPressure"}],
                            "created": 0, "name": "n1", "labels": {"disk": "ssd"},
                            "taints": [{"effect": "NoSchedule", "key": "team", "value": "blue"},
                                       {"effect": "NoExecute", "key": "gone"}]})"));
}

TEST(ObjectFactsTest, APodHasAllThatRestrictsWhereItGoes) {
  const json facts = FactsOf(test::MakePod()
                                 .CreatedAt(kMade)
                                 .Label("app", "web")
                                 .NodeSelector("disk", "ssd")
                                 .RequireNode({{"zone", "In", {"a", "b"}}})
                                 .PreferNode(1, {{"zone", "In", {"c"}}})
                                 .PodAffinity("zone", {{"app", "db"}})
                                 .PodAntiAffinity("host", {{"app", "web"}})
                                 .PreferPodAffinity(1, "zone", {{"app", "cache"}})
                                 .Spread(1, "zone", "DoNotSchedule", {{"app", "web"}})
                                 .Tolerate("team", "Exists", "", "NoSchedule"));
  EXPECT_EQ(facts["created"], 1'700'000'000);
  EXPECT_EQ(facts["labels"], json({{"app", "web"}}));
  const json& selectors = facts["selectors"];
  EXPECT_EQ(selectors["nodeSelector"], json({{"disk", "ssd"}}));
  EXPECT_EQ(selectors["nodeAffinity"][0]["matchExpressions"][0]["values"], json({"a", "b"}));
  EXPECT_EQ(selectors["podAffinity"][0]["topologyKey"], "zone");
  EXPECT_EQ(selectors["podAffinity"].size(), 1u) << "what is only preferred is left out";
  EXPECT_EQ(selectors["podAntiAffinity"][0]["labelSelector"]["matchLabels"]["app"], "web");
  EXPECT_EQ(selectors["topologySpreadConstraints"][0]["maxSkew"], 1);
  EXPECT_EQ(selectors["tolerations"][0]["key"], "team");
}

TEST(ObjectFactsTest, APodThatMayGoAnywhereHasNoSelectors) {
  EXPECT_EQ(FactsOf(test::MakePod())["selectors"], json::object());
  EXPECT_EQ(FactsOf(test::MakePod().PreferNode(1, {{"zone", "In", {"c"}}}))["selectors"],
            json::object());
}

}  // namespace
}  // namespace berth::ui
