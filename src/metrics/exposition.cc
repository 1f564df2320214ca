// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/exposition.h"

#include <chrono>
#include <iterator>
#include <limits>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>

#include "src/metrics/native_buckets.h"

// The message io.prometheus.client.MetricFamily, byte for byte as kube-scheduler's library for Go
// writes it. Each function appends to the message of one family; labels are in the order given.
//
// Thread safety: any thread.

namespace berth::metrics {
namespace {

using protozero::pbf_writer;

// Field numbers of client_model's metrics.proto.
enum FamilyField : uint32_t { kName = 1, kHelp = 2, kType = 3, kMetric = 4 };
enum MetricField : uint32_t { kLabel = 1, kGaugeField = 2, kCounterField = 3, kHistogramField = 7 };
enum LabelField : uint32_t { kLabelName = 1, kLabelValue = 2 };
enum CounterField : uint32_t { kCounterValue = 1, kCounterCreated = 3 };
enum HistogramField : uint32_t {
  kSampleCount = 1,
  kSampleSum = 2,
  kBucket = 3,
  kSchemaField = 5,
  kZeroThresholdField = 6,
  kZeroCount = 7,
  kNegativeSpan = 9,
  kNegativeDelta = 10,
  kPositiveSpan = 12,
  kPositiveDelta = 13,
  kHistogramCreated = 15,
};
enum BucketField : uint32_t { kCumulativeCount = 1, kUpperBound = 2 };
enum SpanField : uint32_t { kOffset = 1, kLength = 2 };
enum TimestampField : uint32_t { kSeconds = 1, kNanos = 2 };

constexpr uint32_t kGaugeValue = 1;
// Empty buckets that are written out rather than ending a span.
constexpr int kBridgedGap = 2;

int32_t TypeNumber(MetricType type) {
  constexpr int32_t kNumbers[] = {0, 1, 4};
  return kNumbers[static_cast<size_t>(type)];
}

void WriteLabels(pbf_writer& metric, std::span<const Label> labels) {
  for (const Label& label : labels) {
    pbf_writer pair(metric, kLabel);
    pair.add_string(kLabelName, label.name.data(), label.name.size());
    pair.add_string(kLabelValue, label.value.data(), label.value.size());
  }
}

void WriteCreated(pbf_writer& message, uint32_t field, std::optional<Time> created) {
  if (!created) return;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(*created);
  pbf_writer timestamp(message, field);
  timestamp.add_int64(kSeconds, seconds.time_since_epoch().count());
  timestamp.add_int32(kNanos, static_cast<int32_t>((*created - seconds).count()));
}

struct Span {
  int offset = 0;  // from the end of the one before, of the first from 0
  uint32_t length = 0;
};

void WriteWindow(pbf_writer& histogram, const NativeBuckets::Window& window, uint32_t span_field,
                 uint32_t delta_field) {
  std::vector<Span> spans;
  std::vector<int64_t> deltas;  // of each count to the one before
  int next = 0;                 // the index after the last that is written
  int64_t last = 0;
  const auto append = [&](int64_t count) {
    ++spans.back().length;
    deltas.push_back(count - last);
    last = count;
    ++next;
  };
  for (size_t i = 0; i < window.counts.size(); ++i) {
    if (window.counts[i] == 0) continue;
    const int index = window.first + static_cast<int>(i);
    if (spans.empty() || index - next > kBridgedGap) {
      spans.push_back({index - next, 0});
      next = index;
    }
    while (next < index) append(0);
    append(static_cast<int64_t>(window.counts[i]));
  }
  for (const Span& span : spans) {
    pbf_writer message(histogram, span_field);
    message.add_sint32(kOffset, span.offset);
    message.add_uint32(kLength, span.length);
  }
  for (const int64_t delta : deltas) histogram.add_sint64(delta_field, delta);
}

void AppendFamilyHead(std::string& family, std::string_view name, MetricType type,
                      std::string_view help) {
  pbf_writer message(family);
  message.add_string(kName, name.data(), name.size());
  message.add_string(kHelp, help.data(), help.size());
  message.add_enum(kType, TypeNumber(type));
}

// `created`: since when it counts, here and below; nullopt is not written.
void AppendCounter(std::string& family, std::span<const Label> labels, double value,
                   std::optional<Time> created) {
  pbf_writer message(family);
  pbf_writer metric(message, kMetric);
  WriteLabels(metric, labels);
  pbf_writer counter(metric, kCounterField);
  counter.add_double(kCounterValue, value);
  WriteCreated(counter, kCounterCreated, created);
}

void AppendGauge(std::string& family, std::span<const Label> labels, double value) {
  pbf_writer message(family);
  pbf_writer metric(message, kMetric);
  WriteLabels(metric, labels);
  pbf_writer(metric, kGaugeField).add_double(kGaugeValue, value);
}

// `native`: with value.native, too.
void AppendHistogram(std::string& family, std::span<const Label> labels,
                     std::span<const double> bounds, const SeriesValue& value, bool native,
                     std::optional<Time> created) {
  uint64_t count = 0;
  for (const uint64_t bucket : value.buckets) count += bucket;
  pbf_writer message(family);
  pbf_writer metric(message, kMetric);
  WriteLabels(metric, labels);
  pbf_writer histogram(metric, kHistogramField);
  histogram.add_uint64(kSampleCount, count);
  histogram.add_double(kSampleSum, value.sum);
  uint64_t cumulative = 0;
  for (size_t i = 0; i < bounds.size(); ++i) {
    cumulative += value.buckets[i];
    pbf_writer bucket(histogram, kBucket);
    bucket.add_uint64(kCumulativeCount, cumulative);
    bucket.add_double(kUpperBound, bounds[i]);
  }
  if (native) {
    histogram.add_sint32(kSchemaField, value.native.schema());
    histogram.add_double(kZeroThresholdField, NativeBuckets::kZeroThreshold);
    histogram.add_uint64(kZeroCount, value.native.zero_count());
    WriteWindow(histogram, value.native.negative(), kNegativeSpan, kNegativeDelta);
    WriteWindow(histogram, value.native.positive(), kPositiveSpan, kPositiveDelta);
  }
  WriteCreated(histogram, kHistogramCreated, created);
}

// The message after its length.
void AppendDelimited(std::string& page, std::string_view message) {
  protozero::write_varint(std::back_inserter(page), message.size());
  page.append(message);
}

}  // namespace

void PageWriter::Begin(std::string_view name, MetricType type, std::string_view help) {
  EndFamily();
  name_ = name;
  type_ = type;
  help_ = help;
}

void PageWriter::BeginSample() {
  if (begun_) return;
  begun_ = true;
  if (format_ == Format::kText) {
    AppendHeader(page_, name_, MetricTypeName(type_), help_);
  } else {
    AppendFamilyHead(message_, name_, type_, help_);
  }
}

void PageWriter::EndFamily() {
  if (begun_ && format_ == Format::kProtobuf) AppendDelimited(page_, message_);
  message_.clear();
  begun_ = false;
}

void PageWriter::WriteGauge(std::span<const Label> labels, double value) {
  BeginSample();
  if (format_ == Format::kText) {
    AppendSample(page_, name_, "", labels, value);
  } else {
    AppendGauge(message_, labels, value);
  }
}

void PageWriter::Write(const Family& family) {
  Begin(family.name, family.type, family.help);
  std::vector<Label> labels;
  for (const Family::Sample& sample : family.samples) {
    labels.clear();
    for (const auto& [name, value] : sample.labels) labels.push_back({name, value});
    BeginSample();
    if (format_ == Format::kText) {
      WriteText(family, sample, labels);
    } else {
      WriteProtobuf(family, sample, labels);
    }
  }
}

void PageWriter::WriteText(const Family& family, const Family::Sample& sample,
                           std::span<const Label> labels) {
  if (family.type != MetricType::kHistogram) {
    AppendSample(page_, family.name, "", labels, sample.value.value);
    return;
  }
  std::vector<Label> with_bound(labels.begin(), labels.end());
  with_bound.push_back({"le", ""});
  uint64_t count = 0;
  for (size_t i = 0; i < sample.value.buckets.size(); ++i) {
    count += sample.value.buckets[i];
    const std::string bound = FormatValue(
        i < family.bounds.size() ? family.bounds[i] : std::numeric_limits<double>::infinity());
    with_bound.back().value = bound;
    AppendSample(page_, family.name, "_bucket", with_bound, static_cast<double>(count));
  }
  AppendSample(page_, family.name, "_sum", labels, sample.value.sum);
  AppendSample(page_, family.name, "_count", labels, static_cast<double>(count));
}

void PageWriter::WriteProtobuf(const Family& family, const Family::Sample& sample,
                               std::span<const Label> labels) {
  switch (family.type) {
    case MetricType::kCounter:
      AppendCounter(message_, labels, sample.value.value, sample.created);
      break;
    case MetricType::kGauge:
      AppendGauge(message_, labels, sample.value.value);
      break;
    case MetricType::kHistogram:
      AppendHistogram(message_, labels, family.bounds, sample.value, family.native, sample.created);
      break;
  }
}

std::string PageWriter::Finish() {
  EndFamily();
  return std::move(page_);
}

}  // namespace berth::metrics
