// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "berth/config_value.h"
#include "berth/random.h"
#include "berth/time.h"
#include "src/base/executor.h"
#include "src/base/string_map.h"
#include "src/client/api_client.h"
#include "src/serving/departure.h"
#include "src/serving/user.h"

// Questions to the API server: whose token is this, and may this user do that. Answers are kept for
// a while.

namespace berth::serving {

// A kind of review object, and where it is created.
struct ReviewKind {
  std::string_view path;
  std::string_view api_version;
  std::string_view kind;
};

inline constexpr ReviewKind kTokenReview{"/apis/authentication.k8s.io/v1/tokenreviews",
                                         "authentication.k8s.io/v1", "TokenReview"};
inline constexpr ReviewKind kSubjectAccessReview{
    "/apis/authorization.k8s.io/v1/subjectaccessreviews", "authorization.k8s.io/v1",
    "SubjectAccessReview"};

// What is known of each request that asks for access, and of each review that the API server was
// asked for.
//
// Thread safety: called on the executor's thread.
class AccessObserver {
 public:
  virtual ~AccessObserver() = default;
  // `result` is "success" or "error"; `user` is nullptr unless it is "success".
  virtual void OnAuthenticated(std::string_view result, const User* user, Duration took) = 0;
  // `result` is "allowed", "denied", "no-opinion" or "error".
  virtual void OnAuthorized(std::string_view result, Duration took) = 0;
  // After each try. `code` is the HTTP status of its last answer; 0: there was none. `took` counts
  // from the beginning of the try.
  virtual void OnReviewed(const ReviewKind& kind, int code, Duration took) = 0;
};

// Asks the API server, by review objects of one kind. A question that is under way already
// waits for the same answer. What strangers can make it hold is bounded: so many questions at once,
// of one asker no more than his share, each for so long, and none whose clients have all gone.
//
// Thread safety: the executor's thread.
class Reviewer : public std::enable_shared_from_this<Reviewer> {
 public:
  static constexpr size_t kMaxUnderWay = 64;
  static constexpr size_t kMaxOfOneAsker = 8;
  // From asking to the answer: the wait for the client's rate and repetitions included.
  static constexpr Duration kPatience = std::chrono::seconds(10);

  using OnStatus = std::function<void(const Answer<ConfigValue>&)>;

  // All outlive the reviewer; `observer` may be nullptr.
  Reviewer(client::ApiClient& api, base::Executor& executor, const Clock& clock,
           const ReviewKind& kind, AccessObserver* observer);

  // Creates `spec` as an object and gives the answer's status, unless the client has gone before.
  // `question` is equal for equal specs and no others. A failure that may pass is followed by
  // another try, up to five in all. Errors: there are too many questions under way, of all or of
  // this asker (which is said at once); the server could not be asked.
  void Ask(const std::string& question, ConfigValue::Map spec, const std::string& asker,
           Departure& client, OnStatus done);

 private:
  struct Question {
    uint64_t number = 0;  // tells it from later ones of the same text
    std::string asker{};
    std::string body{};
    int tries = 0;
    std::string failure{};  // of the last try
    std::shared_ptr<client::Call> call{};
    base::Executor::TimerId deadline = 0;
    base::Executor::TimerId next_try = 0;
    std::map<uint64_t, OnStatus> waiting{};
  };

  void Begin(const std::string& question, Question& asked, ConfigValue::Map spec);
  void Send(const std::string& question, Question& asked);
  void Take(const std::string& question, uint64_t number, const client::ResponseResult& result);
  // nullptr where it has ended.
  Question* Find(const std::string& question, uint64_t number);
  // Takes it out, with its timers and its call.
  Question End(const std::string& question);
  void Observe(const client::ResponseResult& result, Time begun) const;
  void Finish(const std::string& question, uint64_t number, const Answer<ConfigValue>& status);
  // Of failures in a row the first is for every log: strangers decide how many there are.
  void TellOf(const Answer<ConfigValue>& status);
  // The client of `waiter` has gone; the last to go takes the call along.
  void Leave(const std::string& question, uint64_t number, uint64_t waiter);

