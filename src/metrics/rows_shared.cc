// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/metric_rows.h"

namespace berth::metrics {
namespace {

std::vector<double> RequestSeconds() {
  return {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};
}

std::vector<double> RequestBytes() {
  return {64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216};
}

std::vector<double> DelegatedSeconds() { return {0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10}; }

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table.
std::vector<MetricRow> SharedRows() {
  using enum Stability;
  return {
      {Metric::kRestClientRequestDuration,
       ClassicHistogram("rest_client_request_duration_seconds", kAlpha, {"verb", "host"},
                        RequestSeconds(),
                        "Request latency in seconds. Broken down by verb, and host.")},
      {Metric::kRestClientRateLimiterDuration,
       ClassicHistogram(
           "rest_client_rate_limiter_duration_seconds", kAlpha, {"verb", "host"}, RequestSeconds(),
           "Client side rate limiter latency in seconds. Broken down by verb, and host.")},
      {Metric::kRestClientRequestSize,
       ClassicHistogram("rest_client_request_size_bytes", kAlpha, {"verb", "host"}, RequestBytes(),
                        "Request size in bytes. Broken down by verb and host.")},
      {Metric::kRestClientResponseSize,
       ClassicHistogram("rest_client_response_size_bytes", kAlpha, {"verb", "host"}, RequestBytes(),
                        "Response size in bytes. Broken down by verb and host.")},
      {Metric::kRestClientRequests,
       Counter("rest_client_requests_total", kAlpha, {"code", "method", "host"},
               "Number of HTTP requests, partitioned by status code, method, and host.")},
      {Metric::kRestClientRequestRetries,
       Counter("rest_client_request_retries_total", kAlpha, {"code", "verb", "host"},
               "Number of request retries, partitioned by status code, verb, and host.")},
      {Metric::kLeaderElectionMasterStatus,
       Gauge("leader_election_master_status", kAlpha, {"name"},
             "Gauge of if the reporting system is master of the relevant lease, 0 indicates "
             "backup, 1 indicates master. 'name' is the string used to identify the lease. Please "
             "make sure to group by name.")},
      {Metric::kLeaderElectionSlowpath,
       Counter("leader_election_slowpath_total", kAlpha, {"name"},
               "Total number of slow path exercised in renewing leader leases. 'name' is the "
               "string used to identify the lease. Please make sure to group by name.")},
      {Metric::kInformerProcessingLatency,
       Histogram("informer_processing_latency_seconds", kAlpha,
                 {"name", "group", "version", "resource"},
                 {0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
                 "Time taken to process events after popping from the queue.")},
      {Metric::kAuthenticatedUserRequests,
       Counter("authenticated_user_requests", kAlpha, {"username"},
               "Counter of authenticated requests broken out by username.")},
      {Metric::kAuthenticationAttempts, Counter("authentication_attempts", kAlpha, {"result"},
                                                "Counter of authenticated attempts.")},
      {Metric::kAuthenticationDuration,
       Histogram("authentication_duration_seconds", kAlpha, {"result"}, Exponential(0.001, 2, 15),
                 "Authentication duration in seconds broken out by result.")},
      {Metric::kAuthorizationAttempts,
       Counter("authorization_attempts_total", kAlpha, {"result"},
               "Counter of authorization attempts broken down by result. It can be either "
               "'allowed', 'denied', 'no-opinion' or 'error'.")},
      {Metric::kAuthorizationDuration,
       Histogram("authorization_duration_seconds", kAlpha, {"result"}, Exponential(0.001, 2, 15),
                 "Authorization duration in seconds broken out by result.")},
      {Metric::kDelegatedAuthnRequests,
       Counter("apiserver_delegated_authn_request_total", kAlpha, {"code"},
               "Number of HTTP requests partitioned by status code.")},
      {Metric::kDelegatedAuthnRequestDuration,
       ClassicHistogram("apiserver_delegated_authn_request_duration_seconds", kAlpha, {"code"},
                        DelegatedSeconds(),
                        "Request latency in seconds. Broken down by status code.")},
      {Metric::kDelegatedAuthzRequests,
       Counter("apiserver_delegated_authz_request_total", kAlpha, {"code"},
               "Number of HTTP requests partitioned by status code.")},
      {Metric::kDelegatedAuthzRequestDuration,
       ClassicHistogram("apiserver_delegated_authz_request_duration_seconds", kAlpha, {"code"},
                        DelegatedSeconds(),
                        "Request latency in seconds. Broken down by status code.")},
      {Metric::kKubernetesBuildInfo,
       Gauge("kubernetes_build_info", kBeta,
             {"major", "minor", "git_version", "git_commit", "git_tree_state", "build_date",
              "go_version", "compiler", "platform"},
             "A metric with a constant '1' value labeled by major, minor, git version, git commit, "
             "git tree state, build date, Go version, and compiler from which Kubernetes was "
             "built, and platform on which it is running.")},
      {Metric::kKubernetesFeatureEnabled,
       Gauge("kubernetes_feature_enabled", kBeta, {"name", "stage"},
             "This metric records the data about the stage and enablement of a k8s feature.")},
      {Metric::kVersionInfo,
       Gauge("version_info", kAlpha, {"component", "binary", "emulation", "min_compat"},
             "Provides the compatibility version info of the component. The component label is the "
             "name of the component, usually kube, but is relevant for aggregated-apiservers.")},
      {Metric::kRegisteredMetrics,
       Counter(
           "registered_metrics_total", kBeta, {"stability_level", "deprecated_version"},
           "The count of registered metrics broken by stability level and deprecation version.")},
      {Metric::kDisabledMetrics,
       Counter("disabled_metrics_total", kBeta, {}, "The count of disabled metrics.")},
      {Metric::kHiddenMetrics,
       Counter("hidden_metrics_total", kBeta, {}, "The count of hidden metrics.")},
      {Metric::kUnexpectedLabels,
       Counter("cardinality_enforcement_unexpected_categorizations_total", kAlpha, {},
               "The count of unexpected categorizations during cardinality enforcement.")},
      {Metric::kProcessCpu, Counter("process_cpu_seconds_total", kNone, {},
                                    "Total user and system CPU time spent in seconds.")},
      {Metric::kProcessMaxFds,
       Gauge("process_max_fds", kNone, {}, "Maximum number of open file descriptors.")},
      {Metric::kProcessNetworkReceive,
       Counter("process_network_receive_bytes_total", kNone, {},
               "Number of bytes received by the process over the network.")},
      {Metric::kProcessNetworkTransmit,
       Counter("process_network_transmit_bytes_total", kNone, {},
               "Number of bytes sent by the process over the network.")},
      {Metric::kProcessOpenFds,
       Gauge("process_open_fds", kNone, {}, "Number of open file descriptors.")},
      {Metric::kProcessResidentMemory,
       Gauge("process_resident_memory_bytes", kNone, {}, "Resident memory size in bytes.")},
      {Metric::kProcessStartTime, Gauge("process_start_time_seconds", kNone, {},
                                        "Start time of the process since unix epoch in seconds.")},
      {Metric::kProcessVirtualMemory,
       Gauge("process_virtual_memory_bytes", kNone, {}, "Virtual memory size in bytes.")},
      {Metric::kProcessVirtualMemoryMax,
       Gauge("process_virtual_memory_max_bytes", kNone, {},
             "Maximum amount of virtual memory available in bytes.")},
      {Metric::kHealthcheck,
       Gauge("kubernetes_healthcheck", kStable, {"name", "type"},
             "This metric records the result of a single healthcheck.", Page::kSlis)},
      {Metric::kHealthchecks,
       Counter("kubernetes_healthchecks_total", kStable, {"name", "type", "status"},
               "This metric records the results of all healthcheck.", Page::kSlis)},
      {Metric::kSlisProcessStartTime,
       Gauge("process_start_time_seconds", kAlpha, {},
             "Start time of the process since unix epoch in seconds.", Page::kSlis)},
      {Metric::kPodResourceRequest,
       Gauge("kube_pod_resource_request", kStable,
             {"namespace", "pod", "node", "scheduler", "priority", "resource", "unit"},
             "Resources requested by workloads on the cluster, broken down by pod. This shows the "
             "resource usage the scheduler and kubelet expect per pod for resources along with the "
             "unit for the resource if any.",
             Page::kResources)},
      {Metric::kPodResourceLimit,
       Gauge("kube_pod_resource_limit", kStable,
             {"namespace", "pod", "node", "scheduler", "priority", "resource", "unit"},
             "Resources limit for workloads on the cluster, broken down by pod. This shows the "
             "resource usage the scheduler and kubelet expect per pod for resources along with the "
             "unit for the resource if any.",
             Page::kResources)},
  };
}

}  // namespace berth::metrics
