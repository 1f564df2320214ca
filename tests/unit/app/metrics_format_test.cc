// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "src/app/endpoints/metrics_pages.h"

namespace berth::app {
namespace {

MetricsFormat Chosen(const std::string& accept) {
  serving::Request request;
  request.headers.emplace_back("accept", accept);
  return MetricsFormatFor(request);
}

TEST(MetricsFormatTest, IsWhatKubernetesLibrariesChoose) {
  // From tests/oracle/scrapes.
  std::ifstream file("tests/unit/app/testdata/metrics_formats.txt");
  int texts = 0;
  int protobufs = 0;
  for (std::string line; std::getline(file, line);) {
    const size_t tab = line.find('\t');
    ASSERT_NE(tab, line.npos) << line;
    SCOPED_TRACE(line.substr(0, tab));
    const MetricsFormat chosen = Chosen(line.substr(0, tab));
    EXPECT_EQ(chosen.content_type, line.substr(tab + 1));
    const bool protobuf = chosen.content_type.starts_with("application/vnd.google.protobuf");
    EXPECT_EQ(chosen.format, protobuf ? metrics::Format::kProtobuf : metrics::Format::kText);
    ++(protobuf ? protobufs : texts);
  }
  EXPECT_GE(texts, 10);
  EXPECT_GE(protobufs, 5);
}

TEST(MetricsFormatTest, WithoutAnAcceptHeaderItIsText) {
  EXPECT_EQ(MetricsFormatFor({}).content_type,
            "text/plain; version=0.0.4; charset=utf-8; escaping=underscores");
}

TEST(MetricsFormatTest, WhatIsForPeopleComesAsText) {
  for (const char* encoding : {"text", "compact-text"}) {
    const std::string accept =
        std::string("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;") +
        "encoding=" + encoding;
    EXPECT_EQ(Chosen(accept).format, metrics::Format::kText) << encoding;
  }
}

}  // namespace
}  // namespace berth::app
