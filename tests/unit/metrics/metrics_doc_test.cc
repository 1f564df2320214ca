// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "src/metrics/metric_table.h"
#include "src/metrics/text_format.h"

// docs/metrics.md is made from the metric table. After a change of the table:
//   BERTH_UPDATE_DOCS=1 .build/quick/tests/metrics_test --gtest_filter='MetricsDocTest.*'
namespace berth::metrics {
namespace {

constexpr const char* kFile = "docs/metrics.md";

constexpr std::string_view kIntroduction = R"(# Metrics

<!-- Made by tests/unit/metrics/metrics_doc_test.cc from src/metrics; change them, not this page. -->

The daemon shows them over HTTPS on port 10259 to callers that may `get` the path (ClusterRole
`system:monitoring` allows `/metrics` and `/metrics/slis`), as kube-scheduler does: in the Prometheus text
format or, to a client whose Accept header prefers it, as delimited protobuf.

| Path | What |
| --- | --- |
| `/metrics` | all but the following |
| `/metrics/resources` | what every pod requests and may use; only while this process leads |
| `/metrics/slis` | health checks |

Names, types, labels, buckets and help texts are kube-scheduler 1.37's, so its dashboards and alerts
work; what is Berth's own begins with `berth_`. A series with labels appears when it is first
counted, those of `scheduler_plugin_evaluation_total` at the start. Help texts begin with `[STABLE]`, `[BETA]` or `[ALPHA]`, as Kubernetes promises for each.

Flags, as kube-scheduler's: `--disabled-metrics` hides metrics by name; `--allow-metric-labels` and
`--allow-metric-labels-manifest` name the values that a label may have, all others become
`unexpected`; `--show-hidden-metrics-for-version=1.36` shows what 1.37 deprecated.

## Native histograms

In protobuf a histogram has native buckets besides the classic ones, as kube-scheduler 1.37's has: each at most
1.1 times as wide as the one before (schema 3), 160 at most (then each two become one, until the process ends),
and zero up to 2^-128. `--feature-gates=NativeHistograms=false` leaves the classic ones alone. As there, those of
the client (`rest_client_*`) and of questions about callers (`apiserver_delegated_*`) have none.

Prometheus asks for protobuf, and stores native buckets, where its feature `native-histograms` is on. It drops the
classic ones of such a histogram then, which queries of `_bucket` series need, the shipped dashboard's and alerts' among
them, unless the scrape job keeps them: `scrape_classic_histograms: true` (from 2.45 on; in 3
`always_scrape_classic_histograms`).

## What differs from kube-scheduler

- Protobuf in its two spellings for people (`encoding=text`, `encoding=compact-text`) is answered with text, `name[]`
  in a query is not looked at, and there is no header `Process-Start-Time-Unix`.
- `--disabled-metrics` hides every metric that it names. kube-scheduler goes on to show those that it registers before
  it has read its flags, such as `rest_client_*`, `kubernetes_build_info` and `process_*`.
- `DELETE /metrics` sets counters and histograms to zero. In kube-scheduler all series with labels, gauges among them, are
  gone after it until they are counted again.
- `scheduler_plugin_evaluation_total`, `scheduler_framework_extension_point_duration_seconds` and
  `scheduler_preemption_evaluation_duration_seconds` count calls that were made. Where a pod is decided or refused as
  another of its class has just been no plugin is called, and `berth_reused_verdicts_total` counts instead.
- `scheduler_plugin_execution_duration_seconds` has one value for a plugin's pass over all nodes at Filter and at Score,
  with the status `Success` unless the pass failed; kube-scheduler has one for each node, with that node's status.
- `scheduler_goroutines` counts work of that kind: there is one thread that schedules, and none is
  parked for a pod. Only `operation="binding"` exists.
- `kubernetes_build_info` names the kube-scheduler whose contract is kept, so that version checks
  across the cluster pass; `berth_build_info` names Berth's own version.
- `process_*` are read from `/proc`. There is no Go runtime, so no `go_*`: see `berth_heap_bytes`.
- `informer_processing_latency_seconds` is the time the scheduling loop takes for one change; `resource` is spelt as
  there, with an s behind each kind (`storageclasss`). All kinds wait in one inbox, so `berth_inbox_depth` stands for
  `informer_queued_items`.

Not here, since what they count does not exist: `scheduler_batch_*`,
`scheduler_get_node_hint_duration_seconds`, `scheduler_store_schedule_results_duration_seconds` and the
extension point `Sign` (opportunistic batching), `scheduler_pre_queueing_hint_evaluations_total`,
`scheduler_async_api_call_*` and `scheduler_pending_async_api_calls` (feature gates that are off by
default), `scheduler_volume_binder_cache_requests_total` (never counted by kube-scheduler either),
`workqueue_*` (its certificate controllers'), `informer_store_resource_version`,
`rest_client_transport_*` and `rest_client_exec_plugin_*` (client-go's inner workings),
`authentication_token_cache_*`, and what libraries of the API server register in every component.

Metrics of a feature gate that is off are not there, as in kube-scheduler: those of pod groups and of preemption by
them (GenericWorkload; Berth has them with the plugin Coscheduling, too), of placements
(TopologyAwareWorkloadScheduling), `scheduler_preemption_goroutines_*` (SchedulerAsyncPreemption),
`scheduler_dra_bindingconditions_*` (DRADeviceBindingConditions) and
`dynamic_resource_allocation_resourceclaim_creates_total` (DRAExtendedResource).
)";

std::string_view PathOf(Page page) {
  constexpr std::string_view kPaths[] = {"/metrics", "/metrics/resources", "/metrics/slis"};
  return kPaths[static_cast<size_t>(page)];
}

std::string Describe(const MetricSpec& spec) {
  std::ostringstream text;
  text << "\n### " << spec.name << "\n\n";
  text << "- " << MetricTypeName(spec.type);
  if (spec.stability != Stability::kNone) text << ", " << StabilityName(spec.stability);
  if (!spec.deprecated_version.empty()) text << ", hidden since " << spec.deprecated_version;
  if (spec.page != Page::kMetrics) text << ", on `" << PathOf(spec.page) << "`";
  text << "\n";
  if (!spec.labels.empty()) {
    text << "- labels:";
    for (const std::string_view label : spec.labels) text << " `" << label << "`";
    text << "\n";
  }
  if (!spec.buckets.empty()) {
    text << "- buckets:";
    for (const double bound : spec.buckets) text << " " << FormatValue(bound);
    text << "\n";
  }
  text << "\n" << spec.help << "\n";
  return text.str();
}

std::string MakePage() {
  std::string text(kIntroduction);
  std::string_view heading;
  for (const MetricSpec& spec : MetricTable()) {
    const std::string_view group = spec.name.starts_with("scheduler_") ? "Scheduler"
                                   : spec.name.starts_with("berth_")   ? "Berth's own"
                                                                       : "Component and process";
    if (group != heading) {
      heading = group;
      text.append("\n## ").append(group).append("\n");
    }
    text.append(Describe(spec));
  }
  return text;
}

TEST(MetricsDocTest, ThePageTellsWhatTheTableHolds) {
  const std::string page = MakePage();
  if (std::getenv("BERTH_UPDATE_DOCS") != nullptr) {
    std::ofstream file(kFile, std::ios::binary | std::ios::trunc);
    file << page;
  }
  std::ifstream file(kFile, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), page) << "write " << kFile << " again as the head of this file says";
}

}  // namespace
}  // namespace berth::metrics
