// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "src/config/types.h"
#include "src/extender/extender.h"
#include "src/extender/request.h"
#include "src/metrics/registry.h"

namespace berth::extender {

// An extender of the configuration, asked over HTTP: k8s.io/kube-scheduler/extender/v1, as
// kube-scheduler 1.37 speaks it. docs/extenders.md says what users see of it.
//
// Every call is counted, by how it ended; what does not work is an error that names the URL.
//
// Thread safety: see Extender. Destroyed, it cancels the calls under way and waits until
// they have ended.
class HttpExtender final : public Extender {
 public:
  // Reads the files of the TLS configuration. `clock` and `registry` must outlive the extender.
  // Errors: a URL or a certificate that cannot be used.
  static Result<std::shared_ptr<HttpExtender>> Make(const config::Extender& config,
                                                    const Clock& clock,
                                                    metrics::Registry& registry);

  std::string_view Name() const override { return config_.url_prefix; }
  bool IsIgnorable() const override { return config_.ignorable; }
  bool IsInterested(const api::Pod& pod) const override;
  bool IsFilter() const override { return !config_.filter_verb.empty(); }
  bool IsPrioritizer() const override { return !config_.prioritize_verb.empty(); }
  bool SupportsPreemption() const override { return !config_.preempt_verb.empty(); }
  bool IsBinder() const override { return !config_.bind_verb.empty(); }
  int64_t Weight() const override { return config_.weight; }
  Duration Timeout() const override { return config_.http_timeout; }

  Result<FilterResult> Filter(const api::Pod& pod, const Snapshot& snapshot,
                              std::span<const NodeRow> nodes) override;
  std::unique_ptr<PendingPriorities> Prioritize(const api::Pod& pod, const Snapshot& snapshot,
                                                std::span<const NodeRow> nodes) override;
  Result<std::vector<PreemptionCandidate>> ProcessPreemption(
      const api::Pod& pod, const Snapshot& snapshot,
      std::span<const PreemptionCandidate> candidates) override;
  std::shared_ptr<client::Call> Bind(const api::Pod& pod, std::string_view node_name,
                                     std::function<void(binding::RequestEnd)> done) override;

 private:
  class Priorities;

  HttpExtender(config::Extender config, std::unique_ptr<HttpClient> client, const Clock& clock,
               metrics::Registry& registry);

  const config::Extender config_;
  Requests requests_;
};

// The extenders of a configuration, those that must not fail first. Errors: see HttpExtender::Make;
// with the extender's place.
Result<ExtenderList> MakeExtenders(const std::vector<config::Extender>& configs, const Clock& clock,
                                   metrics::Registry& registry);

}  // namespace berth::extender
