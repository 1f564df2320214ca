// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "berth/time.h"
#include "src/metrics/registry.h"
#include "src/packing/figures.h"
#include "src/packing/survey.h"
#include "src/scheduler/background_work.h"

namespace berth::packing {

// Surveys the running scheduler's cluster every kInterval, in slices, and shows the figures as
// metrics: all those of one survey appear together.
//
// Thread safety: the scheduling thread.
class LiveFigures final : public scheduler::BackgroundWork {
 public:
  static constexpr Duration kInterval = std::chrono::seconds(15);
  // After this a slice ends with the step that it is at.
  static constexpr Duration kSlice = std::chrono::microseconds(200);

  // Both must outlive this. The clock measures the slices.
  LiveFigures(const Clock& clock, metrics::Registry& registry);

  Time Work(const cache::Cache& cache, const scheduler::PodStore& pending, Time now) override;

 private:
  // True: the survey is complete.
  bool GoOn(const cache::Cache& cache, const scheduler::PodStore& pending, Time began);

  const Clock& clock_;
  metrics::Registry& metrics_;
  const metrics::SeriesId surveys_;
  const metrics::SeriesId slice_duration_;
  std::optional<Survey> survey_;
  std::optional<Figures> figures_;  // of a complete survey, not shown yet
  Time began_{};
};

// Shows the figures as the gauges berth_packing_* and berth_overcommitted_nodes.
void Show(const Figures& figures, metrics::Registry& registry);

}  // namespace berth::packing
