// SPDX-License-Identifier: Apache-2.0
#include "src/binding/event_recorder.h"

#include <absl/container/btree_map.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "src/api/protobuf_writes.h"
#include "src/base/logging.h"
#include "src/base/mutex.h"
#include "src/base/text.h"
#include "src/base/utf8.h"
#include "src/binding/paths.h"

namespace berth::binding {
namespace {

// Binds go first where connections are short, so a burst of them is answered before its events.
constexpr size_t kMaxInHand = 20'000;
constexpr size_t kMaxSeries = 20'000;
// How much room for records outlives a burst of them.
constexpr size_t kMostRoom = 1024;
constexpr int kMaxTries = 12;
constexpr Duration kRetryWait = std::chrono::seconds(10);
// While the daemon ends.
constexpr Duration kLastRetryWait = std::chrono::milliseconds(500);
constexpr std::string_view kEventAccept = "application/vnd.kubernetes.protobuf,application/json";
constexpr Duration kFinishTime = std::chrono::minutes(6);
constexpr Duration kRefreshTime = std::chrono::minutes(30);

constexpr size_t kMaxNote = 1024;
constexpr size_t kMaxInstance = 128;
constexpr size_t kMaxName = 253;

// Kinds of characters, and what has been read of a name: nothing of a label yet, a label that may
// end here, or one that may not.
enum CharacterKind : uint8_t { kOther, kAlphanumeric, kHyphen, kDot };
enum NameState : uint8_t { kRefused, kBegin, kLabel, kAfterHyphen };

constexpr std::array<CharacterKind, 256> kCharacterKinds = [] {
  std::array<CharacterKind, 256> kinds{};
  for (unsigned char c = '0'; c <= '9'; ++c) kinds[c] = kAlphanumeric;
  for (unsigned char c = 'a'; c <= 'z'; ++c) kinds[c] = kAlphanumeric;
  kinds['-'] = kHyphen;
  kinds['.'] = kDot;
  return kinds;
}();
// By state and by kind of the next character.
constexpr NameState kNextState[4][4] = {{},
                                        {kRefused, kLabel, kRefused, kRefused},
                                        {kRefused, kLabel, kAfterHyphen, kBegin},
                                        {kRefused, kLabel, kAfterHyphen, kRefused}};

// RFC 1123, as Kubernetes reads it.
bool IsDnsSubdomain(std::string_view name) {
  if (name.size() > kMaxName) return false;
  NameState state = kBegin;
  for (const char c : name)
    state = kNextState[state][kCharacterKinds[static_cast<unsigned char>(c)]];
  return state == kLabel;
}

void AppendReference(const api::ObjectReference& object, std::string& key) {
  for (const std::string* part : {&object.uid, &object.resource_version, &object.kind,
                                  &object.namespace_, &object.name, &object.api_version}) {
    key.append(*part).push_back('\0');
  }
}

}  // namespace

class EventRecorder::Impl : public std::enable_shared_from_this<EventRecorder::Impl> {
 public:
  Impl(client::ApiClient& api, const Clock& clock, uint64_t seed, std::string hostname)
      : api_(api), clock_(clock), random_(seed), hostname_(std::move(hostname)) {}

  void StartTimers() {
    Every(kFinishTime, &Impl::FinishSeries);
    Every(kRefreshTime, &Impl::RefreshSeries);
  }
  void Record(EventRecord&& record);
  void Flush(Duration patience, std::function<void(size_t)> flushed);
  Counts counts() const {
    base::MutexLock lock(mutex_);
    return counts_;
  }

 private:
  struct Arrival {
    Arrival(EventRecord&& its_record, Time now) : record(std::move(its_record)), when(now) {}

    EventRecord record;
    Time when;  // UTC
  };
  // An event that may repeat. It is a series once event.series is there.
  struct Kept {
    api::Event event;
    bool sending = false;
    Time touched{};  // by Clock::Now(), when it was made or repeated last
    // It became a series while its first write was under way.
    bool patch_due = false;
  };
  // One write, over all its tries.
  struct Write {
    explicit Write(api::Event its_event) : event(std::move(its_event)) {}
    // Of a record: the event is made in its place.
    Write(Arrival&& arrival, Time unique, const std::string& hostname, Random& random)
        : event(MakeEvent(std::move(arrival.record), arrival.when, unique, hostname, random)) {}

