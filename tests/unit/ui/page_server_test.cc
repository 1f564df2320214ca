// SPDX-License-Identifier: Apache-2.0
#include "src/ui/page_server.h"

#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <future>
#include <nlohmann/json.hpp>
#include <utility>

#include "src/base/clock.h"
#include "src/base/thread.h"
#include "src/documents/parse.h"
#include "src/ui/api.h"
#include "src/ui/page.h"
#include "tests/support/plain_client.h"
#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::ui {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// The page of a cluster with two nodes, a pod on one of them, and one that fits nowhere.
class PageServerTest : public testing::Test {
 protected:
  PageServerTest()
      : api_({.name = "test",
              .namespace_ = "",
              .admission = {},
              .idle = {Idle("stored")},
              .find_workload = [](const questions::Scale& scale)
                  -> Result<std::optional<simulator::PodController>> { return Idle(scale.name); },
              .make_simulation =
                  [this] {
                    if (making_) std::exchange(making_, nullptr)();
                    return simulator::Simulation::Make(test::DefaultSimulationOptions(),
                                                       plugins::InTreeRegistry());
                  },
              .make_other =
                  [](const std::string& text, std::vector<std::string>& warnings) {
                    warnings.emplace_back("of the configuration");
                    return MakeOther(text);
                  },
              .describe =
                  [this](const std::vector<api::ObjectPtr>& objects) {
                    ++described_;
                    return Reading{std::to_string(objects.size()) + " objects", {"odd"}};
                  },
              .read = [this](const Interrupted&) { return Read(); },
              .following = [this] { return Following{changes_.load(), reached_.load()}; },
              .watched = [] { return Objects("16"); }},
             Objects("2"), nullptr, clock_) {
    auto server = PageServer::Start(0, clock_, api_.router());
    EXPECT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
    const std::string& address = server_->address();
    token_ = address.substr(address.find("token=") + 6);
  }
  ~PageServerTest() override { api_.Stop(); }

  static Result<std::unique_ptr<simulator::Simulation>> MakeOther(const std::string& text) {
    if (text != "no node will do") return Fail("newConfig: " + text);
    auto options = test::DefaultSimulationOptions();
    options.scheduler.configuration.profiles[0].scheduler_name = "other";
    return simulator::Simulation::Make(options, plugins::InTreeRegistry());
  }
  // A Deployment without pods.
  static simulator::PodController Idle(const std::string& name) {
    const auto object = documents::ParseJson(
        R"({"metadata":{"name":")" + name +
            R"("},"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}})",
        "");
    return *simulator::ReadStored(*object, {.api_version = "apps/v1", .kind = "Deployment"});
  }
  static std::vector<api::ObjectPtr> Objects(std::string_view cpu) {
    return {test::MakeNode("n1").Allocatable({{"cpu", cpu}}).Ptr(),
            test::MakeNode("n2").Allocatable({{"cpu", "1"}}).Ptr(),
            test::MakePod()
                .Name("web")
                .OnNode("n2")
                .Owner("ReplicaSet", "web", "u")
                .Req({{"cpu", "1"}})
                .Ptr(),
            test::MakePod().Name("large").Req({{"cpu", "4"}}).Ptr()};
  }
  Result<std::vector<api::ObjectPtr>> Read() {
    if (unreadable_) return Fail("the API server does not answer");
    return Objects("8");
  }

  std::string Host() const { return "127.0.0.1:" + std::to_string(server_->port()); }
  std::string Send(const std::string& line, const std::string& headers,
                   const std::string& body = "") {
    test::PlainClient client(server_->port());
    client.Send(line + " HTTP/1.1\r\n" + headers + "Content-Length: " +
                std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body);
    return client.ReadAll();
  }
  // As the page does.
  std::string Ask(const std::string& line, const std::string& body = "") {
    return Send(line, "Host: " + Host() + "\r\nX-Berth-Token: " + token_ + "\r\n", body);
  }
  json AskJson(const std::string& line, const std::string& body = "") {
    const std::string answer = Ask(line, body);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
    return json::parse(answer.substr(answer.find("\r\n\r\n") + 4), nullptr, false);
  }

  const base::RealClock clock_;
  std::atomic<uint64_t> changes_ = 0;
  std::atomic<bool> reached_ = true;
  bool unreadable_ = false;
  std::atomic<int> described_ = 0;
  std::function<void()> making_;  // called with the next simulation
  Api api_;
  std::unique_ptr<PageServer> server_;
  std::string token_;
};

