// SPDX-License-Identifier: Apache-2.0
#include "src/questions/question_line.h"

#include <deque>
#include <utility>
#include <vector>

#include "src/framework/time_limit.h"

namespace berth::questions {
namespace {

const Reply kStopped = {503, "the process is shutting down"};

}  // namespace

QuestionLine::QuestionLine(LineLimits limits, const Clock& clock, LineHost& host)
    : limits_(std::move(limits)), clock_(clock), host_(host) {}

void QuestionLine::Stop() {
  base::NamedThread thread;
  {
    base::MutexLock lock(thread_mutex_);
    stopping_ = true;
    thread = std::move(thread_);
  }
  inbox_.Push(Question());
  thread.Join();
  std::vector<Question> left;
  inbox_.Drain(left, Duration::zero());
  for (const Question& question : left) {
    if (question.answer) question.refuse(kStopped);
  }
}

void QuestionLine::Ask(Question question) {
  std::atomic<size_t>& waiting = WaitingOf(question.size);
  const size_t most = question.size == Size::kSmall ? limits_.small_waiting : limits_.large_waiting;
  if (++waiting > most) {
    --waiting;
    return question.refuse({429, "too many questions wait, please try again later"});
  }
  {
    base::MutexLock lock(thread_mutex_);
    if (!stopping_) {
      if (!std::exchange(started_, true)) {
        thread_ = base::NamedThread(limits_.thread_name, [this] { Run(); });
      }
      return inbox_.Push(std::move(question));
    }
  }
  --waiting;
  question.refuse(kStopped);
}

void QuestionLine::Run() {
  if (limits_.low_priority) base::LowerThreadPriority();
  std::vector<Question> arrived;
  std::deque<Question> small;
  std::deque<Question> large;
  while (!stopping_) {
    std::optional<Duration> timeout = host_.Period();
    if (!small.empty() || !large.empty()) timeout = Duration::zero();
    inbox_.Drain(arrived, timeout);
    for (Question& question : arrived) {
      if (!question.answer) continue;  // the end
      (question.size == Size::kSmall ? small : large).push_back(std::move(question));
    }
    auto& line = small.empty() ? large : small;
    if (line.empty() || stopping_) {
      host_.Idle();
      continue;
    }
    const Question question = std::move(line.front());
    line.pop_front();
    Answer(question);
  }
  host_.End();
  for (auto* line : {&small, &large}) {
    for (const Question& question : *line) question.refuse(kStopped);
  }
}

void QuestionLine::Answer(const Question& question) {
  --WaitingOf(question.size);
  const auto gone = [&question] { return question.gone != nullptr && *question.gone; };
  if (gone()) return question.refuse({504, ""});
  if (const auto prepared = host_.Prepare(); !prepared) {
    return question.refuse({503, prepared.error().message});
  }
  const Duration limit = question.size == Size::kSmall ? limits_.small_time : limits_.large_time;
  const Time began = clock_.Now();
  const framework::TimeLimit time([this, gone, limit, began] {
    if (stopping_ || gone()) return Duration::zero();
    return limit == Duration::max() ? limit : limit - (clock_.Now() - began);
  });
  question.answer(framework::TimeLimit::IsUp);
}

}  // namespace berth::questions
