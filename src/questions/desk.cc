// SPDX-License-Identifier: Apache-2.0
#include "src/questions/desk.h"

#include <utility>
#include <vector>

#include "src/base/inbox.h"

namespace berth::questions {
namespace {

// Between questions, how often changes are taken in that came meanwhile.
constexpr Duration kPeriod = std::chrono::milliseconds(250);
// While the first lists come, how often it looks whether it is to stop.
constexpr Duration kListPatience = std::chrono::milliseconds(10);

// The kind whose first list ends here.
std::optional<informers::Kind> ListedKind(const ClusterChange& change) {
  const auto* event = std::get_if<informers::InformerEvent>(&change);
  if (event == nullptr || event->type != informers::EventType::kSynced) return std::nullopt;
  return event->kind;
}

}  // namespace

// Changes on their way from other threads, which may send after the questions are gone. One of them
// schedules.
struct Desk::Feed {
  base::LockFreeInbox<ClusterChange> changes;
  base::Inbox<informers::Kind> listed;  // kinds whose first list is among the changes
  std::atomic<bool> begun = false;      // what was there is in: from now on the bound holds
  std::atomic<bool> overflowed = false;
};

Desk::Desk(LiveCluster& cluster, const Clock& clock, const DeskLimits& limits)
    : cluster_(cluster),
      clock_(clock),
      limits_(limits),
      line_({.thread_name = "berth-what-if",
             .low_priority = true,
             .small_waiting = limits.small_waiting,
             .large_waiting = limits.large_waiting,
             .small_time = limits.small_time,
             .large_time = limits.large_time},
            clock, *this) {}

void Desk::Ask(Size size, How how, std::shared_ptr<const std::atomic<bool>> gone,
               std::function<void(Reply)> reply) {
  auto answer = [this, how = std::move(how), reply](const std::function<bool()>& spent) {
    reply(how(*mirror_, spent));
    asked_ = clock_.Now();
  };
  line_.Ask({.size = size,
             .answer = std::move(answer),
             .refuse = std::move(reply),
             .gone = std::move(gone)});
}

std::optional<Duration> Desk::Period() {
  if (mirror_ == nullptr) return std::nullopt;
  return kPeriod;
}

void Desk::Idle() {
  if (mirror_ == nullptr) return;
  if (clock_.Now() - asked_ >= limits_.keep) return GiveUp();
  TakeChanges();
}

Result<void> Desk::Prepare() {
  asked_ = clock_.Now();
  if (mirror_ != nullptr && (feed_->overflowed || stale_)) GiveUp();
  if (mirror_ == nullptr) {
    if (auto begun = Begin(); !begun) {
      GiveUp();
      return begun;
    }
  }
  TakeChanges();
  mirror_->simulation().RunDue();
  return {};
}

Result<void> Desk::Begin() {
  stale_ = false;
  auto simulation = cluster_.MakeSimulation();
  if (!simulation) return Fail(simulation.error());
  mirror_ = std::make_unique<Mirror>(*std::move(simulation));
  feed_ = std::make_shared<Feed>();
  ++num_mirrors_;
  cluster_.Follow([feed = feed_, most = limits_.changes_waiting](ClusterChange change) {
    if (feed->overflowed) return;
    if (feed->begun && feed->changes.size() >= most) {
      feed->overflowed = true;
    } else {
      const std::optional<informers::Kind> listed = ListedKind(change);
      feed->changes.Push(std::move(change));
      if (listed) feed->listed.Push(*listed);
    }
  });
  std::vector<informers::Kind> listed;
  const Time until = clock_.Now() + limits_.sync;
  while (mirror_->num_synced() < cluster_.num_kinds()) {
    if (line_.stopping() || clock_.Now() >= until) return Fail("the objects have not come");
    feed_->listed.Drain(listed, kListPatience);
    TakeChanges();
  }
  feed_->begun = true;
  return {};
}

void Desk::TakeChanges() {
  std::vector<ClusterChange> changes;
  feed_->changes.Drain(changes);
  for (const ClusterChange& change : changes) {
    std::visit([this](const auto& what) { mirror_->Take(what); }, change);
  }
  if (!changes.empty()) mirror_->simulation().RunDue();
}

void Desk::GiveUp() {
  if (mirror_ == nullptr) return;
  cluster_.Unfollow();
  mirror_.reset();
  feed_.reset();
}

}  // namespace berth::questions
