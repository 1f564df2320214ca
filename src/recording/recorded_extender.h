// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "src/config/types.h"
#include "src/extender/extender.h"
#include "src/recording/frames.h"

namespace berth::recording {

class Recorder;

// Passes everything on to another extender, and writes down what that answers the scheduling
// thread.
//
// Thread safety: as of an Extender.
class RecordedExtender final : public extender::Extender {
 public:
  // `recorder` must outlive it.
  RecordedExtender(std::shared_ptr<extender::Extender> extender, Recorder& recorder)
      : extender_(std::move(extender)), recorder_(recorder) {}

  std::string_view Name() const override { return extender_->Name(); }
  bool IsIgnorable() const override { return extender_->IsIgnorable(); }
  bool IsInterested(const api::Pod& pod) const override { return extender_->IsInterested(pod); }
  bool IsFilter() const override { return extender_->IsFilter(); }
  bool IsPrioritizer() const override { return extender_->IsPrioritizer(); }
  bool SupportsPreemption() const override { return extender_->SupportsPreemption(); }
  bool IsBinder() const override { return extender_->IsBinder(); }
  int64_t Weight() const override { return extender_->Weight(); }
  Duration Timeout() const override { return extender_->Timeout(); }

  Result<extender::FilterResult> Filter(const api::Pod& pod, const Snapshot& snapshot,
                                        std::span<const NodeRow> nodes) override;
  std::unique_ptr<extender::PendingPriorities> Prioritize(const api::Pod& pod,
                                                          const Snapshot& snapshot,
                                                          std::span<const NodeRow> nodes) override;
  Result<std::vector<PreemptionCandidate>> ProcessPreemption(
      const api::Pod& pod, const Snapshot& snapshot,
      std::span<const PreemptionCandidate> candidates) override;
  std::shared_ptr<client::Call> Bind(const api::Pod& pod, std::string_view node_name,
                                     std::function<void(binding::RequestEnd)> done) override {
    return extender_->Bind(pod, node_name, std::move(done));
  }

 private:
  const std::shared_ptr<extender::Extender> extender_;
  Recorder& recorder_;
};

// What was written down, in its order; nullopt: nothing that fits comes next.
struct RecordedAnswers {
  std::function<std::optional<ExtenderFiltered>()> filtered;
  std::function<std::optional<ExtenderPrioritized>()> prioritized;
  std::function<std::optional<ExtenderPreempted>()> preempted;
};

// Extenders of the configuration that answer from a recording. One that has no answer fails.
extender::ExtenderList MakeReplayedExtenders(const std::vector<config::Extender>& configuration,
                                             const RecordedAnswers& answers);

}  // namespace berth::recording
