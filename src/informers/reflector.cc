// SPDX-License-Identifier: Apache-2.0
#include "src/informers/reflector.h"

#include <utility>

#include "src/api/list_reader.h"
#include "src/base/logging.h"
#include "src/base/text.h"
#include "src/client/retry.h"

namespace berth::informers {
namespace {

// A watch that ends sooner than this without a word is an error, or it would be asked for again
// and again.
constexpr Duration kShortWatch = std::chrono::seconds(1);

// A watch brings a bookmark each minute; what brought nothing once may have been cut early.
constexpr int kMostFruitless = 2;

std::string WithCommas(size_t number) {
  std::string text = std::to_string(number);
  for (size_t place = 3; place < text.size(); place += 4) text.insert(text.size() - place, ",");
  return text;
}

bool RefusesStreamingLists(const client::ApiError& error) {
  switch (error.code) {
    case 400:
    case 405:
    case 406:
    case 422:
    case 501:
      return true;
    default:
      return false;
  }
}

// The server has gone back in time (its etcd was restored): it will not know the version for long.
bool IsVersionOfTheFuture(const client::ApiError& error) {
  return error.code == 504 && error.message.starts_with("Too large resource version");
}

// The watch can go on where it stood.
bool IsHarmless(const client::ApiError& error) { return error.code == 429; }

// The server has not looked at what was asked.
bool WasBegun(const std::optional<client::ApiError>& error) {
  return !error || (!error->never_sent && error->code != 429);
}

bool IsOlder(std::string_view version, std::string_view than) {
  const auto number = NumberOf(version);
  const auto other = NumberOf(than);
  return number && other && *number < *other;
}

}  // namespace

// One response read as it arrives, on behalf of a reflector; it falls silent once the reflector is
// gone or has turned to another response.
//
// Thread safety: the executor's thread.
class Reflector::Session : public client::StreamHandler {
 public:
  explicit Session(const std::shared_ptr<Reflector>& reflector)
      : reflector_(reflector), number_(++reflector->session_) {}

  void OnStart(const client::Response& head) final;
  bool OnData(std::string_view data) final;
  void OnEnd(std::optional<client::ApiError> error) final;

 protected:
  virtual void Begin(Reflector& reflector, api::Encoding encoding) = 0;
  virtual bool Take(Reflector& reflector, std::string_view data) = 0;
  // The body has ended in an orderly way.
  virtual void End(Reflector& reflector) = 0;

  // Says why the response is of no more use. Returns false.
  static bool Break(Reflector& reflector, const Error& error);

 private:
  // The reflector if it still waits for this response.
  std::shared_ptr<Reflector> Current() const;

  std::weak_ptr<Reflector> reflector_;
  uint64_t number_;
};

class Reflector::WatchSession final : public Session {
 public:
  using Session::Session;

 protected:
  void Begin(Reflector& reflector, api::Encoding encoding) override;
  bool Take(Reflector& reflector, std::string_view data) override;
  void End(Reflector& reflector) override;

 private:
  api::Encoding encoding_ = api::Encoding::kJson;
  std::optional<api::WatchFrames> frames_;
};

class Reflector::PageSession final : public Session {
 public:
  using Session::Session;

 protected:
  void Begin(Reflector& reflector, api::Encoding encoding) override;
  bool Take(Reflector& reflector, std::string_view data) override;
  void End(Reflector& reflector) override;

