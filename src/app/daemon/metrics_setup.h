// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "berth/result.h"
#include "src/app/flags/flags.h"
#include "src/client/curl_client.h"
#include "src/config/feature_gates.h"
#include "src/informers/informers.h"
#include "src/metrics/registry.h"
#include "src/serving/reviews.h"

namespace berth::app {

// Counts what the client does, as rest_client_*, labelled as kube-scheduler's client does: both
// `verb` and `method` hold the HTTP method.
//
// Thread safety: any thread.
class RequestMetrics final : public client::RequestObserver {
 public:
  // `registry` must outlive this.
  explicit RequestMetrics(metrics::Registry& registry) : registry_(registry) {}

  void OnAttempt(const Attempt& attempt) override;
  void OnEnd(const End& end) override;
  void OnRateLimited(client::Verb verb, std::string_view host, Duration waited) override;

 private:
  metrics::Registry& registry_;
};

// Counts who asks for the HTTPS endpoints, and what the API server was asked about them, as
// kube-scheduler's server does. Names of users become one of a few.
//
// Thread safety: any thread.
class AccessMetrics final : public serving::AccessObserver {
 public:
  // `registry` must outlive this.
  explicit AccessMetrics(metrics::Registry& registry) : registry_(registry) {}

  void OnAuthenticated(std::string_view result, const serving::User* user, Duration took) override;
  void OnAuthorized(std::string_view result, Duration took) override;
  void OnReviewed(const serving::ReviewKind& kind, int code, Duration took) override;

 private:
  metrics::Registry& registry_;
};

// The registry that the metrics flags ask for. Errors: --allow-metric-labels-manifest cannot be
// read, holds something else than "metric,label" and values, or is named along with
// --allow-metric-labels.
Result<metrics::RegistryOptions> ReadMetricsFlags(const MetricsFlags& flags);

// The metrics that these gates leave out, as kube-scheduler does. `pod_groups`: there are pod
// groups, by a gate or by a plugin.
std::set<metrics::Metric> MetricsOfGatesOff(const config::FeatureGates& gates, bool pod_groups);

// Sets what does not change while the process runs: versions and feature gates.
void DescribeBuild(metrics::Registry& registry, const config::FeatureGates& gates,
                   int min_compatibility_minor);

// Before each exposition: reads the process, and asks the informers for their counts. These belong
// to the executor's thread, so an exposition shows them as they were at the one before. Both
// `executor` and `informers` outlive the registry's last exposition.
void ReadBeforeExposition(metrics::Registry& registry, base::Executor& executor,
                          const informers::Informers& informers);

}  // namespace berth::app
