// SPDX-License-Identifier: Apache-2.0
#include "src/app/commands/leader.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "src/base/clock.h"
#include "src/base/text.h"
#include "src/documents/parse.h"

namespace berth::app {
namespace {

template <typename T>
using Answer = tl::expected<T, client::ApiError>;

constexpr std::string_view kForwarding = "Forwarding from 127.0.0.1:";
// Of what kubectl prints.
constexpr size_t kMostOutput = 64 * 1024;

tl::unexpected<client::ApiError> Absent(std::string message) {
  return tl::unexpected(
      client::ApiError{.code = 404, .reason = "NotFound", .message = std::move(message)});
}

Answer<ConfigValue> GetObject(const client::ServerConfig& server, const std::string& path,
                              Duration timeout) {
  const auto answer = Get(server, path, "application/json", timeout);
  if (!answer) return tl::unexpected(answer.error());
  auto object = documents::ParseJson(answer->body, path);
  if (!object) return tl::unexpected(client::ApiError{.message = object.error().message});
  return *std::move(object);
}

const ConfigValue* Find(const ConfigValue* value, std::string_view member) {
  return value == nullptr || value->map() == nullptr ? nullptr : value->Find(member);
}

std::string TextAt(const ConfigValue* value, std::string_view member) {
  const ConfigValue* found = Find(value, member);
  return found == nullptr || found->string() == nullptr ? "" : *found->string();
}

const ConfigValue::List& ListAt(const ConfigValue* value, std::string_view member) {
  static const ConfigValue::List kNone;
  const ConfigValue* found = Find(value, member);
  return found == nullptr || found->list() == nullptr ? kNone : *found->list();
}

// What the container's process is given for the flag: "x" of "--config=x" or "--config" "x".
std::vector<std::string> FlagValues(const ConfigValue& container, std::string_view flag) {
  std::vector<std::string> values;
  bool next = false;
  for (const char* member : {"command", "args"}) {
    for (const ConfigValue& argument : ListAt(&container, member)) {
      if (argument.string() == nullptr) continue;
      std::string_view text = *argument.string();
      if (std::exchange(next, false)) {
        values.emplace_back(text);
      } else if (text.starts_with(flag)) {
        text.remove_prefix(flag.size());
        next = text.empty();
        if (text.starts_with('=')) values.emplace_back(text.substr(1));
      }
    }
  }
  return values;
}

// What the pod says of its endpoints, its configuration and its feature gates.
void ReadPod(const ConfigValue& pod, Leader& leader) {
  const ConfigValue* spec = Find(&pod, "spec");
  for (const ConfigValue& container : ListAt(spec, "containers")) {
    for (const ConfigValue& port : ListAt(&container, "ports")) {
      const ConfigValue* number = Find(&port, "containerPort");
      if (TextAt(&port, "name") == "https" && number != nullptr && number->integer() != nullptr) {
        leader.port = static_cast<int>(*number->integer());
      }
    }
    std::ranges::copy(FlagValues(container, "--feature-gates"),
                      std::back_inserter(leader.feature_gates));
    const std::vector<std::string> files = FlagValues(container, "--config");
    const std::string file = files.empty() ? "" : files.back();
    const size_t slash = file.rfind('/');
    if (slash == std::string::npos) continue;
    for (const ConfigValue& mount : ListAt(&container, "volumeMounts")) {
      if (TextAt(&mount, "mountPath") != file.substr(0, slash)) continue;
      for (const ConfigValue& volume : ListAt(spec, "volumes")) {
        if (TextAt(&volume, "name") != TextAt(&mount, "name")) continue;
        leader.config_map = TextAt(Find(&volume, "configMap"), "name");
        leader.config_key = file.substr(slash + 1);
      }
    }
  }
}

int Spawn(const std::vector<std::string>& arguments, int output, pid_t& pid) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  const int problem = posix_spawnp(&pid, argv.front(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return problem;
}

// The port in "Forwarding from 127.0.0.1:41234 -> 10259".
std::optional<int> PortIn(std::string_view output) {
  const size_t at = output.find(kForwarding);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = output.substr(at + kForwarding.size());
  int port = 0;
  const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), port);
  // The line may not be whole yet.
  if (problem != std::errc() || end == rest.data() + rest.size()) return std::nullopt;
  return port;
}

}  // namespace

