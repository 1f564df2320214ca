// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace berth::base {

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
