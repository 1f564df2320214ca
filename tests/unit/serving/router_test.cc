// SPDX-License-Identifier: Apache-2.0
#include "src/serving/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "src/serving/health.h"

namespace berth::serving {
namespace {

using testing::ElementsAre;

Response Ask(const Router& router, const std::string& path, Fields query = {},
             const std::string& method = "GET") {
  Request request;
  request.method = method;
  request.path = path;
  request.query = std::move(query);
  std::optional<Response> answer;
  router.Serve(std::make_shared<const Request>(request),
               [&answer](Response response) { answer = std::move(response); });
  return answer.value();
}

Response Hello(const Request& /*request*/) { return Response{.body = "hello"}; }

TEST(RouterTest, PathsAreServedExactlyAsTheyAreDeclared) {
  Router router;
  router.Answer("/metrics", Hello);
  EXPECT_EQ(Ask(router, "/metrics").body, "hello");
  for (const char* path : {"/metrics/", "//metrics", "/Metrics", "/a/../metrics", "/", ""}) {
    SCOPED_TRACE(path);
    EXPECT_EQ(Ask(router, path).code, 404);
    EXPECT_EQ(Ask(router, path).body, "404 page not found\n");
  }
}

TEST(RouterTest, APathMayHaveAnotherMethodAlone) {
  Router router;
  router.HandleMethod("/ask", "POST", [](const RequestPtr&, const Respond& respond) {
    respond(Response{.body = "answered"});
  });
  EXPECT_EQ(Ask(router, "/ask", {}, "POST").body, "answered");
  const Response refused = Ask(router, "/ask");
  EXPECT_EQ(refused.code, 405);
  EXPECT_THAT(refused.headers, testing::Contains(testing::Pair("Allow", "POST")));
}

TEST(RouterTest, OtherMethodsMustBeDeclared) {
  Router router;
  router.Answer("/metrics", Hello);
  EXPECT_EQ(Ask(router, "/metrics", {}, "HEAD").code, 200);
  const Response refused = Ask(router, "/metrics", {}, "DELETE");
  EXPECT_EQ(refused.code, 405);
  EXPECT_THAT(refused.headers, testing::Contains(testing::Pair("Allow", "GET, HEAD")));
  router.HandleMethod("/metrics", "DELETE", [](const RequestPtr&, const Respond& respond) {
    respond(Response{.body = "metrics reset\n"});
  });
  EXPECT_EQ(Ask(router, "/metrics", {}, "DELETE").body, "metrics reset\n");
}

TEST(RouterTest, APathMayTakeEachMethod) {
  Router router;
  router.Answer("/metrics", Hello, Router::Takes::kEachMethod);
  router.HandleMethod("/metrics", "DELETE", [](const RequestPtr&, const Respond& respond) {
    respond(Response{.body = "metrics reset\n"});
  });
  for (const char* method : {"GET", "HEAD", "POST", "PUT", "OPTIONS"}) {
    SCOPED_TRACE(method);
    EXPECT_EQ(Ask(router, "/metrics", {}, method).body, "hello");
  }
  EXPECT_EQ(Ask(router, "/metrics", {}, "DELETE").body, "metrics reset\n");
}

// Two checks, of which one fails at will.
class HealthTest : public testing::Test {
 protected:
  HealthTest() {
    InstallHealth(router_, "/livez", {});
    InstallHealth(router_, "/readyz",
                  {{"shutdown", [] { return std::nullopt; }},
                   {"sched-handler-sync", [this] { return failure_; }}},
                  [this](const std::string& check, const std::string& type, bool healthy) {
                    observed_.push_back(type + "/" + check + (healthy ? " ok" : " failed"));
                  });
  }

  Router router_;
  std::optional<std::string> failure_;
  std::vector<std::string> observed_;
};

TEST_F(HealthTest, AllIsWell) {
  EXPECT_EQ(Ask(router_, "/readyz").body, "ok");
  EXPECT_EQ(Ask(router_, "/livez", {{"verbose", ""}}).body, "[+]ping ok\nlivez check passed\n");
  EXPECT_EQ(Ask(router_, "/readyz/shutdown").body, "ok");
  // As kube-scheduler's, they look at no method.
  for (const char* path : {"/readyz", "/readyz/shutdown", "/livez"}) {
    EXPECT_EQ(Ask(router_, path, {}, "POST").body, "ok") << path;
  }
  EXPECT_THAT(router_.paths(), ElementsAre("/livez", "/livez/ping", "/readyz",
                                           "/readyz/sched-handler-sync", "/readyz/shutdown"));
}

TEST_F(HealthTest, AFailureNamesTheCheckAndOnlyTheCheckItselfSaysWhy) {
  failure_ = "handlers are not fully synchronized";
  const Response all = Ask(router_, "/readyz");
  EXPECT_EQ(all.code, 500);
  EXPECT_THAT(observed_, ElementsAre("readyz/shutdown ok", "readyz/sched-handler-sync failed"));
  EXPECT_EQ(all.body,
            "[+]shutdown ok\n[-]sched-handler-sync failed: reason withheld\n"
            "readyz check failed\n");
  const Response one = Ask(router_, "/readyz/sched-handler-sync");
  EXPECT_EQ(one.code, 500);
  EXPECT_EQ(one.body, "internal server error: handlers are not fully synchronized\n");
}

TEST_F(HealthTest, AnyMethodAsks) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "HEAD"}) {
    SCOPED_TRACE(method);
    EXPECT_EQ(Ask(router_, "/readyz", {}, method).body, "ok");
    EXPECT_EQ(Ask(router_, "/livez/ping", {}, method).body, "ok");
  }
  failure_ = "no";
  EXPECT_EQ(Ask(router_, "/readyz", {}, "POST").code, 500);
}

TEST_F(HealthTest, ChecksCanBeLeftOut) {
  failure_ = "no";
  EXPECT_EQ(Ask(router_, "/readyz", {{"exclude", "sched-handler-sync"}}).body, "ok");
  EXPECT_EQ(Ask(router_, "/readyz",
                {{"exclude", "sched-handler-sync"}, {"exclude", "x"}, {"verbose", ""}})
                .body,
            "[+]shutdown ok\n[+]sched-handler-sync excluded: ok\n"
            "warn: some health checks cannot be excluded: no matches for \"x\"\n"
            "readyz check passed\n");
}

}  // namespace
}  // namespace berth::serving
