// SPDX-License-Identifier: Apache-2.0
#include "src/base/file.h"

#include <absl/strings/ascii.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "src/base/logging.h"

namespace berth::base {
namespace {

// What errno says of the call, in Go's words.
tl::unexpected<Error> Failed(const char* call, const std::string& path) {
  std::string why = std::strerror(errno);
  why[0] = absl::ascii_tolower(static_cast<unsigned char>(why[0]));  // as Go writes it
  return Fail(call + (" " + path) + ": " + why);
}

// 0, or -1 with errno.
int WriteWhole(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return -1;
    text.remove_prefix(static_cast<size_t>(put));
  }
  return 0;
}

// Leaves `fd` open.
Result<std::string> ReadToTheEnd(int fd, const std::string& path, size_t most) {
  std::string content;
  char chunk[16384];
  for (;;) {
    const ssize_t got = read(fd, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed("read", path);
    if (got == 0) return content;
    content.append(chunk, static_cast<size_t>(got));
    if (content.size() > most) {
      return Fail("read " + path + ": larger than " + std::to_string(most) + " bytes");
    }
  }
}

}  // namespace

Result<std::string> ReadFile(const std::string& path, size_t most) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Failed("open", path);
  auto content = ReadToTheEnd(fd, path, most);
  close(fd);
  return content;
}

Result<std::string> ReadStandardInput(size_t most) {
  return ReadToTheEnd(STDIN_FILENO, "standard input", most);
}

Result<void> WritePrivateFile(const std::string& path, std::string_view text) {
  struct stat there{};
  if (lstat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    return Fail("write " + path + ": what is there is no regular file");
  }
  std::string made = path + ".XXXXXX";
  const int fd = mkostemp(made.data(), O_CLOEXEC);
  if (fd < 0) return Failed("open", made);
  // The umask may have taken from it.
  const bool written = fchmod(fd, 0600) == 0 && WriteWhole(fd, text) == 0;
  Result<void> result;
  if (!written) result = Failed("write", made);
  if (close(fd) != 0 && written) result = Failed("close", made);
  // Takes the place of a link that has come meanwhile; does not follow it.
  if (result && rename(made.c_str(), path.c_str()) != 0) result = Failed("rename", path);
  if (!result) unlink(made.c_str());
  return result;
}

Result<std::string> WatchedFile::Get(Time now) {
  if (content_ && read_at_ && now < *read_at_ + kPeriod) return *content_;
  Result<std::string> read = ReadFile(path_);
  read_at_ = now;
  if (read) {
    content_ = *read;
    return read;
  }
  if (!content_) return read;
  LogWarning("File cannot be read again; its old content stays in use",
             {{"file", path_}, {"err", read.error().message}});
  return *content_;
}

}  // namespace berth::base
