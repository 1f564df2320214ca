// SPDX-License-Identifier: Apache-2.0
#include "src/serving/authentication_config.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <utility>

#include "src/base/logging.h"
#include "src/documents/parse.h"
#include "src/serving/reviews.h"

namespace berth::serving {
namespace {

constexpr std::string_view kConfigMapPath =
    "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
constexpr Duration kLookupPeriod = std::chrono::minutes(1);
constexpr Duration kRetryPeriod = std::chrono::seconds(5);

// A member that holds a list of strings as JSON text; empty where it does not.
Result<std::vector<std::string>> ListIn(const ConfigValue& data, std::string_view key) {
  std::vector<std::string> texts;
  const ConfigValue* member = data.Find(key);
  if (member == nullptr || member->string() == nullptr || member->string()->empty()) return texts;
  const auto parsed = documents::ParseJson(*member->string(), key);
  if (!parsed) return Fail(parsed.error());
  if (parsed->is_null()) return texts;
  if (parsed->list() == nullptr) return Fail(std::string(key) + ": not a list");
  for (const ConfigValue& element : *parsed->list()) {
    if (element.string() == nullptr) return Fail(std::string(key) + ": not a list of strings");
    texts.push_back(*element.string());
  }
  return texts;
}

Result<std::vector<std::string>> HeadersIn(const ConfigValue& data, std::string_view key) {
  auto names = ListIn(data, key);
  if (!names) return names;
  for (std::string& name : *names) {
    absl::AsciiStrToLower(&name);
    if (name.empty()) return Fail(std::string(key) + ": an empty name");
  }
  return names;
}

Result<RequestHeaderNames> NamesIn(const ConfigValue& data) {
  RequestHeaderNames names;
  auto username = HeadersIn(data, "requestheader-username-headers");
  auto uid = HeadersIn(data, "requestheader-uid-headers");
  auto group = HeadersIn(data, "requestheader-group-headers");
  auto extra = HeadersIn(data, "requestheader-extra-headers-prefix");
  auto allowed = ListIn(data, "requestheader-allowed-names");
  for (const auto* list : {&username, &uid, &group, &extra, &allowed}) {
    if (!*list) return Fail(list->error());
  }
  names.username = std::move(*username);
  names.uid = std::move(*uid);
  names.group = std::move(*group);
  names.extra_prefix = std::move(*extra);
  names.allowed_client_names = std::move(*allowed);
  return names;
}

}  // namespace

Result<void> AuthenticationConfig::FileBundle::Refresh(Time now) {
  auto content = file.Get(now);
  if (!content) return Fail(content.error());
  if (authorities != nullptr && *content == pem) return {};
  pem = std::move(*content);
  auto parsed = CertificateAuthorities::FromPem(pem);
  if (!parsed) return Fail(parsed.error().Within(file.path()));
  authorities = std::move(*parsed);
  return {};
}

Result<std::shared_ptr<AuthenticationConfig>> AuthenticationConfig::Make(
    AuthenticationOptions options, client::ApiClient* api, base::Executor& executor,
    const Clock& clock) {
  std::shared_ptr<AuthenticationConfig> config(
      new AuthenticationConfig(std::move(options), api, executor, clock));
  if (auto opened = config->OpenFiles(); !opened) return Fail(opened.error());
  return config;
}

Result<void> AuthenticationConfig::OpenFiles() {
  const Time now = clock_.Now();
  if (!options_.client_ca_file.empty()) {
    client_file_.emplace(FileBundle{base::WatchedFile(options_.client_ca_file), "", nullptr});
    if (auto read = client_file_->Refresh(now); !read) {
      return Fail(read.error().Within("--client-ca-file"));
    }
  }
  if (!options_.request_header_client_ca_file.empty()) {
    proxy_file_.emplace(
        FileBundle{base::WatchedFile(options_.request_header_client_ca_file), "", nullptr});
    if (auto read = proxy_file_->Refresh(now); !read) {
      return Fail(read.error().Within("--requestheader-client-ca-file"));
    }
  }
  return {};
}

bool AuthenticationConfig::looks_up_proxy() const { return looks_up() && !proxy_file_; }

bool AuthenticationConfig::looks_up() const {
  return !options_.skip_lookup && api_ != nullptr && (!client_file_ || !proxy_file_);
}

void AuthenticationConfig::Start(OnLookup on_lookup) {
  on_lookup_ = std::move(on_lookup);
  if (looks_up()) LookUp();
}

void AuthenticationConfig::LookUp() {
  client::Request request;
  request.path = kConfigMapPath;
  request.timeout = std::chrono::seconds(10);
  request.max_retries = 0;
  // The answer comes on the client's thread.
  api_->Send(std::move(request),
             [weak = weak_from_this(), &executor = executor_](client::ResponseResult result) {
               executor.Post([weak, result = std::move(result)] {
                 const auto self = weak.lock();
                 if (self == nullptr) return;
                 const Result<void> done = result ? self->TakeOver(result->body)
                                                  : Result<void>(Fail(result.error().ToString()));
                 if (self->on_lookup_) self->on_lookup_(done);
                 self->executor_.PostAfter(done ? kLookupPeriod : kRetryPeriod, [weak] {
                   if (const auto still = weak.lock()) still->LookUp();
                 });
               });
             });
}

Result<void> AuthenticationConfig::TakeOver(std::string_view body) {
  const auto object = documents::ParseJson(body, "extension-apiserver-authentication");
  if (!object) return Fail(object.error());
  const ConfigValue none{ConfigValue::Map{}};
  const ConfigValue* data = object->Find("data");
  if (data == nullptr) data = &none;

  AuthoritiesPtr clients;
  if (const std::string pem = TextIn(*data, "client-ca-file"); !pem.empty()) {
    auto parsed = CertificateAuthorities::FromPem(pem);
    if (!parsed) return Fail(parsed.error().Within("client-ca-file"));
    clients = std::move(*parsed);
  }
  std::optional<FrontProxy> proxy;
  if (const std::string pem = TextIn(*data, "requestheader-client-ca-file"); !pem.empty()) {
    auto parsed = CertificateAuthorities::FromPem(pem);
    if (!parsed) return Fail(parsed.error().Within("requestheader-client-ca-file"));
    auto names = NamesIn(*data);
    if (!names) return Fail(names.error());
    proxy = FrontProxy{std::move(*parsed), std::move(*names)};
  }
  looked_up_authorities_ = std::move(clients);
  looked_up_proxy_ = std::move(proxy);
  return {};
}

AuthoritiesPtr AuthenticationConfig::client_authorities() {
  if (!client_file_) return looked_up_authorities_;
  if (auto read = client_file_->Refresh(clock_.Now()); !read) {
    base::LogV(2, "Keeping the client authorities", {{"err", read.error().message}});
  }
  return client_file_->authorities;
}

std::optional<FrontProxy> AuthenticationConfig::front_proxy() {
  if (!proxy_file_) return looked_up_proxy_;
  if (auto read = proxy_file_->Refresh(clock_.Now()); !read) {
    base::LogV(2, "Keeping the front proxy's authorities", {{"err", read.error().message}});
  }
  return FrontProxy{proxy_file_->authorities, options_.request_header};
}

}  // namespace berth::serving
