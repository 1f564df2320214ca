// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/base/clock.h"
#include "src/client/exec_plugin.h"
#include "src/client/text.h"

namespace berth::client {
namespace {

constexpr size_t kMostOutput = size_t{16} << 20;

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// Starts the program with `output` as its standard output. Returns 0 or errno.
int Spawn(const std::string& command, const std::vector<std::string>& args,
          const std::vector<std::string>& environment, bool interactive, int output, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!interactive) {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);

  // The program must not inherit which signals a daemon blocks or ignores.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  sigset_t usual;
  sigemptyset(&usual);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD}) sigaddset(&usual, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  // A group of its own, to be killed whole; but only ours may read the terminal.
  if (!interactive) flags |= POSIX_SPAWN_SETPGROUP;
  posix_spawnattr_setflags(&attributes, static_cast<short>(flags));

  std::vector<std::string> argv = {command};
  argv.insert(argv.end(), args.begin(), args.end());
  const int error = posix_spawnp(&pid, command.c_str(), &actions, &attributes,
                                 Pointers(argv).data(), Pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// Reads to the end of the pipe. nullopt: it is there; else why it was given up.
std::optional<std::string> Drain(int pipe, int cancel_fd, Time deadline, std::string& out) {
  const base::RealClock clock;
  char chunk[4096];
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock.Now()).count();
    if (left <= 0) return "took too long and was killed";
    pollfd fds[2] = {{pipe, POLLIN, 0}, {cancel_fd, POLLIN, 0}};
    if (poll(fds, cancel_fd >= 0 ? 2 : 1, static_cast<int>(left)) <= 0) continue;
    if (cancel_fd >= 0 && (fds[1].revents & POLLIN) != 0) return "was cancelled";
    const ssize_t got = read(pipe, chunk, sizeof chunk);
    if (got == 0) return std::nullopt;
    if (got < 0 && errno != EINTR) return std::strerror(errno);
    if (got > 0) out.append(chunk, static_cast<size_t>(got));
    if (out.size() > kMostOutput) return "printed too much and was killed";
  }
}

}  // namespace

Result<std::string> RunProgram(const std::string& command, const std::vector<std::string>& args,
                               const std::vector<std::string>& environment, bool interactive,
                               Duration timeout, int cancel_fd) {
  const auto fail = [&command](const auto&... why) {
    return Fail(Concat("exec: executable ", command, " ", why...));
  };
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return fail("cannot be started: ", std::strerror(errno));
  const Time deadline = base::RealClock().Now() + timeout;
  pid_t pid = 0;
  const int spawn_error = Spawn(command, args, environment, interactive, ends[1], pid);
  close(ends[1]);
  if (spawn_error != 0) {
    close(ends[0]);
    if (spawn_error == ENOENT) return fail("not found");
    return fail("cannot be started: ", std::strerror(spawn_error));
  }
  std::string out;
  const std::optional<std::string> given_up = Drain(ends[0], cancel_fd, deadline, out);
  close(ends[0]);
  // A program that closed its output but goes on has said all that it may say.
  if (given_up) kill(interactive ? pid : -pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (given_up) return fail(*given_up);
  if (WIFSIGNALED(status)) return fail("was ended by signal ", WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return fail("failed with exit code ", WEXITSTATUS(status));
  return out;
}

}  // namespace berth::client
