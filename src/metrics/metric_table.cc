// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/metric_table.h"

#include <utility>

#include "berth/check.h"
#include "src/metrics/metric_rows.h"

namespace berth::metrics {
namespace {

std::vector<MetricSpec> MakeTable() {
  std::vector<MetricSpec> table;
  for (std::vector<MetricRow> (*rows)() :
       {SchedulerRows, SharedRows, BerthRows, ShadowRows, PackingRows}) {
    for (MetricRow& row : rows()) {
      BERTH_CHECK(static_cast<size_t>(row.metric) == table.size(), "metric table is out of order");
      table.push_back(std::move(row.spec));
    }
  }
  BERTH_CHECK(table.size() == static_cast<size_t>(Metric::kCount), "metric table is incomplete");
  return table;
}

MetricSpec Plain(MetricType type, std::string_view name, Stability stability, Labels labels,
                 std::string_view help, Page page) {
  MetricSpec spec;
  spec.name = name;
  spec.type = type;
  spec.stability = stability;
  spec.labels = labels;
  spec.help = help;
  spec.page = page;
  return spec;
}

}  // namespace

MetricSpec Counter(std::string_view name, Stability stability, Labels labels, std::string_view help,
                   Page page) {
  return Plain(MetricType::kCounter, name, stability, labels, help, page);
}

MetricSpec Gauge(std::string_view name, Stability stability, Labels labels, std::string_view help,
                 Page page) {
  return Plain(MetricType::kGauge, name, stability, labels, help, page);
}

MetricSpec Histogram(std::string_view name, Stability stability, Labels labels,
                     std::vector<double> buckets, std::string_view help,
                     std::string_view deprecated_version) {
  MetricSpec spec = Plain(MetricType::kHistogram, name, stability, labels, help, Page::kMetrics);
  spec.buckets = std::move(buckets);
  spec.deprecated_version = deprecated_version;
  return spec;
}

MetricSpec ClassicHistogram(std::string_view name, Stability stability, Labels labels,
                            std::vector<double> buckets, std::string_view help) {
  MetricSpec spec = Histogram(name, stability, labels, std::move(buckets), help);
  spec.classic_alone = true;
  return spec;
}

std::vector<double> Exponential(double start, double factor, int count) {
  std::vector<double> bounds;
  for (double bound = start; count > 0; --count, bound *= factor) bounds.push_back(bound);
  return bounds;
}

std::span<const MetricSpec> MetricTable() {
  static const std::vector<MetricSpec> table = MakeTable();
  return table;
}

const MetricSpec& SpecOf(Metric metric) { return MetricTable()[static_cast<size_t>(metric)]; }

std::optional<Metric> FindMetric(std::string_view name) {
  const auto table = MetricTable();
  for (size_t i = 0; i < table.size(); ++i) {
    if (table[i].name == name) return static_cast<Metric>(i);
  }
  return std::nullopt;
}

std::string_view StabilityName(Stability stability) {
  constexpr std::string_view kNames[] = {"STABLE", "BETA", "ALPHA", ""};
  return kNames[static_cast<size_t>(stability)];
}

std::string_view MetricTypeName(MetricType type) {
  constexpr std::string_view kNames[] = {"counter", "gauge", "histogram"};
  return kNames[static_cast<size_t>(type)];
}

std::string AnnotatedHelp(const MetricSpec& spec) {
  std::string help;
  if (spec.stability != Stability::kNone) {
    help.append("[").append(StabilityName(spec.stability)).append("] ");
  }
  if (!spec.deprecated_version.empty()) {
    help.append("(Deprecated since ").append(spec.deprecated_version).append(") ");
  }
  return help.append(spec.help);
}

}  // namespace berth::metrics
