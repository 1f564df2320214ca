// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/exposition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <sstream>

#include "src/base/virtual_time.h"
#include "src/metrics/local_metrics.h"
#include "src/metrics/pod_resources.h"
#include "src/metrics/registry.h"

namespace berth::metrics {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// What tests/oracle/scrapes had Kubernetes' own libraries write, and what they had observed.
struct UpstreamPage {
  std::vector<double> bounds;
  std::vector<std::pair<std::string, std::vector<double>>> observed;  // by the label `case`
  std::string protobuf;
  std::string text;
};

std::vector<double> Numbers(std::istringstream& line) {
  std::vector<double> numbers;
  for (std::string word; line >> word;) numbers.push_back(std::strtod(word.c_str(), nullptr));
  return numbers;
}

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

UpstreamPage ReadUpstreamPage() {
  UpstreamPage page;
  std::ifstream file("tests/unit/metrics/testdata/page.txt");
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string what;
    line >> what;
    if (what == "bounds") {
      page.bounds = Numbers(line);
    } else if (what == "observe") {
      std::string name;
      line >> name;
      page.observed.emplace_back(name, Numbers(line));
    } else {
      std::string hex;
      line >> hex;
      (what == "protobuf" ? page.protobuf : page.text) = FromHex(hex);
    }
  }
  return page;
}