Answer<Leader> FindLeader(const client::ServerConfig& server, const std::string& lease,
                          Duration timeout) {
  const size_t slash = lease.find('/');
  Leader leader;
  leader.namespace_ = lease.substr(0, slash);
  const auto found = GetObject(
      server,
      base::Concat("/apis/coordination.k8s.io/v1/namespaces/", base::Escape(leader.namespace_),
                   "/leases/", base::Escape(lease.substr(slash + 1))),
      timeout);
  if (!found) return tl::unexpected(found.error());
  const std::string holder = TextAt(Find(&*found, "spec"), "holderIdentity");
  if (holder.empty()) return Absent("nothing holds the lease " + lease);
  leader.pod = holder.substr(0, holder.rfind('_'));
  const auto pod = GetObject(server,
                             base::Concat("/api/v1/namespaces/", base::Escape(leader.namespace_),
                                          "/pods/", base::Escape(leader.pod)),
                             timeout);
  if (!pod) return tl::unexpected(pod.error());
  ReadPod(*pod, leader);
  return leader;
}

Answer<std::string> ConfigurationOf(const Leader& leader, const client::ServerConfig& server,
                                    Duration timeout) {
  const auto map = GetObject(server,
                             base::Concat("/api/v1/namespaces/", base::Escape(leader.namespace_),
                                          "/configmaps/", base::Escape(leader.config_map)),
                             timeout);
  if (!map) return tl::unexpected(map.error());
  std::string text = TextAt(Find(&*map, "data"), leader.config_key);
  if (text.empty()) return Absent("no " + leader.config_key + " in " + leader.config_map);
  return text;
}

Result<std::unique_ptr<PortForward>> PortForward::Open(const Leader& leader,
                                                       const KubectlFlags& flags,
                                                       Duration patience) {
  std::vector<std::string> arguments = {
      "kubectl",     "port-forward",    "--address",         "127.0.0.1",
      "--namespace", leader.namespace_, "pod/" + leader.pod, ":" + std::to_string(leader.port)};
  if (!flags.kubeconfig.empty()) arguments.push_back("--kubeconfig=" + flags.kubeconfig);
  if (!flags.context.empty()) arguments.push_back("--context=" + flags.context);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return Fail(std::strerror(errno));
  pid_t pid = -1;
  const int problem = Spawn(arguments, ends[1], pid);
  close(ends[1]);
  if (problem != 0) {
    close(ends[0]);
    return Fail(base::Concat("kubectl: ", std::strerror(problem)));
  }
  std::unique_ptr<PortForward> forward(new PortForward(pid, ends[0]));
  if (auto came = forward->AwaitPort(patience); !came) return Fail(came.error());
  return forward;
}

Result<void> PortForward::AwaitPort(Duration patience) {
  const base::RealClock clock;
  const Time deadline = clock.Now() + patience;
  std::string output;
  while (output.size() < kMostOutput) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock.Now()).count();
    if (left <= 0) return Fail("kubectl port-forward has opened no port in time");
    pollfd wait{.fd = output_, .events = POLLIN, .revents = 0};
    if (poll(&wait, 1, static_cast<int>(std::min<int64_t>(left, 1000))) <= 0) continue;
    std::array<char, 4096> buffer{};
    const ssize_t count = read(output_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    output.append(buffer.data(), static_cast<size_t>(count));
    if (const auto port = PortIn(output)) {
      url_ = "https://127.0.0.1:" + std::to_string(*port);
      return {};
    }
  }
  const std::string_view line = std::string_view(output).substr(0, output.find('\n'));
  return Fail("kubectl port-forward: " + std::string(line.empty() ? "it has ended" : line));
}

PortForward::~PortForward() {
  kill(pid_, SIGTERM);
  close(output_);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    // Again.
  }
}

DaemonFlags DaemonBehind(const PortForward& forward, DaemonFlags flags) {
  flags.url = forward.url();
  // The API server and the kubelet say whose port it is; the certificate is one of its own.
  flags.insecure_skip_tls_verify = flags.certificate_authority.empty();
  return flags;
}

}  // namespace berth::app
