// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "src/framework/observer.h"
#include "src/framework/profile.h"
#include "src/metrics/local_metrics.h"

namespace berth::scheduler {

// Puts what the framework's runtime reports into the metrics.
//
// Thread safety: the scheduling thread, but for BusyPlugin().
class MetricsObserver final : public framework::RuntimeObserver {
 public:
  // Both must outlive the observer.
  MetricsObserver(metrics::LocalMetrics& metrics, const Clock& clock)
      : metrics_(metrics), clock_(clock) {}

  Time Now() override { return clock_.Now(); }
  framework::BusyPlugin SetBusy(framework::BusyPlugin now) override {
    const framework::BusyPlugin before{plugin_.load(std::memory_order_relaxed),
                                       point_.load(std::memory_order_relaxed)};
    plugin_.store(now.name, std::memory_order_relaxed);
    point_.store(now.point, std::memory_order_relaxed);
    return before;
  }
  // "NodeAffinity at Filter": who was busy a moment ago, or "". Any thread.
  std::string BusyPlugin() const;
  void ObserveExtensionPoint(const framework::Profile& profile, framework::ExtensionPoint point,
                             Code code, Duration took) override;
  bool SamplesPreEnqueue() override;
  void ObservePlugin(std::string_view plugin, framework::ExtensionPoint point, Code code,
                     Duration took) override;
  void CountEvaluations(const framework::Profile& profile, std::string_view plugin,
                        framework::ExtensionPoint point, uint64_t count) override;

  // How an attempt ended.
  enum class Result { kScheduled, kUnschedulable, kError };
  void ObserveAttempt(const framework::Profile& profile, Result result, Duration took);
  // The same for a pod group. kWaitingOnPreemption: its victims are to go first.
  enum class GroupResult { kScheduled, kUnschedulable, kWaitingOnPreemption, kError };
  void ObserveGroupAttempt(const framework::Profile& profile, GroupResult result, Duration took);
  // Placements were found to try a pod group in.
  void ObserveGeneratedPlacements(const framework::Profile& profile, size_t count);
  // A pod group was tried in one of them.
  void ObservePlacement(const framework::Profile& profile, bool feasible, Duration took);
  // A pod was bound at its `attempts`th attempt, `took` after it first could be tried.
  void ObservePodScheduled(int attempts, Duration took);
  // Permit held a pod back.
  void ObservePermitWait(Code code, Duration waited);

 private:
  static constexpr size_t kNumCodes = static_cast<size_t>(Code::kPending) + 1;
  // By code, of each extension point that has been measured; those not yet seen are SeriesId().
  using PointSeries =
      std::array<std::array<metrics::SeriesId, kNumCodes>, framework::kNumMeasuredCalls>;
  // Plugins' names live as long as the plugins, so their addresses identify them.
  using PluginKey = std::tuple<const char*, framework::ExtensionPoint, Code>;
  using EvaluationKey =
      std::tuple<const framework::Profile*, const char*, framework::ExtensionPoint>;
  using AttemptKey = std::tuple<const framework::Profile*, Result>;
  struct AttemptSeries {
    metrics::SeriesId count;
    metrics::SeriesId duration;
  };

  void Observe(const AttemptSeries& series, Duration took) {
    metrics_.Add(series.count);
    metrics_.Observe(series.duration, took);
  }

  metrics::LocalMetrics& metrics_;
  const Clock& clock_;
  std::atomic<const std::string_view*> plugin_ = nullptr;
  std::atomic<framework::ExtensionPoint> point_{};
  uint64_t pre_enqueues_ = 0;
  std::map<const framework::Profile*, PointSeries> points_;
  std::map<PluginKey, metrics::SeriesId> plugins_;
  std::map<EvaluationKey, metrics::SeriesId> evaluations_;
  std::map<AttemptKey, AttemptSeries> attempts_;
  std::map<std::tuple<const framework::Profile*, GroupResult>, AttemptSeries> group_attempts_;
  std::map<const framework::Profile*, metrics::SeriesId> generated_placements_;
  std::map<std::tuple<const framework::Profile*, bool>, AttemptSeries> placements_;
  std::map<int, metrics::SeriesId> scheduled_;  // by attempts
  std::map<Code, metrics::SeriesId> permit_waits_;
};

}  // namespace berth::scheduler
