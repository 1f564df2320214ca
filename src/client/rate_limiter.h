// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "berth/time.h"
#include "src/client/api_client.h"

namespace berth::client {

// A bucket that holds at most `burst` tokens, starts full, and gains `qps` tokens a second.
// A negative qps means no limit. Thread safety: one owner.
class TokenBucket {
 public:
  TokenBucket(double qps, int burst);

  // Takes a token if there is one. Time that goes backwards counts as standing still.
  bool TryTake(Time now);
  // How long until a token is there; zero: now.
  Duration UntilNext(Time now) const;

 private:
  double TokensAt(Time now) const;

  double qps_;
  double burst_;
  double tokens_;
  std::optional<Time> last_;
};

// Requests in line for the rate, and who goes next.
//
//   kBind, kEviction, kStatusPatch, kOther ---> main bucket
//   kEvent ---> the events' bucket
//      +------- after 10 s also: -------------> main bucket
//
// In the main bucket binds and evictions go first and take turns, then status patches, then the
// rest; each class in its order of arrival. While no eviction waits, what has waited too long (a
// status patch 5 s, an event 10 s, anything else 10 s) takes turns with binds in their place, the
// longest overdue first. So binds keep at least half the rate, and an eviction never waits for
// anything but binds and other evictions.
//
// Thread safety: one owner.
class RequestQueue {
 public:
  using Ticket = uint64_t;

  // Both buckets have the same rate, as upstream's clients do.
  RequestQueue(double qps, int burst);

  // `priority` is any but kUnlimited. Tickets must be unique. `since` is when the request began to
  // `priority` is any but kUnlimited. Tickets must be unique. `since` is when its wait began.
  void Push(Ticket ticket, Priority priority, Time since);
  // Takes the next request out, with the token it needs; nullopt when none may go now.
  std::optional<Ticket> Pop(Time now);
  // When Pop() may next return something without a further Push(); nullopt when nothing waits.
  std::optional<Time> NextTurn(Time now) const;
  // Takes a request out of line, if it is still there.
  void Remove(Ticket ticket);

  size_t size() const;

 private:
  struct Waiting {
    Ticket ticket;
    Time overdue_at;
  };
  using Line = std::deque<Waiting>;

  Line& line(Priority priority) { return lines_[static_cast<size_t>(priority)]; }
  const Line& line(Priority priority) const { return lines_[static_cast<size_t>(priority)]; }
  // The line whose head is longest overdue, or nullptr.
  Line* MostOverdue(Time now);
  // The line that the next token of the main bucket serves, or nullptr.
  Line* NextInMain(Time now);

  TokenBucket main_;
  TokenBucket events_;
  std::array<Line, 5> lines_;  // indexed by Priority; kUnlimited has none
  bool bind_is_next_ = false;  // what may go ahead of binds went last
};

}  // namespace berth::client
