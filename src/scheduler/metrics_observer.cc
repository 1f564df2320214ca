// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/metrics_observer.h"

#include <algorithm>

namespace berth::scheduler {

using metrics::Metric;

void MetricsObserver::ObserveExtensionPoint(const framework::Profile& profile,
                                            framework::ExtensionPoint point, Code code,
                                            Duration took) {
  metrics::SeriesId& series =
      points_[&profile].at(static_cast<size_t>(point)).at(static_cast<size_t>(code));
  if (series == metrics::SeriesId()) {
    series = metrics_.Series(
        Metric::kFrameworkExtensionPointDuration,
        {framework::ExtensionPointName(point), CodeName(code), profile.scheduler_name()});
  }
  metrics_.Observe(series, took);
}

// Counted, not drawn: whether it is measured must change no decision that is drawn later.
bool MetricsObserver::SamplesPreEnqueue() {
  constexpr uint64_t kSampling = 10;
  return pre_enqueues_++ % kSampling == 0;
}

void MetricsObserver::ObservePlugin(std::string_view plugin, framework::ExtensionPoint point,
                                    Code code, Duration took) {
  const auto [it, added] = plugins_.try_emplace({plugin.data(), point, code});
  if (added) {
    it->second = metrics_.Series(Metric::kPluginExecutionDuration,
                                 {plugin, framework::ExtensionPointName(point), CodeName(code)});
  }
  metrics_.Observe(it->second, took);
}

void MetricsObserver::CountEvaluations(const framework::Profile& profile, std::string_view plugin,
                                       framework::ExtensionPoint point, uint64_t count) {
  const auto [it, added] = evaluations_.try_emplace({&profile, plugin.data(), point});
  if (added) {
    it->second =
        metrics_.Series(Metric::kPluginEvaluation,
                        {plugin, framework::ExtensionPointName(point), profile.scheduler_name()});
  }
  metrics_.Add(it->second, static_cast<double>(count));
}

void MetricsObserver::ObserveAttempt(const framework::Profile& profile, Result result,
                                     Duration took) {
  const auto [it, added] = attempts_.try_emplace({&profile, result});
  if (added) {
    const std::string_view name = result == Result::kScheduled       ? "scheduled"
                                  : result == Result::kUnschedulable ? "unschedulable"
                                                                     : "error";
    it->second = {
        metrics_.Series(Metric::kScheduleAttempts, {name, profile.scheduler_name()}),
        metrics_.Series(Metric::kSchedulingAttemptDuration, {name, profile.scheduler_name()})};
  }
  Observe(it->second, took);
}

void MetricsObserver::ObserveGroupAttempt(const framework::Profile& profile, GroupResult result,
                                          Duration took) {
  const auto [it, added] = group_attempts_.try_emplace({&profile, result});
  if (added) {
    const std::string_view name = result == GroupResult::kScheduled       ? "scheduled"
                                  : result == GroupResult::kUnschedulable ? "unschedulable"
                                  : result == GroupResult::kWaitingOnPreemption
                                      ? "waiting_on_preemption"
                                      : "error";
    it->second = {
        metrics_.Series(Metric::kPodGroupScheduleAttempts, {name, profile.scheduler_name()}),
        metrics_.Series(Metric::kPodGroupSchedulingAttemptDuration,
                        {name, profile.scheduler_name()})};
  }
  Observe(it->second, took);
}

void MetricsObserver::ObserveGeneratedPlacements(const framework::Profile& profile, size_t count) {
  const auto [it, added] = generated_placements_.try_emplace(&profile);
  if (added) it->second = metrics_.Series(Metric::kGeneratedPlacements, {profile.scheduler_name()});
  metrics_.Add(it->second, static_cast<double>(count));
}

void MetricsObserver::ObservePlacement(const framework::Profile& profile, bool feasible,
                                       Duration took) {
  const auto [it, added] = placements_.try_emplace({&profile, feasible});
  if (added) {
    const std::string_view name = feasible ? "feasible" : "infeasible";
    it->second = {
        metrics_.Series(Metric::kPlacementEvaluations, {name, profile.scheduler_name()}),
        metrics_.Series(Metric::kPlacementEvaluationDuration, {name, profile.scheduler_name()})};
  }
  Observe(it->second, took);
}

void MetricsObserver::ObservePodScheduled(int attempts, Duration took) {
  constexpr int kMany = 15;
  attempts = std::min(attempts, kMany);
  const auto [it, added] = scheduled_.try_emplace(attempts);
  if (added) {
    const std::string label = std::to_string(attempts).append(attempts == kMany ? "+" : "");
    it->second = metrics_.Series(Metric::kPodSchedulingSliDuration, {label});
  }
  metrics_.Observe(it->second, took);
}

void MetricsObserver::ObservePermitWait(Code code, Duration waited) {
  const auto [it, added] = permit_waits_.try_emplace(code);
  if (added) it->second = metrics_.Series(Metric::kPermitWaitDuration, {CodeName(code)});
  metrics_.Observe(it->second, waited);
}

std::string MetricsObserver::BusyPlugin() const {
  const std::string_view* plugin = plugin_.load(std::memory_order_relaxed);
  if (plugin == nullptr) return "";
  return std::string(*plugin) + " at " +
         std::string(framework::ExtensionPointName(point_.load(std::memory_order_relaxed)));
}

}  // namespace berth::scheduler
