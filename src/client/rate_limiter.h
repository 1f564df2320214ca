// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/container/btree_map.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "berth/time.h"
#include "src/base/string_map.h"
#include "src/client/api_client.h"

namespace berth::client {

// The namespace that a request is about, by its path; "": none, or the request is about a namespace
// itself.
std::string_view NamespaceOf(std::string_view path);

// How many requests may be under way at once, shared by namespace. One that holds a slot may take
// another while it holds fewer than three times those that are free, but for the last, which is for
// one that holds none. So one namespace alone gets three quarters, two that want all get three
// sevenths each, and a further one finds a slot until as many hold one as there are slots.
//
// Thread safety: one owner.
class RequestSlots {
 public:
  explicit RequestSlots(size_t slots) : slots_(slots) {}

  // May fall below what is taken.
  void Resize(size_t slots) { slots_ = slots; }
  size_t free() const { return taken_ < slots_ ? slots_ - taken_ : 0; }
  bool MayTake(std::string_view owner) const;
  void Take(std::string_view owner);
  void Free(std::string_view owner);

 private:
  size_t slots_;
  size_t taken_ = 0;
  base::StringMap<size_t> held_;  // by owner; none holds nothing
};

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
// A request whose namespace has its share of the slots already is set aside when it would be next,
// and stands at the head of its line again once the namespace may have another slot. So those of
// one namespace never stand before those of another for longer than the rate makes them.
//
// Thread safety: one owner.
class RequestQueue {
 public:
  using Ticket = uint64_t;

  // Both buckets have the same rate, as upstream's clients do. `slots`, where it is given, outlives
  // the queue; who pops takes the slot.
  RequestQueue(double qps, int burst, const RequestSlots* slots = nullptr);

  // `priority` is any but kUnlimited. Tickets must be unique. `since` is when its wait began;
  // `owner` is the namespace that it is about.
  void Push(Ticket ticket, Priority priority, Time since, std::string_view owner = {});
  // Takes the next request out, with the token it needs; nullopt when none may go now. With slots:
  // not while none is free.
  std::optional<Ticket> Pop(Time now);
  // When Pop(), which has just returned nullopt, may return something without a further Push() or a
  // slot given back; nullopt when nothing waits but for those.
  std::optional<Time> NextTurn(Time now) const;
  // Takes a request out of line, if it is still there.
  void Remove(Ticket ticket);

  // Whether requests of the namespace are set aside.
  bool HoldsBack(std::string_view owner) const;

  size_t size() const;

 private:
  struct Waiting {
    Ticket ticket;
    Time overdue_at;
    std::string owner;
    bool is_back = false;  // it was set aside before
  };
  using Line = std::deque<Waiting>;
  // What is set aside of one namespace and priority. The first of them may stand in its line again.
  struct Aside {
    Line waiting;
    bool one_is_back = false;
  };
  using Asides = absl::btree_map<std::pair<std::string, Priority>, Aside>;

  Line& line(Priority priority) { return lines_[static_cast<size_t>(priority)]; }
  const Line& line(Priority priority) const { return lines_[static_cast<size_t>(priority)]; }
  // The line whose head is longest overdue, or nullptr.
  Line* MostOverdue(Time now);
  // The line that the next token of the main bucket serves, or nullptr.
  Line* NextInMain(Time now);
  size_t in_lines() const;
  // Moves requests between the lines and what is set aside, until each line begins with one that
  // may go.
  void Sort();
  // The one that was back in its line has left that.
  void LeaveLine(const Waiting& one, Priority priority);

  TokenBucket main_;
  TokenBucket events_;
  const RequestSlots* slots_;
  Asides asides_;
  std::array<Line, 5> lines_;  // indexed by Priority; kUnlimited has none
  bool bind_is_next_ = false;  // what may go ahead of binds went last
};

}  // namespace berth::client