  client::ApiClient& api_;
  base::Executor& executor_;
  const Clock& clock_;
  const ReviewKind kind_;
  AccessObserver* const observer_;
  Random random_;
  uint64_t last_number_ = 0;
  bool failing_ = false;
  std::map<std::string, Question> questions_;
  std::map<std::string, size_t> of_askers_;  // questions of each, where there are any
};

// Answers that hold for a while, by key; when there are too many, the one stored first goes.
//
// Thread safety: one owner.
template <typename Value>
class ExpiringCache {
 public:
  explicit ExpiringCache(size_t capacity) : capacity_(capacity) {}

  // nullptr where nothing is known, or no longer. Of use until the next Put().
  const Value* Find(std::string_view key, Time now) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    if (found->second->expiry > now) return &found->second->value;
    Erase(found->second);
    return nullptr;
  }

  void Put(std::string key, Value value, Time expiry) {
    if (const auto found = index_.find(key); found != index_.end()) Erase(found->second);
    if (index_.size() >= capacity_) Erase(entries_.begin());
    entries_.push_back(Entry{std::move(key), std::move(value), expiry});
    index_.emplace(entries_.back().key, std::prev(entries_.end()));
  }

  size_t size() const { return index_.size(); }

 private:
  struct Entry {
    std::string key;
    Value value;
    Time expiry;
  };
  using Position = typename std::list<Entry>::iterator;

  void Erase(Position entry) {
    index_.erase(entry->key);
    entries_.erase(entry);
  }

  size_t capacity_;
  std::list<Entry> entries_;  // in the order of storing
  base::StringMap<Position> index_;
};

// The text at `key` of a map; "" where there is none.
std::string TextIn(const ConfigValue& map, std::string_view key);

// Whose bearer token that is (TokenReview).
//
// Thread safety: the executor's thread.
class TokenReviews {
 public:
  // How long a token that was good is not taken for a stranger's: most are renewed within the hour.
  static constexpr Duration kAcquaintance = std::chrono::hours(1);

  // All outlive this object. A verdict, good or bad, holds for `ttl`.
  TokenReviews(client::ApiClient& api, base::Executor& executor, const Clock& clock, Duration ttl,
               AccessObserver* observer = nullptr);

  // Errors: it is no user's, or the server could not be asked; the latter is not kept. Nothing
  // comes of it once the client has gone. Tokens that clients of one address (Request::peer) make
  // up take neither the places of other addresses' tokens nor of those that have been good.
  void Review(const std::string& token, const std::string& peer, Departure& client, OnUser done);

 private:
  void Keep(const std::string& key, const Answer<User>& user);

  const Clock& clock_;
  const Duration ttl_;
  // By a digest: tokens are not kept.
  ExpiringCache<User> good_;
  ExpiringCache<NoAnswer> bad_;
  ExpiringCache<bool> acquainted_;
  std::shared_ptr<Reviewer> of_acquaintances_;
  std::shared_ptr<Reviewer> of_strangers_;
};

struct AccessDecision {
  bool allowed = false;
  bool denied = false;  // not only not allowed
  std::string reason;   // may be ""
};

// An object of the API server, and what is done with it.
struct ResourceAttributes {
  std::string verb;
  std::string group;  // "": the core group
  std::string resource;
  std::string namespace_;
  std::string name;
};

// What someone wants to do: with a path or, where it is given, with an object.
struct AccessAttributes {
  User user;
  std::string verb;  // the method in lower case
  std::string path;
  std::optional<ResourceAttributes> resource = {};
};

using OnDecision = std::function<void(Answer<AccessDecision>)>;

// Whether a user may (SubjectAccessReview).
//
// Thread safety: the executor's thread.
class AccessReviews {
 public:
  // All outlive this object.
  AccessReviews(client::ApiClient& api, base::Executor& executor, const Clock& clock,
                Duration allowed_ttl, Duration denied_ttl, AccessObserver* observer = nullptr);

  // Errors: the server could not be asked; that is not kept. Nothing comes of it once the client
  // has gone. No user takes the places of others, nor a stranger (system:anonymous) of other
  // addresses'; `peer` is Request::peer.
  void Review(const AccessAttributes& attributes, const std::string& peer, Departure& client,
              OnDecision done);

 private:
  const Clock& clock_;
  const Duration allowed_ttl_;
  const Duration denied_ttl_;
  ExpiringCache<AccessDecision> known_;  // by a digest of the question
  // What strangers ask leaves room for the questions of users who are known.
  std::shared_ptr<Reviewer> of_users_;
  std::shared_ptr<Reviewer> of_strangers_;
};

}  // namespace berth::serving
