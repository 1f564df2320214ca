// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "src/base/logging.h"
#include "src/base/text.h"
#include "src/client/client_core.h"

// Who a CurlClient is to its server.
namespace berth::client {
namespace {

// What a connection of an older TLS identity has to finish what it carries; watches never would.
constexpr Duration kRenewalTime = std::chrono::seconds(30);

void AddImpersonation(const UserConfig& user, std::vector<std::string>& lines) {
  if (user.impersonate_user.empty()) return;
  lines.push_back("Impersonate-User: " + user.impersonate_user);
  if (!user.impersonate_uid.empty()) lines.push_back("Impersonate-Uid: " + user.impersonate_uid);
  for (const std::string& group : user.impersonate_groups) {
    lines.push_back("Impersonate-Group: " + group);
  }
  for (const auto& [key, values] : user.impersonate_extra) {
    for (const std::string& value : values) {
      lines.push_back(base::Concat("Impersonate-Extra-", base::Escape(key), ": ", value));
    }
  }
}

}  // namespace

void CurlClient::Core::Authorize(Exchange& exchange) {
  credentials_->Get([this, id = exchange.id](Result<IdentityPtr> identity) {
    const auto found = exchanges_.find(id);
    if (found == exchanges_.end()) return;  // cancelled while the plugin ran
    if (identity) {
      Adopt(*identity);
      Launch(*found->second, *identity);
      return;
    }
    ApiError error;
    error.reason = kReasonCredentials;
    error.message = identity.error().message;
    error.never_sent = true;
    // Later: the caller is still busy with the exchange, which Judge() may end.
    loop_.Post([this, id, error = std::move(error)] {
      const auto again = exchanges_.find(id);
      if (again == exchanges_.end()) return;
      FreeSlot(*again->second);
      Judge(*again->second, error);
      Pump();
    });
  });
}

void CurlClient::Core::Adopt(const IdentityPtr& identity) {
  const bool renewed = identity_ != nullptr && !identity_->SameTls(*identity);
  identity_ = identity;
  if (!renewed) return;
  base::LogInfo("Certificates have changed; connections are renewed", {{"server", host_}});
  for (Channel* channel : {&streams_, &leases_, &writes_}) channel->Renew();
  loop_.Cancel(renewal_timer_);
  renewal_timer_ = loop_.PostAfter(kRenewalTime, [this] {
    renewal_timer_ = 0;
    for (Channel* channel : {&streams_, &leases_, &writes_}) channel->EndOld();
    PostSweep();
  });
}

// Watches may run for long without a request that would ask for the identity.
void CurlClient::Core::WatchFilesLater() {
  files_timer_ = loop_.PostAfter(base::WatchedFile::kPeriod, [this] {
    WatchFilesLater();
    if (identity_ == nullptr) return;
    credentials_->Get([this](const Result<IdentityPtr>& identity) {
      if (identity) Adopt(*identity);
    });
  });
}

std::shared_ptr<const HeaderList> CurlClient::Core::HeadersFor(const Request& request,
                                                               const IdentityPtr& identity) {
  if (headers_identity_ != identity) {
    headers_.clear();
    headers_identity_ = identity;
  }
  auto& headers = headers_[{request.accept, std::string(request.content_type)}];
  if (headers != nullptr) return headers;
  // "Name:" keeps libcurl from adding a header of that name.
  std::vector<std::string> lines = {
      base::Concat("Accept: ", request.accept.empty() ? "application/json" : request.accept),
      base::Concat("Content-Type: ", request.content_type), "Expect:"};
  if (!options_.server.cluster.tls_server_name.empty()) lines.push_back("Host: " + host_);
  // As client-go, nothing secret goes over a connection that others may read, unless that is
  // wanted.
  if (address_.tls() || options_.credentials_in_clear) {
    if (!identity->authorization.empty()) {
      lines.push_back("Authorization: " + identity->authorization);
    }
    AddImpersonation(options_.server.user, lines);
  }
  headers = std::make_shared<const HeaderList>(lines);
  return headers;
}

}  // namespace berth::client
