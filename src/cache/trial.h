// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include "berth/node_set.h"
#include "berth/pod_info.h"
#include "berth/result.h"

namespace berth::cache {

class Cache;

// A scope of assumes and removals that can be taken back. Ends with Rollback(), Commit() or, as a
// rollback, with its life; a trial begun inside another must end first.
//
// A rollback restores every answer of the Cache, the rows' generations included, except
// generation() and ChangesSince(): there the restored rows appear as changed, so that nothing that
// was derived inside the trial is taken for true later. Numbers given out inside are not reused.
//
// Thread safety: the scheduling thread.
class Trial {
 public:
  Trial(Trial&& other) noexcept
      : cache_(std::exchange(other.cache_, nullptr)), depth_(other.depth_), start_(other.start_) {}
  Trial& operator=(Trial&&) = delete;
  ~Trial() {
    if (cache_ != nullptr) Rollback();
  }

  // As the Cache's functions of these names; the trial must be the innermost open one.
  Result<void> Assume(PodInfoPtr info, NodeRow row);
  bool Forget(std::string_view uid);
  bool Remove(std::string_view uid);

  // Does nothing once the trial has ended.
  void Rollback();
  // Keeps the changes, as part of the surrounding trial where there is one.
  void Commit();

 private:
  friend class Cache;
  Trial(Cache& cache, size_t depth, size_t start) : cache_(&cache), depth_(depth), start_(start) {}

  Cache* cache_;  // nullptr: ended
  size_t depth_;  // 1 for an outermost trial
  size_t start_;  // how long the undo log was
};

}  // namespace berth::cache
