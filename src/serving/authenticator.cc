// SPDX-License-Identifier: Apache-2.0
#include "src/serving/authenticator.h"

#include <strings.h>

#include <algorithm>
#include <map>
#include <utility>

#include "src/base/text.h"

namespace berth::serving {
namespace {

// Of tokens with many claims; a service account's has some 1,000 bytes.
constexpr size_t kMaxToken = 16 * 1024;
constexpr const char* kCredentialIdKey = "authentication.kubernetes.io/credential-id";

std::string FirstValue(const Request& request, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::string* value = request.FindHeader(name);
    if (value != nullptr && !value->empty()) return *value;
  }
  return "";
}

std::vector<std::string> AllValues(const Request& request, const std::vector<std::string>& names) {
  std::vector<std::string> values;
  for (const std::string& wanted : names) {
    for (const auto& [name, value] : request.headers) {
      if (name == wanted && !value.empty()) values.push_back(value);
    }
  }
  return values;
}

User UserInHeaders(const Request& request, const RequestHeaderNames& names) {
  User user;
  user.name = FirstValue(request, names.username);
  user.uid = FirstValue(request, names.uid);
  user.groups = AllValues(request, names.group);
  std::map<std::string, std::vector<std::string>> extra;
  for (const std::string& prefix : names.extra_prefix) {
    for (const auto& [name, value] : request.headers) {
      if (!name.starts_with(prefix)) continue;
      // A proxy made the %-escapes; a key that has no such is taken as it is.
      const std::string key = name.substr(prefix.size());
      extra[base::Unescape(key).value_or(key)].push_back(value);
    }
  }
  user.extra.assign(extra.begin(), extra.end());
  return user;
}

User WithGroup(User user) {
  const auto has = [&user](const char* group) {
    return std::find(user.groups.begin(), user.groups.end(), group) != user.groups.end();
  };
  if (user.name != kAnonymousUser && !has(kAuthenticatedGroup) && !has(kUnauthenticatedGroup)) {
    user.groups.emplace_back(kAuthenticatedGroup);
  }
  return user;
}

User Anonymous() {
  User user;
  user.name = kAnonymousUser;
  user.groups = {kUnauthenticatedGroup};
  return user;
}

}  // namespace

std::string BearerToken(const Request& request) {
  const std::string* header = request.FindHeader("authorization");
  if (header == nullptr) return "";
  const size_t blank = header->find(' ');
  if (blank != 6 || strncasecmp(header->c_str(), "bearer", 6) != 0) return "";
  const std::string_view rest = std::string_view(*header).substr(blank + 1);
  return std::string(rest.substr(0, rest.find(' ')));
}

Authenticator::Authenticator(std::shared_ptr<AuthenticationConfig> config,
                             std::shared_ptr<TokenReviews> tokens, const Clock& clock)
    : config_(std::move(config)), tokens_(std::move(tokens)), clock_(clock) {}

Authenticator::Opinion Authenticator::FromFrontProxy(const Request& request) {
  if (request.client_chain.empty()) return std::nullopt;
  const auto proxy = config_->front_proxy();
  if (!proxy) return std::nullopt;
  const auto subject = proxy->authorities->Verify(request.client_chain, clock_.WallNow());
  if (!subject) return Fail(subject.error());
  const auto& allowed = proxy->names.allowed_client_names;
  if (!allowed.empty() &&
      std::find(allowed.begin(), allowed.end(), subject->common_name) == allowed.end()) {
    return Fail("x509: subject with cn=" + subject->common_name + " is not in the allowed list");
  }
  User user = UserInHeaders(request, proxy->names);
  if (user.name.empty()) return std::nullopt;
  return user;
}

Authenticator::Opinion Authenticator::FromCertificate(const Request& request) {
  if (request.client_chain.empty()) return std::nullopt;
  const AuthoritiesPtr authorities = config_->client_authorities();
  if (authorities == nullptr) return std::nullopt;
  auto subject = authorities->Verify(request.client_chain, clock_.WallNow());
  if (!subject) return Fail(subject.error());
  if (subject->common_name.empty()) return std::nullopt;
  User user;
  user.name = std::move(subject->common_name);
  user.uid = std::move(subject->uid);
  user.groups = std::move(subject->organizations);
  user.extra.emplace_back(kCredentialIdKey,
                          std::vector<std::string>{"X509SHA256=" + subject->sha256_fingerprint});
  return user;
}

void Authenticator::Authenticate(const Request& request, OnUser done) {
  std::optional<Error> problem;
  for (const auto method : {&Authenticator::FromFrontProxy, &Authenticator::FromCertificate}) {
    Opinion opinion = (this->*method)(request);
    if (!opinion) continue;
    if (*opinion) return done(WithGroup(std::move(**opinion)));
    problem =
        problem ? Error{problem->message + ", " + opinion->error().message} : opinion->error();
  }
  const std::string token = tokens_ == nullptr ? "" : BearerToken(request);
  if (token.size() > kMaxToken) return done(tl::unexpected(NoAnswer{"the token is too long"}));
  if (!token.empty()) {
    return tokens_->Review(token, request.peer, *request.departure,
                           [done = std::move(done)](const Answer<User>& user) {
                             done(user ? Answer<User>(WithGroup(*user)) : user);
                           });
  }
  if (problem) return done(tl::unexpected(NoAnswer{problem->message}));
  done(Anonymous());
}

}  // namespace berth::serving
