// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "berth/result.h"
#include "berth/time.h"
#include "src/base/file.h"
#include "src/client/exec_plugin.h"
#include "src/client/kubeconfig.h"

namespace berth::client {

// What a request shows of us, and what the server must show. Immutable; a rotation makes a new one.
struct Identity {
  std::string authorization;  // value of the header; "" for none
  std::string ca_pem;         // "" means the system's
  std::string client_certificate_pem;
  std::string client_key_pem;

  bool SameTls(const Identity& other) const {
    return ca_pem == other.ca_pem && client_certificate_pem == other.client_certificate_pem &&
           client_key_pem == other.client_key_pem;
  }
  friend bool operator==(const Identity&, const Identity&) = default;
};
using IdentityPtr = std::shared_ptr<const Identity>;

// Hands out the present identity: reads rotated files again once a minute, and runs the exec
// plugin when what it gave has expired or was turned down. A certificate, basic or token
// credential in the kubeconfig goes before the exec plugin, as in client-go.
//
// A file may be read while it is replaced. What is empty, cut off, or a certificate without its
// key leaves the last good content in use; where there is none yet, an empty file is an error, and
// anything else is for TLS or the server to judge.
//
// Thread safety: the I/O thread.
class Credentials {
 public:
  using OnIdentity = std::function<void(Result<IdentityPtr>)>;

  // `exec` is used if the user has no other credentials; nullptr if it names no plugin. `clock`
  // outlives this object.
  Credentials(const ServerConfig& server, const Clock& clock, std::unique_ptr<ExecPlugin> exec);

  // Calls `done` at once where nothing has to be waited for, else when the plugin has ended. The
  // pointer is the same as before as long as nothing changed. Errors: a file cannot be read, the
  // plugin failed; a plugin that failed is not run again before a backoff of 1 s to 30 s is over.
  void Get(OnIdentity done);

  // The server answered 401 to `used`. Returns whether another try makes sense: files are read and
  // the plugin is run again by the next Get(), unless that has happened already.
  bool Reject(const IdentityPtr& used);

  // Whether the identity may change without a request: files are to be looked at.
  bool watches_files() const { return token_file_ || ca_.file || certificate_.file || key_.file; }

 private:
  struct Source {
    std::optional<base::WatchedFile> file;
    std::string data;
    // Errors: the file cannot be read.
    Result<std::string> Get(Time now);
    // "" where there is no file.
    std::string path() const { return file ? file->path() : ""; }
  };
  struct KeyPair {
    std::string certificate_pem;
    std::string key_pem;
  };

  Result<std::string> Ca(Time now);
  Result<KeyPair> ClientCertificate(Time now);
  Result<std::string> Token(Time now);

  bool ExecIsFresh() const;
  void StartExec();
  void FinishExec(Result<ExecCredential> result);
  // The identity, put together again where a minute has passed or something was rejected.
  Result<IdentityPtr> Assemble(Time now);

  const Clock& clock_;
  Source ca_;
  Source certificate_;
  Source key_;
  std::string token_;
  std::optional<base::WatchedFile> token_file_;
  std::string basic_;
  std::unique_ptr<ExecPlugin> exec_;

  std::optional<std::string> good_ca_;
  std::optional<KeyPair> good_pair_;
  std::string good_token_;
  IdentityPtr current_;
  std::optional<Time> assembled_at_;
  std::optional<ExecCredential> exec_credential_;
  std::optional<Error> exec_error_;
  int exec_failures_ = 0;
  Time exec_not_before_{};
  bool exec_running_ = false;
  std::vector<OnIdentity> waiting_;
};

}  // namespace berth::client
