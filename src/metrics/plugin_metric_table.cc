// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/plugin_metric_table.h"

#include <algorithm>
#include <cmath>
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

MetricType TypeOf(Type type) {
  switch (type) {
    case Type::kCounter:
      return MetricType::kCounter;
    case Type::kGauge:
      return MetricType::kGauge;
    case Type::kHistogram:
      break;
  }
  return MetricType::kHistogram;
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
  for (size_t i = 0; i < defined_.size(); ++i) {
    if (defined_[i].spec.name != spec.name) continue;
    if (defined_[i].spec == spec) return static_cast<Id>(i);
    return Fail(spec.name + " is there already, with another type, help, labels or buckets");
  }
  Defined& metric = defined_.emplace_back(Defined{std::move(spec), {}});
  if (metric.spec.labels.empty()) CellOf(metric, {});
  return static_cast<Id>(defined_.size() - 1);
}

PluginMetricTable::Cell& PluginMetricTable::CellOf(Defined& metric,
                                                   std::vector<std::string> labels) {
  const auto [found, added] = metric.cells.try_emplace(std::move(labels));
  Cell& cell = found->second;
  if (!added) return cell;
  if (metric.spec.type == Type::kHistogram) {
    cell.value.buckets.resize(metric.spec.buckets.size() + 1);
  }
  if (metric.spec.type != Type::kGauge && clock_ != nullptr) cell.created = clock_->WallNow();
  return cell;
}

PluginMetricTable::Cell* PluginMetricTable::Find(Id metric, Labels labels, Type type) {
  if (metric >= defined_.size()) return nullptr;
  Defined& found = defined_[metric];
  if (found.spec.type != type || found.spec.labels.size() != labels.size()) return nullptr;
  return &CellOf(found, {labels.begin(), labels.end()});
}

void PluginMetricTable::Add(Id metric, Labels labels, double by) {
  base::MutexLock lock(mutex_);
  Cell* cell = Find(metric, labels, Type::kGauge);
  if (cell == nullptr && by >= 0) cell = Find(metric, labels, Type::kCounter);
  if (cell != nullptr) cell->value.value += by;
}

void PluginMetricTable::Set(Id metric, Labels labels, double value) {
  base::MutexLock lock(mutex_);
  if (Cell* cell = Find(metric, labels, Type::kGauge)) cell->value.value = value;
}

void PluginMetricTable::Observe(Id metric, Labels labels, double value) {
  base::MutexLock lock(mutex_);
  Cell* cell = Find(metric, labels, Type::kHistogram);
  if (cell == nullptr) return;
  cell->value.sum += value;
  ++cell->value.buckets[BucketOf(defined_[metric].spec.buckets, value)];
  if (native_histograms_) cell->value.native.Observe(value);
}

double PluginMetricTable::Value(std::string_view name,
                                const std::vector<std::string>& labels) const {
  base::MutexLock lock(mutex_);
  for (const Defined& metric : defined_) {
    if (metric.spec.name != name) continue;
    const auto found = metric.cells.find(labels);
    if (found == metric.cells.end()) continue;
    const SeriesValue& value = found->second.value;
    return metric.spec.type == Type::kHistogram ? value.sum : value.value;
  }
  return 0;
}

void PluginMetricTable::AppendTo(std::vector<Family>& families) const {
  base::MutexLock lock(mutex_);
  for (const Defined& metric : defined_) {
    const PluginMetricSpec& spec = metric.spec;
    Family& family = families.emplace_back();
    family.name = spec.name;
    family.help = spec.help;
    family.type = TypeOf(spec.type);
    family.bounds = spec.buckets;
    family.native = native_histograms_;
    for (const auto& [labels, cell] : metric.cells) {
      Family::Sample& sample = family.samples.emplace_back();
      for (size_t i = 0; i < labels.size(); ++i) {
        sample.labels.emplace_back(spec.labels[i], labels[i]);
      }
      std::ranges::sort(sample.labels);
      sample.value = cell.value;
      sample.created = cell.created;
    }
  }
  std::ranges::sort(families, {}, &Family::name);
}

}  // namespace berth::metrics
