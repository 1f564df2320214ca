// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "berth/time.h"
#include "src/base/file.h"
#include "src/client/api_client.h"
#include "src/serving/certificate_authorities.h"

namespace berth::serving {

// Which headers a front proxy names the user in. Names are in lower case.
struct RequestHeaderNames {
  std::vector<std::string> username = {"x-remote-user"};
  std::vector<std::string> uid{};
  std::vector<std::string> group = {"x-remote-group"};
  std::vector<std::string> extra_prefix = {"x-remote-extra-"};
  // Common names of its certificate; empty: any that its authority signed.
  std::vector<std::string> allowed_client_names{};
};

// The authentication flags.
struct AuthenticationOptions {
  std::string client_ca_file{};
  std::string request_header_client_ca_file{};
  RequestHeaderNames request_header{};  // used with the file only
  bool skip_lookup = false;
  Duration token_cache_ttl = std::chrono::seconds(10);
};

// A front proxy whose word about the user counts.
struct FrontProxy {
  AuthoritiesPtr authorities;
  RequestHeaderNames names;
};

// Whose certificates are believed: from files, read again each minute, or else from the ConfigMap
// kube-system/extension-apiserver-authentication, read again each minute and, while that fails,
// each 5 s. What was read last counts for as long as nothing newer can be read.
//
// Thread safety: the executor's thread.
class AuthenticationConfig : public std::enable_shared_from_this<AuthenticationConfig> {
 public:
  // Of a lookup in the cluster: nothing, or why it failed.
  using OnLookup = std::function<void(Result<void>)>;

  // `api` is nullptr where there is no server to ask. It, `executor` and `clock` outlive this
  // object. Errors: a file that is named cannot be read.
  static Result<std::shared_ptr<AuthenticationConfig>> Make(AuthenticationOptions options,
                                                            client::ApiClient* api,
                                                            base::Executor& executor,
                                                            const Clock& clock);

  // Begins to look things up in the cluster, where that is called for; reports each lookup.
  void Start(OnLookup on_lookup);
  // Whether Start() looks up the front proxy's authorities. A flag says whether the process may
  // start without these; for those of clients it never waits.
  bool looks_up_proxy() const;

  // nullptr: no certificates are believed.
  AuthoritiesPtr client_authorities();
  std::optional<FrontProxy> front_proxy();

 private:
  // A bundle in a file and what it was parsed from.
  struct FileBundle {
    base::WatchedFile file;
    std::string pem;
    AuthoritiesPtr authorities;

    // Takes a new content over, if it can be read.
    Result<void> Refresh(Time now);
  };

  AuthenticationConfig(AuthenticationOptions options, client::ApiClient* api,
                       base::Executor& executor, const Clock& clock)
      : options_(std::move(options)), api_(api), executor_(executor), clock_(clock) {}
  // Whether Start() looks anything up.
  bool looks_up() const;
  Result<void> OpenFiles();
  void LookUp();
  Result<void> TakeOver(std::string_view body);

  AuthenticationOptions options_;
  client::ApiClient* api_;
  base::Executor& executor_;
  const Clock& clock_;
  std::optional<FileBundle> client_file_;
  std::optional<FileBundle> proxy_file_;
  AuthoritiesPtr looked_up_authorities_;
  std::optional<FrontProxy> looked_up_proxy_;
  OnLookup on_lookup_;
};

}  // namespace berth::serving
