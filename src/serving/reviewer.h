// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "berth/config_value.h"
#include "berth/time.h"
#include "src/base/executor.h"
#include "src/client/api_client.h"
#include "src/serving/departure.h"
#include "src/serving/user.h"

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

// Asks the API server, by review objects of one kind. A question that is under way already
// waits for the same answer. What strangers can make it hold is bounded: so many questions at once,
// each for so long, and none whose clients have all gone.
//
// Thread safety: the executor's thread.
class Reviewer : public std::enable_shared_from_this<Reviewer> {
 public:
  static constexpr size_t kMaxUnderWay = 64;
  // From asking to the answer: the wait for the client's rate and repetitions included.
  static constexpr Duration kPatience = std::chrono::seconds(10);

  using OnStatus = std::function<void(const Answer<ConfigValue>&)>;

  // Both outlive the reviewer.
  Reviewer(client::ApiClient& api, base::Executor& executor, const ReviewKind& kind)
      : api_(api), executor_(executor), kind_(kind) {}

  // Creates `spec` as an object and gives the answer's status, unless the client has gone before.
  // `question` is equal for equal specs and no others. Errors: there are too many questions under
  // way (told at once); the server could not be asked.
  void Ask(const std::string& question, ConfigValue::Map spec, Departure& client, OnStatus done);

 private:
  struct Question {
    uint64_t number = 0;  // tells it from later ones of the same text
    std::shared_ptr<client::Call> call{};
    base::Executor::TimerId deadline = 0;
    std::map<uint64_t, OnStatus> waiting{};
  };

  void Send(const std::string& question, uint64_t number, ConfigValue::Map spec);
  void Finish(const std::string& question, uint64_t number, const Answer<ConfigValue>& status);
  // Of failures in a row the first is for every log: strangers decide how many there are.
  void TellOf(const Answer<ConfigValue>& status);
  // The client of `waiter` has gone; the last to go takes the call along.
  void Leave(const std::string& question, uint64_t number, uint64_t waiter);

  client::ApiClient& api_;
  base::Executor& executor_;
  const ReviewKind kind_;
  uint64_t last_number_ = 0;
  bool failing_ = false;
  std::map<std::string, Question> questions_;
};

}  // namespace berth::serving
