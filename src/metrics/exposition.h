// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/time.h"
#include "src/metrics/metric_table.h"
#include "src/metrics/native_buckets.h"
#include "src/metrics/text_format.h"

namespace berth::metrics {

// How a page is written: in Prometheus' text format, or as its MetricFamily messages, each after
// its length. Native histograms and the times at which counts began are in the messages alone.
enum class Format : uint8_t { kText, kProtobuf };

// A metric with its series, before it is written.
struct Family {
  struct Sample {
    std::vector<std::pair<std::string, std::string>> labels;  // sorted
    SeriesValue value;
    std::optional<Time> created;  // since when a counter or histogram counts
  };

  std::string name;
  std::string help;
  MetricType type = MetricType::kCounter;
  std::vector<double> bounds;  // of a histogram
  bool native = false;         // of a histogram: it has native buckets, too
  std::vector<Sample> samples;
};

// Writes a page, family by family.
//
// Thread safety: one owner.
class PageWriter {
 public:
  explicit PageWriter(Format format) : format_(format) {}

  // Nothing is written of one that has no samples.
  void Write(const Family& family);
  // The same, sample by sample, for a page too large to be held as families.
  void Begin(std::string_view name, MetricType type, std::string_view help);
  void WriteGauge(std::span<const Label> labels, double value);

  // The page; the writer is done with.
  std::string Finish();

 private:
  void BeginSample();
  void WriteText(const Family& family, const Family::Sample& sample, std::span<const Label> labels);
  void WriteProtobuf(const Family& family, const Family::Sample& sample,
                     std::span<const Label> labels);
  void EndFamily();

  const Format format_;
  std::string page_;
  // What has begun:
  std::string name_;
  MetricType type_ = MetricType::kCounter;
  std::string help_;
  bool begun_ = false;   // it has a sample
  std::string message_;  // as protobuf
};

}  // namespace berth::metrics