    api::Event event;
    std::string key;  // of the Kept it belongs to, or ""
    int tries = 0;
    bool counted = false;  // in in_hand_
    // The event to be patched was not there.
    bool create_series = false;
  };
  using WritePtr = std::shared_ptr<Write>;

  void Every(Duration period, void (Impl::*task)());
  void TakeArrivals();
  void Handle(Arrival&& arrival);
  void Repeat(Kept& kept, const std::string& key, Time when);
  void Send(const WritePtr& write);
  void OnAnswer(const WritePtr& write, const client::ResponseResult& result);
  // Whether the write is to be tried again.
  bool OnError(Write& write, const client::ApiError& error);
  void RetryLater(const WritePtr& write);
  void Done(const WritePtr& write);
  void PatchSeries(const std::string& key, const api::Event& event);
  void FinishSeries();
  void RefreshSeries();
  size_t in_hand() const {
    base::MutexLock lock(mutex_);
    return in_hand_;
  }
  void Release() {
    bool last = false;
    {
      base::MutexLock lock(mutex_);
      last = --in_hand_ == 0;
    }
    if (last) EndFlush();
  }
  void EndFlush();
  void CountFailure() {
    base::MutexLock lock(mutex_);
    ++counts_.failed;
  }

  client::ApiClient& api_;
  const Clock& clock_;

  // Executor's thread.
  Random random_;
  const std::string hostname_;
  Time last_unique_;
  std::vector<Arrival> taken_;  // for its room
  absl::btree_map<std::string, Kept> kept_;
  absl::btree_map<base::Executor::TimerId, WritePtr> waiting_;  // for their retry
  std::function<void(size_t)> flushed_;  // empty while nothing is being flushed
  base::Executor::TimerId patience_ = 0;

  mutable base::Mutex mutex_;
  Counts counts_ BERTH_GUARDED_BY(mutex_);
  // Recorded by callers and without an answer yet.
  size_t in_hand_ BERTH_GUARDED_BY(mutex_) = 0;
  std::vector<Arrival> arrivals_ BERTH_GUARDED_BY(mutex_);
};

void EventRecorder::Impl::Every(Duration period, void (Impl::*task)()) {
  api_.executor().PostAfter(period, [weak = weak_from_this(), period, task] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    (self.get()->*task)();
    self->Every(period, task);
  });
}

void EventRecorder::Impl::Record(EventRecord&& record) {
  const Time now = clock_.WallNow();
  {
    base::MutexLock lock(mutex_);
    ++counts_.recorded;
    if (in_hand_ >= kMaxInHand) {
      ++counts_.dropped;
      return;
    }
    ++in_hand_;
    arrivals_.emplace_back(std::move(record), now);
    // The call that put the first one there has woken the executor.
    if (arrivals_.size() > 1) return;
  }
  api_.executor().Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->TakeArrivals();
  });
}

void EventRecorder::Impl::Flush(Duration patience, std::function<void(size_t)> flushed) {
  // Behind the task that takes what has arrived.
  api_.executor().Post([weak = weak_from_this(), patience, flushed = std::move(flushed)] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->flushed_ = flushed;
    self->patience_ = self->api_.executor().PostAfter(std::max(patience, Duration::zero()), [weak] {
      if (const auto alive = weak.lock()) alive->EndFlush();
    });
    if (self->in_hand() == 0) self->EndFlush();
    for (const auto& [timer, write] : std::exchange(self->waiting_, {})) {
      self->api_.executor().Cancel(timer);
      self->Send(write);
    }
  });
}

void EventRecorder::Impl::EndFlush() {
  const auto flushed = std::exchange(flushed_, nullptr);
  if (flushed == nullptr) return;
  api_.executor().Cancel(patience_);
  flushed(in_hand());
}

void EventRecorder::Impl::TakeArrivals() {
  {
    base::MutexLock lock(mutex_);
    taken_.swap(arrivals_);
  }
  for (Arrival& arrival : taken_) Handle(std::move(arrival));
  taken_.clear();
  if (taken_.capacity() > kMostRoom) std::vector<Arrival>().swap(taken_);
}

