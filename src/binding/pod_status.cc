// SPDX-License-Identifier: Apache-2.0
#include "src/binding/pod_status.h"

#include <absl/container/btree_map.h>

#include <deque>
#include <utility>
#include <vector>

#include "berth/random.h"
#include "src/base/backoff.h"
#include "src/base/logging.h"
#include "src/base/mutex.h"
#include "src/binding/paths.h"
#include "src/binding/status_write.h"

namespace berth::binding {
namespace {

// Enough that the client never waits for the next one, and few enough that what waits here can
// still be changed.
constexpr size_t kAtOnce = 32;
constexpr std::string_view kPodScheduled = "PodScheduled";
// Of a condition that could not be written. The last time comes after some 5 minutes: by then the
// pod itself has been tried again.
constexpr base::Backoff::Shape kLaterBackoff = {std::chrono::seconds(1), 2,
                                                std::chrono::seconds(40), 0.25};
constexpr int kMaxLater = 10;

// A nomination that the pod's bind has overtaken. The API server tells it by this text alone.
bool IsTooLate(const client::ApiError& error) {
  return error.code == 422 && error.message.find("already bound to a node") != std::string::npos;
}

// What of a pod's patches is withdrawn: the PodScheduled condition, or nominations, too.
enum class Withdrawn { kCondition, kAll };

}  // namespace

class PodStatusPatcher::Impl : public std::enable_shared_from_this<PodStatusPatcher::Impl> {
 public:
  Impl(client::ApiClient& api, const Clock& clock, uint64_t seed)
      : api_(api), clock_(clock), random_(seed) {}

  void Add(std::shared_ptr<const api::Pod> pod, api::PodStatusChange change, Done done);
  void Withdraw(std::string_view uid, Withdrawn what);
  Counts counts() const {
    base::MutexLock lock(mutex_);
    return counts_;
  }

 private:
  // A patch to send, made of one change or several.
  struct Patch {
    std::shared_ptr<const api::Pod> pod;
    api::PodStatusChange change;
    std::vector<Done> done;
    Time since;     // of the first change
    int later = 0;  // how often it has been put off
  };
  struct Entry {
    std::optional<Patch> under_way;
    std::shared_ptr<StatusWrite> write;  // of the patch under way
    bool cancelled = false;              // of which something is to be withdrawn
    bool forgotten = false;              // all of it
    std::deque<Patch> waiting;
    bool in_line = false;
    // Until then the first that waits is put off, unless something newer comes.
    std::optional<base::Executor::TimerId> put_off;
    // The conditions and the nominated node as the last patch left them, if one was sent.
    std::optional<api::PodStatus> sent;
  };

  void OnExecutor(Patch patch);
  // Puts the pod in line, or past it. The entry may be gone after it.
  void Enter(const std::string& uid, Entry& entry);
  // Sends what is next in line, as long as there is room.
  void SendNext();
  // Sends the pod's first waiting patch that changes something. False: there is none.
  bool Send(const std::string& uid, Entry& entry);
  void OnWritten(const std::string& uid, const std::optional<client::ApiError>& error);
  void Report(const Patch& patch, const client::ApiError& error);
  // Keeps a patch that failed for later.
  void PutOff(const std::string& uid, Entry& entry, Patch patch);
  void DoWithdraw(const std::string& uid, Withdrawn what);
  void Finish(const Patch& patch, const std::optional<client::ApiError>& error);
  void Count(uint64_t Counts::* counter) {
    base::MutexLock lock(mutex_);
    ++(counts_.*counter);
  }

  client::ApiClient& api_;
  const Clock& clock_;

  // Executor's thread.
  Random random_;
  absl::btree_map<std::string, Entry> entries_;  // by UID; with something under way or waiting
  std::deque<std::string> line_;                 // UIDs; of entries that are in_line, or gone
  size_t under_way_ = 0;                         // without nominations