// The families of tests/oracle/scrapes, as Berth counts them.
std::string Write(const UpstreamPage& upstream, Format format) {
  const Time created = Time(std::chrono::seconds(1'700'000'000)) + Duration(5);
  const auto sample = [created](std::vector<std::pair<std::string, std::string>> labels,
                                double value) {
    return Family::Sample{std::move(labels), {.value = value}, created};
  };
  Family counter{"c_total", "[STABLE] Counts \"things\".", MetricType::kCounter, {}, false, {}};
  counter.samples.push_back(sample({{"a", ""}, {"z", "0"}}, 1));
  counter.samples.push_back(sample({{"a", "é\n"}, {"z", "1"}}, 2.5));
  Family gauge{"g", "[ALPHA] Is zero.", MetricType::kGauge, {}, false, {}};
  gauge.samples.push_back(sample({}, 0));
  Family histogram{"h", "[BETA] Observes.", MetricType::kHistogram, upstream.bounds, true, {}};
  for (const auto& [name, values] : upstream.observed) {
    Family::Sample series = sample({{"case", name}}, 0);
    series.value.buckets.resize(upstream.bounds.size() + 1);
    for (const double value : values) {
      series.value.sum += value;
      ++series.value.buckets[BucketOf(upstream.bounds, value)];
      series.value.native.Observe(value);
    }
    histogram.samples.push_back(std::move(series));
  }
  std::ranges::sort(histogram.samples, {}, &Family::Sample::labels);
  PageWriter writer(format);
  for (const Family& family : {counter, gauge, histogram}) writer.Write(family);
  return writer.Finish();
}

TEST(ExpositionTest, ProtobufIsByteForByteWhatKubernetesLibrariesWrite) {
  const UpstreamPage upstream = ReadUpstreamPage();
  ASSERT_GE(upstream.observed.size(), 10u);
  EXPECT_EQ(Write(upstream, Format::kProtobuf), upstream.protobuf);
}

TEST(ExpositionTest, TextIsByteForByteWhatKubernetesLibrariesWrite) {
  const UpstreamPage upstream = ReadUpstreamPage();
  EXPECT_EQ(Write(upstream, Format::kText), upstream.text);
}

// The messages of a page, each by its name.
std::map<std::string, std::string> Messages(const std::string& page) {
  std::map<std::string, std::string> messages;
  const char* at = page.data();
  const char* const end = at + page.size();
  while (at != end) {
    const auto size = protozero::decode_varint(&at, end);
    const std::string message(at, size);
    at += size;
    protozero::pbf_reader reader(message);
    EXPECT_TRUE(reader.next(1));
    messages.emplace(reader.get_string(), message);
  }
  return messages;
}

// The fields that the histogram of the family's first sample has, by number.
std::multimap<uint32_t, uint64_t> HistogramFields(const std::string& family) {
  std::multimap<uint32_t, uint64_t> fields;
  protozero::pbf_reader reader(family);
  EXPECT_TRUE(reader.next(4));
  protozero::pbf_reader metric = reader.get_message();
  EXPECT_TRUE(metric.next(7));
  protozero::pbf_reader histogram = metric.get_message();
  while (histogram.next()) {
    const bool number = histogram.wire_type() == protozero::pbf_wire_type::varint;
    const uint32_t tag = histogram.tag();
    fields.emplace(tag, number ? histogram.get_uint64() : (histogram.skip(), 0));
  }
  return fields;
}

constexpr const char* kAttempts = "scheduler_pod_scheduling_attempts";
constexpr uint32_t kSampleCount = 1;
constexpr uint32_t kClassicBucket = 3;
constexpr uint32_t kSchema = 5;
constexpr uint32_t kZeroCount = 7;
constexpr uint32_t kPositiveDelta = 13;
constexpr uint32_t kCreated = 15;

TEST(ExpositionTest, WithTheGateOffHistogramsAreClassicAlone) {
  for (const bool on : {true, false}) {
    Registry registry({.native_histograms = on});
    LocalMetrics local(registry);
    local.Observe(local.Series(Metric::kPodSchedulingAttempts), 3.0);
    local.Publish();
    registry.Observe(registry.Intern(Metric::kPodSchedulingAttempts), 3.0);
    const auto messages = Messages(registry.Exposition(Page::kMetrics, Format::kProtobuf));
    const auto fields = HistogramFields(messages.at(kAttempts));
    EXPECT_EQ(fields.find(kSampleCount)->second, 2u);
    EXPECT_EQ(fields.count(kClassicBucket), 5u);
    EXPECT_EQ(fields.count(kSchema), on ? 1u : 0u);
    EXPECT_EQ(fields.count(kZeroCount), on ? 1u : 0u);
    EXPECT_EQ(fields.count(kPositiveDelta), on ? 1u : 0u);
    if (on) EXPECT_EQ(fields.find(kPositiveDelta)->second, 4u) << "2 in zigzag";
  }
}

TEST(ExpositionTest, WhatKubeSchedulerMakesBeforeItsGatesIsClassicAlone) {
  Registry registry;
  const SeriesId series = registry.Intern(Metric::kRestClientRequestDuration, {"GET", "h"});
  registry.Observe(series, 1);
  LocalMetrics local(registry);
  local.Observe(local.Series(Metric::kRestClientRequestDuration, {"GET", "h"}), 1.0);
  local.Publish();
  const auto messages = Messages(registry.Exposition(Page::kMetrics, Format::kProtobuf));
  const auto fields = HistogramFields(messages.at("rest_client_request_duration_seconds"));
  EXPECT_EQ(fields.find(kSampleCount)->second, 2u);
  EXPECT_EQ(fields.count(kSchema), 0u);
}

TEST(ExpositionTest, BothFormatsHaveTheSameMetrics) {
  Registry registry;
  const auto id =
      registry.plugin_metrics().Define("Example", {.type = PluginMetricSpec::Type::kHistogram,
                                                   .name = "seconds",
                                                   .help = "Help.",
                                                   .labels = {},
                                                   .buckets = {1, 2}});
  ASSERT_TRUE(id);
  registry.plugin_metrics().Observe(*id, {}, 1.5);
  const auto messages = Messages(registry.Exposition(Page::kMetrics, Format::kProtobuf));
  const std::string text = registry.Exposition();
  size_t families = 0;
  for (size_t at = text.find("# TYPE "); at != text.npos; at = text.find("# TYPE ", at + 1)) {
    const size_t name = at + 7;
    EXPECT_TRUE(messages.contains(text.substr(name, text.find(' ', name) - name)));
    ++families;
  }
  EXPECT_EQ(families, messages.size());
  EXPECT_EQ(HistogramFields(messages.at("berth_plugin_example_seconds")).count(kSchema), 1u);
}

TEST(ExpositionTest, CountsTellSinceWhenTheyCount) {
  base::VirtualClock clock;
  clock.Set(Time(std::chrono::seconds(1000)));
  Registry registry({.clock = &clock});
  clock.Set(Time(std::chrono::seconds(2000)));
  const auto created = [&](const char* name) {
    const auto messages = Messages(registry.Exposition(Page::kMetrics, Format::kProtobuf));
    protozero::pbf_reader family(messages.at(name));
    EXPECT_TRUE(family.next(4));
    protozero::pbf_reader metric = family.get_message();
    EXPECT_TRUE(metric.next());
    while (metric.tag() == 1) {
      metric.skip();
      EXPECT_TRUE(metric.next());
    }
    const uint32_t field = metric.tag() == 3 ? 3 : kCreated;
    protozero::pbf_reader value = metric.get_message();
    while (value.next()) {
      if (value.tag() != field) {
        value.skip();
        continue;
      }
      protozero::pbf_reader timestamp = value.get_message();
      EXPECT_TRUE(timestamp.next(1));
      return timestamp.get_int64();
    }
    return int64_t{-1};
  };
  registry.Add(registry.Intern(Metric::kScheduleAttempts, {"scheduled", "p"}));
  EXPECT_EQ(created(kAttempts), 1000);
  EXPECT_EQ(created("scheduler_preemption_attempts_total"), 1000);
  EXPECT_EQ(created("scheduler_schedule_attempts_total"), 2000);
  // The kernel counts it, and not from here on.
  EXPECT_EQ(created("process_cpu_seconds_total"), -1);
  clock.Set(Time(std::chrono::seconds(3000)));
  registry.Reset(Page::kMetrics);
  EXPECT_EQ(created(kAttempts), 3000);
}

TEST(ExpositionTest, AFamilyWithoutSamplesIsNotWritten) {
  for (const Format format : {Format::kText, Format::kProtobuf}) {
    PageWriter writer(format);
    writer.Begin("none", MetricType::kGauge, "Help.");
    writer.Write({"nothing", "Help.", MetricType::kCounter, {}, false, {}});
    EXPECT_EQ(writer.Finish(), "");
  }
}

TEST(ExpositionTest, WhatPodsRequestComesAsProtobufToo) {
  const auto pod = std::make_shared<api::Pod>();
  pod->metadata.name = "a";
  pod->metadata.namespace_ = "ns";
  auto& container = pod->spec.containers.emplace_back();
  container.resources.requests.emplace_back("cpu", *api::Quantity::Parse("1500m"));
  const std::shared_ptr<const api::Pod> pods[] = {pod};
  const Registry registry;
  const auto messages = Messages(PodResourcesExposition(pods, registry, Format::kProtobuf));
  ASSERT_EQ(messages.size(), 1u);
  const std::string& family = messages.at("kube_pod_resource_request");
  for (const char* part : {"ns", "cpu", "cores"}) EXPECT_THAT(family, HasSubstr(part));
}

TEST(BucketOfTest, ABoundBelongsToItsBucketAndNanIsPastAll) {
  const std::vector<double> bounds = {1, 2, 4};
  const double values[] = {-1, 1, 1.5, 2, 4, 5, INFINITY, NAN};
  std::vector<size_t> buckets;
  for (const double value : values) buckets.push_back(BucketOf(bounds, value));
  EXPECT_THAT(buckets, ElementsAre(0, 0, 1, 1, 2, 3, 3, 3));
}

}  // namespace
}  // namespace berth::metrics
