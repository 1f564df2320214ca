// SPDX-License-Identifier: Apache-2.0
#include "src/binding/pod_group_status.h"

#include <absl/container/btree_map.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "berth/random.h"
#include "src/api/writes.h"
#include "src/base/logging.h"
#include "src/base/text.h"
#include "src/binding/status_write.h"

namespace berth::binding {
namespace {

using GroupPtr = std::shared_ptr<const api::PodGroup>;

constexpr std::string_view kTrue = "True";
// By then the watch shows what was written, or what others wrote after it.
constexpr Duration kShownWithin = std::chrono::seconds(10);

std::string PathOf(const api::PodGroup& group) {
  return "/apis/scheduling.k8s.io/v1beta1/namespaces/" + base::Escape(group.metadata.namespace_) +
         "/podgroups/" + base::Escape(group.metadata.name);
}

}  // namespace

// Executor's thread, but for what says otherwise.
class PodGroupStatusPatcher::Impl
    : public std::enable_shared_from_this<PodGroupStatusPatcher::Impl> {
 public:
  Impl(client::ApiClient& api, const Clock& clock, uint64_t seed)
      : api_(api), clock_(clock), random_(seed) {}

  // Any thread.
  client::ApiClient& api() { return api_; }
  Time WallNow() const { return clock_.WallNow(); }

  void Add(GroupPtr group, api::Condition condition);
  void Forget(const std::string& uid);

 private:
  struct Change {
    GroupPtr group;
    api::Condition condition;
  };
  struct Sent {
    api::Condition condition;
    std::string version;  // of the group that did not show it yet
    Time at;
  };
  struct Entry {
    bool under_way = false;
    bool forgotten = false;
    std::optional<Change> waiting;
    std::optional<Sent> sent;
  };

  void SendNext(const std::string& uid, Entry& entry);
  void OnWritten(const std::string& uid, Sent sent, const std::string& key,
                 const std::optional<client::ApiError>& error);

  client::ApiClient& api_;
  const Clock& clock_;
  Random random_;
  absl::btree_map<std::string, Entry> entries_;  // by UID
};

void PodGroupStatusPatcher::Impl::Add(GroupPtr group, api::Condition condition) {
  const std::string uid = group->metadata.uid;
  Entry& entry = entries_[uid];
  const bool takes_back =
      entry.waiting && entry.waiting->condition.status == kTrue && condition.status != kTrue;
  if (takes_back) return;
  entry.waiting = Change{std::move(group), std::move(condition)};
  if (!entry.under_way) SendNext(uid, entry);
}

void PodGroupStatusPatcher::Impl::Forget(const std::string& uid) {
  const auto entry = entries_.find(uid);
  if (entry == entries_.end()) return;
  entry->second.waiting.reset();
  entry->second.forgotten = true;
  if (!entry->second.under_way) entries_.erase(entry);
}

void PodGroupStatusPatcher::Impl::SendNext(const std::string& uid, Entry& entry) {
  if (!entry.waiting) return;
  const Change change = *std::exchange(entry.waiting, std::nullopt);
  const api::ObjectMeta& metadata = change.group->metadata;
  if (entry.sent && entry.sent->version != metadata.resource_version &&
      clock_.Now() - entry.sent->at >= kShownWithin) {
    entry.sent.reset();
  }
  std::vector<api::Condition> known = change.group->status.conditions;
  if (entry.sent) {
    const api::Condition& sent = entry.sent->condition;
    const auto shown = std::ranges::find(known, sent.type, &api::Condition::type);
    if (shown == known.end()) {
      known.push_back(sent);
    } else {
      *shown = sent;
    }
  }
  const auto before = std::ranges::find(known, change.condition.type, &api::Condition::type);
  const bool was_true = before != known.end() && before->status == kTrue;
  if (was_true && change.condition.status != kTrue) return;
  auto body = api::PodGroupStatusPatch(known, change.condition, uid);
  if (!body) return;
  entry.under_way = true;
  std::make_shared<StatusWrite>(
      api_, PathOf(*change.group), std::move(*body), client::Priority::kStatusPatch, random_.Next(),
      [weak = weak_from_this(), uid, sent = Sent{change.condition, metadata.resource_version, {}},
       key = metadata.Key()](const std::optional<client::ApiError>& error) {
        if (const auto self = weak.lock()) self->OnWritten(uid, sent, key, error);
      })
      ->Start({});
}

void PodGroupStatusPatcher::Impl::OnWritten(const std::string& uid, Sent sent,
                                            const std::string& key,
                                            const std::optional<client::ApiError>& error) {
  const auto entry = entries_.find(uid);
  if (entry == entries_.end()) return;
  entry->second.under_way = false;
  if (entry->second.forgotten) {
    entries_.erase(entry);
    return;
  }
  if (error) {
    base::LogError("Failed to update PodGroup status",
                   {{"podGroup", key}, {"err", error->ToString()}});
  } else {
    sent.at = clock_.Now();
    entry->second.sent = std::move(sent);
  }
  SendNext(uid, entry->second);
}

PodGroupStatusPatcher::PodGroupStatusPatcher(client::ApiClient& api, const Clock& clock,
                                             uint64_t seed)
    : impl_(std::make_shared<Impl>(api, clock, seed)) {}

PodGroupStatusPatcher::~PodGroupStatusPatcher() = default;

void PodGroupStatusPatcher::Patch(GroupPtr group, api::Condition condition) {
  if (!condition.last_transition_time) condition.last_transition_time = impl_->WallNow();
  impl_->api().executor().Post([weak = std::weak_ptr(impl_), group = std::move(group),
                                condition = std::move(condition)]() mutable {
    if (const auto impl = weak.lock()) impl->Add(std::move(group), std::move(condition));
  });
}

void PodGroupStatusPatcher::Forget(std::string uid) {
  impl_->api().executor().Post([weak = std::weak_ptr(impl_), uid = std::move(uid)] {
    if (const auto impl = weak.lock()) impl->Forget(uid);
  });
}

}  // namespace berth::binding
