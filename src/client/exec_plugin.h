// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "berth/time.h"
#include "src/base/executor.h"
#include "src/client/kubeconfig.h"

// Credential plugins: programs that print an ExecCredential (client.authentication.k8s.io).
namespace berth::client {

struct ExecCredential {
  std::string token;
  std::string client_certificate;  // PEM, together with the key or not at all
  std::string client_key;
  std::optional<Time> expires;
};

// What a program reads: nothing, or our own standard input, which is a terminal.
enum class StandardInput { kNone, kTerminal };

// What the program finds in KUBERNETES_EXEC_INFO. `ca_pem` is the cluster's, read from its file.
std::string ExecInfo(const ExecConfig& exec, const ClusterConfig& cluster, std::string_view ca_pem,
                     StandardInput input);

// Reads what the program printed. Errors: no ExecCredential of `api_version`, no status, neither
// token nor certificate, half a certificate.
Result<ExecCredential> ParseExecCredential(std::string_view output, const std::string& api_version);

// Runs a program and gathers what it prints. Errors: not found, exit code, signal, `timeout`,
// output without end, `cancel_fd` became readable. The program gets our standard error. Blocks.
Result<std::string> RunProgram(const std::string& command, const std::vector<std::string>& args,
                               const std::vector<std::string>& environment, StandardInput input,
                               Duration timeout, int cancel_fd);

// Fetches credentials without blocking the caller.
//
// Thread safety: one owner.
class ExecPlugin {
 public:
  using OnCredential = std::function<void(Result<ExecCredential>)>;

  virtual ~ExecPlugin() = default;
  // Starts one run; the one before must have ended. `done` is called later, as a task of the
  // owner's executor, unless the plugin is destroyed first.
  virtual void Run(const std::string& ca_pem, OnCredential done) = 0;
};

// Runs the program on a helper thread, `executor` calls back. A run still going when the plugin is
// destroyed is killed. `timeout` bounds one run.
std::unique_ptr<ExecPlugin> MakeExecPlugin(ExecConfig exec, ClusterConfig cluster,
                                           base::Executor& executor,
                                           Duration timeout = std::chrono::minutes(1));

}  // namespace berth::client
