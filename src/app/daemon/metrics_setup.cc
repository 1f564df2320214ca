// SPDX-License-Identifier: Apache-2.0
#include "src/app/daemon/metrics_setup.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <string_view>

#include "src/app/flags/log_flags.h"
#include "src/app/version.h"
#include "src/base/file.h"
#include "src/documents/parse.h"
#include "src/informers/kinds.h"
#include "src/metrics/process_metrics.h"

namespace berth::app {
namespace {

using metrics::Metric;
using metrics::Registry;

constexpr std::string_view kManifestFlag = "--allow-metric-labels-manifest";

Result<void> Allow(metrics::RegistryOptions& options, std::string_view metric_and_label,
                   std::string_view values) {
  if (!IsMetricAndLabel(metric_and_label)) {
    return Fail("\"" + std::string(metric_and_label) + "\" is no metric,label");
  }
  const size_t comma = metric_and_label.find(',');
  auto& allowed = options.allowed_values[{std::string(metric_and_label.substr(0, comma)),
                                          std::string(metric_and_label.substr(comma + 1))}];
  for (size_t at = 0; at <= values.size();) {
    const size_t end = std::min(values.find(',', at), values.size());
    allowed.emplace(values.substr(at, end - at));
    at = end + 1;
  }
  return {};
}

Result<void> ReadManifest(const std::string& path, metrics::RegistryOptions& options) {
  const auto text = base::ReadFile(path);
  if (!text) return Fail(text.error());
  const auto documents = documents::ParseYaml(*text, path);
  if (!documents) return Fail(documents.error());
  for (const ConfigValue& document : *documents) {
    // kube-scheduler's help text puts the map under this key, its code at the top.
    const ConfigValue* mapping = document.Find("allowListMapping");
    if (mapping == nullptr) mapping = &document;
    if (mapping->map() == nullptr) return Fail(path + ": expected a map");
    for (const auto& [key, value] : *mapping->map()) {
      if (value.string() == nullptr) {
        return Fail(path + ": line " + std::to_string(value.line()) + ": expected a string");
      }
      if (auto allowed = Allow(options, key, *value.string()); !allowed) {
        return Fail(allowed.error().Within(path));
      }
    }
  }
  return {};
}

std::string_view StageName(config::FeatureStage stage) {
  switch (stage) {
    case config::FeatureStage::kAlpha:
      return "ALPHA";
    case config::FeatureStage::kBeta:
      return "BETA";
    case config::FeatureStage::kDeprecated:
      return "DEPRECATED";
    case config::FeatureStage::kPreAlpha:
    case config::FeatureStage::kGA:
      break;
  }
  return "";
}

void PublishInformers(Registry& registry, const informers::Informers& informers) {
  for (const informers::Kind kind : informers::AllKinds()) {
    const informers::InformerStats stats = informers.Stats(kind);
    const auto set = [&](Metric metric, uint64_t value) {
      registry.Set(registry.Intern(metric, {informers::InfoOf(kind).resource}),
                   static_cast<double>(value));
    };
    set(Metric::kInformerObjects, stats.objects);
    set(Metric::kInformerLists, stats.lists);
    set(Metric::kInformerWatches, stats.watches);
    set(Metric::kInformerErrors, stats.errors);
  }
}

using metrics::Metric;

std::string_view Method(client::Verb verb) {
  switch (verb) {
    case client::Verb::kGet:
    case client::Verb::kList:
    case client::Verb::kWatch:
      return "GET";
    case client::Verb::kCreate:
      return "POST";
    case client::Verb::kUpdate:
      return "PUT";
    case client::Verb::kPatch:
      return "PATCH";
    case client::Verb::kDelete:
      return "DELETE";
  }
  return "";
}

std::string CodeLabel(int code) { return code == 0 ? "<error>" : std::to_string(code); }

// As upstream sorts them, so that their number is bounded and metrics tell no names.
std::string_view UserLabel(std::string_view name) {
  constexpr std::string_view kKnown[] = {"admin", "client", "kube_proxy", "kubelet",
                                         "system:serviceaccount:kube-system:default"};
  if (std::ranges::find(kKnown, name) != std::end(kKnown)) return name;
  return name.find('@') != std::string_view::npos ? "email_id" : "other";
}

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

void RequestMetrics::OnAttempt(const Attempt& attempt) {
  const std::string code = CodeLabel(attempt.code);
  const std::string_view method = Method(attempt.verb);
  registry_.Add(registry_.Intern(Metric::kRestClientRequests, {code, method, attempt.host}));
  if (attempt.is_retry) {
    registry_.Add(
        registry_.Intern(Metric::kRestClientRequestRetries, {code, method, attempt.host}));
  }
  // client-go neither measures watches nor times them: they last for minutes by design.
  if (attempt.verb == client::Verb::kWatch) return;
  registry_.Observe(registry_.Intern(Metric::kRestClientRequestSize, {method, attempt.host}),
                    static_cast<double>(attempt.request_bytes));
}

void RequestMetrics::OnEnd(const End& end) {
  if (end.verb == client::Verb::kWatch) return;
  const std::string_view method = Method(end.verb);
  registry_.Observe(registry_.Intern(Metric::kRestClientRequestDuration, {method, end.host}),
                    Seconds(end.duration));
  if (!end.response_bytes) return;
  registry_.Observe(registry_.Intern(Metric::kRestClientResponseSize, {method, end.host}),
                    static_cast<double>(*end.response_bytes));
}

void RequestMetrics::OnRateLimited(client::Verb verb, std::string_view host, Duration waited) {
  registry_.Observe(registry_.Intern(Metric::kRestClientRateLimiterDuration, {Method(verb), host}),
                    Seconds(waited));
}

void AccessMetrics::OnAuthenticated(std::string_view result, const serving::User* user,
                                    Duration took) {
  if (user != nullptr) {
    registry_.Add(registry_.Intern(Metric::kAuthenticatedUserRequests, {UserLabel(user->name)}));
  }
  registry_.Add(registry_.Intern(Metric::kAuthenticationAttempts, {result}));
  registry_.Observe(registry_.Intern(Metric::kAuthenticationDuration, {result}), Seconds(took));
}

void AccessMetrics::OnAuthorized(std::string_view result, Duration took) {
  registry_.Add(registry_.Intern(Metric::kAuthorizationAttempts, {result}));
  registry_.Observe(registry_.Intern(Metric::kAuthorizationDuration, {result}), Seconds(took));
}

void AccessMetrics::OnReviewed(const serving::ReviewKind& kind, int code, Duration took) {
  const bool of_token = kind.kind == serving::kTokenReview.kind;
  const std::string label = CodeLabel(code);
  registry_.Add(registry_.Intern(
      of_token ? Metric::kDelegatedAuthnRequests : Metric::kDelegatedAuthzRequests, {label}));
  registry_.Observe(registry_.Intern(of_token ? Metric::kDelegatedAuthnRequestDuration
                                              : Metric::kDelegatedAuthzRequestDuration,
                                     {label}),
                    Seconds(took));
}

Result<metrics::RegistryOptions> ReadMetricsFlags(const MetricsFlags& flags) {
  metrics::RegistryOptions options;
  options.show_hidden = !flags.show_hidden_metrics_for_version.empty();
  options.disabled.insert(flags.disabled_metrics.begin(), flags.disabled_metrics.end());
  for (const auto& [key, values] : flags.allow_metric_labels) {
    if (auto allowed = Allow(options, key, values); !allowed) {
      return Fail(allowed.error().Within("--allow-metric-labels"));
    }
  }
  if (flags.allow_metric_labels_manifest.empty()) return options;
  if (!flags.allow_metric_labels.empty()) {
    return Fail("cannot specify both --allow-metric-labels and " + std::string(kManifestFlag));
  }
  if (auto read = ReadManifest(flags.allow_metric_labels_manifest, options); !read) {
    return Fail(read.error().Within(kManifestFlag));
  }
  return options;
}

std::set<Metric> MetricsOfGatesOff(const config::FeatureGates& gates, bool pod_groups) {
  std::set<Metric> off;
  if (!gates.Enabled("SchedulerAsyncPreemption")) {
    off.insert({Metric::kPreemptionGoroutinesDuration, Metric::kPreemptionGoroutinesExecution});
  }
  if (!gates.Enabled("DRAExtendedResource")) off.insert(Metric::kResourceClaimCreates);
  if (!pod_groups) {
    off.insert({Metric::kPodGroupScheduleAttempts, Metric::kPodGroupSchedulingAttemptDuration,
                Metric::kPodGroupSchedulingAlgorithmDuration, Metric::kWorkloadPreemptionAttempts,
                Metric::kWorkloadPreemptionVictims, Metric::kPreemptionWorkloadDisruptions,
                Metric::kPreemptionEvaluationDuration, Metric::kPreemptionExecutionDuration,
                Metric::kPreemptionPdbViolations});
  }
  if (!gates.Enabled("TopologyAwareWorkloadScheduling")) {
    off.insert({Metric::kGeneratedPlacements, Metric::kPlacementEvaluations,
                Metric::kPlacementEvaluationDuration});
  }
  if (!gates.Enabled("DRADeviceBindingConditions")) {
    off.insert({Metric::kBindingConditionsAllocations, Metric::kBindingConditionsWaitDuration});
  }
  return off;
}

void DescribeBuild(Registry& registry, const config::FeatureGates& gates,
                   int min_compatibility_minor) {
  const auto set = [&registry](Metric metric, std::initializer_list<std::string_view> labels,
                               double value) {
    registry.Set(registry.Intern(metric, labels), value);
  };
#if defined(__clang__)
  constexpr std::string_view kCompiler = "clang " __clang_version__;
#else
  constexpr std::string_view kCompiler = "g++ " __VERSION__;
#endif
#if defined(__aarch64__)
  constexpr std::string_view kPlatform = "linux/arm64";
#else
  constexpr std::string_view kPlatform = "linux/amd64";
#endif
  const std::string minor = std::to_string(kKubernetesMinor);
  set(Metric::kKubernetesBuildInfo,
      {"1", minor, kKubernetesVersion, "", "", "", "", kCompiler, kPlatform}, 1);
  const std::string emulated = "1." + std::to_string(gates.emulated_minor());
  const std::string oldest = "1." + std::to_string(min_compatibility_minor);
  set(Metric::kVersionInfo, {"kube", kKubernetesVersion.substr(1), emulated, oldest}, 1);
  set(Metric::kBuildInfo, {kVersion}, 1);
  for (const config::FeatureGate& gate : config::KnownFeatureGates()) {
    const config::FeatureStage stage = gate.At(gates.emulated_minor()).stage;
    if (stage == config::FeatureStage::kPreAlpha) continue;
    set(Metric::kKubernetesFeatureEnabled, {gate.name, StageName(stage)},
        gates.Enabled(gate.name) ? 1 : 0);
  }
}

void ReadBeforeExposition(Registry& registry, base::Executor& executor,
                          const informers::Informers& informers) {
  registry.BeforeExposition([&executor, &informers](Registry& target) {
    metrics::ReadProcess(target);
    executor.Post([&target, &informers] { PublishInformers(target, informers); });
  });
}

}  // namespace berth::app
