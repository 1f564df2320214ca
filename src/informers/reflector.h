// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/random.h"
#include "src/api/watch.h"
#include "src/base/backoff.h"
#include "src/client/api_client.h"
#include "src/informers/informers.h"
#include "src/informers/kinds.h"
#include "src/informers/object_store.h"
#include "src/informers/server_versions.h"

namespace berth::informers {

// Keeps an ObjectStore equal to what the API server has of one kind.
//
//   whole list     broken off twice
//   or               or refused (400, 405, 406, 422, 501)
//   streaming list --------------------------> paged list <--+ next page; the first, after a 410
//     ^   |                                      |    |      |
//     |   | its end, or                          |    +------+
//     |   v bookmark "initial events end"        | last page
//     |  watching <------------------------------+
//     |   |    ^
//     |   |    | resume from the last resourceVersion: orderly end, silence, errors
//     |   +----+
//     |   |
//     +---+ list again; what is known stays and is compared:
//             410 Gone, or any other ERROR event but 429
//             two watches in a row without an event or bookmark
//             a version older than the one before (etcd was restored), here or of another kind
//             (ServerVersions)
//
// A protobuf list comes whole, in one response, and is read item by item while it arrives. For the
// server that is half the work of a streaming list, a watch that begins with an event for each
// object; that is how JSON comes, which is read only once all of it is there.
//
// Without the last two, a server whose etcd was restored would leave us waiting for a version that
// it reaches hours later, or with what it has undone. A watch that was not begun (no connection,
// 429) does not count.
//
// Errors are tried again after a growing wait, at random longer, a list page from the page it had
// reached; lists that follow each other within two minutes after one that grows apart. A kind that
// the server does not serve (404, unless it has been served before) counts as empty, and is asked
// for again every five minutes; so does an optional one that it forbids to list (403), which is
// asked for again as after other errors. Both are logged once.
//
// Thread safety: the executor's thread.
class Reflector : public std::enable_shared_from_this<Reflector> {
 public:
  // A stream without a byte for this long is dead: bookmarks come each minute.
  static constexpr Duration kSilence = std::chrono::seconds(150);
  static constexpr Duration kAbsentWait = std::chrono::minutes(5);
  static constexpr Duration kProgressPeriod = std::chrono::seconds(5);
  // Lists again that are further apart begin with the shortest wait.
  static constexpr Duration kHealthy = std::chrono::minutes(2);

  // `api`, `clock` and `info` must outlive the reflector. `versions` is that of all reflectors of
  // the server.
  Reflector(client::ApiClient& api, const Clock& clock, uint64_t seed, const KindInfo& info,
            EventSink sink, const InformerOptions& options,
            std::shared_ptr<ServerVersions> versions);

  void Start();
  // No event is sent afterwards, and no CatchUp() is answered.
  void Stop();
  // Asks the server again, without waiting for a backoff, and calls `done` once it answers: with a
  // watch that resumes where this one stood, or with a whole list. At once if nothing has been
  // listed yet.
  void CatchUp(std::function<void()> done);
  InformerStats stats() const;
  // All that is known now, in no particular order.
  std::vector<api::ObjectPtr> Objects() const { return store_.Objects(); }

 private:
  class Session;
  class WatchSession;
  class PageSession;
  enum class Phase { kWholeList, kStreamingList, kPagedList, kWatching };

  void StartList();
  void RequestWholeList();
  void RequestStreamingList();
  void StartPagedList();
  void RequestPage();
  void RequestWatch();
  void Open(client::Verb verb, const std::string& query, std::shared_ptr<Session> session);

  // False: the stream is of no more use, and why is in `failure_`.
  bool OnWatchEvent(api::Encoding encoding, const api::WatchEvent& event);
  bool OnBookmark(api::Encoding encoding, std::string_view object);
  bool OnErrorEvent(api::Encoding encoding, std::string_view object);
  // Whether what is under way is a list and no watch.
  bool Lists() const { return phase_ == Phase::kWholeList || phase_ == Phase::kPagedList; }
  // Whether the server has gone back in time since the last list, or may have.
  bool MayHaveGoneBack() const {
    return versions_->times_gone_back() != listed_after_going_back_ ||
           versions_->IsDoubted(info_.kind);
  }
  // The watch has reached `version`. False where it was further before.
  bool Reach(std::string version);
  // The server answers, if it had not.
  void Answered();
  void CaughtUp();
  void OnPage(const api::ListMeta& meta);
  void CompleteList(const std::string& resource_version);
  void OnStreamEnd(std::optional<client::ApiError> error);
  void OnListFailed(const client::ApiError& error);
  void OnWatchEnded(const std::optional<client::ApiError>& error);
  void CountAsEmpty(std::string_view why, const client::ApiError& error);
  void MarkSynced();

  void RetryLater(const client::ApiError& error, void (Reflector::*step)());
  // What is known may not be what the server has.
  void ListAgainLater(const client::ApiError& error);
  void RetryAfter(Duration wait, const client::ApiError& error, void (Reflector::*step)());
  void After(Duration wait, void (Reflector::*step)());
  void LogProgressLater();

  client::ApiClient& api_;
  const Clock& clock_;
  const KindInfo& info_;
  EventSink sink_;
  const api::Encoding encoding_;
  Random random_;
  base::Backoff backoff_;
  base::Backoff list_again_backoff_;
  Time listed_again_{};  // when ListAgainLater() was called last
  ObjectStore store_;
  const std::function<void(Kind, const client::ApiError*)> on_watch_;
  const bool tells_absent_;
  bool down_ = false;  // on_watch_ has had an error last

  Phase phase_ = Phase::kStreamingList;
  bool stopped_ = false;
  bool streaming_refused_ = false;
  bool served_ = false;                // a list has been completed
  bool logged_absent_ = false;         // the warning about a kind that counts as empty
  int broken_lists_ = 0;               // whole and streaming lists in a row that broke off
  int fruitless_watches_ = 0;          // in a row
  std::string continue_;               // of the paged list
  std::optional<api::ListMeta> page_;  // of the page that has just ended
  std::string resource_version_;       // where the watch stands
  std::shared_ptr<ServerVersions> versions_;
  ServerVersions::Numbers newest_before_list_;
  uint64_t listed_after_going_back_ = 0;  // versions_->times_gone_back() then

  // The stream under way. Callbacks of an earlier one are known by their number.
  uint64_t session_ = 0;
  std::shared_ptr<client::Call> call_;
  Time opened_;
  bool head_arrived_ = false;
  bool frame_arrived_ = false;
  std::optional<client::ApiError> failure_;  // found inside the stream
  bool must_list_ = false;                   // by which the watch cannot be resumed

  std::optional<base::Executor::TimerId> timer_;
  void (Reflector::*step_)() = nullptr;  // what the timer is for
  std::vector<std::function<void()>> catching_up_;
  std::optional<base::Executor::TimerId> progress_timer_;
  InformerStats stats_;
};

}  // namespace berth::informers
