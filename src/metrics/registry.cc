// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/registry.h"

#include <algorithm>

#include "berth/check.h"

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

// Since when it counts is known: others are kept elsewhere, such as the process's CPU time.
bool HasCreated(const MetricSpec& spec) {
  return spec.type != MetricType::kGauge && spec.stability != Stability::kNone;
}

}  // namespace

Registry::Registry(RegistryOptions options)
    : options_(std::move(options)), plugin_metrics_(options_.native_histograms, options_.clock) {
  for (size_t i = 0; i < MetricTable().size(); ++i) {
    const auto metric = static_cast<Metric>(i);
    if (SpecOf(metric).labels.empty() && !options_.absent.contains(metric)) Intern(metric);
  }
  CountTable();
}

void Registry::CountTable() {
  for (size_t i = 0; i < MetricTable().size(); ++i) {
    const MetricSpec& spec = MetricTable()[i];
    // Of pods kube-scheduler counts neither.
    if (spec.page == Page::kResources || spec.stability == Stability::kNone) continue;
    if (options_.absent.contains(static_cast<Metric>(i))) continue;
    if (!Shows(static_cast<Metric>(i))) {
      Add(Intern(Metric::kHiddenMetrics));
      continue;
    }
    Add(Intern(Metric::kRegisteredMetrics,
               {StabilityName(spec.stability), spec.deprecated_version}));
  }
  Set(Intern(Metric::kDisabledMetrics), static_cast<double>(options_.disabled.size()));
}

std::optional<Time> Registry::WallNow() const {
  if (options_.clock == nullptr) return std::nullopt;
  return options_.clock->WallNow();
}

bool Registry::Shows(Metric metric) const {
  const MetricSpec& spec = SpecOf(metric);
  return !options_.absent.contains(metric) && !options_.disabled.contains(spec.name) &&
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

void Registry::CountUnexpected(size_t values, double times) {
  if (values == 0) return;
  const SeriesId count = InternLocked(Metric::kUnexpectedLabels, {});
  series_[count.index].value.value += static_cast<double>(values) * times;
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
  const SeriesId series = InternLocked(metric, allowed);
  series_[series.index].unexpected = unexpected;
  return series;
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
  if (added) {
    const MetricSpec& spec = SpecOf(metric);
    series_.push_back({metric,
                       {labels.begin(), labels.end()},
                       Zero(spec),
                       HasCreated(spec) ? WallNow() : std::nullopt,
                       0});
  }
  return {found->second};
}

void Registry::Add(SeriesId series, double by) {
  base::MutexLock lock(mutex_);
  series_[series.index].value.value += by;
  CountUnexpected(series_[series.index].unexpected);
}

void Registry::Set(SeriesId series, double value) {
  base::MutexLock lock(mutex_);
  series_[series.index].value.value = value;
  CountUnexpected(series_[series.index].unexpected);
}

void Registry::Observe(SeriesId series, double value) {
  base::MutexLock lock(mutex_);
  Series& target = series_[series.index];
  target.value.sum += value;
  const MetricSpec& spec = SpecOf(target.metric);
  ++target.value.buckets[BucketOf(spec.buckets, value)];
  if (IsNative(spec)) target.value.native.Observe(value);
  CountUnexpected(target.unexpected);
}

void Registry::Merge(std::span<const Change> changes) {
  base::MutexLock lock(mutex_);
  for (const Change& change : changes) {
    Series& target = series_[change.series.index];
    if (SpecOf(target.metric).type == MetricType::kGauge) {
      target.value.value = change.value->value;
      CountUnexpected(target.unexpected);
      continue;
    }
    // How often it was counted: the one is 0 for a histogram, the others for a counter.
    double times = change.value->value;
    target.value.value += change.value->value;
    target.value.sum += change.value->sum;
    for (size_t i = 0; i < change.value->buckets.size(); ++i) {
      target.value.buckets[i] += change.value->buckets[i];
      times += static_cast<double>(change.value->buckets[i]);
    }
    target.value.native.Add(change.value->native);
    CountUnexpected(target.unexpected, times);
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

std::vector<Family> Registry::Gather(Page page) const {
  std::vector<Series> all;
  {
    base::MutexLock lock(mutex_);
    for (const Series& series : series_) {
      if (SpecOf(series.metric).page == page && Shows(series.metric)) all.push_back(series);
    }
    for (const auto& [metric, samples] : replaced_) {
      if (SpecOf(metric).page != page || !Shows(metric)) continue;
      for (const Sample& sample : samples) {
        all.push_back({metric, sample.labels, {.value = sample.value}, std::nullopt, 0});
      }
    }
  }
  std::map<std::string_view, Family> families;
  for (Series& series : all) {
    const MetricSpec& spec = SpecOf(series.metric);
    Family& family = families[spec.name];
    if (family.samples.empty()) {
      family.name = spec.name;
      family.help = AnnotatedHelp(spec);
      family.type = spec.type;
      family.bounds = spec.buckets;
      family.native = IsNative(spec);
    }
    Family::Sample& sample = family.samples.emplace_back();
    for (size_t i = 0; i < spec.labels.size(); ++i) {
      sample.labels.emplace_back(spec.labels[i], std::move(series.labels[i]));
    }
    std::ranges::sort(sample.labels);
    sample.value = std::move(series.value);
    sample.created = series.created;
  }
  std::vector<Family> sorted;
  sorted.reserve(families.size());
  for (auto& [name, family] : families) {
    std::ranges::sort(family.samples, {}, &Family::Sample::labels);
    sorted.push_back(std::move(family));
  }
  return sorted;
}

std::string Registry::Exposition(Page page, Format format) {
  std::vector<std::function<void(Registry&)>> refreshes;
  {
    base::MutexLock lock(mutex_);
    refreshes = refreshes_;
  }
  for (const auto& refresh : refreshes) refresh(*this);

  std::vector<Family> families = Gather(page);
  if (page == Page::kMetrics) plugin_metrics_.AppendTo(families);
  PageWriter writer(format);
  for (const Family& family : families) writer.Write(family);
  return writer.Finish();
}

void Registry::Reset(Page page) {
  const std::optional<Time> now = WallNow();
  base::MutexLock lock(mutex_);
  for (Series& series : series_) {
    const MetricSpec& spec = SpecOf(series.metric);
    if (spec.page != page || spec.type == MetricType::kGauge) continue;
    series.value = Zero(spec);
    if (HasCreated(spec)) series.created = now;
  }
}

}  // namespace berth::metrics
