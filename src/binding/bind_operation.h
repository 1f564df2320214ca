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
//    ^ |  409, no answer, 5xx                                     |
//    | +----------------------> GET, with backoff, until it answers
//    |                           |   |  pod gone, other UID, other node,
//    +---------------------------+   |  or unassigned after a 409
//      unassigned: same node again   +---------------------------> Refused
//   other 4xx ---------------------------------------------------> Refused
//
// A request whose answer never came may be executed late, yet it can only do what was wanted,
// since every retry names the same node. For the same reason a 4xx that follows such a request
// refuses the bind only once the server must have given that request up (kServerTimeout).
//
// Thread safety: the executor's thread, except Cancel() and StopWriting().
class BindOperation : public std::enable_shared_from_this<BindOperation> {
 public:
  using Done = std::function<void(BindResult)>;
  // kube-apiserver's --request-timeout: past it, a request is executed no more.
  static constexpr Duration kServerTimeout = std::chrono::seconds(60);

  // `api` and `clock` must outlive the operation.
  BindOperation(client::ApiClient& api, const Clock& clock, uint64_t seed, BindTarget target,
                Done done);

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
  // The pod exists, has our UID and no node yet.
  void OnUnassigned();
  void DoCancel();
  void DoStopWriting();
  void GiveUp();
  void Finish(BindEnd end, std::string message);
  // Whether a POST without an answer may still be executed.
  bool LateRequestPossible() const;
  void OnExecutor(void (BindOperation::*step)());

  client::ApiClient& api_;
  const Clock& clock_;
  Random random_;
  base::Backoff backoff_;
  BindTarget target_;
  Done done_;

  bool posting_ = false;
  bool cancelled_ = false;
  bool stop_writing_ = false;
  bool finished_ = false;
  // When the last POST ended that may have reached the server but got no answer.
  std::optional<Time> unanswered_;
  // What the server said no with, while that is being checked.
  std::string refusal_;
  std::string last_error_;
  std::optional<base::Executor::TimerId> timer_;
  std::shared_ptr<client::Call> call_;
};

}  // namespace berth::binding
