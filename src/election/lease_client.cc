// SPDX-License-Identifier: Apache-2.0
#include "src/election/lease_client.h"

#include <utility>

#include "src/api/writes.h"
#include "src/base/logging.h"
#include "src/base/text.h"

namespace berth::election {

using client::ApiError;

std::string LeaseClient::LeasesPath() const {
  return "/apis/coordination.k8s.io/v1/namespaces/" + base::Escape(namespace_) + "/leases";
}

std::string LeaseClient::LeasePath() const { return LeasesPath() + "/" + base::Escape(name_); }

void LeaseClient::Get(OnLease done) {
  client::Request request;
  request.verb = client::Verb::kGet;
  request.path = LeasePath();
  Send(std::move(request), std::move(done));
}

void LeaseClient::Create(const api::LeaseRecord& record, OnLease done) {
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.path = LeasesPath();
  request.body = api::NewLeaseBody(namespace_, name_, record);
  Send(std::move(request), std::move(done));
}

void LeaseClient::Update(const api::LeaseDocument& lease, const api::LeaseRecord& record,
                         OnLease done) {
  client::Request request;
  request.verb = client::Verb::kUpdate;
  request.path = LeasePath();
  request.body = api::LeaseBody(lease, record);
  Send(std::move(request), std::move(done));
}

void LeaseClient::Send(client::Request request, OnLease done) {
  Cancel();
  request.priority = client::Priority::kUnlimited;
  request.content_type = api::kJsonContentType;
  request.timeout = timeout_;
  // The caller tries again in its own time.
  request.max_retries = 0;
  waiting_ = std::make_shared<OnLease>(std::move(done));
  call_ = api_.Send(std::move(request),
                    [this, weak = std::weak_ptr(waiting_)](const client::ResponseResult& result) {
                      const auto waiting = weak.lock();
                      if (waiting == nullptr) return;
                      waiting_ = nullptr;
                      call_ = nullptr;
                      if (!result) {
                        (*waiting)(tl::unexpected(result.error()));
                        return;
                      }
                      auto lease = api::ReadLease(result->body);
                      if (!lease) {
                        ApiError error;
                        error.message = lease.error().message;
                        (*waiting)(tl::unexpected(std::move(error)));
                        return;
                      }
                      (*waiting)(std::move(*lease));
                    });
}

void LeaseClient::Cancel() {
  waiting_ = nullptr;
  if (const auto call = std::exchange(call_, nullptr)) call->Cancel();
}

void LeaseClient::RecordEvent(const api::LeaseDocument& lease, const std::string& component,
                              const std::string& message, Time now) {
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.priority = client::Priority::kEvent;
  request.path = "/api/v1/namespaces/" + base::Escape(namespace_) + "/events";
  request.content_type = api::kJsonContentType;
  request.body = api::LeaseEventBody(namespace_, name_, lease, component, message, now);
  api_.Send(std::move(request), [](const client::ResponseResult& result) {
    if (result) return;
    base::LogV(2, "Unable to write event about the lease", {{"err", result.error().ToString()}});
  });
}

}  // namespace berth::election
