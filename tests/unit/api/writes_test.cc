// SPDX-License-Identifier: Apache-2.0
#include "src/api/writes.h"

#include <gtest/gtest.h>

#include "tests/unit/api/scheduled_event.h"

namespace berth::api {
namespace {

const Time kNow = kEventTime;

TEST(WritesTest, BindingBodyNamesThePodAndTheNode) {
  EXPECT_EQ(BindingBody("shop", "web-0", "u-1", "n1"),
            R"({"apiVersion":"v1","kind":"Binding",)"
            R"("metadata":{"name":"web-0","namespace":"shop","uid":"u-1"},)"
            R"("target":{"kind":"Node","name":"n1"}})");
}

TEST(WritesTest, EventBodyIsAnEventsV1Event) {
  Event event = ScheduledEvent();
  event.note = "Successfully assigned shop/web-0 to \"n1\" \xff";
  EXPECT_EQ(EventBody(event),
            R"({"apiVersion":"events.k8s.io/v1","kind":"Event",)"
            R"("metadata":{"name":"web-0.17f","namespace":"shop"},)"
            R"("eventTime":"2023-11-14T22:13:20.123456Z",)"
            R"("reportingController":"default-scheduler",)"
            R"("reportingInstance":"default-scheduler-host",)"
            R"("action":"Binding","reason":"Scheduled",)"
            R"("regarding":{"kind":"Pod","namespace":"shop","name":"web-0","uid":"u-1",)"
            R"("apiVersion":"v1","resourceVersion":"417"},)"
            "\"note\":\"Successfully assigned shop/web-0 to \\\"n1\\\" \xEF\xBF\xBD\","
            R"("type":"Normal"})");
}

TEST(WritesTest, EventSeriesPatchCarriesTheSeriesOnly) {
  EXPECT_EQ(EventSeriesPatch(2, kNow),
            R"({"series":{"count":2,"lastObservedTime":"2023-11-14T22:13:20.123456Z"}})");
}

TEST(WritesTest, DeleteBodyNamesTheObject) {
  EXPECT_EQ(DeleteBody("u-1"),
            R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u-1"}})");
}

PodCondition Unschedulable(std::string message) {
  return {.type = "PodScheduled",
          .status = "False",
          .reason = "Unschedulable",
          .message = std::move(message),
          .observed_generation = 3,
          .last_transition_time = kNow};
}

TEST(PodStatusPatchTest, AFirstConditionIsAddedBehindTheOthers) {
  PodStatus old;
  old.conditions.push_back({.type = "Ready",
                            .status = "False",
                            .reason = "",
                            .message = "",
                            .observed_generation = 0,
                            .last_transition_time = std::nullopt});
  const PodStatusChange change = {.condition = Unschedulable("0/1"),
                                  .nominated_node_name = std::nullopt};
  EXPECT_EQ(PodStatusPatch(old, change, "u-1"),
            R"({"metadata":{"uid":"u-1"},"status":{)"
            R"("$setElementOrder/conditions":[{"type":"Ready"},{"type":"PodScheduled"}],)"
            R"("conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable",)"
            R"("message":"0/1","lastTransitionTime":"2023-11-14T22:13:20Z",)"
            R"("observedGeneration":3}]}})");
}

TEST(PodStatusPatchTest, TheTransitionTimeStaysWhileTheStatusStays) {
  PodStatus old;
  old.conditions.push_back(Unschedulable("0/1"));
  PodStatusChange change = {.condition = Unschedulable("0/2"), .nominated_node_name = std::nullopt};
  change.condition->last_transition_time = kNow + std::chrono::hours(1);
  change.condition->reason = "";
  EXPECT_EQ(PodStatusPatch(old, change, ""),
            R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],)"
            R"("conditions":[{"type":"PodScheduled","status":"False","reason":null,)"
            R"("message":"0/2","lastTransitionTime":"2023-11-14T22:13:20Z"}]}})");
}

TEST(PodStatusPatchTest, NothingNewIsNoPatch) {
  PodStatus old;
  old.nominated_node_name = "n1";
  old.conditions.push_back(Unschedulable("0/1"));
  PodStatusChange change = {.condition = Unschedulable("0/1"), .nominated_node_name = "n1"};
  change.condition->last_transition_time = kNow + std::chrono::hours(1);
  EXPECT_EQ(PodStatusPatch(old, change, "u-1"), std::nullopt);
  EXPECT_EQ(PodStatusPatch(old, PodStatusChange(), "u-1"), std::nullopt);
}

TEST(PodStatusPatchTest, ANewerGenerationIsNewsOnlyBesideAnotherNomination) {
  PodStatus old;
  old.nominated_node_name = "n1";
  old.conditions.push_back(Unschedulable("0/1"));
  PodStatusChange change = {.condition = Unschedulable("0/1"), .nominated_node_name = "n1"};
  change.condition->observed_generation = 4;
  EXPECT_EQ(PodStatusPatch(old, change, ""), std::nullopt);
  change.nominated_node_name = "";
  EXPECT_EQ(PodStatusPatch(old, change, ""),
            R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],)"
            R"("conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable",)"
            R"("message":"0/1","lastTransitionTime":"2023-11-14T22:13:20Z",)"
            R"("observedGeneration":4}],)"
            R"("nominatedNodeName":null}})");
  change.condition->observed_generation = 3;
  EXPECT_EQ(PodStatusPatch(old, change, ""), R"({"status":{"nominatedNodeName":null}})");
}

TEST(PodStatusPatchTest, TheNominatedNodeIsSetAndCleared) {
  PodStatus old;
  PodStatusChange change;
  change.nominated_node_name = "n1";
  EXPECT_EQ(PodStatusPatch(old, change, ""), R"({"status":{"nominatedNodeName":"n1"}})");
  old.nominated_node_name = "n1";
  change.nominated_node_name = "";
  EXPECT_EQ(PodStatusPatch(old, change, ""), R"({"status":{"nominatedNodeName":null}})");
}

}  // namespace
}  // namespace berth::api