TEST_F(PageServerTest, ServesThePageToAnyClientOfThisMachine) {
  for (const PageFile& file : PageFiles()) {
    const std::string answer = Send("GET " + std::string(file.path), "Host: " + Host() + "\r\n");
    EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200"),
                              HasSubstr("Content-Type: " + std::string(file.type)),
                              testing::EndsWith(std::string(file.text))));
  }
  const std::string page = Send("GET /?token=x", "Host: " + Host() + "\r\n");
  EXPECT_THAT(page, HasSubstr("<title>Berth</title>"));
  EXPECT_THAT(page,
              AllOf(HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'"),
                    HasSubstr("Referrer-Policy: no-referrer"), HasSubstr("Cache-Control: no-store"),
                    HasSubstr("X-Content-Type-Options: nosniff")));
  EXPECT_THAT(Send("GET /nothing", "Host: " + Host() + "\r\n"), StartsWith("HTTP/1.1 404"));
}

TEST_F(PageServerTest, WhatTheFirstPictureWasReadAsIsFoundOutOnce) {
  EXPECT_THAT(api_.reading().warnings, testing::ElementsAre("odd"));
  EXPECT_EQ(api_.reading().read, "4 objects");
  EXPECT_EQ(described_, 1);
  AskJson("GET /api/map");
  EXPECT_EQ(described_, 1);
}

TEST_F(PageServerTest, NothingOfTheClusterIsServedWithoutTheToken) {
  for (const char* path : {"/api/map", "/api/pending", "/api/pod?pod=default/large",
                           "/api/fixes?pod=default/large", "/api/what-if", "/api/plan",
                           "/api/refresh", "/api/changes", "/api/node?node=n1", "/api/x"}) {
    SCOPED_TRACE(path);
    const std::string line = "GET " + std::string(path);
    EXPECT_THAT(Send(line, "Host: " + Host() + "\r\n"),
                AllOf(StartsWith("HTTP/1.1 401"), Not(HasSubstr("n1"))));
    EXPECT_THAT(Send(line, "Host: " + Host() + "\r\nX-Berth-Token: 0\r\n"),
                StartsWith("HTTP/1.1 401"));
    EXPECT_THAT(Send(line, "Host: rebound.example\r\nX-Berth-Token: " + token_ + "\r\n"),
                StartsWith("HTTP/1.1 403"));
    EXPECT_THAT(
        Send(line, "Host: " + Host() +
                       "\r\nOrigin: https://site.example\r\nX-Berth-Token: " + token_ + "\r\n"),
        StartsWith("HTTP/1.1 403"));
  }
  EXPECT_THAT(Send("GET /", "Host: rebound.example\r\n"), StartsWith("HTTP/1.1 403"));
}

