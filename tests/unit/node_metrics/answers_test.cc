// SPDX-License-Identifier: Apache-2.0
#include "src/node_metrics/answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace berth::node_metrics {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

MeasuredResource Of(double average, double deviation = 0) {
  return {.known = true, .average = average, .deviation = deviation, .last = average};
}

TEST(ReadMetricsServerTest, TakesUsageOfEachNode) {
  NodesByName nodes;
  std::string body = R"({"kind":"NodeMetricsList","apiVersion":"metrics.k8s.io/v1beta1",
    "metadata":{},"items":[
    {"metadata":{"name":"a","labels":{"x":"y"}},"timestamp":"2026-11-28T12:00:00Z","window":"20s",
     "usage":{"cpu":"156340001n","memory":"1024Ki","pods":3}},
    {"usage":{"memory":"5"},"metadata":{"creationTimestamp":null,"name":"b"}}]})";
  const auto read = ReadMetricsServer(body, nodes);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes.at("a"), (NodeMetrics{"a", Of(157), Of(1048576)}));
  EXPECT_EQ(nodes.at("b"), (NodeMetrics{"b", {}, Of(5)}));
}

TEST(ReadMetricsServerTest, SaysWhereTheAnswerIsWrong) {
  const struct {
    const char* body;
    const char* want;
  } cases[] = {
      {"<html>", "this is no JSON"},
      {"", "this is no JSON"},
      {"3", "this is no JSON object"},
      {"[]", "expected an object"},
      {"{}", "there are no items"},
      {R"({"items":{}})", "items: expected a list"},
      {R"({"items":[3]})", "items[0]: expected an object"},
      {R"({"items":[{"metadata":{"name":"a"},"usage":{}},{"metadata":{}}]})",
       "items[1]: there is no metadata.name"},
      {R"({"items":[{"metadata":{"name":7}}]})", "items[0].metadata.name: expected a string"},
      {R"({"items":[{"metadata":{"name":"a"},"usage":{"cpu":3}}]})",
       "items[0].usage.cpu: expected a string"},
      {R"({"items":[{"metadata":{"name":"a"},"usage":{"memory":"much"}}]})",
       "items[0].usage.memory: expected a quantity"},
      {R"({"items":[{"metadata":{"name":"a"})", "this is no JSON"},
      {R"({"items":[{"metadata":{"name":"a"},"usage":{"cpu":"1)", "this is no JSON"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.body);
    NodesByName nodes;
    std::string body = c.body;
    const auto read = ReadMetricsServer(body, nodes);
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message, HasSubstr(c.want));
  }
}

TEST(ReadMetricsServerTest, NamesAreBounded) {
  NodesByName nodes;
  std::string body =
      R"({"items":[{"metadata":{"name":")" + std::string(254, 'a') + R"("},"usage":{}}]})";
  const auto read = ReadMetricsServer(body, nodes);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, StartsWith("items[0]: a name that is longer than any"));
}

TEST(ReadPrometheusTest, AddsOneQueryToTheOthers) {
  EXPECT_EQ(kPrometheusQueries[0].Parameter(),
            "avg_over_time%28instance%3Anode_cpu%3Aratio%5B15m%5D%29");
  const auto body = [](const std::string& result) {
    return R"({"status":"success","data":{"resultType":"vector","result":[)" + result + "]}}";
  };
  NodesByName nodes;
  const std::string answers[] = {
      body(R"({"metric":{"instance":"a","job":"node"},"value":[1764331200.1,"0.25"]},
              {"metric":{"instance":"b"},"value":[1764331200.1,"NaN"]},
              {"metric":{"instance":"c"},"value":[1764331200.1,"+Inf"]},
              {"metric":{},"value":[1764331200.1,"1"]})"),
      body(R"({"value":[1764331200,"5e-1"],"metric":{"instance":"a"}})"),
      body(R"({"metric":{"instance":"a"},"value":[1764331200.1,"0.125"]},
              {"metric":{"instance":"b"},"value":[1764331200.1,"0.5"]})"),
      body(""),
  };
  for (size_t i = 0; i < std::size(answers); ++i) {
    std::string answer = answers[i];
    const auto read = ReadPrometheus(answer, kPrometheusQueries[i], nodes);
    ASSERT_TRUE(read) << read.error().message;
  }
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes.at("a"), (NodeMetrics{"a", Of(25, 12.5), Of(50)}));
  // A deviation without an average.
  EXPECT_EQ(nodes.at("b"),
            (NodeMetrics{"b", {.known = true, .average = 0, .deviation = 50, .last = {}}, {}}));
}

