// SPDX-License-Identifier: Apache-2.0
#include "src/plan/progress.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "berth/config_value.h"
#include "src/base/file.h"
#include "src/base/json.h"
#include "src/documents/parse.h"

namespace berth::plan {
namespace {

// A plan may evict every replica of several large controllers.
constexpr size_t kMostProgressBytes = size_t{256} << 20;

std::string FileError(std::string_view call, const std::string& path) {
  return std::string(call) + ' ' + path + ": " + std::strerror(errno);
}

}  // namespace

Result<std::unique_ptr<Progress>> Progress::Open(const std::string& path, std::string_view digest) {
  while (true) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return Fail(FileError("open", path) + "; --progress names another place");
    std::unique_ptr<Progress> progress(new Progress(fd, path));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      return Fail(errno == EWOULDBLOCK ? path + ": another run carries the plan out"
                                       : FileError("lock", path));
    }
    struct stat locked{};
    if (fstat(fd, &locked) != 0) return Fail(FileError("stat", path));
    // A run that had nothing to keep took it away meanwhile.
    if (locked.st_nlink == 0) continue;
    if (auto loaded = progress->Load(digest); !loaded) return Fail(loaded.error());
    return progress;
  }
}

Progress::~Progress() {
  // While it is locked, so that no other run has it.
  if (made_) unlink(path_.c_str());
  close(fd_);
}

Result<void> Progress::Load(std::string_view digest) {
  const auto text = base::ReadFile(path_, kMostProgressBytes);
  if (!text) return Fail(text.error());
  std::string_view rest = *text;
  if (const size_t end = rest.rfind('\n'); end + 1 != rest.size() || rest.empty()) {
    rest = rest.substr(0, end == std::string_view::npos ? 0 : end + 1);
    if (ftruncate(fd_, static_cast<off_t>(rest.size())) != 0) {
      return Fail(FileError("truncate", path_));
    }
  }
  if (lseek(fd_, 0, SEEK_END) < 0) return Fail(FileError("seek", path_));
  bool first = true;
  for (; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1)) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (!std::exchange(first, false)) {
      if (auto taken = Take(line); !taken) return taken;
      continue;
    }
    const auto head = documents::ParseJson(line, path_);
    const ConfigValue* plan = head ? head->Find("plan") : nullptr;
    if (plan == nullptr || plan->string() == nullptr) {
      return Fail(path_ + ": is no progress of a plan; --progress names another place");
    }
    if (*plan->string() != digest) {
      return Fail(path_ +
                  ": is the progress of another plan, or the plan was edited since; remove it to "
                  "begin with this one");
    }
  }
  if (!first) return {};
  made_ = true;
  std::string line;
  base::JsonObject head(line);
  head.Add("plan", digest);
  head.Close();
  return Append(std::move(line));
}

Result<void> Progress::Take(std::string_view line) {
  const auto value = documents::ParseJson(line, path_);
  if (!value) return Fail(value.error());
  std::string uid;
  Eviction eviction;
  std::vector<std::string> before;
  FieldReader fields(*value, "");
  fields.Read("uid", uid);
  fields.Read("owner", eviction.owner);
  if (int64_t move = 0; fields.Read("move", move)) eviction.move = move;
  fields.Read("before", before);
  fields.Read("successor", eviction.successor);
  if (auto error = fields.Finish()) return Fail(error->Within(path_));
  if (eviction.successor.empty()) {
    std::set<std::string>& named = named_[eviction.owner];
    named.insert(before.begin(), before.end());
    eviction.before = named;
    evictions_.insert_or_assign(std::move(uid), std::move(eviction));
  } else if (const auto found = evictions_.find(uid); found != evictions_.end()) {
    found->second.successor = std::move(eviction.successor);
  }
  return {};
}

const Progress::Eviction* Progress::Find(std::string_view uid) const {
  const auto found = evictions_.find(uid);
  return found == evictions_.end() ? nullptr : &found->second;
}

bool Progress::IsSuccessor(std::string_view uid) const {
  return std::ranges::any_of(evictions_,
                             [uid](const auto& entry) { return entry.second.successor == uid; });
}

Result<void> Progress::Begin(const std::string& uid, const Eviction& eviction) {
  std::set<std::string>& named = named_[eviction.owner];
  std::vector<std::string> added;
  std::ranges::set_difference(eviction.before, named, std::back_inserter(added));
  if (evictions_.contains(uid) && added.empty()) {
    evictions_[uid] = eviction;
    return {};
  }
  std::string line;
  base::JsonObject one(line);
  one.Add("uid", uid);
  one.Add("owner", eviction.owner);
  if (eviction.move) one.Add("move", *eviction.move);
  base::AppendJsonList(added, one.Key("before"));
  one.Close();
  made_ = false;
  if (auto written = Append(std::move(line)); !written) return written;
  named.insert(added.begin(), added.end());
  evictions_.insert_or_assign(uid, eviction);
  return {};
}

Result<void> Progress::End(const std::string& uid, const std::string& successor) {
  std::string line;
  base::JsonObject one(line);
  one.Add("uid", uid);
  one.Add("successor", successor);
  one.Close();
  evictions_[uid].successor = successor;
  return Append(std::move(line));
}

Result<void> Progress::Append(std::string line) const {
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t put = write(fd_, rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return Fail(FileError("write", path_));
    rest.remove_prefix(static_cast<size_t>(put));
  }
  if (fdatasync(fd_) != 0) return Fail(FileError("sync", path_));
  return {};
}

}  // namespace berth::plan
