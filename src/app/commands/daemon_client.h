// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/result.h"
#include "src/app/flags/flag_set.h"
#include "src/client/api_client.h"
#include "src/client/kubeconfig.h"

namespace berth::app {

// Which daemon is asked, and who asks; the flags are kubectl's where it has them.
struct DaemonFlags {
  std::string url;  // "": none is named
  // Of why alone: not even the one that is found by the lease, "namespace/name", is asked.
  bool none = false;
  std::string lease;
  std::string token;
  std::string token_file;
  std::string client_certificate;
  std::string client_key;
  std::string certificate_authority;
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;
};

// `out` must outlive the set of flags. `finds`: where no daemon is named, the one that leads is
// asked, if it is found.
void AddDaemon(FlagSet& flags, DaemonFlags& out, bool finds);

// Errors: an address that is no https:// URL; flags of a daemon without one.
Result<void> CheckDaemon(const DaemonFlags& flags);

// The daemon at the other end: with the credentials of the flags or, where they have none, of
// `user`. What stands behind the certificate is never taken from a kubeconfig: its authority signs
// for API servers.
client::ServerConfig ServerOf(const DaemonFlags& flags, client::UserConfig user);

// What a server answers to a GET of the path, asked once. Errors: no answer, or one that is no
// success, with code 0 or the answer's.
client::ResponseResult Get(client::ServerConfig server, const std::string& path,
                           const std::string& accept, Duration timeout);
// The same of a daemon, which has time enough for each of its answers, and no more than `longest`
// where that is not zero.
client::ResponseResult AskDaemon(client::ServerConfig server, const std::string& path,
                                 Duration longest);

}  // namespace berth::app