TEST(ReadPrometheusTest, SaysWhereTheAnswerIsWrong) {
  const struct {
    const char* body;
    const char* want;
  } cases[] = {
      {R"({"status":"success"})", "there is no data.result"},
      {R"({"data":{"resultType":"matrix","result":[]}})", "data.resultType: expected a vector"},
      {R"({"data":{"result":7}})", "data.result: expected a list"},
      {R"({"data":{"result":[{"metric":{"instance":"a"}}]}})", "data.result[0]: there is no value"},
      {R"({"data":{"result":[{"metric":{"instance":"a"},"value":[1,2]}]}})",
       "data.result[0].value[1]: expected a string"},
      {R"({"data":{"result":[{"metric":{"instance":"a"},"value":[1,"x"]}]}})",
       "data.result[0].value[1]: expected a number in a string"},
      {R"({"data":{"result":[{"metric":{"instance":3},"value":[1,"1"]}]}})",
       "data.result[0].metric.instance: expected a string"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.body);
    NodesByName nodes;
    std::string body = c.body;
    const auto read = ReadPrometheus(body, kPrometheusQueries[0], nodes);
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message, HasSubstr(c.want));
  }
}

TEST(ReadLoadWatcherTest, TakesWhatEachPluginLooksFor) {
  NodesByName nodes;
  int64_t end = 0;
  std::string body = R"({"timestamp":1764331205,
    "window":{"duration":"15m","start":1764330300,"end":1764331200},"source":"Prometheus",
    "data":{"NodeMetricsMap":{
      "a":{"metrics":[
        {"name":"m","type":"CPU","operator":"AVG","rollup":"15m","value":25.5},
        {"name":"m","type":"CPU","operator":"STD","rollup":"15m","value":4},
        {"name":"m","type":"Memory","operator":"AVG","rollup":"15m","value":50},
        {"name":"m","type":"Energy","operator":"AVG","rollup":"15m","value":9}],
        "tags":{},"metadata":{"dataCenter":""}},
      "b":{"metrics":[{"type":"CPU","operator":"Latest","value":7},
                      {"type":"Memory","value":8}]},
      "c":{"metrics":[{"type":"CPU","operator":"AVG","value":1},
                      {"type":"CPU","operator":"Latest","value":2},
                      {"type":"CPU","operator":"MAX","value":3}]},
      "d":{"metrics":[],"tags":{},"metadata":{}}}}})";
  const auto read = ReadLoadWatcher(body, end, nodes);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(end, 1764331200);
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes.at("a"), (NodeMetrics{"a", Of(25.5, 4), Of(50)}));
  EXPECT_EQ(nodes.at("b"),
            (NodeMetrics{"b", Of(7), {.known = true, .average = 8, .deviation = 0, .last = {}}}));
  EXPECT_EQ(nodes.at("c"),
            (NodeMetrics{"c", {.known = true, .average = 1, .deviation = 0, .last = 2.0}, {}}));
}

TEST(ReadLoadWatcherTest, SaysWhereTheAnswerIsWrong) {
  const struct {
    const char* body;
    const char* want;
  } cases[] = {
      {R"({"data":{"NodeMetricsMap":{}}})", "there is no window.end"},
      {R"({"window":{"end":"now"}})", "window.end: expected a whole number"},
      {R"({"window":{"end":1},"data":{}})", "there is no data.NodeMetricsMap"},
      {R"({"window":{"end":1},"data":{"NodeMetricsMap":[]}})",
       "data.NodeMetricsMap: expected an object"},
      {R"({"window":{"end":1},"data":{"NodeMetricsMap":{"a":{"metrics":[{"value":"3"}]}}}})",
       "data.NodeMetricsMap.a.metrics[0].value: expected a number"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.body);
    NodesByName nodes;
    int64_t end = 0;
    std::string body = c.body;
    const auto read = ReadLoadWatcher(body, end, nodes);
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message, HasSubstr(c.want));
  }
}

}  // namespace
}  // namespace berth::node_metrics
