// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/unfinished_pods.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace berth::scheduler {
namespace {

constexpr int kMostAge = 10;

}  // namespace

void UnfinishedPods::Inherit(const std::vector<std::string>& uids) {
  for (const std::string& uid : uids) deferrals_.try_emplace(uid, 0);
  age_ = 0;
  Publish();
}

bool UnfinishedPods::Defer(std::string_view uid) {
  const auto at = deferrals_.find(uid);
  return at != deferrals_.end() && at->second++ < kMostDeferrals;
}

void UnfinishedPods::Forget(std::string_view uid) {
  if (deferrals_.empty()) return;
  const auto at = deferrals_.find(uid);
  if (at == deferrals_.end()) return;
  deferrals_.erase(at);
  Publish();
}

void UnfinishedPods::Age() {
  if (deferrals_.empty() || ++age_ < kMostAge) return;
  deferrals_.clear();
  Publish();
}

void UnfinishedPods::Publish() {
  std::vector<std::string> uids;
  for (const auto& [uid, deferrals] : deferrals_) uids.push_back(uid);
  std::ranges::sort(uids);
  const base::MutexLock lock(mutex_);
  published_ = std::move(uids);
}

void UnfinishedPods::Begin(std::string_view uid) {
  std::array<uint64_t, kWords> words{};
  uid.copy(reinterpret_cast<char*>(words.data()), sizeof(words));
  version_.fetch_add(1, std::memory_order_acq_rel);
  // Who sees one of these sees the odd number, on processors that write in another order, too.
  for (size_t i = 0; i < kWords; ++i) uid_[i].store(words[i], std::memory_order_release);
  version_.fetch_add(1, std::memory_order_release);
}

std::string UnfinishedPods::trying() const {
  std::array<uint64_t, kWords> words{};
  uint32_t before = 0;
  uint32_t after = 0;
  do {
    before = version_.load(std::memory_order_acquire);
    for (size_t i = 0; i < kWords; ++i) words[i] = uid_[i].load(std::memory_order_acquire);
    after = version_.load(std::memory_order_acquire);
  } while (before != after || before % 2 != 0);
  const auto* text = reinterpret_cast<const char*>(words.data());
  return std::string(text, strnlen(text, sizeof(words)));
}

std::optional<std::vector<std::string>> UnfinishedPods::inherited() const {
  const base::MutexLock lock(mutex_);
  return published_;
}

}  // namespace berth::scheduler