void EventRecorder::Impl::Handle(Arrival&& arrival) {
  std::string key;
  if (arrival.record.may_repeat) {
    key = SeriesKey(arrival.record);
    const auto found = kept_.find(key);
    if (found != kept_.end()) {
      Repeat(found->second, key, arrival.when);
      Release();
      return;
    }
  }
  // Two events of one object in one nanosecond would have one name.
  last_unique_ = std::max(arrival.when, last_unique_ + Duration(1));
  auto write = std::make_shared<Write>(std::move(arrival), last_unique_, hostname_, random_);
  write->counted = true;
  if (!key.empty() && kept_.size() < kMaxSeries) {
    kept_.emplace(key, Kept{write->event, /*sending=*/true, clock_.Now()});
    write->key = std::move(key);
  }
  Send(write);
}

void EventRecorder::Impl::Repeat(Kept& kept, const std::string& key, Time when) {
  kept.touched = clock_.Now();
  if (kept.event.series) {
    ++kept.event.series->count;
    kept.event.series->last_observed_time = when;
    return;
  }
  kept.event.series = api::EventSeries{2, when};
  if (kept.sending) {
    kept.patch_due = true;
    return;
  }
  kept.sending = true;
  PatchSeries(key, kept.event);
}

void EventRecorder::Impl::PatchSeries(const std::string& key, const api::Event& event) {
  auto write = std::make_shared<Write>(event);
  write->key = key;
  Send(write);
}

void EventRecorder::Impl::Send(const WritePtr& write) {
  const api::Event& event = write->event;
  client::Request request;
  request.priority = client::Priority::kEvent;
  request.repeats_5xx = true;
  request.path = EventsPath(event.namespace_);
  if (event.series && !write->create_series) {
    request.verb = client::Verb::kPatch;
    request.path += "/" + base::Escape(event.name);
    request.content_type = api::kStrategicMergePatchContentType;
    request.body = api::EventSeriesPatch(event.series->count, event.series->last_observed_time);
  } else {
    request.verb = client::Verb::kCreate;
    if (api_.ReadsProtobuf()) {
      request.content_type = api::kProtobufContentType;
      // The server answers with the event as it stored it; Berth does not read that.
      request.accept = kEventAccept;
      request.body = api::EventProtobuf(event);
    } else {
      request.content_type = api::kJsonContentType;
      request.body = api::EventBody(event);
    }
  }
  api_.Send(std::move(request),
            [weak = weak_from_this(), write](const client::ResponseResult& result) {
              if (const auto self = weak.lock()) self->OnAnswer(write, result);
            });
}

void EventRecorder::Impl::OnAnswer(const WritePtr& write, const client::ResponseResult& result) {
  if (!result.has_value()) {
    const client::ApiError& error = result.error();
    if (error.code == 404 && write->event.series && !write->create_series) {
      write->create_series = true;
      Send(write);
      return;
    }
    if (OnError(*write, error)) {
      RetryLater(write);
      return;
    }
  }
  Done(write);
}

bool EventRecorder::Impl::OnError(Write& write, const client::ApiError& error) {
  const std::string object =
      api::NamespacedKey(write.event.regarding.namespace_, write.event.regarding.name);
  const bool exists = error.code == 409;
  if (exists && !write.event.series) {
    base::LogV(5, "The event exists already", {{"event", write.event.name}});
    return false;
  }
  // A series that can be neither patched nor created has just been created by an earlier write.
  if (error.code != 0 && !exists) {
    base::LogError("Server rejected event (will not retry!)",
                   {{"object", object}, {"reason", write.event.reason}, {"err", error.ToString()}});
    CountFailure();
    return false;
  }
  if (++write.tries >= kMaxTries) {
    base::LogError("Unable to write event (retry limit exceeded!)",
                   {{"object", object}, {"reason", write.event.reason}, {"err", error.ToString()}});
    CountFailure();
    return false;
  }
  base::LogV(2, "Unable to write event (may retry after sleeping)",
             {{"object", object}, {"reason", write.event.reason}, {"err", error.ToString()}});
  return true;
}

void EventRecorder::Impl::RetryLater(const WritePtr& write) {
  write->create_series = false;
  const double stretch = 1 + 0.25 * random_.Unit();
  const Duration least = flushed_ == nullptr ? kRetryWait : kLastRetryWait;
  const auto wait =
      Duration(static_cast<Duration::rep>(static_cast<double>(least.count()) * stretch));
  const auto timer = std::make_shared<base::Executor::TimerId>();
  *timer = api_.executor().PostAfter(wait, [weak = weak_from_this(), write, timer] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->waiting_.erase(*timer);
    self->Send(write);
  });
  waiting_.emplace(*timer, write);
}

