// SPDX-License-Identifier: Apache-2.0
#include "src/client/rate_limiter.h"

#include <algorithm>
#include <cmath>

#include "berth/check.h"

namespace berth::client {
namespace {

Duration Patience(Priority priority) {
  switch (priority) {
    case Priority::kStatusPatch:
      return std::chrono::seconds(5);
    case Priority::kEvent:
    case Priority::kOther:
      return std::chrono::seconds(10);
    case Priority::kBind:
    case Priority::kEviction:
    case Priority::kUnlimited:
      break;
  }
  return Duration::zero();
}

constexpr Priority kLimited[] = {Priority::kBind, Priority::kEviction, Priority::kStatusPatch,
                                 Priority::kOther, Priority::kEvent};

// Rounding may leave a token a hair short of one when exactly its time has passed.
constexpr double kAlmostOne = 1.0 - 1e-9;

}  // namespace

std::string_view NamespaceOf(std::string_view path) {
  constexpr std::string_view kBefore = "/namespaces/";
  path = path.substr(0, path.find('?'));
  const size_t found = path.find(kBefore);
  if (found == std::string_view::npos) return {};
  const std::string_view rest = path.substr(found + kBefore.size());
  const size_t end = rest.find('/');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

bool RequestSlots::MayTake(std::string_view owner) const {
  constexpr size_t kTimesFree = 3;
  const auto found = held_.find(owner);
  if (found == held_.end()) return free() > 0;
  return free() > 0 && found->second < kTimesFree * (free() - 1);
}

void RequestSlots::Take(std::string_view owner) {
  ++taken_;
  ++held_.try_emplace(owner).first->second;
}

void RequestSlots::Free(std::string_view owner) {
  --taken_;
  const auto found = held_.find(owner);
  if (--found->second == 0) held_.erase(found);
}

TokenBucket::TokenBucket(double qps, int burst)
    : qps_(qps), burst_(std::max(burst, 1)), tokens_(burst_) {}

double TokenBucket::TokensAt(Time now) const {
  if (!last_ || now <= *last_) return tokens_;
  const double seconds = std::chrono::duration<double>(now - *last_).count();
  return std::min(burst_, tokens_ + seconds * qps_);
}

bool TokenBucket::TryTake(Time now) {
  if (qps_ < 0) return true;
  const double tokens = TokensAt(now);
  if (tokens < kAlmostOne) return false;
  tokens_ = std::max(0.0, tokens - 1);
  last_ = last_ ? std::max(*last_, now) : now;
  return true;
}

Duration TokenBucket::UntilNext(Time now) const {
  if (qps_ < 0) return Duration::zero();
  const double missing = kAlmostOne - TokensAt(now);
  if (missing <= 0) return Duration::zero();
  constexpr Duration kLongestWait = std::chrono::hours(24);
  // Of numbers that no int64_t has, each processor makes another one.
  const double nanos = std::ceil(missing / qps_ * 1e9);
  if (!(nanos < static_cast<double>(kLongestWait.count()))) return kLongestWait;
  return Duration(static_cast<int64_t>(nanos));
}

RequestQueue::RequestQueue(double qps, int burst, const RequestSlots* slots)
    : main_(qps, burst), events_(qps, burst), slots_(slots) {}

void RequestQueue::Push(Ticket ticket, Priority priority, Time since, std::string_view owner) {
  BERTH_CHECK(priority != Priority::kUnlimited, "an unlimited request needs no turn");
  line(priority).push_back({ticket, since + Patience(priority), std::string(owner)});
}

RequestQueue::Line* RequestQueue::MostOverdue(Time now) {
  Line* found = nullptr;
  for (const Priority priority : {Priority::kStatusPatch, Priority::kEvent, Priority::kOther}) {
    Line& candidate = line(priority);
    if (candidate.empty() || candidate.front().overdue_at > now) continue;
    if (found == nullptr || candidate.front().overdue_at < found->front().overdue_at) {
      found = &candidate;
    }
  }
  return found;
}

RequestQueue::Line* RequestQueue::NextInMain(Time now) {
  Line& binds = line(Priority::kBind);
  Line& evictions = line(Priority::kEviction);
  Line* ahead = evictions.empty() ? MostOverdue(now) : &evictions;
  if (ahead != nullptr && (binds.empty() || !bind_is_next_)) {
    bind_is_next_ = true;
    return ahead;
  }
  bind_is_next_ = false;
  for (const Priority priority : {Priority::kBind, Priority::kStatusPatch, Priority::kOther}) {
    if (!line(priority).empty()) return &line(priority);
  }
  return nullptr;
}

void RequestQueue::Sort() {
  if (slots_ == nullptr || slots_->free() == 0) return;
  for (auto& [key, aside] : asides_) {
    if (aside.one_is_back || !slots_->MayTake(key.first)) continue;
    aside.one_is_back = true;
    Waiting one = std::move(aside.waiting.front());
    aside.waiting.pop_front();
    one.is_back = true;
    line(key.second).push_front(std::move(one));
  }
  for (const Priority priority : kLimited) {
    Line& sorted = line(priority);
    while (!sorted.empty() && !slots_->MayTake(sorted.front().owner)) {
      Waiting one = std::move(sorted.front());
      sorted.pop_front();
      Aside& aside = asides_[{one.owner, priority}];
      if (std::exchange(one.is_back, false)) {
        aside.one_is_back = false;
        aside.waiting.push_front(std::move(one));
      } else {
        aside.waiting.push_back(std::move(one));
      }
    }
  }
}

void RequestQueue::LeaveLine(const Waiting& one, Priority priority) {
  if (!one.is_back) return;
  const auto found = asides_.find({one.owner, priority});
  found->second.one_is_back = false;
  if (found->second.waiting.empty()) asides_.erase(found);
}

std::optional<RequestQueue::Ticket> RequestQueue::Pop(Time now) {
  Sort();
  Line& events = line(Priority::kEvent);
  const bool main_waits = in_lines() > events.size();
  const bool event_overdue = !events.empty() && events.front().overdue_at <= now;
  Line* next = nullptr;
  if (main_waits && main_.TryTake(now)) {
    next = NextInMain(now);
  } else if (!events.empty() && (events_.TryTake(now) || (event_overdue && main_.TryTake(now)))) {
    next = &events;
  }
  if (next == nullptr) return std::nullopt;
  const Ticket ticket = next->front().ticket;
  LeaveLine(next->front(), static_cast<Priority>(next - lines_.data()));
  next->pop_front();
  return ticket;
}

std::optional<Time> RequestQueue::NextTurn(Time now) const {
  std::optional<Time> next;
  const auto consider = [&next](Time at) { next = next ? std::min(*next, at) : at; };
  const Line& events = line(Priority::kEvent);
  const Time main_token = now + main_.UntilNext(now);
  if (in_lines() > events.size()) consider(main_token);
  if (!events.empty()) {
    consider(now + events_.UntilNext(now));
    consider(std::max(main_token, events.front().overdue_at));
  }
  return next;
}

void RequestQueue::Remove(Ticket ticket) {
  // Mostly it is the oldest of its line: a client that ends cancels them in that order.
  const auto find = [ticket](Line& candidate) {
    return std::ranges::find(candidate, ticket, &Waiting::ticket);
  };
  for (const Priority priority : kLimited) {
    Line& candidate = line(priority);
    const auto found = find(candidate);
    if (found == candidate.end()) continue;
    LeaveLine(*found, priority);
    candidate.erase(found);
    return;
  }
  for (auto it = asides_.begin(); it != asides_.end(); ++it) {
    Line& candidate = it->second.waiting;
    const auto found = find(candidate);
    if (found == candidate.end()) continue;
    candidate.erase(found);
    if (candidate.empty() && !it->second.one_is_back) asides_.erase(it);
    return;
  }
}

bool RequestQueue::HoldsBack(std::string_view owner) const {
  const auto found = asides_.lower_bound({std::string(owner), Priority{}});
  return found != asides_.end() && found->first.first == owner;
}

size_t RequestQueue::in_lines() const {
  size_t sum = 0;
  for (const Line& one : lines_) sum += one.size();
  return sum;
}

size_t RequestQueue::size() const {
  size_t sum = in_lines();
  for (const auto& [key, aside] : asides_) sum += aside.waiting.size();
  return sum;
}

}  // namespace berth::client
