// SPDX-License-Identifier: Apache-2.0
#include "src/client/credentials.h"

#include <absl/strings/escaping.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "src/base/logging.h"
#include "src/base/text.h"
#include "src/client/openssl_ptr.h"

// Whether PEM files are whole: one that is being replaced may be read half-written.

namespace berth::client {
namespace {

using Bio = OpensslPtr<BIO>;
using Certificate = OpensslPtr<X509>;
using Key = OpensslPtr<EVP_PKEY>;

Bio BioOf(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

bool IsCertificate(std::string_view name) {
  return name == PEM_STRING_X509 || name == PEM_STRING_X509_OLD || name == PEM_STRING_X509_TRUSTED;
}

// Whether there is nothing but `blocks` whole blocks, each with four rows of dashes; one more may
// be cut in its first line.
bool IsWhole(std::string_view text, size_t blocks) {
  constexpr std::string_view kDashes = "-----";
  size_t rows = 0;
  for (size_t at = text.find(kDashes); at != std::string_view::npos; at = text.find(kDashes)) {
    ++rows;
    text.remove_prefix(at + kDashes.size());
  }
  return rows == 4 * blocks && !base::Trim(text).starts_with('-');
}

// The first certificate, if the text is whole; else null.
Certificate FirstCertificate(std::string_view pem) {
  Certificate first;
  const Bio bio = BioOf(pem);
  size_t blocks = 0;
  for (;;) {
    char* name = nullptr;
    char* header = nullptr;
    unsigned char* data = nullptr;
    long size = 0;
    if (PEM_read_bio(bio.get(), &name, &header, &data, &size) != 1) break;
    ++blocks;
    bool readable = true;
    if (IsCertificate(name)) {
      const unsigned char* at = data;
      Certificate read(d2i_X509(nullptr, &at, size));
      readable = read != nullptr;
      if (first == nullptr) first = std::move(read);
    }
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(data);
    if (!readable) {
      ERR_clear_error();
      return nullptr;
    }
  }
  ERR_clear_error();
  if (!IsWhole(pem, blocks)) first.reset();
  return first;
}

int NoPassword(char*, int, int, void*) { return -1; }

// One certificate at least, each readable, and no block that is cut off.
bool HoldsCertificates(std::string_view pem) { return FirstCertificate(pem) != nullptr; }

// The same, and `key_pem` holds the private key of the first certificate. A key with a password
// counts as unreadable.
bool IsPair(std::string_view certificate_pem, std::string_view key_pem) {
  const Certificate certificate = FirstCertificate(certificate_pem);
  if (certificate == nullptr) return false;
  const Key key(PEM_read_bio_PrivateKey(BioOf(key_pem).get(), nullptr, &NoPassword, nullptr));
  const bool pair = key != nullptr && X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return pair;
}

// client-go gives a changed file at most this long until connections use it; so does the period of
// WatchedFile. A plugin that failed waits 1 s, 2 s, 4 s, ... before it is run again.
constexpr Duration kFirstExecWait = std::chrono::seconds(1);
constexpr Duration kMostExecWait = std::chrono::seconds(30);

tl::unexpected<Error> EmptyFile(std::string_view what, const std::string& path) {
  return Fail(base::Concat(what, " file is empty: ", path));
}

void WarnOfOld(const std::string& path) {
  base::LogWarning("File is not whole; its last good content stays in use", {{"file", path}});
}

// Header and signature of a JSON Web Token, which service accounts' tokens are; nullopt: none.
std::optional<std::pair<std::string_view, std::string_view>> JwtEnds(std::string_view token) {
  const size_t first = token.find('.');
  const size_t last = token.rfind('.');
  if (first == last || token.find('.', first + 1) != last) return std::nullopt;
  return std::pair(token.substr(0, first), token.substr(last + 1));
}

// Whether a token can have been written to its end. One that follows a JSON Web Token must be one;
// with the same header, algorithm and key are the same, so that the signature is as long.
bool IsWholeToken(std::string_view token, std::string_view before) {
  const auto printable = [](char c) { return c > ' ' && c <= '~'; };
  if (token.empty() || !std::all_of(token.begin(), token.end(), printable)) return false;
  const auto old_ends = JwtEnds(before);
  if (!old_ends) return true;
  const auto ends = JwtEnds(token);
  return ends && (ends->first != old_ends->first || ends->second.size() == old_ends->second.size());
}

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
    basic_ = "Basic " + absl::Base64Escape(base::Concat(user.username, ":", user.password));
  }
  const bool other_credentials = !token_.empty() || token_file_ || !basic_.empty() ||
                                 certificate_.file || !certificate_.data.empty();
  if (!other_credentials) exec_ = std::move(exec);
}

bool Credentials::ExecIsFresh() const {
  return exec_credential_ &&
         (!exec_credential_->expires || clock_.WallNow() <= *exec_credential_->expires);
}

void Credentials::Get(OnIdentity done) {
  const Time now = clock_.Now();
  if (exec_ == nullptr || ExecIsFresh()) {
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
  auto ca = Ca(clock_.Now());
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

Result<std::string> Credentials::Ca(Time now) {
  auto content = ca_.Get(now);
  if (!content || !ca_.file) return content;
  if (HoldsCertificates(*content)) {
    good_ca_ = *content;
  } else if (good_ca_) {
    WarnOfOld(ca_.path());
    return *good_ca_;
  } else if (base::Trim(*content).empty()) {
    // An identity without authorities would trust the system's.
    return EmptyFile("certificate authority", ca_.path());
  }
  return content;
}

Result<Credentials::KeyPair> Credentials::ClientCertificate(Time now) {
  auto certificate = certificate_.Get(now);
  if (!certificate) return Fail(certificate.error());
  auto key = key_.Get(now);
  if (!key) return Fail(key.error());
  KeyPair pair{std::move(*certificate), std::move(*key)};
  if (!certificate_.file && !key_.file) return pair;
  if (IsPair(pair.certificate_pem, pair.key_pem)) {
    good_pair_ = pair;
  } else if (good_pair_) {
    WarnOfOld(certificate_.file ? certificate_.path() : key_.path());
    return *good_pair_;
  } else {
    if (base::Trim(pair.certificate_pem).empty())
      return EmptyFile("client certificate", certificate_.path());
    if (base::Trim(pair.key_pem).empty()) return EmptyFile("client key", key_.path());
  }
  return pair;
}

Result<std::string> Credentials::Token(Time now) {
  if (!token_file_) return token_;
  auto content = token_file_->Get(now);
  const std::string_view read = content ? base::Trim(*content) : std::string_view();
  if (IsWholeToken(read, good_token_)) {
    good_token_ = read;
  } else if (!good_token_.empty()) {
    WarnOfOld(token_file_->path());
  } else if (token_.empty()) {
    if (!content) return Fail(content.error());
    return read.empty() ? EmptyFile("token", token_file_->path())
                        : Fail("no token is readable in " + token_file_->path());
  }
  return good_token_.empty() ? token_ : good_token_;
}

Result<IdentityPtr> Credentials::Assemble(Time now) {
  if (assembled_at_ && now < *assembled_at_ + base::WatchedFile::kPeriod) return current_;
  auto ca = Ca(now);
  auto pair = ClientCertificate(now);
  auto token = Token(now);
  if (!ca) return Fail(ca.error().Within("getting credentials"));
  if (!pair) return Fail(pair.error().Within("getting credentials"));
  if (!token) return Fail(token.error().Within("getting credentials"));
  Identity identity;
  identity.ca_pem = std::move(*ca);
  identity.client_certificate_pem = std::move(pair->certificate_pem);
  identity.client_key_pem = std::move(pair->key_pem);
  if (exec_credential_) {
    *token = exec_credential_->token;
    identity.client_certificate_pem = exec_credential_->client_certificate;
    identity.client_key_pem = exec_credential_->client_key;
  }
  identity.authorization = token->empty() ? basic_ : "Bearer " + *token;
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
  // The server does not take it any more, so any other token may be the better one.
  good_token_.clear();
  exec_credential_.reset();
  assembled_at_.reset();
  return true;
}

}  // namespace berth::client
