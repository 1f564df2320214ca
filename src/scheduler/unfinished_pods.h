// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/mutex.h"
#include "src/base/string_map.h"

namespace berth::scheduler {

// Why a pod lets others go first.
inline constexpr std::string_view kUnfinishedMessage =
    "a scheduler ended while it tried this pod, so other pods go first";

// Pods that were being tried when an earlier process ended, by UID, and the pod that is being tried
// now: what the next process is to know should this one end. Such a pod lets others go first, up to
// kMostDeferrals times, and is one like any other from when it is tried.
//
// Thread safety: the scheduling thread, but for trying() and inherited(), which any may call.
class UnfinishedPods {
 public:
  // With the queue's backoff after errors these take some two minutes.
  static constexpr int kMostDeferrals = 15;

  void Inherit(const std::vector<std::string>& uids);
  // Whether the pod must let others go first, which counts as once.
  bool Defer(std::string_view uid);
  bool empty() const { return deferrals_.empty(); }

  // An attempt begins; it ends with what this returns.
  class Attempt {
   public:
    Attempt(UnfinishedPods& pods, std::string_view uid) : pods_(pods) { pods_.Begin(uid); }
    ~Attempt() { pods_.Begin(""); }
    Attempt(const Attempt&) = delete;
    Attempt& operator=(const Attempt&) = delete;

   private:
    UnfinishedPods& pods_;
  };
  // The pod is not put off any more.
  void Forget(std::string_view uid);
  // To be called each minute: those that never came are forgotten after ten.
  void Age();

  // The pod that is being tried, or "".
  std::string trying() const;
  // Those that are left; nullopt: Inherit() is yet to come.
  std::optional<std::vector<std::string>> inherited() const;

 private:
  // A UID has 36 characters; of a longer one the beginning counts.
  static constexpr size_t kWords = 5;

  void Begin(std::string_view uid);
  void Publish();

  base::StringMap<int> deferrals_;  // by UID
  int age_ = 0;
  // A sequence lock: no cycle waits for who reads. Odd while it is written.
  std::atomic<uint32_t> version_ = 0;
  std::array<std::atomic<uint64_t>, kWords> uid_{};
  mutable base::Mutex mutex_;
  std::optional<std::vector<std::string>> published_ BERTH_GUARDED_BY(mutex_);
};

}  // namespace berth::scheduler
