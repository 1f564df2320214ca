// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "src/metrics/metric_table.h"

// The parts of the metric table. MetricTable() checks that together they are in the order of
// Metric, so that a row cannot end up under another name.
namespace berth::metrics {

struct MetricRow {
  Metric metric;
  MetricSpec spec;
};

std::vector<MetricRow> SchedulerRows();
// Those of Kubernetes' components at large, and of the process.
std::vector<MetricRow> SharedRows();
std::vector<MetricRow> BerthRows();
std::vector<MetricRow> ShadowRows();
std::vector<MetricRow> PackingRows();

using Labels = std::initializer_list<std::string_view>;
MetricSpec Counter(std::string_view name, Stability stability, Labels labels, std::string_view help,
                   Page page = Page::kMetrics);
MetricSpec Gauge(std::string_view name, Stability stability, Labels labels, std::string_view help,
                 Page page = Page::kMetrics);
MetricSpec Histogram(std::string_view name, Stability stability, Labels labels,
                     std::vector<double> buckets, std::string_view help,
                     std::string_view deprecated_version = {});

// kube-scheduler 1.37 makes these before it has read its feature gates, and so without native
// buckets.
MetricSpec ClassicHistogram(std::string_view name, Stability stability, Labels labels,
                            std::vector<double> buckets, std::string_view help);

// `count` bounds: start, start * factor, start * factor^2, ...
std::vector<double> Exponential(double start, double factor, int count);

}  // namespace berth::metrics
