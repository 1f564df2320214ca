// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "src/base/mutex.h"

namespace berth::base {

// A queue with many senders and one receiver, in order of arrival.
//
// Thread safety: sending and Wake() from any thread; the rest from the receiver's.
template <typename Message>
class Inbox {
 public:
  // `message` is anything a Message is made of.
  template <typename Content>
  void Push(Content&& message) {
    if (PushQuietly(std::forward<Content>(message))) Wake();
  }

  // Leaves the receiver asleep, for a sender that has more to send. True: the inbox was empty, so
  // the sender must Wake() the receiver soon.
  template <typename Content>
  bool PushQuietly(Content&& message) {
    MutexLock lock(mutex_);
    messages_.emplace_back(std::forward<Content>(message));
    return messages_.size() == 1;
  }
  void Wake() { arrived_.NotifyOne(); }

  // Moves all that has arrived into `out`, which is cleared first. With nothing there, waits for
  // the first message, at most `timeout` (nullopt: for ever; zero: not at all).
  void Drain(std::vector<Message>& out, std::optional<std::chrono::nanoseconds> timeout) {
    out.clear();
    MutexLock lock(mutex_);
    if (messages_.empty()) {
      if (!timeout) {
        while (messages_.empty()) arrived_.Wait(mutex_);
      } else if (timeout->count() > 0) {
        arrived_.WaitFor(mutex_, *timeout);
      }
    }
    std::swap(out, messages_);
  }

  size_t size() const {
    MutexLock lock(mutex_);
    return messages_.size();
  }

 private:
  mutable Mutex mutex_;
  CondVar arrived_;
  std::vector<Message> messages_ BERTH_GUARDED_BY(mutex_);
};

// A queue with many senders and one receiver, in order of arrival, in which no sender waits for
// the receiver: for receivers of low priority, which might be off the CPU while they hold a lock.
// The receiver cannot wait for a message; it looks now and then. A Treiber stack that the receiver
// takes whole.
//
// Thread safety: Push() and size() from any thread; the rest from the receiver's.
template <typename Message>
class LockFreeInbox {
 public:
  LockFreeInbox() = default;
  ~LockFreeInbox() {
    std::vector<Message> left;
    Drain(left);
  }
  LockFreeInbox(const LockFreeInbox&) = delete;
  LockFreeInbox& operator=(const LockFreeInbox&) = delete;

  void Push(Message message) {
    auto node = std::make_unique<Node>(Node{std::move(message), last_.load()});
    size_.fetch_add(1);
    while (!last_.compare_exchange_weak(node->before, node.get())) {
    }
    node.release();
  }

  // Moves all that has arrived into `out`, which is cleared first.
  void Drain(std::vector<Message>& out) {
    out.clear();
    for (Node* next = last_.exchange(nullptr); next != nullptr;) {
      const std::unique_ptr<Node> node(next);
      out.push_back(std::move(node->message));
      next = node->before;
    }
    std::reverse(out.begin(), out.end());
    size_.fetch_sub(out.size());
  }

  // Not less than what Drain() would give.
  size_t size() const { return size_; }

 private:
  struct Node {
    Message message;
    Node* before = nullptr;
  };
  std::atomic<Node*> last_ = nullptr;
  std::atomic<size_t> size_ = 0;
};

}  // namespace berth::base
