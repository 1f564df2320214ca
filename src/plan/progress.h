// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "berth/result.h"

namespace berth::plan {

// How far a plan has been carried out, in a file beside it, so that a run that is repeated goes on
// where the last one stood, however that ended.
//
// The cluster alone cannot say it: once a pod has gone, nothing there tells the one that its
// controller made in its place from those that it had made before. So before each eviction a line
// names the pod, its owner and those pods that the owner has by then and no line before names; it
// is on the disk before the request leaves. A run that is killed at any moment leaves at most that
// one line more than was done, and whether it was done the cluster does say, by the pod's UID: a
// line is an intention, and never the proof. A line that a kill cut off is dropped. Where the file
// is lost, pods that have gone are moves that are skipped, and the others are judged as ever;
// nothing is evicted twice.
//
// The file is locked while a run goes on, so that there are never two of one plan. A run that made
// it and began no eviction takes it away again.
//
// Thread safety: one owner.
class Progress {
 public:
  struct Eviction {
    std::string owner;  // UID of the controller
    // For which of the plan's moves, from 0; nullopt: it is not known.
    std::optional<int64_t> move = std::nullopt;
    // UIDs of the pods that it had; and, where they were read, of those that it had at the
    // evictions before.
    std::set<std::string> before = {};
    // UID of the pod that came in its place and has its node; "": not known yet.
    std::string successor = {};
  };

  // Opens the file, or makes it. `digest` is the plan's. Errors: another run has it; it is of
  // another plan; it cannot be read, written or understood.
  static Result<std::unique_ptr<Progress>> Open(const std::string& path, std::string_view digest);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // By the UID of the pod that is evicted. nullptr: no eviction was begun.
  const Eviction* Find(std::string_view uid) const;
  // Whether the pod came in the place of one that was evicted.
  bool IsSuccessor(std::string_view uid) const;
  // On the disk when it returns; nothing is written where it stands there. Errors: it could not be
  // written.
  Result<void> Begin(const std::string& uid, const Eviction& eviction);
  Result<void> End(const std::string& uid, const std::string& successor);

 private:
  Progress(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  Result<void> Load(std::string_view digest);
  Result<void> Take(std::string_view line);
  Result<void> Append(std::string line) const;

  const int fd_;
  const std::string path_;
  bool made_ = false;  // by this run, which has begun nothing
  std::map<std::string, Eviction, std::less<>> evictions_;
  std::map<std::string, std::set<std::string>> named_;  // in the file: UIDs of pods, by owner
};

}  // namespace berth::plan
