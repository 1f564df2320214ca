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

namespace berth::binding {
namespace {

constexpr size_t kMaxPods = 10'000;
constexpr int kTries = 4;
constexpr base::Backoff::Shape kRetryBackoff = {std::chrono::milliseconds(10), 5,
                                                std::chrono::seconds(1), 0.1};

// As kube-scheduler's RetriableWithConflict.
bool IsRetriable(const client::ApiError& error) {
  return error.never_sent || error.code == 409 || error.code == 500 || error.code == 503;
}

// A nomination that the pod's bind has overtaken. The API server tells it by this text alone.
bool IsTooLate(const client::ApiError& error) {
  return error.code == 422 && error.message.find("already bound to a node") != std::string::npos;
}

}  // namespace

class PodStatusPatcher::Impl : public std::enable_shared_from_this<PodStatusPatcher::Impl> {
 public:
  Impl(client::ApiClient& api, const Clock& clock, uint64_t seed)
      : api_(api), clock_(clock), random_(seed) {}

  void Add(std::shared_ptr<const api::Pod> pod, api::PodStatusChange change, Done done);
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
  };
  struct Entry {
    // Not empty; the first is being sent.
    std::deque<Patch> patches;
    // The conditions and the nominated node as the last patch left them, if one was sent.
    std::optional<api::PodStatus> sent;
    std::string body;
    int tries = 0;
    base::Backoff backoff{kRetryBackoff};
  };

  void OnExecutor(Patch patch);
  // Sends the first patch that changes something; drops the entry when none is left.
  void SendNext(const std::string& uid);
  void Send(const std::string& uid);
  void OnAnswer(const std::string& uid, const client::ResponseResult& result);
  void Finish(Patch patch, const std::optional<client::ApiError>& error);
  void Count(uint64_t Counts::* counter) {
    base::MutexLock lock(mutex_);
    ++(counts_.*counter);
  }

  client::ApiClient& api_;
  const Clock& clock_;
  Random random_;
  absl::btree_map<std::string, Entry> entries_;  // by UID; executor's thread

  mutable base::Mutex mutex_;
  Counts counts_ BERTH_GUARDED_BY(mutex_);
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

}  // namespace

void PodStatusPatcher::Impl::Add(std::shared_ptr<const api::Pod> pod, api::PodStatusChange change,
                                 Done done) {
  if (change.condition && !change.condition->last_transition_time) {
    change.condition->last_transition_time = clock_.Now();
  }
  Patch patch{std::move(pod), std::move(change), {}};
  if (done) patch.done.push_back(std::move(done));
  api_.executor().Post([weak = weak_from_this(), patch = std::move(patch)] {
    if (const auto self = weak.lock()) self->OnExecutor(patch);
  });
}

void PodStatusPatcher::Impl::OnExecutor(Patch patch) {
  const std::string uid = patch.pod->metadata.uid;
  const auto found = entries_.find(uid);
  if (found == entries_.end()) {
    if (entries_.size() >= kMaxPods) {
      Count(&Counts::dropped);
      Finish(std::move(patch),
             client::ApiError{0, "", "too many status patches in hand", {}, /*never_sent=*/true});
      return;
    }
    entries_[uid].patches.push_back(std::move(patch));
    SendNext(uid);
    return;
  }
  auto& patches = found->second.patches;
  if (patches.size() > 1 && Merge(patch.change, patches.back().change)) {
    patches.back().pod = std::move(patch.pod);
    for (Done& done : patch.done) patches.back().done.push_back(std::move(done));
  } else {
    patches.push_back(std::move(patch));
  }
}

void PodStatusPatcher::Impl::SendNext(const std::string& uid) {
  for (;;) {
    Entry& entry = entries_.at(uid);
    if (entry.patches.empty()) {
      entries_.erase(uid);
      return;
    }
    const Patch& patch = entry.patches.front();
    // What was sent a moment ago is newer than any version the caller can have seen.
    const api::PodStatus old = entry.sent ? *entry.sent : Compared(patch.pod->status);
    auto body = api::PodStatusPatch(old, patch.change, uid);
    if (body) {
      entry.body = std::move(*body);
      entry.tries = 0;
      entry.backoff.Reset();
      Send(uid);
      return;
    }
    Count(&Counts::unchanged);
    Patch unchanged = std::move(entry.patches.front());
    entry.patches.pop_front();
    Finish(std::move(unchanged), std::nullopt);
  }
}

void PodStatusPatcher::Impl::Send(const std::string& uid) {
  Entry& entry = entries_.at(uid);
  const api::ObjectMeta& meta = entry.patches.front().pod->metadata;
  ++entry.tries;
  client::Request request;
  request.verb = client::Verb::kPatch;
  request.priority = client::Priority::kStatusPatch;
  request.path = PodPath(meta.namespace_, meta.name) + "/status";
  request.content_type = api::kStrategicMergePatchContentType;
  request.body = entry.body;
  api_.Send(std::move(request),
            [weak = weak_from_this(), uid](const client::ResponseResult& result) {
              if (const auto self = weak.lock()) self->OnAnswer(uid, result);
            });
}

void PodStatusPatcher::Impl::OnAnswer(const std::string& uid,
                                      const client::ResponseResult& result) {
  Entry& entry = entries_.at(uid);
  if (!result.has_value() && IsRetriable(result.error()) && entry.tries < kTries) {
    api_.executor().PostAfter(entry.backoff.Next(random_), [weak = weak_from_this(), uid] {
      if (const auto self = weak.lock()) self->Send(uid);
    });
    return;
  }
  Patch patch = std::move(entry.patches.front());
  entry.patches.pop_front();
  std::optional<client::ApiError> error;
  if (result.has_value()) {
    Count(&Counts::sent);
    if (!entry.sent) entry.sent = Compared(patch.pod->status);
    Apply(patch.change, *entry.sent);
  } else {
    error = result.error();
    Count(&Counts::failed);
    const std::string pod = patch.pod->metadata.Key();
    if (error->code == 404) {
      base::LogV(4, "The pod is gone; its status is not patched", {{"pod", pod}});
    } else if (IsTooLate(*error)) {
      base::LogV(4, "The pod was bound before its nomination was written", {{"pod", pod}});
    } else {
      base::LogError("Error updating pod", {{"pod", pod}, {"err", error->ToString()}});
    }
  }
  Finish(std::move(patch), error);
  SendNext(uid);
}

void PodStatusPatcher::Impl::Finish(Patch patch, const std::optional<client::ApiError>& error) {
  for (const Done& done : patch.done) done(error);
}

PodStatusPatcher::PodStatusPatcher(client::ApiClient& api, const Clock& clock, uint64_t seed)
    : impl_(std::make_shared<Impl>(api, clock, seed)) {}
PodStatusPatcher::~PodStatusPatcher() = default;

void PodStatusPatcher::Patch(std::shared_ptr<const api::Pod> pod, api::PodStatusChange change,
                             Done done) {
  impl_->Add(std::move(pod), std::move(change), std::move(done));
}

PodStatusPatcher::Counts PodStatusPatcher::counts() const { return impl_->counts(); }

}  // namespace berth::binding