TEST_F(PageServerTest, TellsOfMapPendingPodsAndFixes) {
  const json map = AskJson("GET /api/map");
  EXPECT_EQ(map["cluster"]["name"], "test");
  EXPECT_EQ(map["cluster"]["live"], true);
  EXPECT_EQ(map["cluster"]["read"], "4 objects");
  EXPECT_EQ(map["cluster"]["warnings"], json({"odd"}));
  EXPECT_EQ(map["nodes"]["name"], json({"n1", "n2"}));
  EXPECT_EQ(map["pods"]["node"], json({1, -1}));
  EXPECT_EQ(AskJson("GET /api/pending")["groups"][0]["pods"], json({"default/large"}));
  EXPECT_EQ(AskJson("GET /api/pod?pod=default/large")["verdict"]["result"], "unschedulable");
  EXPECT_FALSE(AskJson("GET /api/fixes?pod=default/large")["fixes"].empty());
  EXPECT_THAT(Ask("GET /api/pod?pod=default/none"),
              AllOf(StartsWith("HTTP/1.1 404"), HasSubstr("the cluster has no pod default/none")));
  EXPECT_THAT(Ask("GET /api/pod"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Ask("GET /api/decisions"), StartsWith("HTTP/1.1 404")) << "no recording";
}

TEST_F(PageServerTest, AnswersWhatIfAndNothingChanges) {
  const json before = AskJson("GET /api/map");
  const json answer = AskJson("POST /api/what-if", R"({"drain":["n2"]})");
  EXPECT_EQ(answer["drained"][0]["moved"], json({"default/web"}));
  EXPECT_EQ(answer["after"]["nodes"], 2);
  EXPECT_FALSE(answer.contains("warnings"));
  EXPECT_EQ(AskJson("POST /api/what-if", R"({"drain":["n2"]})"), answer)
      << "it is asked of the same";
  EXPECT_EQ(AskJson("GET /api/map"), before);
  const json other =
      AskJson("POST /api/what-if", R"({"newConfig":"no node will do","reschedule":true})");
  EXPECT_EQ(other["pods"][0]["after"], nullptr) << "the other scheduler leaves the pods to others";
  EXPECT_EQ(other["warnings"], json({"of the configuration"}));
  EXPECT_THAT(Ask("POST /api/what-if", R"({"newConfig":"nonsense"})"),
              AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("newConfig: nonsense")));
  EXPECT_THAT(Ask("POST /api/what-if", R"({"drain":["n9"]})"),
              AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("n9")));
  EXPECT_THAT(Ask("POST /api/what-if", "no JSON"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Ask("GET /api/what-if"), StartsWith("HTTP/1.1 405"));
}

TEST_F(PageServerTest, FindsAPlanAndNothingChanges) {
  const json before = AskJson("GET /api/map");
  const json plan = AskJson("POST /api/plan", R"({"goal":"empty=n2"})");
  EXPECT_EQ(plan["outcome"], "found") << plan;
  EXPECT_EQ(plan["moves"][0]["pod"], "default/web");
  EXPECT_EQ(plan["moves"][0]["from"], "n2");
  EXPECT_EQ(plan["moves"][0]["to"], "n1");
  EXPECT_TRUE(plan.contains("made")) << "the cluster is a live one";
  EXPECT_EQ(AskJson("POST /api/plan", R"({"goal":"empty=n2"})"), plan) << "it is asked of the same";
  EXPECT_EQ(AskJson("GET /api/map"), before);
  EXPECT_EQ(AskJson("POST /api/plan", R"({"goal":"fit=large"})")["outcome"], "impossible");
  EXPECT_EQ(AskJson("POST /api/plan", R"({"goal":"pending","namespace":"shop"})")["namespace"],
            "shop");
  for (const auto& [question, message] :
       {std::pair(R"({"goal":"fitt=large"})", "goal: \"fitt\" is no goal; did you mean fit?"),
        std::pair(R"({"goal":"empty=n9"})", "goal: the cluster has no node n9"),
        std::pair(R"({"drain":["n2"]})", "goal: Required value")}) {
    EXPECT_THAT(Ask("POST /api/plan", question),
                AllOf(StartsWith("HTTP/1.1 400"), HasSubstr(message)));
  }
  EXPECT_THAT(Ask("GET /api/plan"), StartsWith("HTTP/1.1 405"));
}

TEST_F(PageServerTest, WorkloadsWithoutPodsAreScaled) {
  for (const std::string name : {"stored", "found"}) {
    const json answer = AskJson("POST /api/what-if", R"({"scale":[{"kind":"deploy","name":")" +
                                                         name + R"(","replicas":1}]})");
    EXPECT_EQ(answer["pods"][0]["pod"], "default/" + name + "-new-0") << answer;
  }
}

