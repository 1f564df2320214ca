// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/memory_api.h"

#include <gmock/gmock.h>

#include <memory>

#include "src/api/decode.h"
#include "src/api/protobuf_writes.h"
#include "src/api/writes.h"
#include "src/base/text.h"
#include "src/base/virtual_time.h"
#include "src/informers/kinds.h"
#include "tests/support/builders.h"

namespace berth::simulator {
namespace {

using informers::EventType;
using informers::Kind;
using testing::ElementsAre;
using testing::IsEmpty;

class MemoryApiTest : public testing::Test {
 protected:
  // The answer's code, -1 if there is none yet; body_ and error_ hold the rest.
  int Send(client::Verb verb, std::string path, std::string body = "",
           std::string_view content_type = api::kJsonContentType) {
    client::Request request;
    request.verb = verb;
    request.content_type = content_type;
    request.path = std::move(path);
    request.body = std::move(body);
    const auto code = std::make_shared<int>(-1);  // the answer may come later
    const auto call =
        api_.Send(std::move(request), [=, this](const client::ResponseResult& result) {
          // The answer comes ahead of the watch event.
          told_before_answer_ = told_.size();
          *code = result ? result->code : result.error().code;
          body_ = result ? result->body : "";
          error_ = result ? "" : result.error().message;
        });
    EXPECT_EQ(*code, -1) << "answered inside the call";
    executor_.RunDue();
    return *code;
  }
  int Bind(const std::string& uid, const std::string& node) {
    return Send(client::Verb::kCreate, "/api/v1/namespaces/default/pods/a/binding",
                api::BindingBody("default", "a", uid, node));
  }
  int Patch(const api::PodStatusChange& change, std::string_view uid = "") {
    const auto body = api::PodStatusPatch(api_.FindPod("default/a")->status, change, uid);
    return Send(client::Verb::kPatch, "/api/v1/namespaces/default/pods/a/status", *body);
  }

