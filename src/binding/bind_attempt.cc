// SPDX-License-Identifier: Apache-2.0
#include "src/binding/bind_attempt.h"

#include "src/api/decode.h"
#include "src/api/protobuf_writes.h"
#include "src/api/writes.h"
#include "src/base/logging.h"
#include "src/binding/paths.h"

namespace berth::binding {
namespace {

using Kind = RequestEnd::Kind;

constexpr base::Backoff::Shape kReadBackoff = {std::chrono::milliseconds(100), 2,
                                               std::chrono::seconds(10), 0.5};

RequestEnd EndOf(const client::ResponseResult& result) {
  if (result.has_value()) return {};
  const client::ApiError& error = result.error();
  std::string message = error.message.empty() ? error.ToString() : error.message;
  // 408 is what a proxy may say of a request it has passed on.
  if (error.code < 400 || error.code == 408) {
    return {error.never_sent ? Kind::kNeverSent : Kind::kLost, std::move(message)};
  }
  if (error.code >= 500) return {Kind::kFailed, std::move(message)};
  return {error.code == 409 ? Kind::kConflict : Kind::kRefused, std::move(message)};
}

}  // namespace

BindAttempt::BindAttempt(std::shared_ptr<BindContext> context, std::shared_ptr<const api::Pod> pod,
                         std::string node_name)
    : context_(std::move(context)),
      pod_(std::move(pod)),
      node_name_(std::move(node_name)),
      backoff_(kReadBackoff) {}

void BindAttempt::Start(AsyncDone done) {
  done_ = std::move(done);
  SendRequest();
}

void BindAttempt::SendRequest() {
  auto call = Send();
  // It may have ended within the call.
  if (!over()) call_ = std::move(call);
}

void BindAttempt::OnRequestEnd(RequestEnd end) {
  if (over()) return;
  call_.reset();
  const Time now = context_->clock.Now();
  switch (end.kind) {
    case Kind::kBound:
      Finish({});
      return;
    case Kind::kRefused:
      if (!LateRequestPossible()) {
        Refuse(std::move(end.message));
        return;
      }
      answered_ = now;
      break;
    case Kind::kConflict:
    case Kind::kFailed:
      answered_ = now;
      break;
    case Kind::kLost:
      lost_ = now;
      if (!first_lost_) first_lost_ = now;
      break;
    case Kind::kNeverSent:
      break;
  }
  error_ = std::move(end.message);
  base::LogV(2, "No verdict on a bind; reading the pod back",
             {{"pod", pod_->metadata.Key()}, {"node", node_name_}, {"err", error_}});
  if (end.kind != Kind::kNeverSent) TellUnconfirmed();
  if (end.kind == Kind::kConflict) {
    Read();
  } else {
    ReadLater();
  }
}

void BindAttempt::TellUnconfirmed() {
  if (over() || std::exchange(unconfirmed_, true) || context_->unconfirmed == nullptr) return;
  context_->unconfirmed(pod_->metadata.uid);
}

void BindAttempt::ReadLater() {
  timer_ = context_->api.executor().PostAfter(backoff_.Next(context_->random),
                                              [self = shared_from_this()] {
                                                self->timer_.reset();
                                                if (!self->over()) self->Read();
                                              });
}

void BindAttempt::Read() {
  client::Request request;
  request.verb = client::Verb::kGet;
  // In the line of binds: while it waits, a decided pod is neither here nor there.
  request.priority = client::Priority::kBind;
  // Without a resourceVersion, so that the answer is the newest state.
  request.path = PodPath(pod_->metadata.namespace_, pod_->metadata.name);
  call_ = context_->api.Send(std::move(request),
                             [self = shared_from_this()](const client::ResponseResult& result) {
                               if (self->over()) return;
                               self->call_.reset();
                               self->OnRead(result);
                             });
}

void BindAttempt::OnRead(const client::ResponseResult& result) {
  if (!result.has_value()) {
    if (result.error().code == 404) {
      Refuse("pods \"" + pod_->metadata.name + "\" not found");
    } else {
      OnUnreadable();
    }
    return;
  }
  const auto read = api::DecodeJson<api::Pod>(result->body);
  if (!read) {
    OnUnreadable();
    return;
  }
  const std::string& node = read->spec.node_name;
  if (read->metadata.uid != pod_->metadata.uid) {
    Refuse("the pod was deleted and created again with another UID");
  } else if (node == node_name_) {
    Finish({});
  } else if (!node.empty()) {
    Refuse("the pod is already assigned to node \"" + node + "\"");
  } else {
    OnWithoutNode();
  }
}

void BindAttempt::OnUnreadable() {
  // What was answered is over by now. What was lost may have been executed all the same.
  if (answered_ && !lost_ && !Within(*answered_)) {
    Refuse(error_);
  } else {
    ReadLater();
  }
}

void BindAttempt::OnWithoutNode() {
  if (!answered_ && (!first_lost_ || Within(*first_lost_)) && MayRepeat()) {
    SendRequest();
  } else if (LateRequestPossible()) {
    ReadLater();
  } else {
    Refuse(error_);
  }
}

void BindAttempt::Cancel() {
  context_->link->Run([self = shared_from_this()] {
    std::string message = "the bind was given up before its outcome was known";
    if (!self->error_.empty()) message += ": " + self->error_;
    self->Refuse(std::move(message));
  });
}

void BindAttempt::Finish(AsyncStatus status) {
  const AsyncDone done = std::exchange(done_, nullptr);
  if (done == nullptr) return;
  if (timer_) context_->api.executor().Cancel(*timer_);
  if (const auto call = std::exchange(call_, nullptr)) call->Cancel();
  done(std::move(status));
}

std::shared_ptr<client::Call> ApiBind::Send() {
  const api::ObjectMeta& meta = pod()->metadata;
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.priority = client::Priority::kBind;
  request.path = PodPath(meta.namespace_, meta.name, "/binding");
  if (context()->api.ReadsProtobuf()) {
    request.content_type = api::kProtobufContentType;
    request.body = api::BindingProtobuf(meta.namespace_, meta.name, meta.uid, node_name());
  } else {
    request.content_type = api::kJsonContentType;
    request.body = api::BindingBody(meta.namespace_, meta.name, meta.uid, node_name());
  }
  request.on_late = [this, weak = weak_from_this()] {
    if (const auto self = weak.lock()) OnLate();
  };
  return context()->api.Send(
      std::move(request), [this, self = shared_from_this()](const client::ResponseResult& result) {
        OnRequestEnd(EndOf(result));
      });
}

}  // namespace berth::binding
