// SPDX-License-Identifier: Apache-2.0
#include "src/recording/recorded_extender.h"

#include <algorithm>
#include <string>

#include "src/client/api_client.h"
#include "src/extender/extenders.h"
#include "src/recording/recorder.h"

namespace berth::recording {
namespace {

constexpr std::string_view kNoAnswer = "the recording has no answer of the extender here";

class RecordedPriorities final : public extender::PendingPriorities {
 public:
  RecordedPriorities(std::unique_ptr<extender::PendingPriorities> pending, Recorder& recorder)
      : pending_(std::move(pending)), recorder_(recorder) {}

  Result<std::vector<extender::HostPriority>> Wait() override {
    auto answer = pending_->Wait();
    ExtenderPrioritized frame;
    if (answer) {
      frame.scores = *answer;
    } else {
      frame.error = answer.error().message;
    }
    recorder_.Answered(frame);
    return answer;
  }

 private:
  const std::unique_ptr<extender::PendingPriorities> pending_;
  Recorder& recorder_;
};

class ReplayedPriorities final : public extender::PendingPriorities {
 public:
  ReplayedPriorities(const RecordedAnswers& answers, NodeRow rows)
      : answers_(answers), rows_(rows) {}

  Result<std::vector<extender::HostPriority>> Wait() override {
    auto answer = answers_.prioritized();
    if (!answer) return Fail(std::string(kNoAnswer));
    if (!answer->error.empty()) return Fail(answer->error);
    std::erase_if(answer->scores, [this](const auto& score) { return score.row >= rows_; });
    return std::move(answer->scores);
  }

 private:
  const RecordedAnswers& answers_;
  const NodeRow rows_;
};

class ReplayedExtender final : public extender::Extender {
 public:
  ReplayedExtender(config::Extender configuration, RecordedAnswers answers)
      : config_(std::move(configuration)), answers_(std::move(answers)) {}

  std::string_view Name() const override { return config_.url_prefix; }
  bool IsIgnorable() const override { return config_.ignorable; }
  bool IsInterested(const api::Pod& pod) const override {
    return extender::IsInterested(config_, pod);
  }
  bool IsFilter() const override { return !config_.filter_verb.empty(); }
  bool IsPrioritizer() const override { return !config_.prioritize_verb.empty(); }
  bool SupportsPreemption() const override { return !config_.preempt_verb.empty(); }
  bool IsBinder() const override { return !config_.bind_verb.empty(); }
  int64_t Weight() const override { return config_.weight; }
  Duration Timeout() const override { return config_.http_timeout; }

  Result<extender::FilterResult> Filter(const api::Pod&, const Snapshot& snapshot,
                                        std::span<const NodeRow>) override {
    auto answer = answers_.filtered();
    if (!answer) return Fail(std::string(kNoAnswer));
    if (!answer->error.empty()) return Fail(answer->error);
    const auto rows = static_cast<NodeRow>(snapshot.num_rows());
    std::erase_if(answer->result.nodes, [rows](NodeRow row) { return row >= rows; });
    std::erase_if(answer->result.rejected, [rows](const auto& one) { return one.row >= rows; });
    return std::move(answer->result);
  }
  std::unique_ptr<extender::PendingPriorities> Prioritize(const api::Pod&, const Snapshot& snapshot,
                                                          std::span<const NodeRow>) override {
    return std::make_unique<ReplayedPriorities>(answers_,
                                                static_cast<NodeRow>(snapshot.num_rows()));
  }
  Result<std::vector<PreemptionCandidate>> ProcessPreemption(
      const api::Pod&, const Snapshot& snapshot, std::span<const PreemptionCandidate>) override {
    auto answer = answers_.preempted();
    if (!answer) return Fail(std::string(kNoAnswer));
    if (!answer->error.empty()) return Fail(answer->error);
    std::vector<PreemptionCandidate> left;
    for (const LeftCandidate& recorded : answer->candidates) {
      if (recorded.row >= snapshot.num_rows()) continue;
      PreemptionCandidate& candidate = left.emplace_back();
      candidate.row = recorded.row;
      candidate.num_pdb_violations = recorded.num_pdb_violations;
      for (const std::string& uid : recorded.victim_uids) {
        for (const PodInfo* pod : snapshot.pods(recorded.row)) {
          if (pod->pod->metadata.uid == uid) candidate.victims.push_back(pod);
        }
      }
    }
    return left;
  }
  // The tape keeps whatever would be bound.
  std::shared_ptr<client::Call> Bind(const api::Pod&, std::string_view,
                                     std::function<void(binding::RequestEnd)>) override {
    return nullptr;
  }

 private:
  const config::Extender config_;
  const RecordedAnswers answers_;
};

}  // namespace

Result<extender::FilterResult> RecordedExtender::Filter(const api::Pod& pod,
                                                        const Snapshot& snapshot,
                                                        std::span<const NodeRow> nodes) {
  auto answer = extender_->Filter(pod, snapshot, nodes);
  ExtenderFiltered frame;
  if (answer) {
    frame.result = *answer;
  } else {
    frame.error = answer.error().message;
  }
  recorder_.Answered(frame);
  return answer;
}

std::unique_ptr<extender::PendingPriorities> RecordedExtender::Prioritize(
    const api::Pod& pod, const Snapshot& snapshot, std::span<const NodeRow> nodes) {
  return std::make_unique<RecordedPriorities>(extender_->Prioritize(pod, snapshot, nodes),
                                              recorder_);
}

Result<std::vector<PreemptionCandidate>> RecordedExtender::ProcessPreemption(
    const api::Pod& pod, const Snapshot& snapshot,
    std::span<const PreemptionCandidate> candidates) {
  auto answer = extender_->ProcessPreemption(pod, snapshot, candidates);
  ExtenderPreempted frame;
  if (answer) {
    for (const PreemptionCandidate& candidate : *answer) {
      LeftCandidate& left = frame.candidates.emplace_back();
      left.row = candidate.row;
      left.num_pdb_violations = candidate.num_pdb_violations;
      for (const PodInfo* victim : candidate.victims) {
        left.victim_uids.push_back(victim->pod->metadata.uid);
      }
    }
  } else {
    frame.error = answer.error().message;
  }
  recorder_.Answered(frame);
  return answer;
}

extender::ExtenderList MakeReplayedExtenders(const std::vector<config::Extender>& configuration,
                                             const RecordedAnswers& answers) {
  extender::ExtenderList list;
  for (const config::Extender& extender : configuration) {
    list.push_back(std::make_shared<ReplayedExtender>(extender, answers));
  }
  std::stable_partition(list.begin(), list.end(),
                        [](const auto& extender) { return !extender->IsIgnorable(); });
  return list;
}

}  // namespace berth::recording
