// SPDX-License-Identifier: Apache-2.0
#include "src/binding/bind_operation.h"

#include <utility>

#include "src/api/decode.h"
#include "src/api/writes.h"
#include "src/base/logging.h"
#include "src/binding/paths.h"

namespace berth::binding {
namespace {

// 408 is what a proxy may say of a request it has passed on.
bool IsAnswer(const client::ApiError& error) { return error.code >= 400 && error.code != 408; }

// A 4xx is a verdict, but for a conflict, which may be with a request of ours.
bool IsVerdict(const client::ApiError& error) {
  return IsAnswer(error) && error.code < 500 && error.code != 409;
}

constexpr base::Backoff::Shape kSettleBackoff = {std::chrono::milliseconds(100), 2,
                                                 std::chrono::seconds(10), 0.5};

}  // namespace

BindOperation::BindOperation(client::ApiClient& api, const Clock& clock, uint64_t seed,
                             BindTarget target, Done done, Settling settling)
    : api_(api),
      clock_(clock),
      random_(seed),
      backoff_(kSettleBackoff),
      target_(std::move(target)),
      done_(std::move(done)),
      settling_(std::move(settling)) {}

void BindOperation::Start() { OnExecutor(&BindOperation::Post); }

void BindOperation::OnExecutor(void (BindOperation::*step)()) {
  api_.executor().Post([self = shared_from_this(), step] { (self.get()->*step)(); });
}

void BindOperation::Cancel() { OnExecutor(&BindOperation::DoCancel); }
void BindOperation::StopWriting() { OnExecutor(&BindOperation::DoStopWriting); }

void BindOperation::DoStopWriting() { stop_writing_ = true; }

void BindOperation::DoCancel() {
  if (finished_ || cancelled_) return;
  cancelled_ = true;
  // A POST under way still tells how far it came; nothing else can add to what is known.
  if (posting_) {
    call_->Cancel();
    return;
  }
  if (call_ != nullptr) call_->Cancel();
  GiveUp();
}

void BindOperation::Post() {
  if (finished_) return;
  if (stop_writing_ || cancelled_) {
    GiveUp();
    return;
  }
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.priority = client::Priority::kBind;
  request.path = PodPath(target_.pod_namespace, target_.pod_name) + "/binding";
  request.content_type = api::kJsonContentType;
  request.body =
      api::BindingBody(target_.pod_namespace, target_.pod_name, target_.pod_uid, target_.node_name);
  posting_ = true;
  call_ = api_.Send(std::move(request),
                    [self = shared_from_this()](const client::ResponseResult& result) {
                      self->OnPosted(result);
                    });
}

void BindOperation::OnPosted(const client::ResponseResult& result) {
  posting_ = false;
  if (result.has_value()) {
    Finish(BindEnd::kBound, "");
    return;
  }
  const client::ApiError& error = result.error();
  post_error_ = error.message.empty() ? error.ToString() : error.message;
  if (IsAnswer(error)) {
    if (IsVerdict(error) && !LateRequestPossible()) {
      Finish(BindEnd::kRefused, post_error_);
      return;
    }
    answered_ = clock_.Now();
    doubtful_ = error.code >= 500;
  } else if (!error.never_sent) {
    lost_ = clock_.Now();
    if (!first_lost_) first_lost_ = lost_;
  }
  last_error_ = error.ToString();
  base::LogV(2, "No verdict on a bind; reading the pod back",
             {{"pod", target_.pod_namespace + "/" + target_.pod_name},
              {"node", target_.node_name},
              {"err", last_error_}});
  if (!error.never_sent) {
    if (const Settling settling = std::exchange(settling_, nullptr)) settling();
  }
  if (cancelled_) {
    GiveUp();
  } else if (error.code == 409) {
    ReadBack();
  } else {
    ReadBackAfter(backoff_.Next(random_));
  }
}

void BindOperation::ReadBackAfter(Duration wait) {
  timer_ = api_.executor().PostAfter(wait, [self = shared_from_this()] {
    self->timer_.reset();
    self->ReadBack();
  });
}

void BindOperation::ReadBack() {
  client::Request request;
  request.verb = client::Verb::kGet;
  // In the line of binds: while it waits, a decided pod is neither here nor there.
  request.priority = client::Priority::kBind;
  // Without a resourceVersion, so that the answer is the newest state.
  request.path = PodPath(target_.pod_namespace, target_.pod_name);
  call_ = api_.Send(std::move(request),
                    [self = shared_from_this()](const client::ResponseResult& result) {
                      if (!self->finished_) self->OnRead(result);
                    });
}

void BindOperation::OnRead(const client::ResponseResult& result) {
  call_.reset();
  if (!result.has_value()) {
    if (result.error().code == 404) {
      Finish(BindEnd::kRefused, "pods \"" + target_.pod_name + "\" not found");
      return;
    }
    OnReadFailed(result.error().ToString());
    return;
  }
  const auto pod = api::DecodeJson<api::Pod>(result->body);
  if (!pod) {
    OnReadFailed(pod.error().message);
    return;
  }
  const std::string& node = pod->spec.node_name;
  if (pod->metadata.uid != target_.pod_uid) {
    Finish(BindEnd::kRefused, "the pod was deleted and created again with another UID");
  } else if (node == target_.node_name) {
    Finish(BindEnd::kBound, "");
  } else if (!node.empty()) {
    Finish(BindEnd::kRefused, "the pod is already assigned to node \"" + node + "\"");
  } else {
    OnUnassigned();
  }
}

void BindOperation::OnReadFailed(std::string error) {
  last_error_ = std::move(error);
  // What was answered is over by now. What was lost may have been executed all the same.
  if (answered_ && !lost_ && !Within(*answered_)) {
    Finish(BindEnd::kRefused, post_error_);
  } else {
    ReadBackAfter(backoff_.Next(random_));
  }
}

void BindOperation::OnUnassigned() {
  const bool may_post = !answered_ && (!first_lost_ || Within(*first_lost_));
  if (may_post) {
    Post();
  } else if (LateRequestPossible()) {
    ReadBackAfter(backoff_.Next(random_));
  } else {
    Finish(BindEnd::kRefused, post_error_);
  }
}

void BindOperation::GiveUp() {
  std::string message = "the bind was given up before its outcome was known";
  if (!last_error_.empty()) message += ": " + last_error_;
  if (lost_ || doubtful_) {
    Finish(BindEnd::kUnknown, std::move(message));
  } else {
    Finish(BindEnd::kRefused, answered_ ? post_error_ : "the bind was cancelled");
  }
}

void BindOperation::Finish(BindEnd end, std::string message) {
  if (finished_) return;
  finished_ = true;
  if (timer_) api_.executor().Cancel(*timer_);
  call_.reset();
  const Done done = std::move(done_);
  if (done) done(BindResult{end, std::move(message)});
}

}  // namespace berth::binding
