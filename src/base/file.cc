// SPDX-License-Identifier: Apache-2.0
#include "src/base/file.h"

#include <absl/strings/ascii.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/base/logging.h"

namespace berth::base {

Result<std::string> ReadFile(const std::string& path, size_t most) {
  const auto fail = [&path](const char* what) {
    std::string why = std::strerror(errno);
    why[0] = absl::ascii_tolower(static_cast<unsigned char>(why[0]));  // as Go writes it
    return Fail(what + path + ": " + why);
  };
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail("open ");
  std::string content;
  char chunk[16384];
  for (;;) {
    const ssize_t got = read(fd, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      auto error = fail("read ");
      close(fd);
      return error;
    }
    if (got == 0) break;
    content.append(chunk, static_cast<size_t>(got));
    if (content.size() > most) {
      close(fd);
      return Fail("read " + path + ": larger than " + std::to_string(most) + " bytes");
    }
  }
  close(fd);
  return content;
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
