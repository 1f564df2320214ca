// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/container/btree_map.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "berth/time.h"
#include "src/engine/judgement.h"
#include "src/metrics/registry.h"
#include "src/scheduler/options.h"
#include "src/scheduler/shadow.h"
#include "src/shadow/summary.h"

namespace berth::shadow {

// Compares what another scheduler does with what Berth decides about the same pods.
//
// When the other's bind is seen, Berth's engine chooses once more, with all that had been bound
// before: both choices are of the same moment, so that a difference of scores says who chose worse,
// not who came first. Berth's decision of before says how long it took, and whether there was a
// node.
//
// Bounded: by the pods that are pending, and kMostDisagreements.
//
// Thread safety: the scheduling thread; Summarize() also once that has ended.
class Comparison final : public scheduler::ShadowListener {
 public:
  static constexpr size_t kMostDisagreements = 1000;

  // Both must outlive this. The clock stamps Berth's decisions.
  Comparison(const Clock& clock, metrics::Registry& registry);

  // To be SchedulerOptions::on_cycle.
  void Decided(const scheduler::CycleOutcome& outcome);

  void Seen(const api::Pod& pod, Time now) override;
  void Bound(const std::shared_ptr<const api::Pod>& pod, std::string_view node_name,
             const scheduler::Opinion& opinion, Time now) override;
  void Refused(const api::Pod& pod) override;
  void Gone(const api::Pod& pod) override { Take(pod.metadata.uid); }

  Summary Summarize() const;

 private:
  // A pod that the other has not bound yet.
  struct Pending {
    std::string key;
    Time seen{};
    std::optional<Time> decided;  // Berth's last attempt
    std::string node;             // which it gave the pod, or ""
    std::string message;          // why none
    bool refused = false;         // by the other

    bool only_berth() const { return refused && !node.empty(); }
  };

  void Compare(const std::shared_ptr<const api::Pod>& pod, std::string_view node_name,
               const scheduler::Opinion& opinion);
  void Count(Agreement agreement);
  // What the two choices lack to the best score.
  void GiveAway(int64_t by_berth, int64_t by_other);
  std::optional<Pending> Take(const std::string& uid);
  void ForgetOnlyBerth(const Pending& pending) {
    if (pending.only_berth()) --num_only_berth_;
  }
  void ShowOnlyBerth();

  const Clock& clock_;
  metrics::Registry& metrics_;
  struct Series {
    explicit Series(metrics::Registry& registry);
    std::array<metrics::SeriesId, kNumAgreements> pods;
    metrics::SeriesId berth_gave_away, other_gave_away;
    metrics::SeriesId berth_took, other_took;
    metrics::SeriesId only_berth;
  };
  const Series series_;

  absl::btree_map<std::string, Pending> pending_;  // by UID
  size_t num_only_berth_ = 0;
  Summary summary_;  // without only_berth
};

}  // namespace berth::shadow
