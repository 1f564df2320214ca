// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "berth/result.h"
#include "berth/time.h"
#include "src/base/inbox.h"
#include "src/base/mutex.h"
#include "src/base/thread.h"

namespace berth::questions {

// An HTTP status, and a text in a form that who asked knows.
struct Reply {
  int code = 200;
  std::string text;
};

enum class Size {
  kSmall,  // milliseconds
  kLarge,  // as long as the limit
};

struct Question {
  Size size = Size::kSmall;
  // Gives the answer, on the line's thread. It ends soon once `spent` says yes.
  std::function<void(const std::function<bool()>& spent)> answer;
  // Called in place of `answer`: with 429 at once, where too many wait; with 503 where the line
  // stops, or its host cannot prepare; with 504 where the question is gone by its turn.
  std::function<void(Reply)> refuse;
  // True once no one waits for the answer any more, which ends it; may be nullptr.
  std::shared_ptr<const std::atomic<bool>> gone;
};

// What a line's thread does beside answering. Its methods are called on that thread.
class LineHost {
 public:
  virtual ~LineHost() = default;
  // Before each answer; its time does not count against the question's.
  virtual Result<void> Prepare() { return {}; }
  // How soon Idle() is due where no question comes; nullopt: not at all.
  virtual std::optional<Duration> Period() { return std::nullopt; }
  virtual void Idle() {}
  // The thread ends.
  virtual void End() {}
};

struct LineLimits {
  std::string thread_name;
  // Whether the thread leaves the CPU to all others.
  bool low_priority = false;
  // How many questions may wait, beside the one under way.
  size_t small_waiting = 256;
  size_t large_waiting = 2;
  // For an answer; it holds within a decision, too (framework::TimeLimit).
  Duration small_time = Duration::max();
  Duration large_time = Duration::max();
};

// Answers questions on a thread of its own, one after the other, small ones before large ones, else
// in the order in which they came. The thread is there from the first question on.
//
// Thread safety: Ask() and stopping() from any thread; the rest by the owner.
class QuestionLine {
 public:
  // `clock` and `host` must outlive this.
  QuestionLine(LineLimits limits, const Clock& clock, LineHost& host);
  ~QuestionLine() { Stop(); }
  QuestionLine(const QuestionLine&) = delete;
  QuestionLine& operator=(const QuestionLine&) = delete;

  void Ask(Question question);
  // Ends the question under way, and the thread. Those that wait, and those that still come, are
  // refused.
  void Stop();
  bool stopping() const { return stopping_; }

 private:
  void Run();
  void Answer(const Question& question);
  std::atomic<size_t>& WaitingOf(Size size) {
    return size == Size::kSmall ? small_waiting_ : large_waiting_;
  }

  const LineLimits limits_;
  const Clock& clock_;
  LineHost& host_;
  base::Inbox<Question> inbox_;
  std::atomic<size_t> small_waiting_ = 0;
  std::atomic<size_t> large_waiting_ = 0;
  std::atomic<bool> stopping_ = false;

  base::Mutex thread_mutex_;
  base::NamedThread thread_ BERTH_GUARDED_BY(thread_mutex_);
  bool started_ BERTH_GUARDED_BY(thread_mutex_) = false;
};

}  // namespace berth::questions
