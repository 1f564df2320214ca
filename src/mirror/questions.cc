// SPDX-License-Identifier: Apache-2.0
#include "src/mirror/questions.h"

#include <deque>
#include <optional>
#include <utility>

#include "src/base/lock_free_inbox.h"
#include "src/base/thread_priority.h"

namespace berth::mirror {
namespace {

// Between questions, how often changes are taken in that came meanwhile.
constexpr Duration kPeriod = std::chrono::milliseconds(250);
// While the first lists come, how often it looks whether it is to stop.
constexpr Duration kListPatience = std::chrono::milliseconds(10);
const Reply kStopped = {503, "the process is shutting down"};

// The kind whose first list ends here.
std::optional<informers::Kind> ListedKind(const Change& change) {
  const auto* event = std::get_if<informers::InformerEvent>(&change);
  if (event == nullptr || event->type != informers::EventType::kSynced) return std::nullopt;
  return event->kind;
}

}  // namespace

// Changes on their way from other threads, which may send after the questions are gone. One of them
// schedules.
struct Questions::Feed {
  base::LockFreeInbox<Change> changes;
  base::Inbox<informers::Kind> listed;  // kinds whose first list is among the changes
  std::atomic<bool> begun = false;      // what was there is in: from now on the bound holds
  std::atomic<bool> overflowed = false;
};

Questions::Questions(LiveCluster& cluster, const Clock& clock, const QuestionLimits& limits)
    : cluster_(cluster), clock_(clock), limits_(limits) {}

void Questions::Stop() {
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
    if (question.how) question.reply(kStopped);
  }
}

void Questions::Ask(Size size, How how, std::shared_ptr<const std::atomic<bool>> gone,
                    std::function<void(Reply)> reply) {
  std::atomic<size_t>& waiting = WaitingOf(size);
  const size_t most = size == Size::kSmall ? limits_.small_waiting : limits_.large_waiting;
  if (++waiting > most) {
    --waiting;
    return reply({429, "too many questions wait, please try again later"});
  }
  {
    base::MutexLock lock(thread_mutex_);
    if (!stopping_) {
      if (!std::exchange(started_, true)) {
        thread_ = base::NamedThread("berth-what-if", [this] { Run(); });
      }
      return inbox_.Push(Question{size, std::move(how), std::move(gone), std::move(reply)});
    }
  }
  --waiting;
  reply(kStopped);
}

void Questions::Run() {
  base::LowerThreadPriority();
  std::vector<Question> arrived;
  std::deque<Question> small;
  std::deque<Question> large;
  while (!stopping_) {
    std::optional<Duration> timeout;
    if (mirror_ != nullptr) timeout = kPeriod;
    if (!small.empty() || !large.empty()) timeout = Duration::zero();
    inbox_.Drain(arrived, timeout);
    for (Question& question : arrived) {
      if (question.how)
        (question.size == Size::kSmall ? small : large).push_back(std::move(question));
    }
    auto& line = small.empty() ? large : small;
    if (!line.empty() && !stopping_) {
      Question question = std::move(line.front());
      line.pop_front();
      Answer(question);
      asked_ = clock_.Now();
    } else if (mirror_ != nullptr && clock_.Now() - asked_ >= limits_.keep) {
      GiveUp();
    } else if (mirror_ != nullptr) {
      TakeChanges();
    }
  }
  GiveUp();
  for (auto* line : {&small, &large}) {
    for (const Question& question : *line) question.reply(kStopped);
  }
}

void Questions::Answer(Question& question) {
  --WaitingOf(question.size);
  if (question.gone != nullptr && *question.gone) return question.reply({504, ""});
  if (const auto prepared = Prepare(); !prepared) {
    GiveUp();
    return question.reply({503, prepared.error().message});
  }
  const Duration limit = question.size == Size::kSmall ? limits_.small_time : limits_.large_time;
  const std::function<bool()> spent = [this, until = clock_.Now() + limit] {
    return stopping_ || clock_.Now() > until;
  };
  question.reply(question.how(*mirror_, spent));
}

Result<void> Questions::Prepare() {
  if (mirror_ != nullptr && (feed_->overflowed || stale_)) GiveUp();
  if (mirror_ == nullptr) {
    if (auto begun = Begin(); !begun) return begun;
  }
  TakeChanges();
  mirror_->simulation().RunDue();
  return {};
}

Result<void> Questions::Begin() {
  stale_ = false;
  auto simulation = cluster_.MakeSimulation();
  if (!simulation) return Fail(simulation.error());
  mirror_ = std::make_unique<Mirror>(*std::move(simulation));
  feed_ = std::make_shared<Feed>();
  has_mirror_ = true;
  ++num_mirrors_;
  cluster_.Follow([feed = feed_, most = limits_.changes_waiting](Change change) {
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
    if (stopping_ || clock_.Now() >= until) return Fail("the objects have not come");
    feed_->listed.Drain(listed, kListPatience);
    TakeChanges();
  }
  feed_->begun = true;
  return {};
}

void Questions::TakeChanges() {
  std::vector<Change> changes;
  feed_->changes.Drain(changes);
  for (const Change& change : changes) {
    std::visit([this](const auto& what) { mirror_->Take(what); }, change);
  }
  if (!changes.empty()) mirror_->simulation().RunDue();
}

void Questions::GiveUp() {
  if (mirror_ == nullptr) return;
  cluster_.Unfollow();
  mirror_.reset();
  feed_.reset();
  has_mirror_ = false;
}

}  // namespace berth::mirror
