// SPDX-License-Identifier: Apache-2.0
#include "src/client/exec_plugin.h"

#include <absl/strings/escaping.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "berth/config_value.h"
#include "src/api/time_format.h"
#include "src/base/text.h"
#include "src/base/thread.h"
#include "src/documents/parse.h"

namespace berth::client {
namespace {

// The string member `name` of a map; "" when there is none.
std::string StringMember(const ConfigValue& object, std::string_view name) {
  const ConfigValue* found = object.Find(name);
  return found == nullptr || found->string() == nullptr ? "" : *found->string();
}

Result<StandardInput> InputOf(const ExecConfig& exec) {
  const bool terminal = isatty(STDIN_FILENO) == 1;
  if (exec.interactive_mode == "Always" && !terminal) {
    return Fail(
        base::Concat("exec: executable ", exec.command,
                     " needs a terminal (interactiveMode Always), and standard input is none"));
  }
  return terminal && exec.interactive_mode != "Never" ? StandardInput::kTerminal
                                                      : StandardInput::kNone;
}

// Our environment, overridden by the plugin's own variables.
std::vector<std::string> Environment(
    const std::vector<std::pair<std::string, std::string>>& overrides) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    const std::string_view name = variable.substr(0, variable.find('='));
    const auto same = [name](const auto& override) { return override.first == name; };
    if (std::none_of(overrides.begin(), overrides.end(), same)) out.emplace_back(variable);
  }
  for (const auto& [name, value] : overrides) out.push_back(base::Concat(name, "=", value));
  return out;
}

class ThreadedExecPlugin final : public ExecPlugin {
 public:
  ThreadedExecPlugin(ExecConfig exec, ClusterConfig cluster, base::Executor& executor,
                     Duration timeout)
      : exec_(std::move(exec)),
        cluster_(std::move(cluster)),
        executor_(executor),
        timeout_(timeout),
        cancel_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        alive_(std::make_shared<bool>(true)) {}

  ~ThreadedExecPlugin() override {
    *alive_ = false;
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(cancel_fd_, &one, sizeof one);
    thread_.Join();
    close(cancel_fd_);
  }

  void Run(const std::string& ca_pem, OnCredential done) override {
    thread_.Join();  // the run before has ended but for its return
    // Shared, since a task must be copyable. Used by the executor's thread only, like `alive_`.
    auto finish = [alive = alive_, done = std::move(done)](Result<ExecCredential> result) {
      if (*alive) done(std::move(result));
    };
    thread_ = base::NamedThread("berth-exec", [this, ca_pem, finish = std::move(finish)]() mutable {
      auto result = std::make_shared<Result<ExecCredential>>(Fetch(ca_pem));
      executor_.Post([result = std::move(result), finish = std::move(finish)]() {
        finish(std::move(*result));
      });
    });
  }

 private:
  // On the helper thread; reads only what never changes.
  Result<ExecCredential> Fetch(const std::string& ca_pem) const {
    const Result<StandardInput> input = InputOf(exec_);
    if (!input) return Fail(input.error());
    auto variables = exec_.env;
    variables.emplace_back("KUBERNETES_EXEC_INFO", ExecInfo(exec_, cluster_, ca_pem, *input));
    auto output =
        RunProgram(exec_.command, exec_.args, Environment(variables), *input, timeout_, cancel_fd_);
    if (!output) {
      const bool missing = output.error().message.ends_with(" not found");
      if (!missing || exec_.install_hint.empty()) return Fail(output.error());
      return Fail(base::Concat(output.error().message, ". ", base::Trim(exec_.install_hint)));
    }
    auto credential = ParseExecCredential(*output, exec_.api_version);
    if (!credential) return Fail(credential.error().Within("exec: executable " + exec_.command));
    return credential;
  }

  const ExecConfig exec_;
  const ClusterConfig cluster_;
  base::Executor& executor_;
  const Duration timeout_;
  const int cancel_fd_;
  std::shared_ptr<bool> alive_;
  base::NamedThread thread_;
};

}  // namespace

std::string ExecInfo(const ExecConfig& exec, const ClusterConfig& cluster, std::string_view ca_pem,
                     StandardInput input) {
  ConfigValue::Map spec = {{"interactive", ConfigValue(input == StandardInput::kTerminal)}};
  if (exec.provide_cluster_info) {
    ConfigValue::Map info = {{"server", ConfigValue(cluster.server)}};
    const auto add_text = [&info](std::string_view name, std::string text) {
      if (!text.empty()) info.emplace_back(name, std::move(text));
    };
    const auto add_flag = [&info](std::string_view name, bool flag) {
      if (flag) info.emplace_back(name, true);
    };
    add_text("tls-server-name", cluster.tls_server_name);
    add_flag("insecure-skip-tls-verify", cluster.insecure_skip_tls_verify);
    add_text("certificate-authority-data", absl::Base64Escape(std::string(ca_pem)));
    add_text("proxy-url", cluster.proxy_url);
    add_flag("disable-compression", cluster.disable_compression);
    info.emplace_back("config", cluster.exec_extension);
    spec.emplace_back("cluster", std::move(info));
  }
  return ConfigValue(ConfigValue::Map{{"apiVersion", ConfigValue(exec.api_version)},
                                      {"kind", ConfigValue(std::string("ExecCredential"))},
                                      {"spec", ConfigValue(std::move(spec))}})
      .ToJson();
}

Result<ExecCredential> ParseExecCredential(std::string_view output,
                                           const std::string& api_version) {
  const auto document = documents::ParseJson(output, "");
  if (!document || StringMember(*document, "kind") != "ExecCredential") {
    return Fail("printed no ExecCredential");
  }
  const std::string version = StringMember(*document, "apiVersion");
  if (version != api_version) {
    return Fail(base::Concat("is configured for ", api_version, " but printed ",
                             version.empty() ? "no apiVersion" : version));
  }
  const ConfigValue* status = document->Find("status");
  if (status == nullptr || status->map() == nullptr) return Fail("printed no status");
  ExecCredential out;
  out.token = StringMember(*status, "token");
  out.client_certificate = StringMember(*status, "clientCertificateData");
  out.client_key = StringMember(*status, "clientKeyData");
  if (out.client_certificate.empty() != out.client_key.empty()) {
    return Fail("printed only one of clientCertificateData and clientKeyData");
  }
  if (out.token.empty() && out.client_certificate.empty()) {
    return Fail("printed neither a token nor a client certificate");
  }
  const std::string expires = StringMember(*status, "expirationTimestamp");
  if (!expires.empty()) {
    auto time = api::ParseTime(expires);
    if (!time) return Fail(time.error().Within("status.expirationTimestamp"));
    out.expires = *time;
  }
  return out;
}

std::unique_ptr<ExecPlugin> MakeExecPlugin(ExecConfig exec, ClusterConfig cluster,
                                           base::Executor& executor, Duration timeout) {
  return std::make_unique<ThreadedExecPlugin>(std::move(exec), std::move(cluster), executor,
                                              timeout);
}

}  // namespace berth::client
