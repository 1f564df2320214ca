// SPDX-License-Identifier: Apache-2.0
#include "src/app/endpoints/live_reads.h"

#include <algorithm>
#include <list>
#include <optional>
#include <utility>

#include "src/base/mutex.h"

namespace berth::app {
namespace {

// How many times as long as a read took the scheduling thread has for its own work after it.
constexpr int kRest = 49;
// A small read waits so long at most after a large one.
constexpr Duration kMostRestBeforeSmall = std::chrono::milliseconds(100);

}  // namespace

// Timers, departures and the scheduling thread's messages share it, and may come late.
struct LiveReads::Line : std::enable_shared_from_this<LiveReads::Line> {
  using Read = std::function<void()>;
  using Reads = std::list<std::shared_ptr<Read>>;

  Line(Post to_scheduler, base::Executor& waits, const Clock& time, LiveReadLimits most)
      : post(std::move(to_scheduler)), executor(waits), clock(time), limits(most) {}

  // A turn takes what is first in line when it comes, so that no read runs whose client has gone
  // meanwhile.
  void PostTurn() BERTH_REQUIRES(mutex) {
    busy = true;
    post([self = shared_from_this()] { self->TakeTurn(); });
  }

  void TakeTurn() {
    std::shared_ptr<Read> read;
    questions::Size size = questions::Size::kSmall;
    {
      base::MutexLock lock(mutex);
      busy = false;
      if (closed) return;
      const Time now = clock.Now();
      if (!IsDue(small, small_from, now)) size = questions::Size::kLarge;
      Reads& reads = size == questions::Size::kSmall ? small : large;
      if (size == questions::Size::kLarge && !IsDue(large, large_from, now)) return GoOn();
      busy = true;
      read = std::move(reads.front());
      reads.pop_front();
    }
    const Time began = clock.Now();
    (*read)();
    const Time ended = clock.Now();
    const Duration rest = kRest * (ended - began);
    base::MutexLock lock(mutex);
    busy = false;
    large_from = ended + rest;
    small_from =
        ended + (size == questions::Size::kSmall ? rest : std::min(rest, kMostRestBeforeSmall));
    GoOn();
  }

  static bool IsDue(const Reads& reads, Time from, Time now) {
    return !reads.empty() && from <= now;
  }

  // Asks for a turn, or has a timer do so when the next read is due.
  void GoOn() BERTH_REQUIRES(mutex) {
    if (closed || busy) return;
    const Time now = clock.Now();
    if (IsDue(small, small_from, now) || IsDue(large, large_from, now)) return PostTurn();
    if (small.empty() && large.empty()) return;
    Time next = small.empty() ? large_from : small_from;
    if (!large.empty()) next = std::min(next, large_from);
    if (wakes_at && *wakes_at <= next) return;
    wakes_at = next;
    executor.PostAfter(next - now, [self = shared_from_this(), next] {
      base::MutexLock lock(self->mutex);
      if (self->wakes_at == next) self->wakes_at.reset();
      self->GoOn();
    });
  }

  void Leave(questions::Size size, const std::shared_ptr<Read>& read) {
    base::MutexLock lock(mutex);
    (size == questions::Size::kSmall ? small : large).remove(read);
  }

  const Post post;
  base::Executor& executor;
  const Clock& clock;
  const LiveReadLimits limits;
  mutable base::Mutex mutex;
  Reads small BERTH_GUARDED_BY(mutex);
  Reads large BERTH_GUARDED_BY(mutex);
  bool busy BERTH_GUARDED_BY(mutex) = false;  // a turn is asked for or under way
  bool closed BERTH_GUARDED_BY(mutex) = false;
  // When the next one may begin.
  Time small_from BERTH_GUARDED_BY(mutex){};
  Time large_from BERTH_GUARDED_BY(mutex){};
  std::optional<Time> wakes_at BERTH_GUARDED_BY(mutex);  // by a timer
};

LiveReads::LiveReads(Post post, base::Executor& executor, const Clock& clock, LiveReadLimits limits)
    : line_(std::make_shared<Line>(std::move(post), executor, clock, limits)) {}

LiveReads::~LiveReads() {
  base::MutexLock lock(line_->mutex);
  line_->closed = true;
  line_->small.clear();
  line_->large.clear();
}

bool LiveReads::Ask(questions::Size size, serving::Departure& departure,
                    std::function<void()> read) {
  const auto entry = std::make_shared<Line::Read>(std::move(read));
  const bool is_small = size == questions::Size::kSmall;
  {
    base::MutexLock lock(line_->mutex);
    Line::Reads& reads = is_small ? line_->small : line_->large;
    const size_t most = is_small ? line_->limits.small_waiting : line_->limits.large_waiting;
    if (reads.size() >= most) return false;
    reads.push_back(entry);
    line_->GoOn();
  }
  departure.OnGone([line = std::weak_ptr<Line>(line_), size, gone = std::weak_ptr(entry)] {
    const auto waits = line.lock();
    const auto found = gone.lock();
    if (waits != nullptr && found != nullptr) waits->Leave(size, found);
  });
  return true;
}

size_t LiveReads::num_waiting() const {
  base::MutexLock lock(line_->mutex);
  return line_->small.size() + line_->large.size();
}

}  // namespace berth::app
