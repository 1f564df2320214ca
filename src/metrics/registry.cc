// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/registry.h"

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "berth/check.h"

namespace berth::metrics {
namespace {

std::string KeyOf(Metric metric, LabelValues labels) {
  std::string key = std::to_string(static_cast<int>(metric));
  for (const std::string_view label : labels) {
    key.push_back('\0');
    key.append(label);
  }
  return key;
}

SeriesValue Zero(const MetricSpec& spec) {
  SeriesValue value;
  if (spec.type == MetricType::kHistogram) value.buckets.resize(spec.buckets.size() + 1);
  return value;
}

std::string Help(const MetricSpec& spec) {
  constexpr std::string_view kNames[] = {"STABLE", "BETA", "ALPHA"};
  std::string help = "[";
  help.append(kNames[static_cast<size_t>(spec.stability)]).append("] ").append(spec.help);
  return help;
}

prometheus::MetricType Type(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return prometheus::MetricType::Counter;
    case MetricType::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricType::kHistogram:
      break;
  }
  return prometheus::MetricType::Histogram;
}

prometheus::ClientMetric Sample(const MetricSpec& spec, const std::vector<std::string>& labels,
                                const SeriesValue& value) {
  prometheus::ClientMetric sample;
  for (size_t i = 0; i < labels.size(); ++i) {
    sample.label.push_back({std::string(spec.labels[i]), labels[i]});
  }
  std::sort(sample.label.begin(), sample.label.end());
  sample.counter.value = value.value;
  sample.gauge.value = value.value;
  uint64_t count = 0;
  for (size_t i = 0; i < value.buckets.size(); ++i) {
    count += value.buckets[i];
    const double bound =
        i < spec.buckets.size() ? spec.buckets[i] : std::numeric_limits<double>::infinity();
    sample.histogram.bucket.push_back({count, bound});
  }
  sample.histogram.sample_count = count;
  sample.histogram.sample_sum = value.sum;
  return sample;
}

}  // namespace

size_t BucketOf(std::span<const double> bounds, double value) {
  return static_cast<size_t>(std::lower_bound(bounds.begin(), bounds.end(), value) -
                             bounds.begin());
}

Registry::Registry() {
  for (size_t i = 0; i < MetricTable().size(); ++i) {
    if (MetricTable()[i].labels.empty()) Intern(static_cast<Metric>(i));
  }
}

SeriesId Registry::Intern(Metric metric, LabelValues labels) {
  const MetricSpec& spec = SpecOf(metric);
  BERTH_CHECK(labels.size() == spec.labels.size(), "wrong number of label values");
  base::MutexLock lock(mutex_);
  const auto [found, added] =
      index_.emplace(KeyOf(metric, labels), static_cast<uint32_t>(series_.size()));
  if (added) series_.push_back({metric, {labels.begin(), labels.end()}, Zero(spec)});
  return {found->second};
}

void Registry::Add(SeriesId series, double by) {
  base::MutexLock lock(mutex_);
  series_[series.index].value.value += by;
}

void Registry::Set(SeriesId series, double value) {
  base::MutexLock lock(mutex_);
  series_[series.index].value.value = value;
}

void Registry::Observe(SeriesId series, double value) {
  base::MutexLock lock(mutex_);
  Series& target = series_[series.index];
  target.value.sum += value;
  ++target.value.buckets[BucketOf(SpecOf(target.metric).buckets, value)];
}

void Registry::Merge(std::span<const Change> changes) {
  base::MutexLock lock(mutex_);
  for (const Change& change : changes) {
    Series& target = series_[change.series.index];
    if (SpecOf(target.metric).type == MetricType::kGauge) {
      target.value.value = change.value->value;
      continue;
    }
    target.value.value += change.value->value;
    target.value.sum += change.value->sum;
    for (size_t i = 0; i < change.value->buckets.size(); ++i) {
      target.value.buckets[i] += change.value->buckets[i];
    }
  }
}

SeriesValue Registry::Read(SeriesId series) const {
  base::MutexLock lock(mutex_);
  return series_[series.index].value;
}

std::string Registry::Exposition() const {
  std::vector<Series> all;
  {
    base::MutexLock lock(mutex_);
    all = series_;
  }
  std::sort(all.begin(), all.end(), [](const Series& a, const Series& b) {
    const std::string_view name_a = SpecOf(a.metric).name;
    const std::string_view name_b = SpecOf(b.metric).name;
    return std::tie(name_a, a.labels) < std::tie(name_b, b.labels);
  });
  std::vector<prometheus::MetricFamily> families;
  for (const Series& series : all) {
    const MetricSpec& spec = SpecOf(series.metric);
    if (families.empty() || families.back().name != spec.name) {
      families.push_back({std::string(spec.name), Help(spec), Type(spec.type), {}});
    }
    families.back().metric.push_back(Sample(spec, series.labels, series.value));
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace berth::metrics
