// SPDX-License-Identifier: Apache-2.0
#include "src/cache/trial.h"

#include "berth/check.h"
#include "src/cache/cache.h"

namespace berth::cache {

Result<void> Trial::Assume(PodInfoPtr info, NodeRow row) {
  BERTH_CHECK(cache_ != nullptr && depth_ == cache_->trial_depth_, "not the innermost trial");
  return cache_->AssumePod(std::move(info), row);
}

bool Trial::Forget(std::string_view uid) {
  BERTH_CHECK(cache_ != nullptr && depth_ == cache_->trial_depth_, "not the innermost trial");
  return cache_->ForgetPod(uid);
}

bool Trial::Remove(std::string_view uid) {
  BERTH_CHECK(cache_ != nullptr && depth_ == cache_->trial_depth_, "not the innermost trial");
  return cache_->RemovePod(uid);
}

void Trial::Rollback() {
  if (cache_ != nullptr) std::exchange(cache_, nullptr)->RollBackTo(*this);
}

void Trial::Commit() {
  if (cache_ != nullptr) std::exchange(cache_, nullptr)->Commit(*this);
}

Trial Cache::BeginTrial() {
  BERTH_ON_THREAD(owner_);
  return Trial(*this, ++trial_depth_, undo_.size());
}

void Cache::RollBackTo(const Trial& trial) {
  BERTH_ON_THREAD(owner_);
  BERTH_CHECK(trial.depth_ == trial_depth_, "trial ended before one that began inside it");
  while (undo_.size() > trial.start_) {
    Undo undo = std::move(undo_.back());
    undo_.pop_back();
    if (undo.added) {
      undo.removed = pods_.Remove(undo.removed.slot);
      CountUsage(undo.row, *undo.removed.pod.info, -1);
    } else {
      CountUsage(undo.row, *undo.removed.pod.info, 1);
      pods_.PutBack(std::move(undo.removed));
    }
    changes_.Append(undo.row, ChangeKind::kPods);
  }
  --trial_depth_;
}

void Cache::Commit(const Trial& trial) {
  BERTH_ON_THREAD(owner_);
  BERTH_CHECK(trial.depth_ == trial_depth_, "trial ended before one that began inside it");
  if (--trial_depth_ > 0) return;
  for (const Undo& undo : undo_) FreeIfUnused(undo.row);
  undo_.clear();
}

}  // namespace berth::cache