  base::VirtualClock clock_{Time(std::chrono::hours(24))};
  base::VirtualExecutor executor_{clock_};
  std::vector<informers::InformerEvent> told_;
  size_t told_before_answer_ = 0;
  MemoryApi api_{clock_, executor_,
                 [this](informers::InformerEvent event) { told_.push_back(std::move(event)); }};
  std::string body_;
  std::string error_;
};

TEST(KindOfTest, EveryKindIsThatOfItsDecodedObject) {
  for (const Kind kind : informers::AllKinds()) {
    const informers::KindInfo& info = informers::InfoOf(kind);
    SCOPED_TRACE(info.resource);
    const auto object = info.decode(api::Encoding::kJson, "{}", {});
    ASSERT_TRUE(object);
    EXPECT_EQ(KindOf(*object), kind);
  }
}

TEST_F(MemoryApiTest, ChangesAreToldInOrderWithTheVersionBefore) {
  const auto first = test::MakePod().Name("a").ResourceVersion("1").Ptr();
  const auto second = test::MakePod().Name("a").ResourceVersion("2").Label("x", "y").Ptr();
  api_.Apply(first);
  api_.Apply(second);
  EXPECT_TRUE(api_.Delete(Kind::kPod, "default/a"));
  EXPECT_FALSE(api_.Delete(Kind::kPod, "default/a"));
  ASSERT_EQ(told_.size(), 3u);
  EXPECT_EQ(told_[0].type, EventType::kAdded);
  EXPECT_EQ(told_[0].new_object, api::ObjectPtr(first));
  EXPECT_EQ(told_[1].type, EventType::kUpdated);
  EXPECT_EQ(told_[1].old_object, api::ObjectPtr(first));
  EXPECT_EQ(told_[1].new_object, api::ObjectPtr(second));
  EXPECT_EQ(told_[2].type, EventType::kDeleted);
  EXPECT_EQ(told_[2].old_object, api::ObjectPtr(second));
  EXPECT_EQ(api_.changes(), 3u);
}

TEST_F(MemoryApiTest, AnUpdateWithTheOldResourceVersionGetsANewOne) {
  api_.Apply(test::MakePod().Name("a").ResourceVersion("7").Ptr());
  api_.Apply(test::MakePod().Name("a").ResourceVersion("7").Ptr());
  EXPECT_NE(api_.FindPod("default/a")->metadata.resource_version, "7");
  const std::string second = api_.FindPod("default/a")->metadata.resource_version;
  api_.Apply(api::ObjectPtr(api_.FindPod("default/a")));
  EXPECT_NE(api_.FindPod("default/a")->metadata.resource_version, second);
}

TEST_F(MemoryApiTest, ABindSetsTheNodeAndTheConditionAndClearsTheNomination) {
  api_.Apply(test::MakePod().Name("a").Uid("u").NominatedNode("n9").Ptr());
  EXPECT_EQ(Bind("u", "n1"), 201);
  const auto pod = api_.FindPod("default/a");
  EXPECT_EQ(pod->spec.node_name, "n1");
  EXPECT_EQ(pod->status.nominated_node_name, "");
  ASSERT_EQ(pod->status.conditions.size(), 1u);
  EXPECT_EQ(pod->status.conditions[0].type, "PodScheduled");
  EXPECT_EQ(pod->status.conditions[0].status, "True");
  EXPECT_EQ(pod->status.conditions[0].last_transition_time, clock_.Now());
  EXPECT_EQ(told_before_answer_, 1u);
  ASSERT_EQ(told_.size(), 2u);
  EXPECT_EQ(told_[1].type, EventType::kUpdated);
}

TEST_F(MemoryApiTest, BindsThatMayNotBeAreRefused) {
  EXPECT_EQ(Bind("u", "n1"), 404);
  EXPECT_EQ(error_, "pods \"a\" not found");
  api_.Apply(test::MakePod().Name("a").Uid("u").Ptr());
  EXPECT_EQ(Bind("other", "n1"), 409);
  EXPECT_EQ(Bind("u", "n1"), 201);
  EXPECT_EQ(Bind("u", "n1"), 409);
  EXPECT_EQ(error_, "pod a is already assigned to node \"n1\"");
  api_.Delete(Kind::kPod, "default/a");
  api_.Apply(test::MakePod().Name("a").Uid("v").DeletedAt(Time()).Ptr());
  EXPECT_EQ(Bind("v", "n1"), 409);
}

TEST_F(MemoryApiTest, AStatusPatchMergesConditionsByTypeAndNullsTakeAway) {
  api_.Apply(test::MakePod()
                 .Name("a")
                 .Condition("Ready", "False", "Because", "so")
                 .Condition("PodScheduled", "True", "Old", "old")
                 .NominatedNode("n1")
                 .Ptr());
  api::PodStatusChange change;
  change.nominated_node_name = "";
  change.condition.emplace();
  change.condition->type = "PodScheduled";
  change.condition->status = "False";
  change.condition->message = "no room";
  change.condition->observed_generation = 3;
  change.condition->last_transition_time = clock_.Now();
  EXPECT_EQ(Patch(change), 200);
  const api::PodStatus& status = api_.FindPod("default/a")->status;
  EXPECT_EQ(status.nominated_node_name, "");
  ASSERT_EQ(status.conditions.size(), 2u);
  EXPECT_EQ(status.conditions[0].reason, "Because");
  EXPECT_EQ(status.conditions[1], *change.condition);
}

TEST_F(MemoryApiTest, APatchOfAnotherPodOfThatNameIsRefused) {
  api_.Apply(test::MakePod().Name("a").Uid("u").Ptr());
  api::PodStatusChange change;
  change.nominated_node_name = "n1";
  EXPECT_EQ(Patch(change, "other"), 422);
  EXPECT_EQ(Patch(change, "u"), 200);
  EXPECT_EQ(api_.FindPod("default/a")->status.nominated_node_name, "n1");
}

TEST_F(MemoryApiTest, PodsAreKnownByTheirNode) {
  const auto on = [this](std::string_view node) {
    std::vector<std::string> keys;
    api_.ForEachPodOn(node, [&](const auto& pod) { keys.push_back(pod->metadata.Key()); });
    return keys;
  };
  for (const char* name : {"c", "a", "b"})
    api_.Apply(test::MakePod().Name(name).OnNode("n1").Ptr());
  api_.Apply(test::MakePod().Name("waits").Ptr());
  EXPECT_THAT(on("n1"), ElementsAre("default/a", "default/b", "default/c"));
  EXPECT_THAT(on(""), IsEmpty());
  api_.Apply(test::MakePod().Name("a").OnNode("n2").Ptr());
  api_.Apply(test::MakePod().Name("c").Ptr());
  api_.Delete(Kind::kPod, "default/b");
  EXPECT_THAT(on("n1"), IsEmpty());
  EXPECT_THAT(on("n2"), ElementsAre("default/a"));
  EXPECT_EQ(Bind("", "n3"), 409) << "it has a node";
  api_.Apply(test::MakePod().Name("a").Ptr());
  EXPECT_EQ(Bind("", "n3"), 201);
  EXPECT_THAT(on("n3"), ElementsAre("default/a"));
  EXPECT_THAT(on("n2"), IsEmpty());
}

TEST_F(MemoryApiTest, PodsComeByCreationAndThoseOfManifestsAsTheyCame) {
  const auto apply = [this](const std::string& name, std::optional<Time> created) {
    auto pod = test::MakePod().Name(name);
    if (created) pod.CreatedAt(*created);
    api_.Apply(pod.Ptr());
  };
  apply("manifest-b", {});
  apply("late", Time(std::chrono::hours(2)));
  apply("second", Time(std::chrono::hours(1)));
  apply("manifest-a", {});
  apply("first", Time(std::chrono::hours(1)));
  apply("manifest-b", {});  // again
  std::vector<std::string> names;
  api_.ForEachPodByCreation(
      [&names](const api::ObjectPtr& object) { names.push_back(api::MetaOf(object)->name); });
  EXPECT_THAT(names, ElementsAre("first", "second", "late", "manifest-b", "manifest-a"));
}

TEST_F(MemoryApiTest, PodsAreReadAndDeleted) {
  api_.Apply(test::MakePod().Name("a").Uid("u").OnNode("n1").Ptr());
  const std::string path = "/api/v1/namespaces/default/pods/a";
  EXPECT_EQ(Send(client::Verb::kGet, path), 200);
  const auto read = api::DecodeJson<api::Pod>(body_);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, *api_.FindPod("default/a"));
  EXPECT_EQ(Send(client::Verb::kDelete, path, api::DeleteBody("other")), 409);
  EXPECT_EQ(Send(client::Verb::kDelete, path, api::DeleteBody("u")), 200);
  EXPECT_EQ(api_.FindPod("default/a"), nullptr);
  EXPECT_THAT(api_.evicted(), ElementsAre("default/a"));
  EXPECT_EQ(told_.back().type, EventType::kDeleted);
}

TEST_F(MemoryApiTest, AnEvictionIsGrantedWhereBudgetsAllowIt) {
  for (const char* name : {"a", "b"}) {
    api_.Apply(test::MakePod()
                   .Name(name)
                   .Uid(name)
                   .OnNode("n1")
                   .Label("app", "web")
                   .Condition("Ready", "True", "", "")
                   .Ptr());
  }
  api::PodDisruptionBudget budget;
  budget.metadata.name = "keep";
  budget.metadata.namespace_ = "default";
  budget.spec.selector = test::MakeSelector({{"app", "web"}});
  budget.status.disruptions_allowed = 1;
  api_.Apply(std::make_shared<const api::PodDisruptionBudget>(budget));
  const auto evict = [this](const std::string& name, std::string_view uid) {
    return Send(client::Verb::kCreate, "/api/v1/namespaces/default/pods/" + name + "/eviction",
                api::EvictionBody("default", name, uid));
  };
  EXPECT_EQ(evict("c", "c"), 404);
  EXPECT_EQ(evict("a", "other"), 409);
  EXPECT_EQ(evict("a", "a"), 201);
  EXPECT_EQ(evict("b", "b"), 429) << "one is all that the budget allows";
  EXPECT_THAT(api_.evicted(), ElementsAre("default/a"));
}

TEST_F(MemoryApiTest, EventsAreKeptAndTheirSeriesCounted) {
  api::Event event;
  event.namespace_ = "default";
  event.name = "a.1";
  event.reason = "FailedScheduling";
  event.type = "Warning";
  event.note = "no room";
  event.reporting_controller = "default-scheduler";
  event.regarding.namespace_ = "default";
  event.regarding.name = "a";
  const std::string path = "/apis/events.k8s.io/v1/namespaces/default/events";
  EXPECT_EQ(Send(client::Verb::kPatch, path + "/a.1", api::EventSeriesPatch(2, Time())), 404);
  EXPECT_EQ(Send(client::Verb::kCreate, path, api::EventBody(event)), 201);
  EXPECT_EQ(Send(client::Verb::kPatch, path + "/a.1", api::EventSeriesPatch(4, Time())), 200);
  ASSERT_EQ(api_.events().size(), 1u);
  EXPECT_EQ(api_.events()[0].reason, "FailedScheduling");
  EXPECT_EQ(api_.events()[0].regarding, "default/a");
  EXPECT_EQ(api_.events()[0].note, "no room");
  EXPECT_EQ(api_.events()[0].count, 4);
  api_.set_keep_events(false);
  EXPECT_EQ(Send(client::Verb::kCreate, path, api::EventBody(event)), 201);
  EXPECT_EQ(api_.events().size(), 1u);
}

TEST_F(MemoryApiTest, ProtobufIsReadAsJsonIs) {
  EXPECT_TRUE(api_.ReadsProtobuf());
  api_.Apply(test::MakePod().Name("a").Uid("u").Ptr());
  const auto send = [&](const std::string& path, std::string body) {
    return Send(client::Verb::kCreate, path, std::move(body), api::kProtobufContentType);
  };
  const std::string binding = "/api/v1/namespaces/default/pods/a/binding";
  EXPECT_EQ(send(binding, "k8s"), 400);
  EXPECT_EQ(send(binding, api::BindingProtobuf("default", "a", "other", "n")), 409);
  EXPECT_EQ(send(binding, api::BindingProtobuf("default", "a", "u", "n")), 201);
  EXPECT_EQ(api_.FindPod("default/a")->spec.node_name, "n");
  api::Event event;
  event.name = "a.1";
  event.note = "no room";
  event.regarding.namespace_ = "default";
  event.regarding.name = "a";
  const std::string events = "/apis/events.k8s.io/v1/namespaces/default/events";
  EXPECT_EQ(send(events, api::EventProtobuf(event)), 201);
  ASSERT_EQ(api_.events().size(), 1u);
  EXPECT_EQ(api_.events()[0].note, "no room");
  EXPECT_EQ(api_.events()[0].regarding, "default/a");
}

TEST_F(MemoryApiTest, WhatIsNotKnownIsNotFound) {
  EXPECT_EQ(Send(client::Verb::kGet, "/api/v1/namespaces/default/secrets/a"), 404);
  EXPECT_EQ(Send(client::Verb::kGet, "/api/v1/pods"), 404);
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(MemoryApiTest, ARequestCancelledInTimeIsNeverCarriedOut) {
  api_.Apply(test::MakePod().Name("a").Uid("u").Ptr());
  client::Request request;
  request.verb = client::Verb::kDelete;
  request.path = "/api/v1/namespaces/default/pods/a";
  bool never_sent = false;
  const auto call = api_.Send(std::move(request), [&](const client::ResponseResult& result) {
    never_sent = !result && result.error().never_sent;
  });
  call->Cancel();
  executor_.RunDue();
  EXPECT_TRUE(never_sent);
  EXPECT_NE(api_.FindPod("default/a"), nullptr);
}

TEST_F(MemoryApiTest, EscapedPathsAreRead) {
  api_.Apply(test::MakePod().Name("a b").Uid("u").Ptr());
  EXPECT_EQ(Send(client::Verb::kGet, "/api/v1/namespaces/default/pods/" + base::Escape("a b")),
            200);
}

TEST_F(MemoryApiTest, RequestsAndAnswersAreOnTheirWay) {
  api_.Apply(test::MakePod().Name("a").Uid("u").Ptr());
  told_.clear();
  api_.set_request_latency([] {
    return MemoryApi::RequestLatency{.there = std::chrono::seconds(2),
                                     .back = std::chrono::seconds(3)};
  });
  Bind("u", "n1");
  EXPECT_EQ(told_before_answer_, 0u);
  executor_.Advance(std::chrono::seconds(1));
  EXPECT_THAT(told_, IsEmpty());
  executor_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(told_.size(), 1u);
  EXPECT_EQ(told_before_answer_, 0u);
  executor_.Advance(std::chrono::seconds(3));
  EXPECT_EQ(told_before_answer_, 1u) << "the event comes first";
}

TEST_F(MemoryApiTest, PodsOnNodesRunOnForAWhile) {
  const std::string path = "/api/v1/namespaces/default/pods/a";
  api_.set_pod_ends([] { return std::chrono::seconds(30); });
  api_.Apply(test::MakePod().Name("a").Uid("first").OnNode("n1").Ptr());
  EXPECT_EQ(Send(client::Verb::kDelete, path), 200);
  ASSERT_NE(api_.FindPod("default/a"), nullptr);
  EXPECT_EQ(api_.FindPod("default/a")->metadata.deletion_timestamp,
            clock_.Now() + std::chrono::seconds(30));
  executor_.Advance(std::chrono::seconds(20));
  EXPECT_EQ(Send(client::Verb::kDelete, path), 200);
  EXPECT_THAT(api_.evicted(), ElementsAre("default/a")) << "asked for twice, evicted once";
  executor_.Advance(std::chrono::seconds(10));
  EXPECT_EQ(api_.FindPod("default/a"), nullptr);

  // The second request came for the first pod of that name.
  api_.Apply(test::MakePod().Name("a").Uid("second").OnNode("n1").Ptr());
  executor_.Advance(std::chrono::seconds(30));
  EXPECT_NE(api_.FindPod("default/a"), nullptr);
}

}  // namespace
}  // namespace berth::simulator
