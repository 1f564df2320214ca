// SPDX-License-Identifier: Apache-2.0
#include "src/app/endpoints/debug_questions.h"

#include <gmock/gmock.h>

namespace berth::app {
namespace {

std::string Asked(serving::Fields query, std::string path = "/debug/explain",
                  std::string method = "GET") {
  serving::Request request;
  request.method = std::move(method);
  request.path = std::move(path);
  request.query = std::move(query);
  const auto asked = PodAskedAbout(request);
  return asked ? asked->verb + " " + asked->resource + " " + asked->namespace_ + " " + asked->name
               : "";
}

TEST(PodAskedAboutTest, IsThePodWhosePlainVerdictIsAsked) {
  EXPECT_EQ(Asked({{"pod", "shop/web-1"}}), "get pods shop web-1");
  EXPECT_EQ(Asked({{"output", "table"}, {"pod", "shop/web-1"}}), "get pods shop web-1");
}

TEST(PodAskedAboutTest, IsNoneWhereMoreIsAskedThanThatPodTells) {
  EXPECT_EQ(Asked({}), "");
  EXPECT_EQ(Asked({{"pod", "web-1"}}), "");
  EXPECT_EQ(Asked({{"pod", "/web-1"}}), "");
  EXPECT_EQ(Asked({{"pod", "shop/"}}), "");
  EXPECT_EQ(Asked({{"pod", "shop/web-1/log"}}), "");
  // The first is what is answered, so that a second cannot be the one that is judged by.
  EXPECT_EQ(Asked({{"pod", "shop/web-1"}, {"pod", "mine/web"}}), "");
  for (const char* more : {"fix", "preemption", "claims", "unknown"}) {
    EXPECT_EQ(Asked({{"pod", "shop/web-1"}, {more, "true"}}), "") << more;
    EXPECT_EQ(Asked({{more, "true"}, {"pod", "shop/web-1"}}), "") << more;
  }
  EXPECT_EQ(Asked({{"pod", "shop/web-1"}}, "/debug/queue"), "");
  EXPECT_EQ(Asked({{"pod", "shop/web-1"}}, "/debug/explain", "POST"), "");
}

}  // namespace
}  // namespace berth::app
