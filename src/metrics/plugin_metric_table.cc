// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/plugin_metric_table.h"

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace berth::metrics {
namespace {

using Type = PluginMetricSpec::Type;

bool Upper(char c) { return c >= 'A' && c <= 'Z'; }
bool Lower(char c) { return c >= 'a' && c <= 'z'; }
bool Digit(char c) { return c >= '0' && c <= '9'; }

// Prometheus' rule without the colons, which are for recording rules.
bool IsName(std::string_view name) {
  if (name.empty() || Digit(name.front())) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return Upper(c) || Lower(c) || Digit(c) || c == '_'; });
}

Result<void> Check(const PluginMetricSpec& spec) {
  if (!IsName(spec.name)) return Fail("\"" + spec.name + "\" is no name of a metric");
  for (size_t i = 0; i < spec.labels.size(); ++i) {
    const std::string& label = spec.labels[i];
    const bool again = std::find(spec.labels.begin(), spec.labels.begin() + static_cast<long>(i),
                                 label) != spec.labels.begin() + static_cast<long>(i);
    if (!IsName(label) || label.starts_with("__") || label == "le" || again) {
      return Fail(spec.name + ": \"" + label + "\" is no name of a label, or is there twice");
    }
  }
  const auto not_ascending = [](double a, double b) { return !(a < b); };
  if (std::adjacent_find(spec.buckets.begin(), spec.buckets.end(), not_ascending) !=
          spec.buckets.end() ||
      !std::all_of(spec.buckets.begin(), spec.buckets.end(),
                   [](double bound) { return std::isfinite(bound); })) {
    return Fail(spec.name + ": the buckets are not ascending");
  }
  return {};
}

prometheus::MetricType PrometheusType(Type type) {
  switch (type) {
    case Type::kCounter:
      return prometheus::MetricType::Counter;
    case Type::kGauge:
      return prometheus::MetricType::Gauge;
    case Type::kHistogram:
      break;
  }
  return prometheus::MetricType::Histogram;
}

}  // namespace

std::string SnakeCase(std::string_view name) {
  std::string snake;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (Upper(c)) {
      // A word begins after a small letter, and with the last capital of an acronym.
      const bool begins =
          i > 0 && (!Upper(name[i - 1]) || (i + 1 < name.size() && Lower(name[i + 1])));
      if (begins && !snake.empty() && snake.back() != '_') snake += '_';
      snake += static_cast<char>(c - 'A' + 'a');
    } else {
      snake += Lower(c) || Digit(c) ? c : '_';
    }
  }
  return snake;
}

Result<PluginMetrics::Id> PluginMetricTable::Define(std::string_view plugin,
                                                    PluginMetricSpec spec) {
  if (auto checked = Check(spec); !checked) return Fail(checked.error());
  spec.name = "berth_plugin_" + SnakeCase(plugin) + "_" + spec.name;
  base::MutexLock lock(mutex_);
  for (size_t i = 0; i < families_.size(); ++i) {
    if (families_[i].spec.name != spec.name) continue;
    if (families_[i].spec == spec) return static_cast<Id>(i);
    return Fail(spec.name + " is there already, with another type, help, labels or buckets");
  }
  Family family{std::move(spec), {}};
  if (family.spec.labels.empty()) {
    Cell cell;
    if (family.spec.type == Type::kHistogram) cell.buckets.resize(family.spec.buckets.size() + 1);
    family.cells.emplace(std::vector<std::string>(), std::move(cell));
  }
  families_.push_back(std::move(family));
  return static_cast<Id>(families_.size() - 1);
}

PluginMetricTable::Cell* PluginMetricTable::Find(Id metric, Labels labels, Type type) {
  if (metric >= families_.size()) return nullptr;
  Family& family = families_[metric];
  if (family.spec.type != type || family.spec.labels.size() != labels.size()) return nullptr;
  Cell& cell = family.cells[std::vector<std::string>(labels.begin(), labels.end())];
  if (type == Type::kHistogram) cell.buckets.resize(family.spec.buckets.size() + 1);
  return &cell;
}

void PluginMetricTable::Add(Id metric, Labels labels, double by) {
  base::MutexLock lock(mutex_);
  Cell* cell = Find(metric, labels, Type::kGauge);
  if (cell == nullptr && by >= 0) cell = Find(metric, labels, Type::kCounter);
  if (cell != nullptr) cell->value += by;
}

void PluginMetricTable::Set(Id metric, Labels labels, double value) {
  base::MutexLock lock(mutex_);
  if (Cell* cell = Find(metric, labels, Type::kGauge)) cell->value = value;
}

void PluginMetricTable::Observe(Id metric, Labels labels, double value) {
  base::MutexLock lock(mutex_);
  Cell* cell = Find(metric, labels, Type::kHistogram);
  if (cell == nullptr) return;
  const std::vector<double>& bounds = families_[metric].spec.buckets;
  cell->value += value;
  ++cell->buckets[static_cast<size_t>(std::lower_bound(bounds.begin(), bounds.end(), value) -
                                      bounds.begin())];
}

double PluginMetricTable::Value(std::string_view name,
                                const std::vector<std::string>& labels) const {
  base::MutexLock lock(mutex_);
  for (const Family& family : families_) {
    if (family.spec.name != name) continue;
    const auto cell = family.cells.find(labels);
    if (cell != family.cells.end()) return cell->second.value;
  }
  return 0;
}

void PluginMetricTable::AppendTo(std::vector<prometheus::MetricFamily>& families) const {
  base::MutexLock lock(mutex_);
  for (const Family& family : families_) {
    const PluginMetricSpec& spec = family.spec;
    prometheus::MetricFamily out{spec.name, spec.help, PrometheusType(spec.type), {}};
    for (const auto& [labels, cell] : family.cells) {
      prometheus::ClientMetric& sample = out.metric.emplace_back();
      for (size_t i = 0; i < labels.size(); ++i)
        sample.label.push_back({spec.labels[i], labels[i]});
      std::sort(sample.label.begin(), sample.label.end());
      sample.counter.value = cell.value;
      sample.gauge.value = cell.value;
      uint64_t count = 0;
      for (size_t i = 0; i < cell.buckets.size(); ++i) {
        count += cell.buckets[i];
        const double bound =
            i < spec.buckets.size() ? spec.buckets[i] : std::numeric_limits<double>::infinity();
        sample.histogram.bucket.push_back({count, bound});
      }
      sample.histogram.sample_count = count;
      sample.histogram.sample_sum = cell.value;
    }
    families.push_back(std::move(out));
  }
  std::sort(families.begin(), families.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
}

}  // namespace berth::metrics
