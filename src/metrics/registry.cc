// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/registry.h"

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/serializer.h>

#include <algorithm>
#include <limits>
#include <map>
#include <ostream>
#include <utility>

#include "berth/check.h"
#include "src/metrics/text_format.h"

namespace berth::metrics {
namespace {

void WriteKey(Metric metric, LabelValues labels, std::string& key) {
  key.assign(std::to_string(static_cast<int>(metric)));
  for (const std::string_view label : labels) {
    key.push_back('\0');
    key.append(label);
  }
}

SeriesValue Zero(const MetricSpec& spec) {
  SeriesValue value;
  if (spec.type == MetricType::kHistogram) value.buckets.resize(spec.buckets.size() + 1);
  return value;
}

prometheus::MetricType PrometheusType(MetricType type) {
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

prometheus::ClientMetric MakeSample(const MetricSpec& spec, const std::vector<std::string>& labels,
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

// Writes as Go does. prometheus-cpp's own serializer prints 16 digits, so that a bound such as
// 0.0032 gets a label of another text than kube-scheduler's, and breaks queries that name it.
class GoTextSerializer final : public prometheus::Serializer {
 public:
  void Serialize(std::ostream& out,
                 const std::vector<prometheus::MetricFamily>& families) const override {
    std::string text;
    for (const prometheus::MetricFamily& family : families) {
      AppendHeader(text, family.name, TypeName(family.type), family.help);
      for (const prometheus::ClientMetric& sample : family.metric) Append(text, family, sample);
    }
    out << text;
  }

 private:
  static std::string_view TypeName(prometheus::MetricType type) {
    switch (type) {
      case prometheus::MetricType::Counter:
        return "counter";
      case prometheus::MetricType::Gauge:
        return "gauge";
      default:
        return "histogram";
    }
  }

  static void Append(std::string& text, const prometheus::MetricFamily& family,
                     const prometheus::ClientMetric& sample) {
    std::vector<Label> labels;
    for (const auto& label : sample.label) labels.push_back({label.name, label.value});
    if (family.type == prometheus::MetricType::Counter) {
      AppendSample(text, family.name, "", labels, sample.counter.value);
      return;
    }
    if (family.type == prometheus::MetricType::Gauge) {
      AppendSample(text, family.name, "", labels, sample.gauge.value);
      return;
    }
    const auto& histogram = sample.histogram;
    std::vector<Label> with_bound = labels;
    with_bound.push_back({"le", ""});
    for (const auto& bucket : histogram.bucket) {
      const std::string bound = FormatValue(bucket.upper_bound);
      with_bound.back().value = bound;
      AppendSample(text, family.name, "_bucket", with_bound,
                   static_cast<double>(bucket.cumulative_count));
    }
    AppendSample(text, family.name, "_sum", labels, histogram.sample_sum);
    AppendSample(text, family.name, "_count", labels, static_cast<double>(histogram.sample_count));
  }
};

}  // namespace

size_t BucketOf(std::span<const double> bounds, double value) {
  // Where most of what is measured falls.
  if (!bounds.empty() && value <= bounds.front()) return 0;
  return static_cast<size_t>(std::lower_bound(bounds.begin(), bounds.end(), value) -
                             bounds.begin());
}

Registry::Registry(RegistryOptions options) : options_(std::move(options)) {
  for (size_t i = 0; i < MetricTable().size(); ++i) {
    if (MetricTable()[i].labels.empty()) Intern(static_cast<Metric>(i));
  }
  CountTable();
}

void Registry::CountTable() {
  for (size_t i = 0; i < MetricTable().size(); ++i) {
    const MetricSpec& spec = MetricTable()[i];
    if (spec.page != Page::kMetrics || spec.stability == Stability::kNone) continue;
    if (!Shows(static_cast<Metric>(i))) {
      if (!options_.disabled.contains(spec.name)) Add(Intern(Metric::kHiddenMetrics));
      continue;
    }
    Add(Intern(Metric::kRegisteredMetrics,
               {StabilityName(spec.stability), spec.deprecated_version}));
  }
  Set(Intern(Metric::kDisabledMetrics), static_cast<double>(options_.disabled.size()));
}

bool Registry::Shows(Metric metric) const {
  const MetricSpec& spec = SpecOf(metric);
  return !options_.disabled.contains(spec.name) &&
         (spec.deprecated_version.empty() || options_.show_hidden);
}

size_t Registry::ReplaceUnexpected(const MetricSpec& spec,
                                   std::span<std::string_view> labels) const {
  BERTH_CHECK(labels.size() == spec.labels.size(), "wrong number of label values");
  if (options_.allowed_values.empty()) return 0;
  size_t unexpected = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto found =
        options_.allowed_values.find({std::string(spec.name), std::string(spec.labels[i])});
    if (found == options_.allowed_values.end() || found->second.contains(labels[i])) continue;
    labels[i] = "unexpected";
    ++unexpected;
  }
  return unexpected;
}

void Registry::CountUnexpected(size_t values) {
  if (values == 0) return;
  const SeriesId count = InternLocked(Metric::kUnexpectedLabels, {});
  series_[count.index].value.value += static_cast<double>(values);
}

SeriesId Registry::Intern(Metric metric, LabelValues labels) {
  BERTH_CHECK(labels.size() == SpecOf(metric).labels.size(), "wrong number of label values");
  if (options_.allowed_values.empty()) {
    base::MutexLock lock(mutex_);
    return InternLocked(metric, labels);
  }
  std::vector<std::string_view> allowed(labels.begin(), labels.end());
  const size_t unexpected = ReplaceUnexpected(SpecOf(metric), allowed);
  base::MutexLock lock(mutex_);
  CountUnexpected(unexpected);
  return InternLocked(metric, allowed);
}

void Registry::Replace(Metric gauge, std::vector<Sample> samples) {
  const MetricSpec& spec = SpecOf(gauge);
  BERTH_CHECK(spec.type == MetricType::kGauge, "only a gauge is replaced");
  size_t unexpected = 0;
  std::map<std::vector<std::string>, double> merged;
  for (const Sample& sample : samples) {
    std::vector<std::string_view> labels(sample.labels.begin(), sample.labels.end());
    unexpected += ReplaceUnexpected(spec, labels);
    // What counts as unexpected is one series.
    merged[{labels.begin(), labels.end()}] += sample.value;
  }
  samples.clear();
  for (const auto& [labels, value] : merged) samples.push_back({labels, value});
  base::MutexLock lock(mutex_);
  CountUnexpected(unexpected);
  replaced_[gauge] = std::move(samples);
}

SeriesId Registry::InternLocked(Metric metric, LabelValues labels) {
  WriteKey(metric, labels, key_);
  const auto [found, added] = index_.try_emplace(key_, static_cast<uint32_t>(series_.size()));
  if (added) series_.push_back({metric, {labels.begin(), labels.end()}, Zero(SpecOf(metric))});
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

void Registry::BeforeExposition(std::function<void(Registry&)> refresh) {
  base::MutexLock lock(mutex_);
  refreshes_.push_back(std::move(refresh));
}

std::string Registry::Exposition(Page page) {
  std::vector<std::function<void(Registry&)>> refreshes;
  {
    base::MutexLock lock(mutex_);
    refreshes = refreshes_;
  }
  for (const auto& refresh : refreshes) refresh(*this);

  std::vector<Series> all;
  {
    base::MutexLock lock(mutex_);
    all = series_;
    for (const auto& [metric, samples] : replaced_) {
      for (const Sample& sample : samples) {
        all.push_back({metric, sample.labels, {sample.value, 0, {}}});
      }
    }
  }
  std::map<std::string_view, prometheus::MetricFamily> families;
  for (const Series& series : all) {
    const MetricSpec& spec = SpecOf(series.metric);
    if (spec.page != page || !Shows(series.metric)) continue;
    prometheus::MetricFamily& family = families[spec.name];
    if (family.metric.empty()) {
      family.name = spec.name;
      family.help = AnnotatedHelp(spec);
      family.type = PrometheusType(spec.type);
    }
    family.metric.push_back(MakeSample(spec, series.labels, series.value));
  }
  std::vector<prometheus::MetricFamily> sorted;
  sorted.reserve(families.size());
  for (auto& [name, family] : families) {
    std::sort(family.metric.begin(), family.metric.end(),
              [](const auto& a, const auto& b) { return a.label < b.label; });
    sorted.push_back(std::move(family));
  }
  if (page == Page::kMetrics) plugin_metrics_.AppendTo(sorted);
  return GoTextSerializer().prometheus::Serializer::Serialize(sorted);
}

void Registry::Reset(Page page) {
  base::MutexLock lock(mutex_);
  for (Series& series : series_) {
    const MetricSpec& spec = SpecOf(series.metric);
    if (spec.page == page && spec.type != MetricType::kGauge) series.value = Zero(spec);
  }
}

}  // namespace berth::metrics
