// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "src/api/lease.h"
#include "src/client/api_client.h"

namespace berth::election {

// The requests about one Lease, one at a time. They count against no rate and have a connection
// to themselves.
//
// Thread safety: the executor's thread.
class LeaseClient {
 public:
  using OnLease = std::function<void(tl::expected<api::LeaseDocument, client::ApiError>)>;

  // `api` must outlive the client. `timeout` is that of each request.
  LeaseClient(client::ApiClient& api, std::string lease_namespace, std::string name,
              Duration timeout)
      : api_(api),
        namespace_(std::move(lease_namespace)),
        name_(std::move(name)),
        timeout_(timeout) {}

  // "namespace/name".
  std::string Describe() const { return namespace_ + "/" + name_; }

  // `done` is called once, unless Cancel() or another request came first, with the Lease as the
  // server has it. An answer that cannot be read is an error without a code.
  void Get(OnLease done);
  void Create(const api::LeaseRecord& record, OnLease done);
  // Replaces `lease` if it is still the newest version.
  void Update(const api::LeaseDocument& lease, const api::LeaseRecord& record, OnLease done);
  // Forgets the request under way; it may be executed all the same.
  void Cancel();

  // Writes an event about the lease. Best effort: what comes of it is only logged.
  void RecordEvent(const api::LeaseDocument& lease, const std::string& component,
                   const std::string& message, Time now);

 private:
  std::string LeasesPath() const;  // of the namespace
  std::string LeasePath() const;
  void Send(client::Request request, OnLease done);

  client::ApiClient& api_;
  const std::string namespace_;
  const std::string name_;
  const Duration timeout_;
  // The request under way holds the other end.
  std::shared_ptr<OnLease> waiting_;
  std::shared_ptr<client::Call> call_;
};

}  // namespace berth::election
