// SPDX-License-Identifier: Apache-2.0
#include "src/framework/trusted_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <list>
#include <set>
#include <system_error>

namespace berth::framework {
namespace {

// As many as the kernel follows.
constexpr int kMaxLinks = 40;

// Who may change what stands at a path.
struct Writers {
  std::set<uid_t> users;
  std::set<gid_t> groups;
  bool everybody = false;
};

// Whether group and others have no say, whatever the mode: all users may write to a link, and none
// can, since what counts is the folder that it is in; in a sticky folder entries are their owners'.
bool ModeSaysNothing(const struct stat& status, bool is_end) {
  if (S_ISLNK(status.st_mode)) return true;
  return S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0 && !is_end;
}

void Add(const struct stat& status, bool is_end, Writers& writers) {
  writers.users.insert(status.st_uid);
  if (ModeSaysNothing(status, is_end)) return;
  if ((status.st_mode & S_IWOTH) != 0) writers.everybody = true;
  if ((status.st_mode & S_IWGRP) != 0) writers.groups.insert(status.st_gid);
}

std::string Problem(const struct stat& status, bool is_end, const Writers& trusted) {
  if (!trusted.users.contains(status.st_uid)) {
    return "it belongs to user " + std::to_string(status.st_uid) +
           ", who is neither root nor the scheduler's; change that (chown root)";
  }
  if (ModeSaysNothing(status, is_end)) return "";
  if ((status.st_mode & S_IWOTH) != 0 && !trusted.everybody) {
    return "everybody may write to it (chmod o-w)";
  }
  if ((status.st_mode & S_IWGRP) != 0 && !trusted.groups.contains(status.st_gid)) {
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

// Calls visit() with each file, folder and link on the way, links followed; `is_end`: nothing comes
// after it. Stops at the first problem that visit() returns.
Result<void> Walk(const std::string& path,
                  const std::function<std::string(const struct stat&, bool is_end)>& visit) {
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
    if (const std::string problem = visit(status, ahead.empty()); !problem.empty()) {
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

}  // namespace

Result<void> CheckTrusted(const std::string& path, std::string_view like) {
  Writers trusted;
  trusted.users = {0, geteuid()};
  if (!like.empty()) {
    Writers of_like;
    const auto walked = Walk(std::string(like), [&](const struct stat& status, bool is_end) {
      Add(status, is_end, of_like);
      return std::string();
    });
    if (walked) {
      trusted.users.merge(of_like.users);
      trusted.groups = std::move(of_like.groups);
      trusted.everybody = of_like.everybody;
    }
  }
  return Walk(path, [&](const struct stat& status, bool is_end) {
    return Problem(status, is_end, trusted);
  });
}

}  // namespace berth::framework