void EventRecorder::Impl::Done(const WritePtr& write) {
  if (write->counted) Release();
  const auto found = kept_.find(write->key);
  if (found == kept_.end()) return;
  Kept& kept = found->second;
  kept.sending = std::exchange(kept.patch_due, false);
  if (kept.sending) PatchSeries(found->first, kept.event);
}

void EventRecorder::Impl::FinishSeries() {
  const Time idle_since = clock_.Now() - kFinishTime;
  for (auto it = kept_.begin(); it != kept_.end();) {
    const Kept& kept = it->second;
    if (kept.sending || kept.touched >= idle_since) {
      ++it;
      continue;
    }
    if (kept.event.series) PatchSeries("", kept.event);
    it = kept_.erase(it);
  }
}

void EventRecorder::Impl::RefreshSeries() {
  for (auto& [key, kept] : kept_) {
    if (!kept.event.series || kept.sending) continue;
    kept.sending = true;
    PatchSeries(key, kept.event);
  }
}

EventRecorder::EventRecorder(client::ApiClient& api, const Clock& clock, uint64_t seed,
                             std::string hostname)
    : impl_(std::make_shared<Impl>(api, clock, seed, std::move(hostname))) {
  impl_->StartTimers();
}
EventRecorder::~EventRecorder() = default;

void EventRecorder::Record(EventRecord&& record) { impl_->Record(std::move(record)); }
void EventRecorder::Flush(Duration patience, std::function<void(size_t)> flushed) {
  impl_->Flush(patience, std::move(flushed));
}
EventRecorder::Counts EventRecorder::counts() const { return impl_->counts(); }

std::string TruncateNote(std::string note) {
  if (note.size() <= kMaxNote) return note;
  static constexpr std::string_view kEllipsis = " ...";
  // Half a character would be replaced by a longer one on its way, and the event be rejected.
  note.resize(base::Utf8Front(note, kMaxNote - kEllipsis.size()).size());
  return note.append(kEllipsis);
}

api::ObjectReference ReferenceTo(const api::Pod& pod) {
  return {.kind = "Pod",
          .namespace_ = pod.metadata.namespace_,
          .name = pod.metadata.name,
          .uid = pod.metadata.uid,
          .api_version = "v1",
          .resource_version = pod.metadata.resource_version};
}

std::string SeriesKey(const EventRecord& record) {
  std::string key;
  key.reserve(192);
  AppendReference(record.regarding, key);
  if (record.related) AppendReference(*record.related, key);
  key.push_back(record.warning ? 'W' : 'N');
  key.append(record.reason).push_back('\0');
  key.append(record.action).push_back('\0');
  key += record.controller;
  return key;
}

api::Event MakeEvent(EventRecord&& record, Time when, Time unique, const std::string& hostname,
                     Random& random) {
  api::Event event;
  std::array<char, 16> digits{};
  const auto [end, error] =
      std::to_chars(digits.data(), digits.data() + digits.size(),
                    static_cast<uint64_t>(unique.time_since_epoch().count()), 16);
  event.name.reserve(record.regarding.name.size() + 1 + digits.size());
  event.name.append(record.regarding.name).append(".").append(digits.data(), end);
  if (!IsDnsSubdomain(event.name)) {
    const uint64_t high = random.Next();
    event.name = base::UuidText(high, random.Next());
  }
  event.namespace_ = record.regarding.namespace_.empty() ? "default" : record.regarding.namespace_;
  event.event_time = when;
  event.reporting_instance = base::Concat(record.controller, "-", hostname);
  event.reporting_instance.resize(std::min(event.reporting_instance.size(), kMaxInstance));
  event.reporting_controller = std::move(record.controller);
  event.action = std::move(record.action);
  event.reason = std::move(record.reason);
  event.type = record.warning ? "Warning" : "Normal";
  event.note = TruncateNote(std::move(record.note));
  event.regarding = std::move(record.regarding);
  event.related = std::move(record.related);
  return event;
}

}  // namespace berth::binding