TEST_F(PageServerTest, AQuestionUnderWayIsInterruptedByTheEnd) {
  std::promise<void> begun;
  making_ = [&begun] { begun.set_value(); };
  std::string answer;
  base::NamedThread client("client", [&] {
    answer = Ask("POST /api/what-if",
                 R"({"add":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"vast"},)"
                 R"("status":{"allocatable":{"cpu":"99999","pods":"99999"}}}],)"
                 R"("fill":{"pod":{"metadata":{"name":"p"},"spec":{"containers":[]}}}})");
  });
  begun.get_future().wait();
  api_.Stop();
  client.Join();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503"));
}

TEST_F(PageServerTest, AClusterIsReadAgainWhenAsked) {
  EXPECT_EQ(AskJson("GET /api/pending")["groups"][0]["result"], "unschedulable");
  const json map = AskJson("POST /api/refresh");
  EXPECT_EQ(map["nodes"]["allocatable"]["cpu"], json({8000, 1000}));
  EXPECT_EQ(AskJson("GET /api/map"), map);
  // What was found out about the old picture is not told of the new one.
  EXPECT_EQ(AskJson("GET /api/pending")["groups"][0]["result"], "scheduled");
  EXPECT_EQ(AskJson("GET /api/pod?pod=default/large")["verdict"]["result"], "scheduled");
  unreadable_ = true;
  EXPECT_THAT(Ask("POST /api/refresh"),
              AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("the API server does not answer")));
  EXPECT_EQ(AskJson("GET /api/map"), map) << "the last picture stays";
}

TEST_F(PageServerTest, WhatAWatchHasSeenIsTakenWhenAsked) {
  EXPECT_EQ(AskJson("GET /api/changes"), json({{"changed", false}, {"reached", true}}));
  changes_ = 3;
  EXPECT_EQ(AskJson("GET /api/changes")["changed"], true);
  EXPECT_EQ(AskJson("GET /api/map")["nodes"]["allocatable"]["cpu"], json({2000, 1000}))
      << "nothing is taken without being asked for";
  const json map = AskJson("POST /api/refresh?watched=true");
  EXPECT_EQ(map["nodes"]["allocatable"]["cpu"], json({16000, 1000}));
  EXPECT_EQ(map["cluster"]["watched"], true);
  EXPECT_EQ(AskJson("GET /api/changes")["changed"], false);
  EXPECT_EQ(AskJson("GET /api/pod?pod=default/large")["verdict"]["result"], "scheduled");
  reached_ = false;
  EXPECT_EQ(AskJson("GET /api/changes")["reached"], false);
}

TEST_F(PageServerTest, ANodeTellsItsFacts) {
  EXPECT_EQ(AskJson("GET /api/node?node=n1")["name"], "n1");
  EXPECT_THAT(Ask("GET /api/node?node=n9"),
              AllOf(StartsWith("HTTP/1.1 404"), HasSubstr("there is no node n9")));
  EXPECT_THAT(Ask("GET /api/node"), StartsWith("HTTP/1.1 400"));
}

TEST_F(PageServerTest, ManyQuestionsAtOnceAreAllAnsweredOrRefused) {
  std::vector<std::unique_ptr<test::PlainClient>> clients;
  const std::string question =
      "POST /api/what-if HTTP/1.1\r\nHost: " + Host() + "\r\nX-Berth-Token: " + token_ +
      "\r\nConnection: close\r\nContent-Length: 16\r\n\r\n{\"drain\":[\"n2\"]}";
  for (int i = 0; i < 60; ++i) {
    clients.push_back(std::make_unique<test::PlainClient>(server_->port()));
    clients.back()->Send(question);
  }
  size_t answered = 0;
  for (const auto& client : clients) {
    const std::string answer = client->ReadAll();
    EXPECT_THAT(answer, testing::AnyOf(StartsWith("HTTP/1.1 200"), StartsWith("HTTP/1.1 429")));
    if (answer.starts_with("HTTP/1.1 200")) ++answered;
  }
  EXPECT_GE(answered, 32u);
}

TEST_F(PageServerTest, APortThatIsTakenIsAnError) {
  const auto second = PageServer::Start(server_->port(), clock_, api_.router());
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("Address already in use"));
}

}  // namespace
}  // namespace berth::ui
