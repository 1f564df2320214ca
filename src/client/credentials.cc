// SPDX-License-Identifier: Apache-2.0
#include "src/client/credentials.h"

#include <absl/strings/escaping.h>

#include <algorithm>

#include "src/base/logging.h"
#include "src/client/text.h"

namespace berth::client {
namespace {

// client-go gives a changed file at most this long until connections use it; so does the period of
// WatchedFile. A plugin that failed waits 1 s, 2 s, 4 s, ... before it is run again.
constexpr Duration kFirstExecWait = std::chrono::seconds(1);
constexpr Duration kMostExecWait = std::chrono::seconds(30);

}  // namespace

Result<std::string> Credentials::Source::Get(Time now) {
  if (file) return file->Get(now);
  return data;
}

Credentials::Credentials(const ServerConfig& server, const Clock& clock,
                         std::unique_ptr<ExecPlugin> exec)
    : clock_(clock) {
  const auto source = [](const std::string& data, const std::string& file) {
    Source out;
    out.data = data;
    if (data.empty() && !file.empty()) out.file.emplace(file);
    return out;
  };
  const UserConfig& user = server.user;
  ca_ = source(server.cluster.ca_data, server.cluster.ca_file);
  certificate_ = source(user.client_certificate_data, user.client_certificate_file);
  key_ = source(user.client_key_data, user.client_key_file);
  token_ = user.token;
  if (!user.token_file.empty()) token_file_.emplace(user.token_file);
  if (!user.username.empty() || !user.password.empty()) {
    basic_ = "Basic " + absl::Base64Escape(Concat(user.username, ":", user.password));
  }
  const bool other_credentials = !token_.empty() || token_file_ || !basic_.empty() ||
                                 certificate_.file || !certificate_.data.empty();
  if (!other_credentials) exec_ = std::move(exec);
}

bool Credentials::ExecIsFresh(Time now) const {
  return exec_credential_ && (!exec_credential_->expires || now <= *exec_credential_->expires);
}

void Credentials::Get(OnIdentity done) {
  const Time now = clock_.Now();
  if (exec_ == nullptr || ExecIsFresh(now)) {
    done(Assemble(now));
    return;
  }
  if (!exec_running_ && exec_error_ && now < exec_not_before_) {
    done(Fail(*exec_error_));
    return;
  }
  waiting_.push_back(std::move(done));
  if (!exec_running_) StartExec();
}

void Credentials::StartExec() {
  auto ca = ca_.Get(clock_.Now());
  if (!ca) {
    FinishExec(Fail(ca.error()));
    return;
  }
  exec_running_ = true;
  exec_->Run(*ca, [this](Result<ExecCredential> result) { FinishExec(std::move(result)); });
}

void Credentials::FinishExec(Result<ExecCredential> result) {
  exec_running_ = false;
  const Time now = clock_.Now();
  if (result) {
    exec_credential_ = std::move(*result);
    exec_error_.reset();
    exec_failures_ = 0;
    assembled_at_.reset();
  } else {
    exec_error_ = result.error().Within("getting credentials");
    const Duration wait =
        std::min<Duration>(kMostExecWait, kFirstExecWait * (1 << std::min(exec_failures_++, 6)));
    exec_not_before_ = now + wait;
    base::LogError("Credential plugin failed", {{"err", result.error().message}});
  }
  // Callbacks may call Get() again.
  std::vector<OnIdentity> callers;
  std::swap(callers, waiting_);
  for (OnIdentity& done : callers) {
    if (exec_error_) {
      done(Fail(*exec_error_));
    } else {
      done(Assemble(now));
    }
  }
}

Result<IdentityPtr> Credentials::Assemble(Time now) {
  if (assembled_at_ && now < *assembled_at_ + WatchedFile::kPeriod) return current_;
  Identity identity;
  auto ca = ca_.Get(now);
  auto certificate = certificate_.Get(now);
  auto key = key_.Get(now);
  for (const auto* part : {&ca, &certificate, &key}) {
    if (!*part) return Fail(part->error().Within("getting credentials"));
  }
  identity.ca_pem = std::move(*ca);
  identity.client_certificate_pem = std::move(*certificate);
  identity.client_key_pem = std::move(*key);

  std::string token = token_;
  if (token_file_) {
    auto content = token_file_->Get(now);
    const std::string_view from_file = content ? Trim(*content) : std::string_view();
    if (!from_file.empty()) {
      token = from_file;
    } else if (token.empty()) {
      const std::string why =
          content ? "token file is empty: " + token_file_->path() : content.error().message;
      return Fail("getting credentials: " + why);
    }
  }
  if (exec_credential_) {
    token = exec_credential_->token;
    identity.client_certificate_pem = exec_credential_->client_certificate;
    identity.client_key_pem = exec_credential_->client_key;
  }
  identity.authorization = token.empty() ? basic_ : "Bearer " + token;
  if (current_ == nullptr || identity != *current_) {
    current_ = std::make_shared<const Identity>(std::move(identity));
  }
  assembled_at_ = now;
  return current_;
}

bool Credentials::Reject(const IdentityPtr& used) {
  const bool rotatable = exec_ != nullptr || token_file_ || certificate_.file;
  if (!rotatable || used != current_) return rotatable;
  if (token_file_) token_file_->Expire();
  for (Source* source : {&ca_, &certificate_, &key_}) {
    if (source->file) source->file->Expire();
  }
  exec_credential_.reset();
  assembled_at_.reset();
  return true;
}

}  // namespace berth::client