  mutable base::Mutex mutex_;
  Counts counts_ BERTH_GUARDED_BY(mutex_);
  size_t in_hand_ BERTH_GUARDED_BY(mutex_) = 0;  // patches that are not finished
};

namespace {

// Only what PodStatusPatch compares: the rest of a status may be large.
api::PodStatus Compared(const api::PodStatus& status) {
  api::PodStatus out;
  out.conditions = status.conditions;
  out.nominated_node_name = status.nominated_node_name;
  return out;
}

void Apply(const api::PodStatusChange& change, api::PodStatus& status) {
  if (change.nominated_node_name) status.nominated_node_name = *change.nominated_node_name;
  if (!change.condition) return;
  for (api::PodCondition& condition : status.conditions) {
    if (condition.type != change.condition->type) continue;
    const auto since = condition.last_transition_time;
    const bool same = condition.status == change.condition->status;
    condition = *change.condition;
    if (same) condition.last_transition_time = since;
    return;
  }
  status.conditions.push_back(*change.condition);
}

// Adds the newer change to the older. False: they name two conditions, and one patch carries one.
bool Merge(const api::PodStatusChange& newer, api::PodStatusChange& older) {
  if (newer.condition && older.condition && newer.condition->type != older.condition->type) {
    return false;
  }
  if (newer.condition) older.condition = newer.condition;
  if (newer.nominated_node_name) older.nominated_node_name = newer.nominated_node_name;
  return true;
}

// Whether it tells of a node that is being cleared for the pod.
bool TellsNomination(const api::PodStatusChange& change) {
  return change.condition && change.nominated_node_name && !change.nominated_node_name->empty();
}

bool TellsScheduled(const api::PodStatusChange& change) {
  return change.condition && change.condition->type == kPodScheduled;
}

// Whether a patch that failed so is worth keeping: a condition says what is so until something
// newer comes, while a nomination belongs to evictions that go on without it or have been given up.
bool MayComeLater(const api::PodStatusChange& change, const client::ApiError& error) {
  // Credentials expire before new ones are there, and rights are given late.
  const bool of_ours = error.code == 401 || error.code == 403;
  const bool passes =
      of_ours || error.code == 0 || error.code == 409 || error.code == 429 || error.code >= 500;
  return passes && TellsScheduled(change) && !TellsNomination(change);
}

// Takes the PodScheduled condition out, or all. False: nothing is left.
bool Strip(api::PodStatusChange& change, bool all) {
  if (all) change = {};
  if (TellsScheduled(change)) change.condition.reset();
  return change.condition || change.nominated_node_name;
}

}  // namespace

void PodStatusPatcher::Impl::Add(std::shared_ptr<const api::Pod> pod, api::PodStatusChange change,
                                 Done done) {
  const Time now = clock_.Now();
  if (change.condition && !change.condition->last_transition_time) {
    change.condition->last_transition_time = clock_.WallNow();
  }
  Patch patch{std::move(pod), std::move(change), {}, now};
  if (done) patch.done.push_back(std::move(done));
  {
    base::MutexLock lock(mutex_);
    ++in_hand_;
  }
  api_.executor().Post([weak = weak_from_this(), patch = std::move(patch)] {
    if (const auto self = weak.lock()) self->OnExecutor(patch);
  });
}

void PodStatusPatcher::Impl::OnExecutor(Patch patch) {
  const std::string uid = patch.pod->metadata.uid;
  Entry& entry = entries_[uid];
  if (!entry.waiting.empty() && Merge(patch.change, entry.waiting.back().change)) {
    entry.waiting.back().pod = std::move(patch.pod);
    entry.waiting.back().later = 0;
    for (Done& done : patch.done) entry.waiting.back().done.push_back(std::move(done));
    base::MutexLock lock(mutex_);
    --in_hand_;
  } else {
    entry.waiting.push_back(std::move(patch));
  }
  Enter(uid, entry);
  SendNext();
}

void PodStatusPatcher::Impl::Enter(const std::string& uid, Entry& entry) {
  if (entry.under_way) return;
  entry.put_off.reset();
  if (TellsNomination(entry.waiting.back().change)) {
    entry.in_line = false;
    if (!Send(uid, entry)) entries_.erase(uid);
    return;
  }
  if (entry.in_line) return;
  entry.in_line = true;
  line_.push_back(uid);
}

void PodStatusPatcher::Impl::SendNext() {
  while (under_way_ < kAtOnce && !line_.empty()) {
    const std::string uid = std::move(line_.front());
    line_.pop_front();
    const auto found = entries_.find(uid);
    if (found == entries_.end() || !std::exchange(found->second.in_line, false)) continue;
    if (!Send(uid, found->second)) entries_.erase(found);
  }
}

bool PodStatusPatcher::Impl::Send(const std::string& uid, Entry& entry) {
  while (!entry.waiting.empty()) {
    Patch patch = std::move(entry.waiting.front());
    entry.waiting.pop_front();
    // What was sent a moment ago is newer than any version the caller can have seen.
    const api::PodStatus old = entry.sent ? *entry.sent : Compared(patch.pod->status);
    auto body = api::PodStatusPatch(old, patch.change, uid);
    if (!body) {
      Count(&Counts::unchanged);
      Finish(patch, std::nullopt);
      continue;
    }
    const bool urgent = TellsNomination(patch.change);
    const api::ObjectMeta& metadata = patch.pod->metadata;
    entry.write = std::make_shared<StatusWrite>(
        api_, PodPath(metadata.namespace_, metadata.name), std::move(*body),
        urgent ? client::Priority::kEviction : client::Priority::kStatusPatch, random_.Next(),
        [weak = weak_from_this(), uid](const std::optional<client::ApiError>& error) {
          if (const auto self = weak.lock()) self->OnWritten(uid, error);
        });
    const Duration waited = clock_.Now() - patch.since;
    entry.under_way = std::move(patch);
    if (!urgent) ++under_way_;
    entry.write->Start(waited);
    return true;
  }
  return false;
}

void PodStatusPatcher::Impl::OnWritten(const std::string& uid,
                                       const std::optional<client::ApiError>& error) {
  Entry& entry = entries_.at(uid);
  std::optional<Patch> patch = std::exchange(entry.under_way, std::nullopt);
  if (!TellsNomination(patch->change)) --under_way_;
  entry.write.reset();
  const bool withdrawn = std::exchange(entry.cancelled, false) && error;
  const bool forgotten = std::exchange(entry.forgotten, false);
  if (!error) {
    Count(&Counts::sent);
    if (!entry.sent) entry.sent = Compared(patch->pod->status);
    Apply(patch->change, *entry.sent);
  } else if (withdrawn) {
    Count(&Counts::withdrawn);
    if (Strip(patch->change, forgotten)) {
      entry.waiting.push_front(*std::exchange(patch, std::nullopt));
    }
  } else {
    Report(*patch, *error);
    if (entry.waiting.empty() && MayComeLater(patch->change, *error) && patch->later < kMaxLater) {
      const auto done = std::exchange(patch->done, {});
      PutOff(uid, entry, *std::exchange(patch, std::nullopt));
      for (const Done& tell : done) tell(error);
    }
  }
  if (entry.waiting.empty()) {
    entries_.erase(uid);
  } else if (!entry.put_off) {
    Enter(uid, entry);
  }
  if (patch) Finish(*patch, withdrawn ? std::nullopt : error);
  SendNext();
}

void PodStatusPatcher::Impl::PutOff(const std::string& uid, Entry& entry, Patch patch) {
  const Duration wait = base::Backoff::Wait(kLaterBackoff, patch.later++, random_);
  entry.waiting.push_back(std::move(patch));
  const auto timer = std::make_shared<base::Executor::TimerId>();
  *timer = api_.executor().PostAfter(wait, [weak = weak_from_this(), uid, timer] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    const auto found = self->entries_.find(uid);
    if (found == self->entries_.end() || found->second.put_off != *timer) return;
    self->Enter(uid, found->second);
    self->SendNext();
  });
  entry.put_off = *timer;
}

