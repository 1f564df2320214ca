// SPDX-License-Identifier: Apache-2.0
#include "src/app/endpoints/zpages.h"

#include <gtest/gtest.h>

#include "src/app/version.h"
#include "src/base/virtual_time.h"

namespace berth::app {
namespace {

using serving::Request;
using serving::Response;

constexpr auto kStart = std::chrono::seconds(1'700'000'000);

class ZPagesTest : public testing::Test {
 protected:
  ZPagesTest() {
    for (const char* path : {"/healthz", "/healthz/ping", "/metrics", "/debug/cache", "/version"}) {
      router_.Answer(path, [](const Request&) { return Response(); });
    }
  }

  Response Get(const std::string& path, const std::string& accept, const std::string& client = "",
               const std::string& method = "GET") {
    auto request = std::make_shared<Request>();
    request->method = method;
    request->path = path;
    if (!accept.empty()) request->headers.emplace_back("accept", accept);
    if (!client.empty()) request->headers.emplace_back("user-agent", client);
    Response answer;
    router_.Serve(request, [&answer](Response response) { answer = std::move(response); });
    return answer;
  }

  ZPages Pages() { return {.clock = clock_, .started = Time(kStart), .flags = {{"v", "4"}}}; }

  base::VirtualClock clock_{Time(kStart + std::chrono::seconds(3723))};
  serving::Router router_;
};

TEST_F(ZPagesTest, TextIsWhatPeopleGet) {
  InstallZPages(router_, Pages());
  for (const char* accept : {"", "text/plain", "*/*", "text/*",
                             "application/json;v=foo;g=config.k8s.io;as=Statusz,*/*"}) {
    const Response statusz = Get("/statusz", accept);
    EXPECT_EQ(statusz.code, 200) << accept;
    EXPECT_EQ(
        statusz.body,
        "\nkube-scheduler statusz\nWarning: This endpoint is not meant to be machine "
        "parseable, has no formatting compatibility guarantees and is for debugging purposes "
        "only.\n\nStarted: Tue Nov 14 22:13:20 UTC 2023\nUp: 1 hr 02 min 03 sec\n"
        "Go version: none, this is Berth " +
            std::string(kVersion) +
            "\nBinary version: 1.37.1\nEmulation version: 1.37\nPaths: /flagz /healthz /metrics\n")
        << accept;
  }
  EXPECT_TRUE(Get("/flagz", "").body.ends_with("purposes only.\nv: 4\n"));
}

TEST_F(ZPagesTest, ProgramsGetTheKindTheyName) {
  InstallZPages(router_, Pages());
  const Response statusz = Get("/statusz", "application/json;v=v1beta1;g=config.k8s.io;as=Statusz");
  EXPECT_EQ(statusz.content_type, "application/json;g=config.k8s.io;v=v1beta1;as=Statusz");
  EXPECT_EQ(statusz.body,
            R"({"kind":"Statusz","apiVersion":"config.k8s.io/v1beta1",)"
            R"("metadata":{"name":"kube-scheduler"},"startTime":"2023-11-14T22:13:20Z",)"
            R"("uptimeSeconds":3723,"goVersion":"","binaryVersion":"1.37.1",)"
            R"("emulationVersion":"1.37","paths":["/flagz","/healthz","/metrics"]})"
            "\n");
  const Response flagz = Get("/flagz", "application/yaml;v=v1beta1;g=config.k8s.io;as=Flagz");
  EXPECT_EQ(
      flagz.body,
      "apiVersion: config.k8s.io/v1beta1\nflags:\n  v: \"4\"\nkind: Flagz\nmetadata:\n  name: "
      "kube-scheduler\n");
}

TEST_F(ZPagesTest, PeopleGetJsonOfSeveralLines) {
  InstallZPages(router_, Pages());
  const std::string kind = ";v=v1beta1;g=config.k8s.io;as=Flagz";
  const std::string indented =
      "{\n  \"kind\": \"Flagz\",\n  \"apiVersion\": \"config.k8s.io/v1beta1\",\n  \"metadata\": {\n"
      "    \"name\": \"kube-scheduler\"\n  },\n  \"flags\": {\n    \"v\": \"4\"\n  }\n}";
  EXPECT_EQ(Get("/flagz", "application/json" + kind, "curl/7.88.1").body, indented);
  EXPECT_EQ(Get("/flagz", "application/json" + kind + ";pretty=1").body, indented);
  EXPECT_TRUE(Get("/flagz", "text/html", "curl/7.88.1").body.starts_with("{\n  \"kind\""));
}

TEST_F(ZPagesTest, AnyMethodReads) {
  InstallZPages(router_, Pages());
  EXPECT_EQ(Get("/flagz", "", "", "POST").body, Get("/flagz", "").body);
  EXPECT_EQ(Get("/statusz", "", "", "PUT").code, 200);
}

TEST_F(ZPagesTest, TheDeprecatedVersionComesWithAWarning) {
  InstallZPages(router_, Pages());
  const std::string alpha = "application/json;v=v1alpha1;g=config.k8s.io;as=Flagz";
  const std::string beta = "application/json;v=v1beta1;g=config.k8s.io;as=Flagz";
  const Response first = Get("/flagz", alpha + "," + beta);
  ASSERT_EQ(first.headers.size(), 1U);
  EXPECT_EQ(first.headers[0].first, "Warning");
  EXPECT_NE(first.headers[0].second.find("deprecated"), std::string::npos);
  EXPECT_NE(first.body.find("v1alpha1"), std::string::npos);
  EXPECT_TRUE(Get("/flagz", beta + "," + alpha).headers.empty());
}

TEST_F(ZPagesTest, WhatCannotBeHadIsRefusedWithWhatCan) {
  InstallZPages(router_, Pages());
  for (const char* accept :
       {"application/xml", "application/json", "application/json;v=v1beta1;g=config.k8s.io",
        "application/json;v=v1beta1;g=config.k8s.io;as=Flagz", "text/plain;as=Statusz",
        "application/cbor;v=v1beta1;g=config.k8s.io;as=Statusz"}) {
    const Response refused = Get("/statusz", accept);
    EXPECT_EQ(refused.code, 406) << accept;
    EXPECT_NE(refused.body.find("only the following media types are accepted: application/json, "
                                "application/yaml, text/plain\""),
              std::string::npos)
        << refused.body;
  }
}

TEST_F(ZPagesTest, CborComesWithItsGate) {
  ZPages pages = Pages();
  pages.cbor = true;
  InstallZPages(router_, std::move(pages));
  const Response flagz = Get("/flagz", "application/cbor;v=v1beta1;g=config.k8s.io;as=Flagz");
  EXPECT_EQ(flagz.code, 200);
  EXPECT_TRUE(flagz.body.starts_with("\xd9\xd9\xf7"));
}

TEST_F(ZPagesTest, EachGoesWithItsGate) {
  ZPages pages = Pages();
  pages.flagz = false;
  InstallZPages(router_, std::move(pages));
  EXPECT_EQ(Get("/flagz", "").code, 404);
  EXPECT_TRUE(Get("/statusz", "").body.ends_with("Paths: /healthz /metrics\n"));
}

}  // namespace
}  // namespace berth::app
