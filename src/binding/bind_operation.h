// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "berth/random.h"
#include "berth/time.h"
#include "src/base/backoff.h"
#include "src/client/api_client.h"

namespace berth::binding {

// Which pod goes to which node.
struct BindTarget {
  std::string pod_namespace;
  std::string pod_name;
  std::string pod_uid;
  std::string node_name;
};

enum class BindEnd {
  kBound,    // the pod is on the node
  kRefused,  // it is not, and no request of ours can put it there any more
  kUnknown,  // given up by Cancel() or StopWriting() while neither was known
};

struct BindResult {
  BindEnd end = BindEnd::kUnknown;
  std::string message = {};  // the server's words; "" when bound
};

// One POST to pods/binding, seen through to a known end.
//
//             2xx                                   pod on our node
//   POST ------------> Bound <------------------------------------+
//    ^ |  409, 5xx, no answer                                     |
//    | +----------------------> GET, with backoff, until it answers
//    |                           |   |  pod gone, other UID, other node, or
//    +---------------------------+   |  unassigned after an answer
//      unassigned, and no answer:    +---------------------------> Refused
//      same node again                                              ^  ^
//   other 4xx ------------------------------------------------------+  |
//   5xx, and no GET is answered for kServerTimeout --------------------+
//
// What the server answered is what a refusal says, in its own words.
//
// A request whose answer never came may be executed late, yet it can only do what was wanted,
// since every retry names the same node. For the same reason neither an answer that follows such a
// request nor a pod without a node refuses the bind before the server must have given that request
// up (kServerTimeout). Retries end kServerTimeout after the first request that was lost.
//
// Thread safety: the executor's thread, except Cancel() and StopWriting().
class BindOperation : public std::enable_shared_from_this<BindOperation> {
 public:
  using Done = std::function<void(BindResult)>;
  using Settling = std::function<void()>;
  // kube-apiserver's --request-timeout: past it, a request is executed no more.
  static constexpr Duration kServerTimeout = std::chrono::seconds(60);

  // `api` and `clock` must outlive the operation. `settling` may be empty; it is called at most
  // once, before `done`: a request has reached the server, and what became of it has to be read.
  BindOperation(client::ApiClient& api, const Clock& clock, uint64_t seed, BindTarget target,
                Done done, Settling settling = nullptr);

  // Calls `done` exactly once, never inside the call.
  void Start();
  // Gives up: ends as kUnknown, or as kRefused when no request can have reached the server.
  // Any thread.
  void Cancel();
  // Settles by reading only: where another POST would be due, ends as Cancel() does. Any thread.
  void StopWriting();

 private:
  void Post();
  void OnPosted(const client::ResponseResult& result);
  void ReadBackAfter(Duration wait);
  void ReadBack();
  void OnRead(const client::ResponseResult& result);
  void OnReadFailed(std::string error);
  // The pod exists, has our UID and no node yet.
  void OnUnassigned();
  void DoCancel();
  void DoStopWriting();
  void GiveUp();
  void Finish(BindEnd end, std::string message);
  // Whether a POST without an answer may still be executed.
  bool LateRequestPossible() const { return lost_ && Within(*lost_); }
  // Whether kServerTimeout after `since` has not passed.
  bool Within(Time since) const { return clock_.Now() - since < kServerTimeout; }
  void OnExecutor(void (BindOperation::*step)());

  client::ApiClient& api_;
  const Clock& clock_;
  Random random_;
  base::Backoff backoff_;
  BindTarget target_;
  Done done_;
  Settling settling_;  // empty once it has been called

  bool posting_ = false;
  bool cancelled_ = false;
  bool stop_writing_ = false;
  bool finished_ = false;
  // When the first and the last POST ended that may have reached the server but got no answer.
  std::optional<Time> first_lost_;
  std::optional<Time> lost_;
  // What the last POST failed with.
  std::string post_error_;
  // When the server answered it, after which there is no further one; whether by 5xx, which need
  // not be true.
  std::optional<Time> answered_;
  bool doubtful_ = false;
  std::string last_error_;  // of a POST or a read
  std::optional<base::Executor::TimerId> timer_;
  std::shared_ptr<client::Call> call_;
};

}  // namespace berth::binding