void PodStatusPatcher::Impl::Report(const Patch& patch, const client::ApiError& error) {
  Count(&Counts::failed);
  const std::string pod = patch.pod->metadata.Key();
  if (error.code == 404) {
    base::LogV(4, "The pod is gone; its status is not patched", {{"pod", pod}});
  } else if (IsTooLate(error)) {
    base::LogV(4, "The pod was bound before its nomination was written", {{"pod", pod}});
  } else {
    base::LogError("Error updating pod", {{"pod", pod}, {"err", error.ToString()}});
  }
}

void PodStatusPatcher::Impl::Withdraw(std::string_view uid, Withdrawn what) {
  {
    // Every bind comes by here, and most find nothing.
    base::MutexLock lock(mutex_);
    if (in_hand_ == 0) return;
  }
  api_.executor().Post([weak = weak_from_this(), uid = std::string(uid), what] {
    if (const auto self = weak.lock()) self->DoWithdraw(uid, what);
  });
}

void PodStatusPatcher::Impl::DoWithdraw(const std::string& uid, Withdrawn what) {
  const bool all = what == Withdrawn::kAll;
  const auto found = entries_.find(uid);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  std::vector<Patch> withdrawn;
  for (auto it = entry.waiting.begin(); it != entry.waiting.end();) {
    if (all || TellsScheduled(it->change)) Count(&Counts::withdrawn);
    if (Strip(it->change, all)) {
      ++it;
      continue;
    }
    withdrawn.push_back(std::move(*it));
    it = entry.waiting.erase(it);
  }
  std::shared_ptr<StatusWrite> write;
  if (entry.under_way) {
    entry.forgotten |= all;
    if (!entry.cancelled && (all || TellsScheduled(entry.under_way->change))) write = entry.write;
    entry.cancelled |= write != nullptr;
  } else if (entry.waiting.empty()) {
    entries_.erase(found);
  }
  for (const Patch& patch : withdrawn) Finish(patch, std::nullopt);
  // It may end the write, and with it the entry.
  if (write != nullptr) write->Cancel();
}

void PodStatusPatcher::Impl::Finish(const Patch& patch,
                                    const std::optional<client::ApiError>& error) {
  {
    base::MutexLock lock(mutex_);
    --in_hand_;
  }
  for (const Done& done : patch.done) done(error);
}

PodStatusPatcher::PodStatusPatcher(client::ApiClient& api, const Clock& clock, uint64_t seed)
    : impl_(std::make_shared<Impl>(api, clock, seed)) {}
PodStatusPatcher::~PodStatusPatcher() = default;

void PodStatusPatcher::Patch(std::shared_ptr<const api::Pod> pod, api::PodStatusChange change,
                             Done done) {
  impl_->Add(std::move(pod), std::move(change), std::move(done));
}

void PodStatusPatcher::DropCondition(std::string_view pod_uid) {
  impl_->Withdraw(pod_uid, Withdrawn::kCondition);
}
void PodStatusPatcher::Forget(std::string_view pod_uid) {
  impl_->Withdraw(pod_uid, Withdrawn::kAll);
}

PodStatusPatcher::Counts PodStatusPatcher::counts() const { return impl_->counts(); }

}  // namespace berth::binding