 private:
  std::optional<api::ListReader> reader_;
};

std::shared_ptr<Reflector> Reflector::Session::Current() const {
  auto reflector = reflector_.lock();
  if (reflector == nullptr || reflector->stopped_ || reflector->session_ != number_) return nullptr;
  return reflector;
}

void Reflector::Session::OnStart(const client::Response& head) {
  const auto reflector = Current();
  if (reflector == nullptr) return;
  reflector->head_arrived_ = true;
  Begin(*reflector, api::EncodingOf(head.content_type));
  if (reflector->phase_ == Phase::kWatching) reflector->CaughtUp();
}

bool Reflector::Session::OnData(std::string_view data) {
  const auto reflector = Current();
  return reflector != nullptr && Take(*reflector, data);
}

void Reflector::Session::OnEnd(std::optional<client::ApiError> error) {
  const auto reflector = Current();
  if (reflector == nullptr) return;
  if (!error && !reflector->failure_) End(*reflector);
  // What was found inside the response says more than how it ended.
  if (reflector->failure_) error = std::exchange(reflector->failure_, std::nullopt);
  reflector->OnStreamEnd(std::move(error));
}

bool Reflector::Session::Break(Reflector& reflector, const Error& error) {
  client::ApiError failure;
  failure.message = "unreadable response: " + error.message;
  reflector.failure_ = std::move(failure);
  return false;
}

void Reflector::WatchSession::Begin(Reflector&, api::Encoding encoding) {
  encoding_ = encoding;
  frames_.emplace(encoding);
}

bool Reflector::WatchSession::Take(Reflector& reflector, std::string_view data) {
  frames_->Push(data);
  for (;;) {
    const auto frame = frames_->Next();
    if (!frame) return Break(reflector, frame.error());
    if (!*frame) return true;
    const auto event = api::DecodeWatchEvent(encoding_, **frame);
    if (!event) return Break(reflector, event.error());
    if (!reflector.OnWatchEvent(encoding_, *event)) return false;
  }
}

// A frame cut off at the end is sent again when the watch is resumed.
void Reflector::WatchSession::End(Reflector&) {}

void Reflector::PageSession::Begin(Reflector& reflector, api::Encoding encoding) {
  // The reader lives in the session, which is alive only while the reflector is.
  reader_.emplace(encoding, [&reflector, encoding](std::string_view item) {
    reflector.store_.Put(encoding, item);
  });
}

bool Reflector::PageSession::Take(Reflector& reflector, std::string_view data) {
  const auto pushed = reader_->Push(data);
  return pushed ? true : Break(reflector, pushed.error());
}

void Reflector::PageSession::End(Reflector& reflector) {
  const auto meta = reader_->Finish();
  if (!meta) {
    Break(reflector, meta.error());
    return;
  }
  reflector.page_ = *meta;
}

Reflector::Reflector(client::ApiClient& api, const Clock& clock, uint64_t seed,
                     const KindInfo& info, EventSink sink, const InformerOptions& options,
                     std::shared_ptr<ServerVersions> versions)
    : api_(api),
      clock_(clock),
      info_(info),
      sink_(sink),
      encoding_(options.json || info.custom || options.kept_text.any(info.kind)
                    ? api::Encoding::kJson
                    : api::Encoding::kProtobuf),
      random_(seed),
      backoff_(base::Backoff::Shape{}),
      list_again_backoff_(base::Backoff::Shape{}),
      store_(info, std::move(sink), options.kept_text),
      on_watch_(options.on_watch),
      tells_absent_(options.tells_absent),
      versions_(std::move(versions)) {}

void Reflector::Start() {
  LogProgressLater();
  StartList();
}

void Reflector::Stop() {
  stopped_ = true;
  if (timer_) api_.executor().Cancel(*timer_);
  if (progress_timer_) api_.executor().Cancel(*progress_timer_);
  if (call_ != nullptr) call_->Cancel();
  call_.reset();
  catching_up_.clear();
}

void Reflector::CatchUp(std::function<void()> done) {
  if (stopped_) return;
  if (!served_) {
    done();
    return;
  }
  catching_up_.push_back(std::move(done));
  if (timer_) {
    api_.executor().Cancel(*std::exchange(timer_, std::nullopt));
    (this->*step_)();
  } else if (phase_ == Phase::kWatching) {
    if (call_ != nullptr) call_->Cancel();
    RequestWatch();
  }
}

void Reflector::Answered() {
  if (std::exchange(down_, false)) on_watch_(info_.kind, nullptr);
}

void Reflector::CaughtUp() {
  Answered();
  for (const auto& done : std::exchange(catching_up_, {})) done();
}

InformerStats Reflector::stats() const {
  InformerStats stats = stats_;
  stats.objects = store_.size();
  stats.watching = phase_ == Phase::kWatching && call_ != nullptr && head_arrived_;
  stats.undecodable = store_.undecodable();
  return stats;
}

void Reflector::StartList() {
  store_.BeginList();
  newest_before_list_ = versions_->newest();
  if (streaming_refused_ || broken_lists_ >= 2) {
    StartPagedList();
  } else if (encoding_ == api::Encoding::kProtobuf) {
    RequestWholeList();
  } else {
    RequestStreamingList();
  }
}

void Reflector::RequestWholeList() {
  phase_ = Phase::kWholeList;
  page_.reset();
  // As new as the server can answer, and without a limit.
  Open(client::Verb::kList, "resourceVersion=", std::make_shared<PageSession>(shared_from_this()));
}

void Reflector::RequestStreamingList() {
  phase_ = Phase::kStreamingList;
  // Without a resourceVersion: as new as the server can answer.
  Open(client::Verb::kWatch, "sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
       std::make_shared<WatchSession>(shared_from_this()));
}

void Reflector::StartPagedList() {
  continue_.clear();
  RequestPage();
}

void Reflector::RequestPage() {
  phase_ = Phase::kPagedList;
  page_.reset();
  std::string query = "limit=500";
  if (!continue_.empty()) query += "&continue=" + base::Escape(continue_);
  Open(client::Verb::kList, query, std::make_shared<PageSession>(shared_from_this()));
}

void Reflector::RequestWatch() {
  if (MayHaveGoneBack()) {
    base::LogV(2, "The server may have gone back in time; listing again",
               {{"resource", info_.resource}, {"resourceVersion", resource_version_}});
    StartList();
    return;
  }
  phase_ = Phase::kWatching;
  ++stats_.watches;
  Open(client::Verb::kWatch, "resourceVersion=" + base::Escape(resource_version_),
       std::make_shared<WatchSession>(shared_from_this()));
}

void Reflector::Open(client::Verb verb, const std::string& query,
                     std::shared_ptr<Session> session) {
  client::Request request;
  request.verb = verb;
  request.priority = client::Priority::kUnlimited;
  request.timeout = {};
  request.path = std::string(info_.path) + "?" + query;
  if (verb == client::Verb::kWatch) {
    // Random, so that the watches of many clients do not end together.
    request.path += "&watch=1&allowWatchBookmarks=true&timeoutSeconds=" +
                    std::to_string(300 + random_.Below(301));
    request.accept = api::WatchAcceptOf(encoding_);
  } else {
    request.accept = api::AcceptOf(encoding_);
  }
  // Kinds without a protobuf form, and servers without protobuf, differ by their answer.
  if (encoding_ == api::Encoding::kProtobuf) request.accept += ",application/json";
  if (!info_.field_selector.empty()) {
    request.path += "&fieldSelector=" + base::Escape(info_.field_selector);
  }
  opened_ = clock_.Now();
  head_arrived_ = false;
  frame_arrived_ = false;
  failure_.reset();
  must_list_ = false;
  call_ = api_.Stream(std::move(request), kSilence, std::move(session));
}

bool Reflector::OnErrorEvent(api::Encoding encoding, std::string_view object) {
  const auto status = api::Decode<api::ApiStatus>(encoding, object);
  client::ApiError error;
  if (status) {
    error.code = status->code;
    error.reason = status->reason;
    error.message = status->message;
    if (status->details && status->details->retry_after_seconds > 0) {
      error.retry_after = std::chrono::seconds(status->details->retry_after_seconds);
    }
  } else {
    error.message = "unreadable ERROR event: " + status.error().message;
  }
  must_list_ = !IsHarmless(error);
  failure_ = std::move(error);
  return false;
}

bool Reflector::OnWatchEvent(api::Encoding encoding, const api::WatchEvent& event) {
  if (event.type == api::WatchEventType::kError) return OnErrorEvent(encoding, event.object);
  frame_arrived_ = true;
  if (phase_ == Phase::kWatching) backoff_.Reset();
  std::string version;
  switch (event.type) {
    case api::WatchEventType::kBookmark:
      return OnBookmark(encoding, event.object);
    case api::WatchEventType::kDeleted:
      version = store_.Delete(encoding, event.object);
      break;
    default:
      version = store_.Put(encoding, event.object);
      break;
  }
  // The events of an initial list are not in the order of their versions.
  if (phase_ == Phase::kWatching && !Reach(std::move(version))) return false;
  // An event may have stopped the reflector.
  return !stopped_;
}

bool Reflector::Reach(std::string version) {
  if (version.empty()) return true;
  const bool older = IsOlder(version, resource_version_);
  if (older || MayHaveGoneBack()) {
    client::ApiError error;
    error.message =
        older ? "the server went back from version " + resource_version_ + " to version " + version
              : "a list of another kind is older than what was seen before";
    failure_ = std::move(error);
    must_list_ = true;
    return false;
  }
  versions_->Saw(info_.kind, version);
  resource_version_ = std::move(version);
  return true;
}

bool Reflector::OnBookmark(api::Encoding encoding, std::string_view object) {
  const auto bookmark = api::DecodeBookmark(encoding, object);
  if (!bookmark) {
    client::ApiError error;
    error.message = "unreadable bookmark: " + bookmark.error().message;
    failure_ = std::move(error);
    return false;
  }
  if (phase_ == Phase::kWatching) {
    if (!Reach(bookmark->resource_version)) return false;
  } else if (bookmark->initial_events_end) {
    CompleteList(bookmark->resource_version);
    // The same stream goes on as the watch.
    phase_ = Phase::kWatching;
    ++stats_.watches;
  }
  return !stopped_;
}

void Reflector::CompleteList(const std::string& resource_version) {
  store_.EndList();
  versions_->Listed(info_.kind, resource_version, newest_before_list_);
  listed_after_going_back_ = versions_->times_gone_back();
  resource_version_ = resource_version;
  served_ = true;
  logged_absent_ = false;
  broken_lists_ = 0;
  fruitless_watches_ = 0;
  backoff_.Reset();
  ++stats_.lists;
  MarkSynced();
  CaughtUp();
}

void Reflector::MarkSynced() {
  if (stats_.synced) return;
  stats_.synced = true;
  if (progress_timer_) api_.executor().Cancel(*progress_timer_);
  progress_timer_.reset();
  base::LogInfo("Synced", {{"resource", info_.resource}, {"objects", store_.size()}});
  InformerEvent event;
  event.kind = info_.kind;
  event.type = EventType::kSynced;
  sink_(std::move(event));
}

void Reflector::OnStreamEnd(std::optional<client::ApiError> error) {
  call_.reset();
  if (stopped_) return;
  if (phase_ == Phase::kWatching) {
    OnWatchEnded(error);
  } else if (error) {
    OnListFailed(*error);
  } else if (Lists()) {
    OnPage(*std::exchange(page_, std::nullopt));
  } else {
    client::ApiError early;
    early.message = "the initial list ended before it was complete";
    OnListFailed(early);
  }
}

void Reflector::OnPage(const api::ListMeta& meta) {
  backoff_.Reset();
  continue_ = meta.continue_;
  if (!continue_.empty()) {
    RequestPage();
    return;
  }
  CompleteList(meta.resource_version);
  if (!stopped_) RequestWatch();
}

void Reflector::OnListFailed(const client::ApiError& error) {
  if (error.code == 404 && !served_) {
    CountAsEmpty("The server does not serve this kind; it counts as empty", error);
    After(client::Stretched(kAbsentWait, random_), &Reflector::StartList);
    return;
  }
  if (error.code == 403 && info_.optional && !served_) {
    CountAsEmpty("Not permitted to list this kind; it counts as empty until that changes", error);
    After(backoff_.Next(random_), &Reflector::StartList);
    return;
  }
  if (phase_ == Phase::kStreamingList && RefusesStreamingLists(error)) {
    base::LogV(2, "The server refuses streaming lists; listing page by page",
               {{"resource", info_.resource}, {"err", error.ToString()}});
    streaming_refused_ = true;
    StartPagedList();
    return;
  }
  if (phase_ != Phase::kPagedList) {
    // Broken off, or too much for the server in the time that it allows itself.
    if (head_arrived_ || error.code == 504) ++broken_lists_;
    RetryLater(error, &Reflector::StartList);
  } else if (error.code == 410 && !continue_.empty()) {
    // The token has expired; what came since BeginList may have changed meanwhile.
    RetryLater(error, &Reflector::StartList);
  } else {
    RetryLater(error, &Reflector::RequestPage);
  }
}

void Reflector::OnWatchEnded(const std::optional<client::ApiError>& error) {
  const bool worked = frame_arrived_ || clock_.Now() - opened_ >= kShortWatch;
  if (frame_arrived_) {
    fruitless_watches_ = 0;
  } else if (WasBegun(error)) {
    ++fruitless_watches_;
  }
  const bool blind = fruitless_watches_ >= kMostFruitless;
  client::ApiError why = error.value_or(client::ApiError());
  if (!error)
    why.message = blind ? "two watches in a row brought nothing" : "the watch ended at once";
  if (!error && worked && !blind) {
    RequestWatch();
  } else if (why.code == 410 && worked) {
    base::LogV(2, "The watch is too old; listing again",
               {{"resource", info_.resource}, {"resourceVersion", resource_version_}});
    StartList();
  } else if (must_list_ || blind || why.code == 410 || why.code == 404 ||
             IsVersionOfTheFuture(why)) {
    ListAgainLater(why);
  } else {
    RetryLater(why, &Reflector::RequestWatch);
  }
}

void Reflector::CountAsEmpty(std::string_view why, const client::ApiError& error) {
  if (!logged_absent_ && (tells_absent_ || error.code != 404)) {
    base::LogWarning(why, {{"resource", info_.resource}, {"err", error.ToString()}});
  }
  logged_absent_ = true;
  Answered();
  MarkSynced();
}

void Reflector::RetryLater(const client::ApiError& error, void (Reflector::*step)()) {
  RetryAfter(backoff_.Next(random_), error, step);
}

void Reflector::ListAgainLater(const client::ApiError& error) {
  const Time now = clock_.Now();
  if (now - listed_again_ >= kHealthy) list_again_backoff_.Reset();
  listed_again_ = now;
  RetryAfter(list_again_backoff_.Next(random_), error, &Reflector::StartList);
}

void Reflector::RetryAfter(Duration wait, const client::ApiError& error,
                           void (Reflector::*step)()) {
  ++stats_.errors;
  if (error.retry_after) wait = std::max(wait, client::AskedWait(*error.retry_after, random_));
  const auto wait_ms = std::chrono::duration_cast<std::chrono::milliseconds>(wait).count();
  if (on_watch_) {
    down_ = true;
    on_watch_(info_.kind, &error);
  } else {
    base::LogWarning(error.code == 403 ? "Not permitted; trying again" : "Failed; trying again",
                     {{"verb", Lists() ? "list" : "watch"},
                      {"resource", info_.resource},
                      {"err", error.ToString()},
                      {"retryInMs", wait_ms}});
  }
  After(wait, step);
}

void Reflector::After(Duration wait, void (Reflector::*step)()) {
  step_ = step;
  timer_ = api_.executor().PostAfter(wait, [weak = weak_from_this(), step] {
    const auto self = weak.lock();
    if (self == nullptr || self->stopped_) return;
    self->timer_.reset();
    (self.get()->*step)();
  });
}

void Reflector::LogProgressLater() {
  progress_timer_ = api_.executor().PostAfter(kProgressPeriod, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    if (self->call_ != nullptr && self->head_arrived_) {
      base::LogInfo("Syncing " + std::string(self->info_.resource) + ": " +
                    WithCommas(self->store_.size()) + " so far");
    }
    self->LogProgressLater();
  });
}

}  // namespace berth::informers
