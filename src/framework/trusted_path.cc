// SPDX-License-Identifier: Apache-2.0
#include "src/framework/trusted_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <list>
#include <system_error>

namespace berth::framework {
namespace {

// As many as the kernel follows.
constexpr int kMaxLinks = 40;

std::string Problem(const struct stat& status, bool is_end) {
  if (status.st_uid != 0 && status.st_uid != geteuid()) {
    return "it belongs to user " + std::to_string(status.st_uid) +
           ", who is neither root nor the scheduler's; change that (chown root)";
  }
  // All users may write to a link, and none can: what counts is the folder that it is in.
  if (S_ISLNK(status.st_mode)) return "";
  if (S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0 && !is_end) return "";
  if ((status.st_mode & S_IWOTH) != 0) return "everybody may write to it (chmod o-w)";
  if ((status.st_mode & S_IWGRP) != 0) {
    return "group " + std::to_string(status.st_gid) + " may write to it (chmod g-w)";
  }
  return "";
}

std::list<std::string> PartsOf(const std::filesystem::path& path) {
  std::list<std::string> parts;
  for (const auto& part : path.relative_path()) {
    if (!part.empty() && part != ".") parts.push_back(part.string());
  }
  return parts;
}

}  // namespace

Result<void> CheckTrusted(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::list<std::string> ahead = PartsOf(fs::absolute(path, error));
  if (error) return Fail(path + ": " + error.message());
  int links = 0;
  for (fs::path at = "/";;) {
    struct stat status{};
    if (lstat(at.c_str(), &status) != 0) {
      return Fail(path + ": " + std::generic_category().message(errno));
    }
    if (const std::string problem = Problem(status, ahead.empty()); !problem.empty()) {
      return Fail(at.string() + ": " + problem +
                  "; the code of plugins there would run with the scheduler's rights");
    }
    if (S_ISLNK(status.st_mode)) {
      const fs::path target = fs::read_symlink(at, error);
      if (error) return Fail(at.string() + ": " + error.message());
      if (++links > kMaxLinks) {
        return Fail(path + ": " + std::generic_category().message(ELOOP));
      }
      ahead.splice(ahead.begin(), PartsOf(target));
      at = target.is_absolute() ? fs::path("/") : at.parent_path();
    }
    if (ahead.empty()) return {};
    const std::string next = ahead.front();
    ahead.pop_front();
    at = next == ".." ? at.parent_path() : at / next;
  }
}

}  // namespace berth::framework
