// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "src/base/clock.h"
#include "src/base/text.h"
#include "src/client/exec_plugin.h"

namespace berth::client {
namespace {

// A token and a certificate with its key are some kilobytes.
constexpr size_t kMostOutput = size_t{1} << 20;
constexpr Duration kLongest = std::chrono::hours(1);

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// Starts the program with `output` as its standard output. Returns 0 or errno.
int Spawn(const std::string& command, const std::vector<std::string>& args,
          const std::vector<std::string>& environment, StandardInput input, int output,
          pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (input == StandardInput::kNone) {
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
  if (input == StandardInput::kNone) flags |= POSIX_SPAWN_SETPGROUP;
  posix_spawnattr_setflags(&attributes, static_cast<short>(flags));

  std::vector<std::string> argv = {command};
  argv.insert(argv.end(), args.begin(), args.end());
  const int error = posix_spawnp(&pid, command.c_str(), &actions, &attributes,
                                 Pointers(argv).data(), Pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// How long a run may take, and what ends it early.
class Limits {
 public:
  Limits(Duration timeout, int cancel_fd)
      : deadline_(clock_.Now() + timeout), cancel_fd_(cancel_fd) {}

  // Returns once `fd` (below 0: none) can be read, after `most`, or when the run must end; then it
  // says why.
  std::optional<std::string> Wait(int fd, Duration most) const {
    const Duration left = std::min(deadline_ - clock_.Now(), most);
    if (clock_.Now() >= deadline_) return "took too long and was killed";
    // A descriptor below 0 is passed over.
    pollfd fds[2] = {{fd, POLLIN, 0}, {cancel_fd_, POLLIN, 0}};
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    if (poll(fds, 2, static_cast<int>(std::max<int64_t>(ms, 0))) <= 0) return std::nullopt;
    if ((fds[1].revents & POLLIN) != 0) return "was cancelled";
    return std::nullopt;
  }

 private:
  const base::RealClock clock_;
  const Time deadline_;
  const int cancel_fd_;
};

// Reads to the end of the pipe. nullopt: it is there; else why it was given up.
std::optional<std::string> Drain(int pipe, const Limits& limits, std::string& out) {
  char chunk[4096];
  for (;;) {
    if (auto over = limits.Wait(pipe, kLongest)) return over;
    const ssize_t got = read(pipe, chunk, sizeof chunk);
    if (got == 0) return std::nullopt;
    if (got < 0 && errno != EINTR && errno != EAGAIN) return std::strerror(errno);
    if (got > 0) out.append(chunk, static_cast<size_t>(got));
    if (out.size() > kMostOutput) return "printed too much and was killed";
  }
}

// Waits for the end of the program, which may have closed its output long before. nullopt: it has
// ended with `status`; else why it was given up.
std::optional<std::string> AwaitExit(pid_t pid, const Limits& limits, int& status) {
  Duration pause = std::chrono::milliseconds(1);
  for (;;) {
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid) return std::nullopt;
    if (ended < 0 && errno != EINTR) return std::strerror(errno);
    if (auto over = limits.Wait(/*fd=*/-1, pause)) return over;
    pause = std::min<Duration>(2 * pause, std::chrono::milliseconds(50));
  }
}

}  // namespace

Result<std::string> RunProgram(const std::string& command, const std::vector<std::string>& args,
                               const std::vector<std::string>& environment, StandardInput input,
                               Duration timeout, int cancel_fd) {
  const auto fail = [&command](const auto&... why) {
    return Fail(base::Concat("exec: executable ", command, " ", why...));
  };
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return fail("cannot be started: ", std::strerror(errno));
  // A wait may end without data.
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const Limits limits(timeout, cancel_fd);
  pid_t pid = 0;
  const int spawn_error = Spawn(command, args, environment, input, ends[1], pid);
  close(ends[1]);
  if (spawn_error != 0) {
    close(ends[0]);
    if (spawn_error == ENOENT) return fail("not found");
    return fail("cannot be started: ", std::strerror(spawn_error));
  }
  std::string out;
  int status = 0;
  std::optional<std::string> given_up = Drain(ends[0], limits, out);
  close(ends[0]);
  if (!given_up) given_up = AwaitExit(pid, limits, status);
  if (given_up) {
    kill(input == StandardInput::kTerminal ? pid : -pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
  if (given_up) return fail(*given_up);
  if (WIFSIGNALED(status)) return fail("was ended by signal ", WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return fail("failed with exit code ", WEXITSTATUS(status));
  return out;
}

}  // namespace berth::client
