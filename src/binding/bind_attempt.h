// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "berth/in_tree/points.h"
#include "berth/random.h"
#include "berth/time.h"
#include "src/base/backoff.h"
#include "src/base/executor.h"
#include "src/client/api_client.h"

namespace berth::binding {

// kube-apiserver's --request-timeout: past it, a request is executed no more.
inline constexpr Duration kServerTimeout = std::chrono::seconds(60);

// What all binds of a process share; it goes with the binder. Executor's thread, but for the link.
struct BindContext {
  client::ApiClient& api;
  const Clock& clock;
  const std::shared_ptr<base::ExecutorLink> link;
  Random random;
  // Called at most once a bind, before its end: the answer is late (client::Request::on_late), or
  // the request has reached its receiver and whether the pod is bound has to be read. Both may take
  // long. May be empty.
  std::function<void(std::string pod_uid)> unconfirmed;
  // The scheduler is shutting down: nothing more is sent, but reads.
  bool closing = false;
};

// How a request to bind ended, as far as its answer tells.
struct RequestEnd {
  enum class Kind : uint8_t {
    kBound,      // the pod is bound
    kRefused,    // it is not, by this request
    kConflict,   // the same, but perhaps by an earlier one of ours (409)
    kFailed,     // it may be, and if it is not, this request will not do it any more (5xx)
    kLost,       // no answer: it may be, or still become so
    kNeverSent,  // the request cannot have reached its receiver
  };
  Kind kind = Kind::kBound;
  std::string message = {};  // what was answered; "" when bound
};

// One pod's bind to one node, carried through until its outcome is known: bound, or refused, and
// then no request of ours can bind the pod any more. The one rule for binds of ours and for those
// that an extender does:
//
//             bound                                 pod on our node
//   request ------------> Success <-------------------------------+
//    ^ |  409, 5xx, no answer, never sent                         |
//    | +----------------------> GET, with backoff, until it answers
//    |                           |   |  pod gone, other UID, other node, or
//    +---------------------------+   |  without a node after an answer
//      without a node, and no        +---------------------------> Error
//      answer: same node again,                                   ^  ^
//      if the request may be repeated                             |  |
//   other 4xx ----------------------------------------------------+  |
//   5xx, and no GET is answered for kServerTimeout ------------------+
//
// What was answered is what a refusal says.
//
// A request whose answer never came may be executed late, yet it can only do what was wanted,
// since every retry names the same node. For the same reason neither an answer that follows such a
// request nor a pod without a node refuses the bind before the server must have given that request
// up (kServerTimeout). Retries end kServerTimeout after the first request that was lost.
//
// Thread safety: the executor's thread, except Cancel().
class BindAttempt : public std::enable_shared_from_this<BindAttempt> {
 public:
  virtual ~BindAttempt() = default;

  // Calls `done` exactly once, perhaps within the call; not at all once the binder is gone.
  void Start(AsyncDone done);
  // Gives up: ends with an Error, whatever the outcome may become.
  void Cancel();

 protected:
  BindAttempt(std::shared_ptr<BindContext> context, std::shared_ptr<const api::Pod> pod,
              std::string node_name);

  // Sends the request; OnRequestEnd() gets its end, within the call or later.
  virtual std::shared_ptr<client::Call> Send() = 0;
  // Whether a request that was lost may be repeated now.
  virtual bool MayRepeat() const = 0;

  void OnRequestEnd(RequestEnd end);
  // The answer is late.
  void OnLate() { TellUnconfirmed(); }
  const std::shared_ptr<BindContext>& context() const { return context_; }
  const std::shared_ptr<const api::Pod>& pod() const { return pod_; }
  const std::string& node_name() const { return node_name_; }

 private:
  void SendRequest();
  void TellUnconfirmed();
  void ReadLater();
  void Read();
  void OnRead(const client::ResponseResult& result);
  void OnUnreadable();
  // The pod exists, has our UID and no node yet.
  void OnWithoutNode();
  void Refuse(std::string message) { Finish({Code::kError, std::move(message)}); }
  void Finish(AsyncStatus status);
  // The end was reported, or there is no binder any more to report it to.
  bool over() const { return done_ == nullptr || context_->link->closed(); }
  // Whether kServerTimeout after `since` has not passed.
  bool Within(Time since) const { return context_->clock.Now() - since < kServerTimeout; }
  // Whether a request without an answer may still be executed.
  bool LateRequestPossible() const { return lost_ && Within(*lost_); }

  const std::shared_ptr<BindContext> context_;
  const std::shared_ptr<const api::Pod> pod_;
  const std::string node_name_;
  AsyncDone done_;  // none once it has been called
  base::Backoff backoff_;

  // When the first and the last request ended that were lost.
  std::optional<Time> first_lost_;
  std::optional<Time> lost_;
  // When one was answered, after which there is no further one.
  std::optional<Time> answered_;
  std::string error_;  // what the last request ended with
  bool unconfirmed_ = false;
  std::shared_ptr<client::Call> call_;  // the request or the read under way
  std::optional<base::Executor::TimerId> timer_;
};

// By the API server's binding subresource.
class ApiBind final : public BindAttempt {
 public:
  ApiBind(std::shared_ptr<BindContext> context, std::shared_ptr<const api::Pod> pod,
          std::string node_name)
      : BindAttempt(std::move(context), std::move(pod), std::move(node_name)) {}

 private:
  std::shared_ptr<client::Call> Send() override;
  bool MayRepeat() const override { return !context()->closing; }
};

}  // namespace berth::binding
